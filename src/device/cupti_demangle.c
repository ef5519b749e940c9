/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The process's own C++ runtime demangles: programs that nvcc linked have one, as has
 * PyTorch. None is loaded for this. A name costs some microseconds, so each is kept for
 * good, as the recorder keeps the same ones; past its number of names the rest stays as it
 * is. */
#include "device/cupti_demangle.h"

#include <stdlib.h>
#include <string.h>

#include "platform/hash.h"
#include "platform/memory.h"
#include "platform/os.h"
#include "profile/slots.h"

#define MOST_KEPT 65536u

/* __cxa_demangle: the text is from the host's malloc. */
typedef char *cupti_demangler(const char *name, char *buffer, size_t *size,
                              int *status);

static char **kept_names; /* each: as it was mangled, NUL, as it reads, NUL */
static size_t names_kept, names_room;
static gnomon__slots kept_slots;
static cupti_demangler *cupti_demangle;

void gnomon__cupti_demangle_begin(void)
{
    static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1",
                                            "libc++.so.1"};
    for (size_t i = 0;
         !cupti_demangle && i < sizeof libraries / sizeof *libraries; i++) {
        void *library = gnomon__os_library_loaded(libraries[i]);
        void *address =
            library ? gnomon__os_symbol(library, "__cxa_demangle") : NULL;
        memcpy(&cupti_demangle, &address, sizeof cupti_demangle);
    }
}

static int kept_name_is(const void *names, uint32_t number, const void *name)
{
    return strcmp(((char *const *)names)[number - 1], name) == 0;
}

/* Its number from 1; 0: it is no such name, or there is no memory. */
static uint32_t keep_name(const char *mangled, uint64_t hash)
{
    int status = -1;
    size_t size = strlen(mangled) + 1;
    char *its = cupti_demangle && names_kept < MOST_KEPT
                    ? cupti_demangle(mangled, NULL, NULL, &status)
                    : NULL;
    char *both = its && !status ? gnomon__alloc(size + strlen(its) + 1) : NULL;
    int is_kept =
        both &&
        gnomon__grow_zeroed(&kept_names, &names_room, names_kept + 1,
                            sizeof *kept_names) &&
        !gnomon__slots_add(&kept_slots, hash, (uint32_t)names_kept + 1);
    if (is_kept) {
        memcpy(both, mangled, size);
        memcpy(both + size, its, strlen(its) + 1);
        kept_names[names_kept++] = both;
    } else
        gnomon__free(both);
    free(its);
    return is_kept ? (uint32_t)names_kept : 0;
}

const char *gnomon__cupti_demangled(const char *name)
{
    if (strncmp(name, "_Z", 2) != 0)
        return name;
    uint64_t hash = gnomon__hash_text(name);
    uint32_t number =
        gnomon__slots_find(&kept_slots, hash, kept_name_is, kept_names, name);
    if (!number)
        number = keep_name(name, hash);
    return number ? kept_names[number - 1] + strlen(name) + 1 : name;
}
