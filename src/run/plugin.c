/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Profilers by name: what the program registered, the built-in ones, and what a
 * file exports. Libraries are never closed: their code may be on a stack. */
#include <stddef.h>
#include <string.h>

#include "platform/error.h"
#include "platform/os.h"
#include "profilers/table.h"
#include "run/host.h"
#include "run/run.h"

#define MAX_KNOWN 96

/* Counted once they are there: a child may be forked at any moment. */
static const gnomon_profiler *known_profilers[MAX_KNOWN];
static size_t known_count;

/* The fields of the first release: a table must hold them. */
#define FIRST_SIZE (offsetof(gnomon_profiler, options))

int gnomon__profiler_check(const gnomon_profiler *p)
{
    if (!p)
        return gnomon__fail(GNOMON_EINVAL, "no profiler (NULL)");
    if (p->abi != GNOMON_ABI)
        return gnomon__fail(GNOMON_EABI,
                            "the profiler was made for generation %u of "
                            "gnomon, this is %d: compile it again",
                            (unsigned)p->abi, GNOMON_ABI);
    if (p->struct_size < FIRST_SIZE)
        return gnomon__fail(GNOMON_EABI,
                            "the profiler's struct_size is %u: set it to "
                            "sizeof(gnomon_profiler)",
                            (unsigned)p->struct_size);
    if (!p->name || !*p->name)
        return gnomon__fail(GNOMON_EINVAL, "the profiler has no name");
    return GNOMON_OK;
}

/* Registered profilers come first, so they can replace built-in ones. */
static void enter_builtins(void)
{
    size_t i = 0;
    for (; i < MAX_KNOWN && gnomon__profilers[i]; i++)
        known_profilers[i] = *gnomon__profilers[i];
    store_release(&known_count, i);
}

int gnomon__profiler_is_builtin(const gnomon_profiler *profiler)
{
    size_t i = 0;
    while (gnomon__profilers[i] && *gnomon__profilers[i] != profiler)
        i++;
    return gnomon__profilers[i] != NULL;
}

const gnomon_profiler *const *gnomon__profilers_known(size_t *count)
{
    if (!known_count)
        enter_builtins();
    *count = known_count;
    return known_profilers;
}

const gnomon_profiler *gnomon__profiler_named(const char *name)
{
    size_t count, i = 0;
    const gnomon_profiler *const *all = gnomon__profilers_known(&count);
    while (i < count && !gnomon__same_word(all[i]->name, name))
        i++;
    return i < count ? all[i] : NULL;
}

int gnomon__profiler_add(const gnomon_profiler *profiler)
{
    int code = gnomon__profiler_check(profiler);
    if (code)
        return code;
    size_t count, i = 0;
    gnomon__profilers_known(&count);
    while (i < count &&
           !gnomon__same_word(known_profilers[i]->name, profiler->name))
        i++;
    if (i == MAX_KNOWN)
        return gnomon__fail(GNOMON_EFULL,
                            "%d profilers are registered, no more fit",
                            MAX_KNOWN);
    known_profilers[i] = profiler;
    store_release(&known_count, i < count ? count : count + 1);
    return GNOMON_OK;
}

int gnomon__plugin_load(const gnomon_profiler **out, const char *path,
                        const char *shown)
{
    const char *why = "", *rest;
    if (gnomon__os_is_secure()) /* an unprivileged user may own the file */
        return gnomon__fail(GNOMON_ESTATE,
                            "plugin %s is not loaded: this program runs with "
                            "more rights than its user",
                            shown);
    if (gnomon__os_is_static())
        return gnomon__fail(GNOMON_ESTATE,
                            "plugin %s is not loaded: this program is linked "
                            "statically",
                            shown);
    gnomon__control_loads(1);
    void *library = gnomon__os_library(path, &why);
    gnomon__control_loads(-1);
    if (!library) { /* most loaders put the path first */
        rest = strstr(why, path);
        why = rest ? rest + strlen(path) : why;
        /* Without a slash the loader searches its own folders only. */
        int is_here = !strchr(path, '/') && !gnomon__os_is_missing(path);
        return gnomon__fail(GNOMON_ENOENT, "cannot load plugin %s: %s%s%s",
                            shown, why + strspn(why, ": "),
                            is_here ? ". For the file in this folder write ./"
                                    : "",
                            is_here ? shown : "");
    }
    void *symbol = gnomon__os_symbol(library, GNOMON_PLUGIN_ENTRY);
    gnomon_plugin_entry *entry;
    memcpy(&entry, &symbol, sizeof entry); /* ISO C has no such cast */
    if (!symbol)
        return gnomon__fail(GNOMON_ENOENT,
                            "plugin %s does not export " GNOMON_PLUGIN_ENTRY,
                            shown);
    const gnomon_profiler *profiler = entry(&gnomon__upcall_host);
    if (!profiler)
        return gnomon__fail(GNOMON_EPLUGIN,
                            "plugin %s does not want to run with gnomon %s, "
                            "generation %d: compile it again, if it was made "
                            "for another one",
                            shown, GNOMON_VERSION, GNOMON_ABI);
    *out = profiler;
    int code = gnomon__profiler_check(profiler);
    if (code)
        gnomon__fail(code, "plugin %s: %s", shown, gnomon_error_text());
    return code;
}
