/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Shared libraries: those that gnomon opens, the modules that hold its
 * regions, and the ELF notes of all. What a mark can reach (pin_module)
 * keeps errno. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "platform/atomic.h"
#include "platform/os.h"
#include "platform/os_wait.h"
#include "platform/tls.h"

/* ---- The loader --------------------------------------------------------------- */

static uint32_t loading;
static __thread uint32_t loading_here GNOMON__TLS;

/* Calls under way that take the loader's locks. In a child that is forked during another
 * thread's call they are held for ever: clone renews no lock, and glibc's fork not
 * these. */
static uint32_t loader_calls;
static __thread uint32_t loader_calls_here GNOMON__TLS;
static uint32_t loader_is_held;
/* See the locks' (os_wait.h). */
static uint32_t loader_made_in = GNOMON__OS_FIRST_NUMBER, loader_pid;

/* Forks that wait for those calls, or are made. Calls of other threads wait for them. */
static uint32_t forks_under_way;
static __thread uint32_t forks_here GNOMON__TLS;
#define FORK_WAITS_NS 100000000ull

void gnomon__os_loading(int by)
{
    loading_here += (uint32_t)by;
    add_relaxed(&loading, (uint32_t)by);
}

int gnomon__os_is_loading(void)
{
    return load_relaxed(&loading) != 0;
}

void gnomon__os_loader_before_fork(void)
{
    forks_here++;
    add_relaxed(&forks_under_way, 1);
    fence_full(); /* pairs with _enter: it sees the fork, or this sees its call */
    gnomon__os_wait_until(&loader_calls, loader_calls_here, FORK_WAITS_NS);
}

void gnomon__os_loader_after_fork(int in_child)
{
    forks_here--;
    if (in_child)
        store_relaxed(&forks_under_way, forks_here); /* of this thread alone */
    else
        sub_release(&forks_under_way, 1);
    (void)gnomon__os_wake(&forks_under_way);
}

/* Before a call that would be one of a thread which the child does not have. */
static void let_forks_pass(void)
{
    sub_release(&loader_calls, 1);
    (void)gnomon__os_wake(&loader_calls);
    gnomon__os_wait_until(&forks_under_way, 0, FORK_WAITS_NS);
    add_release(&loader_calls, 1);
}

int gnomon__os_loader_enter(void)
{
    if (gnomon__os_is_new_child(&loader_made_in, &loader_pid)) {
        store_relaxed(&loader_is_held,
                      load_relaxed(&loader_calls) > loader_calls_here);
        store_relaxed(&loader_calls, loader_calls_here);
        store_relaxed(&loading, loading_here);
        store_relaxed(&forks_under_way, forks_here);
    }
    if (load_relaxed(&loader_is_held))
        return 0;
    gnomon__os_loading(1);
    loader_calls_here++;
    add_release(&loader_calls, 1);
    fence_full();
    if (unlikely(load_relaxed(&forks_under_way)) && loader_calls_here == 1 &&
        !forks_here)
        let_forks_pass();
    return 1;
}

void gnomon__os_loader_leave(void)
{
    sub_release(&loader_calls, 1);
    fence_full();
    if (unlikely(load_relaxed(&forks_under_way)))
        (void)gnomon__os_wake(&loader_calls);
    loader_calls_here--;
    gnomon__os_loading(-1);
}

/* The list has a lock of its own too, and a host that walks the list may
 * call us under it. */
static int walk(int (*found)(struct dl_phdr_info *, size_t, void *), void *out)
{
    if (!gnomon__os_loader_enter())
        return 0;
    int result = dl_iterate_phdr(found, out);
    gnomon__os_loader_leave();
    return result;
}

/* Without cancellation, which could end the thread in a constructor. */
static void *open_module(const char *name, int flags)
{
    void *library = NULL;
    int cancel = gnomon__os_cancel_off();
    if (gnomon__os_loader_enter()) {
        library = dlopen(name, flags | RTLD_LOCAL);
        gnomon__os_loader_leave();
    }
    gnomon__os_cancel_back(cancel);
    return library;
}

/* ---- Opened by us --------------------------------------------------------- */

/* Whether the first of the list is the program: in a namespace of its own
 * (dlmopen) it is a module. The program's name is empty in one libc; in
 * another it is how the program was called, so its headers are compared. */
static int is_program(const struct dl_phdr_info *first)
{
    return !first->dlpi_name || !*first->dlpi_name ||
           (uintptr_t)first->dlpi_phdr == getauxval(AT_PHDR);
}

/* What the first of the list is. */
enum { A_MODULE = 1, INTERPRETED = 2 };

static int find_kind(struct dl_phdr_info *first, size_t size, void *kind)
{
    (void)size;
    *(int *)kind = is_program(first) ? 0 : A_MODULE;
    for (int i = 0; i < first->dlpi_phnum; i++)
        if (first->dlpi_phdr[i].p_type == PT_INTERP)
            *(int *)kind |= INTERPRETED;
    return 1;
}

static int first_kind(void)
{
    int kind = INTERPRETED;
    walk(find_kind, &kind);
    return kind;
}

int gnomon__os_is_static(void)
{
    return first_kind() == 0;
}

int gnomon__os_is_namespace(void)
{
    return first_kind() & A_MODULE;
}

static void *load_library(const char *path, int flags, const char **why)
{
    if (gnomon__os_is_static()) {
        *why = "this program is linked statically";
        return NULL;
    }
    void *library = open_module(path, RTLD_NOW | flags);
    *why = NULL;
    if (load_relaxed(&loader_is_held)) {
        *why = "this process was forked while its parent loaded a library";
    } else if (library == NULL) {
        *why = dlerror();
        if (*why == NULL)
            *why = "the system gives no reason";
    }
    return library;
}

/* A library that closes itself stays too. */
void *gnomon__os_library(const char *path, const char **why)
{
    return load_library(path, RTLD_NODELETE, why);
}

void *gnomon__os_library_to_try(const char *path, const char **why)
{
    return load_library(path, 0, why);
}

void gnomon__os_library_close(void *library)
{
    int cancel = gnomon__os_cancel_off();
    if (gnomon__os_loader_enter()) {
        (void)dlclose(library);
        gnomon__os_loader_leave();
    }
    gnomon__os_cancel_back(cancel);
}

void *gnomon__os_library_loaded(const char *name)
{
    return open_module(name, RTLD_NOW | RTLD_NOLOAD);
}

void *gnomon__os_symbol(void *library, const char *name)
{
    void *symbol = NULL;
    if (gnomon__os_loader_enter()) {
        symbol = dlsym(library, name);
        gnomon__os_loader_leave();
    }
    return symbol;
}

/* ---- Of the program -------------------------------------------------------- */

/* Address ranges of the modules that stay mapped: first the program, then
 * others as they were pinned. Modules past the end are pinned again for each
 * of their regions. `end` is written first, so a reader that finds `begin`
 * may read it. */
#define MODULES 64u
static struct {
    uintptr_t begin, end;
} staying[MODULES];
static uint32_t staying_count = 1;

static void note_staying(uint32_t at, uintptr_t begin, uintptr_t end)
{
    if (at >= MODULES)
        return;
    store_relaxed(&staying[at].end, end);
    store_release(&staying[at].begin, begin);
}

int gnomon__os_is_pinned(const void *address)
{
    uintptr_t at = (uintptr_t)address;
    for (uint32_t i = 0; i < MODULES; i++) {
        uintptr_t begin = load_acquire(&staying[i].begin);
        if (!begin && i)
            return 0;
        if (begin && at >= begin && at < load_relaxed(&staying[i].end))
            return 1;
    }
    return 0;
}

typedef struct module {
    uintptr_t address; /* that it holds */
    uintptr_t begin, end, base;
    char *name; /* of `room` bytes; 0: not wanted */
    size_t room;
    int is_program;
    int visited;
} module;

/* Amid the walk, as the loader frees the name with the module. 0: there is no room for
 * it, and a cut name could be another module's. */
static int take_module_name(const module *m, const char *name)
{
    size_t bytes = m->room && name ? strlen(name) + 1 : 0;
    if (bytes && bytes <= m->room)
        memcpy(m->name, name, bytes);
    return bytes <= m->room;
}

static int find_module(struct dl_phdr_info *info, size_t size, void *data)
{
    module *m = data;
    uintptr_t begin = UINTPTR_MAX, end = 0;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t at = info->dlpi_addr + p->p_vaddr;
        if (p->p_type != PT_LOAD)
            continue;
        begin = at < begin ? at : begin;
        end = at + p->p_memsz > end ? at + p->p_memsz : end;
    }
    if (!m->visited++ && is_program(info)) {
        note_staying(0, begin, end);
        m->is_program = 1;
    }
    if (m->address >= begin && m->address < end) {
        m->begin = begin;
        m->end = end;
        m->base = info->dlpi_addr;
        return take_module_name(m, info->dlpi_name) || m->is_program;
    }
    m->is_program = 0;
    return 0;
}

/* Whether the module of that name, which stays from now on, is the one that was found:
 * that one may have been closed, and loaded again elsewhere. */
static int keep_module(const module *m)
{
    struct link_map *map = NULL;
    void *library =
        open_module(m->name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    return library && !dlinfo(library, RTLD_DI_LINKMAP, &map) &&
           map->l_addr == m->base;
}

int gnomon__os_pin_module(const void *address)
{
    char name[PATH_MAX]; /* longer ones cannot be opened */
    int kept_errno = errno, is_pinned = gnomon__os_is_pinned(address);
    module m = {
        .address = (uintptr_t)address, .name = name, .room = sizeof name};
    /* Memory in no module is not unmapped by dlclose. Only pinned modules
     * are noted, as another module may be mapped where one was closed. */
    if (!is_pinned && walk(find_module, &m)) {
        is_pinned = m.is_program || keep_module(&m);
        if (is_pinned && !m.is_program)
            note_staying(add_relaxed(&staying_count, 1), m.begin, m.end);
    }
    errno = kept_errno;
    return is_pinned;
}

/* What is there from the start is listed before the loader itself, which libc
 * needs, unless only libraries of libraries of libraries need it. */
static int find_early(struct dl_phdr_info *info, size_t size, void *is_early)
{
    module m = {.address = (uintptr_t)&staying_count, .visited = 1};
    *(int *)is_early = find_module(info, size, &m);
    return *(int *)is_early || info->dlpi_addr == getauxval(AT_BASE);
}

int gnomon__os_is_late(void)
{
    int is_early = 0;
    if (!gnomon__os_is_namespace())
        walk(find_early, &is_early);
    return !is_early;
}

typedef void visit_segment(uintptr_t begin, uintptr_t end);

static int visit_writable_segments(struct dl_phdr_info *info, size_t size,
                                   void *found)
{
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && (p->p_flags & PF_W))
            (*(visit_segment **)found)(begin, begin + p->p_memsz);
    }
    return 0;
}

void gnomon__os_writable_segments(void (*found)(uintptr_t begin, uintptr_t end))
{
    int kept_errno = errno;
    walk(visit_writable_segments, &found);
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
    walk(search_module, &s);
}

void gnomon__os_beside(const void *address, const char *name, char *path,
                       size_t size)
{
    static const char here;
    module m = {.address = (uintptr_t)(address ? address : &here),
                .name = path,
                .room = size};
    *path = '\0';
    walk(find_module, &m);
    if (m.is_program) { /* the loader has no name for it */
        ssize_t n = readlinkat(AT_FDCWD, "/proc/self/exe", path, size - 1);
        path[n < 0 ? 0 : n] = '\0';
    }
    char *slash = strrchr(path, '/'), *end = slash ? slash + 1 : path;
    (void)snprintf(end, size - (size_t)(end - path), "%s", name);
}
