/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Profiles into files: what a profiler with a tree recorded goes to its file=
 * where that ends in .gnomon or .gnomon.json, whenever reports come.
 *
 * With %s in its name a file holds the stages of one name, else the whole run. Each
 * stage is appended to a .gnomon file when it is over, and so are its late records.
 * A JSON file is written anew each time, with stages of one name added up. Two views
 * never share a file. */
#include <errno.h>
#include <string.h>

#include "platform/error.h"
#include "platform/memory.h"
#include "platform/os.h"
#include "spec/names.h"
#include "profile/file_write.h"
#include "profile/model.h"
#include "run/files.h"
#include "run/run.h"
#include "run/snapshots.h"

/* ---- Who writes which -------------------------------------------------------------- */

static int same_word_of(const gnomon__attachment *a,
                        const gnomon__attachment *b, const char *key)
{
    const char *x = gnomon__options_text(a->options, key);
    const char *y = gnomon__options_text(b->options, key);
    return x == y || (x && y && strcmp(x, y) == 0);
}

static int has_a_tree(const gnomon__attachment *a)
{
    return (a->profiler.wants & GNOMON_WANT_TREE) != 0;
}

/* Of the profilers of one view only one writes the file: the first of those that have
 * events, else the first. The others' would be the same, or lack the events. */
int gnomon__profile_is_kept(const gnomon__attachment *a)
{
    int has_events = gnomon__attachment_has_events(a), is_before = 1;
    if (!has_a_tree(a) || gnomon__path_form(a) < 0)
        return 0;
    for (const gnomon__attachment *b = gnomon__attachments; b; b = b->next) {
        int others = gnomon__attachment_has_events(b);
        if (b == a)
            is_before = 0;
        else if (b->view == a->view && has_a_tree(b) &&
                 same_word_of(a, b, "file") && same_word_of(a, b, "dir") &&
                 (others > has_events || (others == has_events && is_before)))
            return 0;
    }
    return 1;
}

const char *gnomon__profile_unrecorded_file(const gnomon__attachment *a)
{
    const gnomon__attachment *b = gnomon__attachments;
    if (gnomon__path_form(a) < 0)
        return NULL;
    while (b && (!has_a_tree(b) || !same_word_of(a, b, "file")))
        b = b->next;
    return b ? NULL : gnomon__options_text(a->options, "file");
}

typedef struct profile_content {
    const gnomon__model *m;
    int form; /* gnomon__form */
    gnomon__file_counts *counts;
} profile_content;

static int make_profile(void *context, const gnomon_writer *out)
{
    const profile_content *content = context;
    const gnomon_profile *p = &content->m->base;
    return content->form == GNOMON__FORM_FILE
               ? gnomon__file_add_part(p, out, content->counts)
               : gnomon__profile_write(p, content->form, out);
}

/* ---- The file ------------------------------------------------------------------------ */

static void log_failure(const char *path, int why)
{
    if (why && gnomon__file_failed(path, why))
        gnomon__log("cannot write the profile to %s: %s: %s",
                    path ? path : "a file", gnomon__os_error_text(why),
                    gnomon__os_error_advice(why, "give file= another path"));
}

/* Replaces *path where another view wrote there. 0, or an errno. */
static int leave_to_others(const gnomon__attachment *a, const char *stage,
                           char **path, gnomon__file_job *job)
{
    if (!gnomon__file_is_taken(*path, job->part))
        return 0;
    job->view = a->view->number;
    char *own = gnomon__path_of_profile(a, stage, job->view, 0);
    if (!own)
        return ENOMEM;
    gnomon__free(*path);
    *path = own;
    return 0;
}

/* To the file of stages of this name; NULL: of those without one. */
static void put_profile(const gnomon__attachment *a, const char *stage,
                        const gnomon__model *m)
{
    gnomon__file_job job = {.part = a->view->number};
    profile_content content = {m, gnomon__path_form(a), &job.counts};
    job.grows = content.form == GNOMON__FORM_FILE;
    job.content = (gnomon__fd_job){make_profile, &content, NULL};
    char *path = gnomon__path_of_profile(a, stage, 0, 1);
    int why = path ? leave_to_others(a, stage, &path, &job) : ENOMEM;
    if (!why)
        why = gnomon__file_put(path, &job);
    log_failure(path, why);
    gnomon__free(path);
}

static const char *name_or_null(const char *name)
{
    return name && *name ? name : NULL;
}

/* All that is over, or all of a name. */
static void put_json(const gnomon__attachment *a, uint32_t name)
{
    gnomon__model *m = NULL;
    gnomon__event_range room;
    const gnomon__named_stages *n = gnomon__stages_named(name);
    int by_stage =
        gnomon__file_has_stage(gnomon__options_text(a->options, "file"));
    if (gnomon__snapshot_named(
            &m, a->view, by_stage ? name : GNOMON__ALL_NAMES,
            gnomon__events_of(a, GNOMON__TAPE_OVER, &room))) {
        log_failure(NULL, ENOMEM);
        return;
    }
    put_profile(a, n ? name_or_null(n->name) : NULL, m);
    gnomon_profile_free(&m->base);
}

static void put_late(const gnomon__attachment *a)
{
    gnomon__model *m = NULL;
    uint32_t which = 0;
    const gnomon__view *window =
        gnomon__attachment_has_events(a) ? a->window : NULL;
    while (!gnomon__snapshot_late(&m, a->view, which++, window) && m) {
        gnomon_stage_info stage = {.struct_size = sizeof stage};
        gnomon_profile_stage(&m->base, 1, &stage);
        put_profile(a, name_or_null(stage.name), m);
        gnomon_profile_free(&m->base);
    }
}

static void put_late_json(const gnomon__attachment *a, uint32_t but)
{
    const gnomon__late_parts *late = &a->view->ledger.late_reported;
    for (uint32_t i = 0; i < late->count; i++)
        if (late->of[i].stage.name != but)
            put_json(a, late->of[i].stage.name);
}

void gnomon__profile_keep(const gnomon__attachment *a,
                          const gnomon__model *closed)
{
    uint32_t name = gnomon__stage.reported.key.name;
    if (!gnomon__output_is_ours() || !a->view->rank_on)
        return;
    if (gnomon__path_form(a) == GNOMON__FORM_JSON) {
        put_late_json(a, closed ? name : UINT32_MAX);
        if (closed)
            put_json(a, name);
        return;
    }
    put_late(a);
    if (closed)
        put_profile(a, gnomon__stage_name(), closed);
}
