/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Import tables: where a loaded file keeps the addresses of what it calls in others. A call
 * that was never made may have no address yet, but one in the file itself that seeks it.
 *
 * Left alone: gnomon's own files; mimalloc's, which calls itself; a sanitizer's, and with it the
 * C library's, which calls us before the sanitizer knows the thread; and whatever is neither
 * the real function nor sought yet, as another tool's. A thread that seeks the same address just
 * now may put the real one back: a second call puts ours there again. */
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "malloc/calls.h"

#ifdef __aarch64__
#define JUMP R_AARCH64_JUMP_SLOT
#define DATA R_AARCH64_GLOB_DAT
#define WORD R_AARCH64_ABS64
#else
#define JUMP R_X86_64_JUMP_SLOT
#define DATA R_X86_64_GLOB_DAT
#define WORD R_X86_64_64
#endif

typedef struct taking {
    const char *file, *names;
    uintptr_t page;
    /* The program's jumps, whose addresses stand for those of the calls. */
    uintptr_t jumps[GNOMON__HEAP_COUNT];
    int tables, is_refused;
    int has_unknown; /* a call that nobody has sought so far */
    int is_left;     /* the module at hand is not asked for */
} taking;

typedef struct module {
    uintptr_t base, begin, end;
    uintptr_t fixed, fixed_end; /* read only once it was loaded */
    const ElfW(Sym) * symbols;
    const char *texts;
    const ElfW(Rela) * tables[2];
    size_t bytes[2];
} module;

/* Most loaders have made addresses of these words; others leave offsets. */
static uintptr_t address_of(const module *m, const ElfW(Dyn) * d)
{
    return d->d_un.d_ptr < m->base ? m->base + d->d_un.d_ptr : d->d_un.d_ptr;
}

static void read_dynamic(module *m, const ElfW(Dyn) * d)
{
    for (; d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_SYMTAB)
            m->symbols = (const ElfW(Sym) *)address_of(m, d);
        else if (d->d_tag == DT_STRTAB)
            m->texts = (const char *)address_of(m, d);
        else if (d->d_tag == DT_JMPREL)
            m->tables[0] = (const ElfW(Rela) *)address_of(m, d);
        else if (d->d_tag == DT_PLTRELSZ)
            m->bytes[0] = d->d_un.d_val;
        else if (d->d_tag == DT_RELA)
            m->tables[1] = (const ElfW(Rela) *)address_of(m, d);
        else if (d->d_tag == DT_RELASZ)
            m->bytes[1] = d->d_un.d_val;
}

static module module_of(const struct dl_phdr_info *info)
{
    module m = {.base = info->dlpi_addr, .begin = UINTPTR_MAX};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        const uintptr_t at = m.base + p->p_vaddr, end = at + p->p_memsz;
        if (p->p_type == PT_LOAD) {
            m.begin = at < m.begin ? at : m.begin;
            m.end = end > m.end ? end : m.end;
        } else if (p->p_type == PT_DYNAMIC) {
            read_dynamic(&m, (const ElfW(Dyn) *)at);
        } else if (p->p_type == PT_GNU_RELRO) {
            m.fixed = at;
            m.fixed_end = end;
        }
    }
    return m;
}

static int holds(const module *m, gnomon__heap_function *function)
{
    return (uintptr_t)function >= m->begin && (uintptr_t)function < m->end;
}

/* Whether the name is one of them, whatever is between them. */
static int is_named(const char *names, const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz_";
    const size_t n = strlen(name);
    while (names && *names) {
        const size_t length = strspn(names, letters);
        if (length == n && memcmp(names, name, n) == 0)
            return 1;
        names += length ? length : 1;
    }
    return !names;
}

/* The call of a symbol; GNOMON__HEAP_COUNT: it is none of ours. */
static int call_of(const taking *t, const char *name)
{
    int i = 0;
    while (i < GNOMON__HEAP_COUNT &&
           strcmp(name, gnomon__heap_calls[i].name) != 0)
        i++;
    return i < GNOMON__HEAP_COUNT && gnomon__heap_calls[i].ours &&
                   (gnomon__heap_real[i] || t->jumps[i]) &&
                   is_named(t->names, name)
               ? i
               : GNOMON__HEAP_COUNT;
}

static void put(taking *t, const module *m, uintptr_t *slot,
                gnomon__heap_function *ours)
{
    const uintptr_t page = (uintptr_t)slot & ~(t->page - 1);
    const int is_fixed =
        (uintptr_t)slot >= m->fixed && page < (m->fixed_end & ~(t->page - 1));
    if (is_fixed &&
        mprotect((void *)page, t->page, PROT_READ | PROT_WRITE) != 0) {
        t->is_refused = 1;
        return;
    }
    store_release(slot, (uintptr_t)ours);
    if (is_fixed)
        (void)mprotect((void *)page, t->page, PROT_READ);
}

static void take_entry(taking *t, const module *m, const ElfW(Rela) * entry)
{
    const uint64_t type = ELF64_R_TYPE(entry->r_info);
    const ElfW(Sym) *symbol = &m->symbols[ELF64_R_SYM(entry->r_info)];
    uintptr_t *slot = (uintptr_t *)(m->base + entry->r_offset);
    if ((type != JUMP && type != DATA && type != WORD) || entry->r_addend)
        return;
    const int i = call_of(t, m->texts + symbol->st_name);
    if (i == GNOMON__HEAP_COUNT)
        return;
    const uintptr_t now = load_acquire(slot);
    const int is_sought = type == JUMP && now >= m->begin && now < m->end;
    /* A program at a fixed address that has the call's address: it is the program's jump
     * to it for all, but for what only calls it. */
    if (type == JUMP && !symbol->st_shndx && symbol->st_value) {
        t->jumps[i] = m->base + symbol->st_value;
        if ((uintptr_t)gnomon__heap_real[i] == t->jumps[i])
            store_release(&gnomon__heap_real[i],
                          is_sought ? NULL : (gnomon__heap_function *)now);
    }
    /* Where that was not sought yet, it is what another file has found. */
    if (!gnomon__heap_real[i] && type == JUMP && !is_sought)
        store_release(&gnomon__heap_real[i], (gnomon__heap_function *)now);
    t->has_unknown |= !gnomon__heap_real[i];
    if (!gnomon__heap_real[i] || t->is_left)
        return;
    if (now == (uintptr_t)gnomon__heap_real[i] || is_sought ||
        (t->jumps[i] && now == t->jumps[i]))
        put(t, m, slot, gnomon__heap_calls[i].ours);
}

/* See above. What is not in the process is in no module. */
static int is_left_alone(const module *m)
{
    gnomon__heap_function *const *const real = gnomon__heap_real;
    return !m->symbols || !m->texts || holds(m, gnomon__heap_calls[0].ours) ||
           holds(m, real[GNOMON__AT_mi_malloc]) ||
           holds(m, real[GNOMON__AT___asan_init]) ||
           holds(m, real[GNOMON__AT___tsan_init]) ||
           (gnomon__heap_has_sanitizer() &&
            holds(m, real[GNOMON__AT___libc_start_main]));
}

static int take_module(struct dl_phdr_info *info, size_t size, void *data)
{
    taking *t = data;
    const char *path = info->dlpi_name ? info->dlpi_name : "";
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const module m = module_of(info);
    (void)size;
    if (strncmp(name, "libgnomon", 9) == 0 || is_left_alone(&m))
        return 0;
    t->is_left = t->file && strncmp(name, t->file, strlen(t->file)) != 0;
    if (t->is_left && *path) /* the program comes first, and tells its jumps */
        return 0;
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; m.tables[k] && i < m.bytes[k] / sizeof(ElfW(Rela));
             i++)
            if (ELF64_R_SYM(m.tables[k][i].r_info))
                take_entry(t, &m, &m.tables[k][i]);
    t->tables += !t->is_left;
    return 0;
}

int gnomon__imports_take(const char *file, const char *names)
{
    taking t = {
        .file = file, .names = names, .page = (uintptr_t)sysconf(_SC_PAGESIZE)};
    (void)dl_iterate_phdr(take_module, &t);
    if (t.has_unknown) { /* a later file may have found it */
        t.tables = 0;
        (void)dl_iterate_phdr(take_module, &t);
    }
    return t.is_refused ? -1 : t.tables;
}
