/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The operating system's libraries: those that gnomon opens, the modules that
 * hold its regions, and the notes of all. What a mark can reach (pin_module) leaves
 * errno as it is. */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#include "platform/atomic.h"
#include "platform/os.h"
#include "platform/os_calls.h"

/* ---- Opened by us --------------------------------------------------------- */

static int find_interpreter(struct dl_phdr_info *main, size_t size, void *has)
{
    (void)size;
    for (int i = 0; i < main->dlpi_phnum; i++)
        *(int *)has |= main->dlpi_phdr[i].p_type == PT_INTERP;
    return 1; /* the program is the first */
}

int gnomon__os_is_static(void)
{
    int has_interpreter = 0;
    dl_iterate_phdr(find_interpreter, &has_interpreter);
    return !has_interpreter;
}

void *gnomon__os_library(const char *path, const char **why)
{
    if (gnomon__os_is_static()) {
        *why = "this program is linked statically";
        return NULL;
    }
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    *why = NULL;
    if (library == NULL) {
        *why = dlerror();
        if (*why == NULL)
            *why = "the system gives no reason";
    }
    return library;
}

void *gnomon__os_library_here(const char *name)
{
    return dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
}

void *gnomon__os_symbol(void *library, const char *name)
{
    return dlsym(library, name);
}

/* ---- Of the program -------------------------------------------------------- */

/* Base addresses of the modules that were pinned last. A module's regions come
 * in a row, so few suffice; a repeated pin is only slower. */
static uintptr_t pinned_modules[8];
static uint32_t pinned_count;

static void *main_program_base(void)
{
    unsigned long headers = getauxval(AT_PHDR);
    const void *address;
    Dl_info info;
    memcpy(&address, &headers, sizeof address);
    return dladdr(address, &info) != 0 ? info.dli_fbase : NULL;
}

void gnomon__os_pin_module(const void *address)
{
    int kept_errno = errno;
    uintptr_t base;
    uint32_t i;
    Dl_info info;
    if (dladdr(address, &info) == 0)
        return; /* in no module: not to be unmapped by a dlclose */
    base = (uintptr_t)info.dli_fbase;
    for (i = 0; i < 8; i++)
        if (load_relaxed(&pinned_modules[i]) == base)
            return;
    /* The main program stays anyway, and has no name to open it by. Only what
     * stays is remembered: another module may come where one has gone. */
    if (info.dli_fbase == main_program_base() ||
        dlopen(info.dli_fname,
               RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD | RTLD_NODELETE) != NULL) {
        i = add_relaxed(&pinned_count, 1) % 8;
        store_relaxed(&pinned_modules[i], base);
    }
    errno = kept_errno;
}

/* One search through the notes of all modules. */
typedef struct note_search {
    const char *name;
    uint32_t type;
    int (*found)(const void *desc, size_t bytes, void *out);
    void *out;
} note_search;

/* Whether it was found in the notes of one segment. */
static int search_notes(const note_search *s, const char *at, size_t bytes)
{
    ElfW(Nhdr) note;
    size_t length = strlen(s->name) + 1;
    while (bytes >= sizeof note) {
        memcpy(&note, at, sizeof note);
        size_t name = (note.n_namesz + 3) & ~(size_t)3;
        size_t desc = (note.n_descsz + 3) & ~(size_t)3;
        if (bytes - sizeof note < name || bytes - sizeof note - name < desc)
            break;
        const char *text = at + sizeof note;
        if (note.n_type == s->type && note.n_namesz == length &&
            memcmp(text, s->name, length) == 0 &&
            s->found(text + name, note.n_descsz, s->out))
            return 1;
        at += sizeof note + name + desc;
        bytes -= sizeof note + name + desc;
    }
    return 0;
}

static int search_module(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        /* Notes aligned to 8 are the linker's own. */
        if (p->p_type == PT_NOTE && p->p_align <= 4 &&
            search_notes(data, (const char *)(info->dlpi_addr + p->p_vaddr),
                         p->p_memsz))
            return 1;
    }
    return 0;
}

void gnomon__os_notes(const char *name, uint32_t type,
                      int (*found)(const void *desc, size_t bytes, void *out),
                      void *out)
{
    note_search s = {name, type, found, out};
    dl_iterate_phdr(search_module, &s);
}
