/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The process's own C++ runtime demangles: programs that nvcc linked have one, as has
 * PyTorch. None is loaded for this. A name costs some microseconds, so the last ones are
 * kept, in a table of fixed size. */
#include "device/cupti_demangle.h"

#include <stdlib.h>
#include <string.h>

#include "platform/hash.h"
#include "platform/memory.h"
#include "platform/os.h"

#define KEPT_NAMES 512u /* a power of two */
#define OLD_NAMES 256u  /* more than are used at one time */

/* __cxa_demangle: the text is from the host's malloc. */
typedef char *cupti_demangler(const char *name, char *buffer, size_t *size,
                              int *status);

typedef struct kept_name {
    char *mangled; /* NULL: none. One block with `text` */
    const char *text;
} kept_name;

static kept_name kept_names[KEPT_NAMES];
/* Replaced, but perhaps still used by who asked for them. */
static char *old_names[OLD_NAMES];
static uint32_t old_count;

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

/* Both texts in one block; NULL: it is no such name, or there is no memory. */
static char *keep_names(const char *mangled, const char **text)
{
    int status = -1;
    char *its =
        cupti_demangle ? cupti_demangle(mangled, NULL, NULL, &status) : NULL;
    size_t size = strlen(mangled) + 1;
    char *block = its && !status ? gnomon__alloc(size + strlen(its) + 1) : NULL;
    if (block) {
        memcpy(block, mangled, size);
        memcpy(block + size, its, strlen(its) + 1);
        *text = block + size;
    }
    free(its);
    return block;
}

const char *gnomon__cupti_demangled(const char *name)
{
    const char *text = NULL;
    if (strncmp(name, "_Z", 2) != 0)
        return name;
    kept_name *k = &kept_names[gnomon__hash_text(name) & (KEPT_NAMES - 1)];
    if (k->mangled && strcmp(k->mangled, name) == 0)
        return k->text;
    if (k->mangled && old_count == OLD_NAMES)
        return name;
    char *block = keep_names(name, &text);
    if (!block)
        return name;
    if (k->mangled)
        old_names[old_count++] = k->mangled;
    *k = (kept_name){block, text};
    return text;
}

void gnomon__cupti_demangle_over(void)
{
    while (old_count)
        gnomon__free(old_names[--old_count]);
}
