/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads one side of a comparison, file after file and run after run, so that many ranks
 * in one file take the memory of one. Files are not merged: gnomon__diff_add leaves out
 * what two files have in common. */
#include "diff/side.h"

#include "command/command.h"
#include "merge/gather.h"
#include "command/notes.h"
#include "command/progress.h"
#include "platform/error.h"

static int add_runs(gnomon__diff *diff, enum gnomon__side side,
                    gnomon__gather *g, gnomon__cli_notes *notes)
{
    size_t runs = gnomon__merge_count(g->merge);
    int code = GNOMON_OK;
    for (size_t i = 0; !code && i < runs; i++) {
        const gnomon_profile *read;
        gnomon_profile *made = NULL;
        code = gnomon__merge_run_read(g->merge, i, &read);
        if (!code && !read)
            code = gnomon__merge_run(g->merge, i, &made);
        if (!code)
            code = gnomon__diff_add(diff, side, read ? read : made);
        if (!code)
            code = gnomon__cli_notes_add(notes, read ? read : made);
        gnomon_profile_free(made);
    }
    return code;
}

static int read_file(gnomon__diff *diff, enum gnomon__side side,
                     const gnomon__cli_inputs *in, size_t which)
{
    const uint32_t kinds =
        GNOMON__EVERY_KIND & ~(1u << GNOMON_EVENTS) & ~(1u << GNOMON_LINKS);
    const gnomon__cli_inputs one = {&in->paths[which], 1, 1};
    const char *path = in->paths[which];
    gnomon__cli_notes notes = {0};
    gnomon__gather g = {.fd = -1};
    int status = gnomon__gather_begin(&g, &one, kinds, 1);
    gnomon__progress_at("file", which + 1, in->count);
    int code = status ? GNOMON_OK : add_runs(diff, side, &g, &notes);
    gnomon__progress_hide();
    if (code) {
        gnomon__log("%s: %s", path,
                    *gnomon_error_text() ? gnomon_error_text()
                                         : gnomon_error_name(code));
        status = GNOMON__EXIT_UNREADABLE;
    }
    status = gnomon__cli_worse(status, gnomon__cli_notes_print(&notes, path));
    gnomon__cli_notes_free(&notes);
    if (g.merge)
        status = gnomon__cli_worse(status, gnomon__gather_damage(&g));
    gnomon__gather_end(&g);
    return status;
}

int gnomon__diff_read_side(gnomon__diff *diff, enum gnomon__side side,
                           char *word)
{
    gnomon__cli_inputs in = {0};
    char *words[] = {word, NULL};
    int status = gnomon__cli_expand(&in, words);
    gnomon__progress_begin(&in);
    for (size_t i = 0; i < in.count; i++)
        status = gnomon__cli_worse(status, read_file(diff, side, &in, i));
    gnomon__progress_end();
    gnomon__cli_inputs_free(&in);
    size_t doubled = diff->doubled[side];
    size_t other = diff->in_other_views[side];
    if (doubled)
        gnomon__log("%s: %zu stage%s there twice, and count%s once", word,
                    doubled, doubled == 1 ? " is" : "s are",
                    doubled == 1 ? "s" : "");
    if (other)
        gnomon__log("%s: %zu stage%s there in another view, too, which is left "
                    "out: --view chooses one",
                    word, other, other == 1 ? " is" : "s are");
    return status;
}
