/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reports of a program that has ended. Who knew the rank, stage and process of a
 * name is gone, so what a name may have become is a pattern: each % is anything,
 * and more may stand before the extension (docs/environment.md, Files). */
#include "cli/found.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command/inputs.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "spec/spec.h"

#define LONGEST 4096

void gnomon__cli_found_begin(gnomon__cli_found *f)
{
    clock_gettime(CLOCK_REALTIME_COARSE, &f->since);
}

/* ---- Patterns -------------------------------------------------------------------- */

/* Appends the n bytes of a name as a pattern. */
static void found_append(char *pattern, const char *name, size_t n)
{
    size_t used = strlen(pattern);
    for (size_t i = 0; i < n && used + 3 < LONGEST; i++) {
        if (name[i] == '%' && i + 1 < n) {
            i++;
            pattern[used++] = name[i] == '%' ? '%' : '*';
            continue;
        }
        if (strchr("*?[]\\", name[i]))
            pattern[used++] = '\\';
        pattern[used++] = name[i];
    }
    pattern[used] = 0;
}

/* Without its extension, of which .gnomon.json is one. */
static size_t found_stem(const char *name)
{
    static const char json[] = ".gnomon.json";
    const char *slash = strrchr(name, '/'), *dot;
    size_t n = strlen(name);
    if (n > sizeof json && strcmp(name + n - (sizeof json - 1), json) == 0)
        return n - (sizeof json - 1);
    dot = strrchr(slash ? slash : name, '.');
    return dot ? (size_t)(dot - name) : n;
}

/* The files of one pattern that are new, and not among those already. */
static void found_add(const gnomon__cli_found *f, gnomon__cli_inputs *files,
                      const char *pattern)
{
    glob_t all;
    struct stat about;
    if (glob(pattern, 0, NULL, &all) != 0)
        return;
    for (size_t i = 0; i < all.gl_pathc; i++) {
        char *words[] = {all.gl_pathv[i], NULL};
        int known = 0;
        for (size_t k = 0; k < files->count; k++)
            known |= strcmp(files->paths[k], words[0]) == 0;
        if (known || stat(words[0], &about) != 0 || !S_ISREG(about.st_mode))
            continue;
        if (about.st_mtim.tv_sec > f->since.tv_sec ||
            (about.st_mtim.tv_sec == f->since.tv_sec &&
             about.st_mtim.tv_nsec >= f->since.tv_nsec))
            (void)gnomon__cli_add(files, words[0]);
    }
    globfree(&all);
}

/* file=: its name, with "-rank" or "-pid" before the extension, and files of
 * the profiler's own beside it. */
static void found_file(const gnomon__cli_found *f, gnomon__cli_inputs *files,
                       const char *name)
{
    char pattern[LONGEST + 16] = "";
    size_t stem = found_stem(name), n;
    found_append(pattern, name, strlen(name));
    found_add(f, files, pattern);
    *pattern = 0;
    found_append(pattern, name, stem);
    n = strlen(pattern);
    strcat(pattern, "-*");
    found_append(pattern, name + stem, strlen(name + stem));
    found_add(f, files, pattern);
    strcpy(pattern + n, "*.prof");
    found_add(f, files, pattern);
}

/* dir=: Lightning's names in it, "fit-simple-0.txt". */
static void found_dir(const gnomon__cli_found *f, gnomon__cli_inputs *files,
                      const char *dir, const char *name)
{
    static const char *const ends[] = {".txt", ".prof", ".gnomon",
                                       ".gnomon.json"};
    char pattern[LONGEST + 16] = "";
    found_append(pattern, dir, strlen(dir));
    strcat(pattern, "/*");
    found_append(pattern, name, found_stem(name));
    strcat(pattern, "*");
    size_t n = strlen(pattern);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        strcpy(pattern + n, ends[i]);
        found_add(f, files, pattern);
    }
}

/* ---- What the spec says ------------------------------------------------------------ */

/* The value of a key: the item's, else a free one; NULL: not given. */
static const char *found_value(const gnomon__settings *settings,
                               const char *key, const char *otherwise)
{
    const char *value = otherwise;
    for (size_t i = 0; i < settings->count; i++)
        if (gnomon__same_word(settings->at[i].key, key))
            value = settings->at[i].value ? settings->at[i].value : "";
    return value;
}

static int is_stream(const char *name)
{
    return strncmp(name, "/dev/", 5) == 0 || strncmp(name, "/proc/", 6) == 0;
}

/* Whether the item names files at all. */
static int found_item(const gnomon__cli_found *f, gnomon__cli_inputs *files,
                      const gnomon__spec *spec, const gnomon__spec_item *item)
{
    const gnomon__settings *free_ones = &spec->defaults;
    const char *file = found_value(&item->settings, "file",
                                   found_value(free_ones, "file", NULL));
    const char *dir = found_value(&item->settings, "dir",
                                  found_value(free_ones, "dir", NULL));
    if (dir)
        found_dir(f, files, *dir ? dir : ".", file ? file : item->name);
    else if (file && !is_stream(file))
        found_file(f, files, file);
    return dir || (file && !is_stream(file));
}

void gnomon__cli_found_tell(const gnomon__cli_found *f, const char *text)
{
    gnomon__complaints unheard = {0}; /* the program has told of them */
    gnomon__cli_inputs files = {0};
    gnomon__spec spec = {0};
    int names_files = 0;
    (void)gnomon__spec_parse(&spec, text, "--profiler", &unheard);
    for (size_t i = 0; i < spec.item_count; i++)
        names_files |= found_item(f, &files, &spec, &spec.items[i]);
    for (size_t i = 0; i < files.count; i++)
        gnomon__log("report: %s", files.paths[i]);
    if (names_files && !files.count)
        gnomon__log("no report was written");
    gnomon__cli_inputs_free(&files);
    gnomon__complaints_free(&unheard);
    gnomon__spec_free(&spec);
}
