/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Files as inputs of a merge. A .gnomon file is read in place. Any other is converted to
 * .gnomon in memory while it is open; a pipe, which cannot be read twice, stays there. */
#include "merge/gather.h"

#include <string.h>
#include <sys/stat.h>

#include "command/command.h"
#include "command/progress.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "platform/os.h"

/* ---- Inputs ----------------------------------------------------------------------- */

static int memory_read(void *context, uint64_t at, void *bytes, size_t size)
{
    const gnomon__cli_memory *from = context;
    memcpy(bytes, from->bytes + at, size);
    return GNOMON_OK;
}

/* Damage is recorded in the profile, as losses. */
static int memory_load(gnomon__gather *g, gnomon__cli_memory *to,
                       const char *path, int again)
{
    const gnomon_writer out = gnomon__cli_memory_writer(to);
    gnomon_profile *p;
    int code =
        again ? gnomon__cli_load_again(path, &p) : gnomon__cli_load(path, &p);
    g->was_logged = code != GNOMON_OK;
    if (!code)
        code = gnomon_profile_write(p, GNOMON_FORM_FILE, &out);
    gnomon_profile_free(p);
    return code;
}

static int file_read(void *context, uint64_t at, void *bytes, size_t size)
{
    const gnomon__gather *g = context;
    int error = gnomon__os_read_at(g->fd, at, bytes, size);
    return error ? gnomon__fail(GNOMON_EIO, "%s", strerror(error)) : GNOMON_OK;
}

static int file_hold(void *context)
{
    const gnomon__gather *g = context;
    return gnomon__os_open_again(g->fd);
}

/* Opens the file, if it begins as a .gnomon file does; else 0. */
static int opens_as_file(gnomon__gather *g, const char *path,
                         gnomon__source *out)
{
    char magic[sizeof GNOMON__FILE_MAGIC - 1];
    uint64_t size;
    if (gnomon__os_open(path, &g->fd, &size) != 0)
        return 0;
    if (size >= sizeof magic &&
        gnomon__os_read_at(g->fd, 0, magic, sizeof magic) == 0 &&
        memcmp(magic, GNOMON__FILE_MAGIC, sizeof magic) == 0) {
        *out = (gnomon__source){size, file_read, g, file_hold};
        return 1;
    }
    gnomon__os_close(g->fd);
    return 0;
}

static int can_be_read_again(const char *path)
{
    struct stat about;
    return strcmp(path, "-") != 0 && stat(path, &about) == 0 &&
           S_ISREG(about.st_mode);
}

static int gather_open(void *context, size_t input, gnomon__source *out)
{
    gnomon__gather *g = context;
    const char *path = g->in->paths[input];
    gnomon__cli_memory *to = &g->kept[input];
    g->fd = -1;
    g->was_logged = 0;
    if (!to->bytes) {
        if (strcmp(path, "-") != 0 && opens_as_file(g, path, out))
            return GNOMON_OK;
        g->fd = -1;
        if (can_be_read_again(path))
            to = &g->loaded;
        int code = memory_load(g, to, path, g->was_loaded[input]);
        g->was_loaded[input] = 1;
        if (code) {
            gnomon__cli_memory_free(to);
            return code;
        }
    }
    *out = (gnomon__source){to->size, memory_read, to, NULL};
    return GNOMON_OK;
}

static void gather_close(void *context, gnomon__source *source)
{
    gnomon__gather *g = context;
    (void)source;
    if (g->fd >= 0)
        gnomon__os_close(g->fd);
    g->fd = -1;
    gnomon__cli_memory_free(&g->loaded);
}

/* ---- The whole ---------------------------------------------------------------------- */

int gnomon__gather_begin(gnomon__gather *g, const gnomon__cli_inputs *in,
                         uint32_t kinds, int apart)
{
    int status = GNOMON__EXIT_OK;
    *g = (gnomon__gather){.in = in, .fd = -1};
    const gnomon__merge_inputs inputs = {in->count, gather_open, gather_close,
                                         g, apart};
    g->kept = gnomon__alloc((in->count + 1) * sizeof *g->kept);
    g->was_loaded = gnomon__alloc(in->count + 1);
    int code = g->kept && g->was_loaded
                   ? gnomon__merge_create(&g->merge, &inputs, kinds)
                   : GNOMON_ENOMEM;
    for (size_t i = 0; !code && i < in->count; i++) {
        gnomon__progress_at("file", i + 1, in->count);
        int wrong = gnomon__merge_scan(g->merge, i);
        gnomon__progress_hide();
        if (!wrong)
            continue;
        if (!g->was_logged)
            gnomon__log("%s: %s", in->paths[i], gnomon_error_text());
        status = GNOMON__EXIT_UNREADABLE;
    }
    if (!code)
        code = gnomon__merge_order(g->merge);
    if (!code)
        return status;
    gnomon__log("no memory for so many runs");
    gnomon__merge_free(g->merge);
    g->merge = NULL;
    return GNOMON__EXIT_UNREADABLE;
}

int gnomon__gather_whole(gnomon__gather *g, size_t input, gnomon_profile **out,
                         uint64_t *events)
{
    const gnomon__file_part all = {
        .begin = GNOMON__FILE_HEADER, .end = UINT64_MAX, .is_whole = 1};
    gnomon__file_index index = {0};
    gnomon__source from;
    *out = NULL;
    gnomon__fail_clear();
    gnomon__merge_close(g->merge);
    int code = gather_open(g, input, &from);
    if (!code)
        code = gnomon__index_file(&index, &from);
    if (!code)
        code = gnomon__read_part(out, &from, &all, 0,
                                 GNOMON__EVERY_KIND & ~(1u << GNOMON_EVENTS));
    *events = index.seen[GNOMON_EVENTS];
    gnomon__index_free(&index);
    if (code && !g->was_logged)
        gnomon__log("%s: %s", g->in->paths[input], gnomon_error_text());
    gather_close(g, &from);
    return code;
}

void gnomon__gather_end(gnomon__gather *g)
{
    gnomon__merge_free(g->merge);
    gnomon__cli_memory_free(&g->loaded);
    for (size_t i = 0; g->kept && i < g->in->count; i++)
        gnomon__cli_memory_free(&g->kept[i]);
    gnomon__free(g->kept);
    gnomon__free(g->was_loaded);
    *g = (gnomon__gather){.fd = -1};
}
