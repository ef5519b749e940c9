/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* csv: a row for each event, for pandas and spreadsheets. Numbers are never empty, so
 * that a reader may fix the types of columns; docs/exports.md lists them. Only `value`
 * is empty where there is none, which is no number.
 *
 * Numbers of runs, tracks and nodes go on from profile to profile, so that they are
 * keys of the whole file.
 *
 * Most of a row is the same in all rows of its path, and is kept as text. */
#include <math.h>
#include <stdlib.h>

#include "export/timeline.h"
#include "export/tree.h"
#include "print/letters.h"

/* Whose text is kept: that of the last rows, at most so many, and none that is longer. So
 * the memory does not grow with paths. */
#define CSV_KEPT 4096u
#define CSV_KEPT_MOST 4096u

/* What rows of the same four numbers begin with, up to the stage; and how they end,
 * from the count on. */
typedef struct csv_kept {
    uint32_t kind, track, node, region; /* track 0: it is free */
    size_t begin;                       /* of the text; the end is the rest */
    gnomon__export_memory text;
} csv_kept;

typedef struct csv_export {
    gnomon__out *t;
    const gnomon__export *what;
    const gnomon_profile *p;
    gnomon__export_tree tree;
    csv_kept *kept;
    gnomon__out *memory;        /* to which those are written */
    size_t runs, tracks, nodes; /* of the profiles before this one */
} csv_export;

/* What kinds have in common. */
typedef struct csv_row {
    const char *kind, *name;
    gnomon_region_info region; /* "" and 0: none */
    uint32_t track, node;
    uint64_t begin_ns, duration_ns; /* the begin in Unix time; 0: not known */
    uint64_t instance, count;
    double value;
    int has_value;
} csv_row;

static const char csv_header[] =
    "run,rank,track,track_kind,device,track_name,kind,name,category,path,depth,"
    "node,stage,begin_ns,duration_ns,instance,value,count,file,line\n";

/* ---- Cells ------------------------------------------------------------------- */

/* The inside of a cell in quotes. `in_path`: a separator in a name is escaped. */
static void csv_inside(gnomon__out *t, const char *text, int in_path)
{
    const char *special = in_path ? "\"/\\" : "\"";
    size_t character;
    for (; *(text = gnomon__export_plain(t, text, special, &character));
         text++) {
        if (!character)
            gnomon__out_literal(t, GNOMON__NO_CHARACTER);
        else
            gnomon__out_put(t, *text == '"' ? "\"\"" : (char[]){'\\', *text},
                            2);
    }
}

static void csv_guard(gnomon__out *t, const char *text)
{
    gnomon__out_text(t, gnomon__print_is_formula(text) ? "'" : "");
}

static void csv_text(gnomon__out *t, const char *text)
{
    const char *quote = strpbrk(text, ",\"\r\n") ? "\"" : "";
    gnomon__out_text(t, quote);
    csv_guard(t, text);
    csv_inside(t, text, 0);
    gnomon__out_text(t, quote);
    gnomon__out_literal(t, ",");
}

/* A sample that was no number is empty, as pandas has it. */
static void csv_value(gnomon__out *t, const csv_row *row)
{
    if (row->has_value && isinf(row->value))
        gnomon__out_text(t, row->value < 0 ? "-inf" : "inf");
    else if (row->has_value && !isnan(row->value))
        gnomon__export_double(t, row->value);
    gnomon__out_literal(t, ",");
}

/* Always in quotes: what is in it is known at its end only. */
static void csv_path(csv_export *x, uint32_t node)
{
    const uint32_t depth = x->tree.nodes[node].depth;
    const uint32_t *path = gnomon__export_path(&x->tree, node);
    gnomon__out_literal(x->t, "\"");
    for (uint32_t i = 0; i < depth; i++) {
        gnomon_region_info region;
        if (i)
            gnomon__out_literal(x->t, "/");
        if (gnomon_profile_region(x->p, path[i], &region) != GNOMON_OK)
            continue;
        if (!i)
            csv_guard(x->t, region.name);
        csv_inside(x->t, region.name, 1);
    }
    gnomon__out_literal(x->t, "\",");
}

/* ---- Rows -------------------------------------------------------------------- */

static uint64_t csv_offset(size_t before, uint32_t number)
{
    return number ? before + number : 0;
}

/* Run and track: the first columns. */
static void csv_put_track(csv_export *x, const csv_row *row, uint32_t run)
{
    static const char *const kinds[] = {[GNOMON_TRACK_THREAD] = "thread",
                                        [GNOMON_TRACK_STREAM] = "stream",
                                        [GNOMON_TRACK_LANE] = "lane",
                                        [GNOMON_TRACK_POOL] = "pool"};
    gnomon_track_info track;
    gnomon_run_info of;
    char text[48];
    const int is_known =
        gnomon_profile_track(x->p, row->track, &track) == GNOMON_OK;
    run = is_known ? track.run : run;
    gnomon__export_form(x->t, "%ju,%d,%ju,", csv_offset(x->runs, run),
                        gnomon_profile_run(x->p, run, &of) ? -1 : of.rank,
                        csv_offset(x->tracks, is_known ? row->track : 0));
    csv_text(x->t, is_known && track.kind <= GNOMON_TRACK_POOL
                       ? kinds[track.kind]
                       : "");
    gnomon__export_form(x->t, "%d,", is_known ? track.device : -1);
    csv_text(x->t, is_known ? gnomon__export_track_name(text, &track) : "");
}

/* Up to the stage. */
static void csv_put_begin(csv_export *x, const csv_row *row, uint32_t run)
{
    const uint32_t node = row->node <= x->tree.count ? row->node : 0;
    gnomon_stage_info stage;
    csv_put_track(x, row, run);
    csv_text(x->t, row->kind);
    csv_text(x->t, row->name);
    csv_text(x->t, row->region.category ? row->region.category : "");
    csv_path(x, node);
    gnomon__export_form(x->t, "%u,%ju,", x->tree.nodes[node].depth,
                        csv_offset(x->nodes, node));
    csv_text(x->t, gnomon_profile_stage(x->p, x->tree.nodes[node].stage, &stage)
                       ? ""
                       : stage.name);
}

/* What is rarely the same in two rows. */
static void csv_put_middle(csv_export *x, const csv_row *row)
{
    const uint64_t numbers[] = {row->begin_ns, row->duration_ns, row->instance};
    for (int i = 0; i < 3; i++) {
        gnomon__out_number(x->t, numbers[i]);
        gnomon__out_literal(x->t, ",");
    }
    csv_value(x->t, row);
}

static void csv_put_end(csv_export *x, const csv_row *row)
{
    gnomon__export_form(x->t, "%ju,", row->count);
    csv_text(x->t, row->region.file ? row->region.file : "");
    gnomon__export_form(x->t, "%u\n", row->region.line);
}

static void csv_put_row(csv_export *x, const csv_row *row, uint32_t run)
{
    csv_put_begin(x, row, run);
    csv_put_middle(x, row);
    csv_put_end(x, row);
}

/* ---- Events ------------------------------------------------------------------ */

/* What the row says of the event's path and track. */
static void csv_describe(const csv_export *x, const gnomon_event_info *e,
                         csv_row *row)
{
    static const char *const kinds[] = {[GNOMON_EVENT_EXECUTION] = "execution",
                                        [GNOMON_EVENT_MARK] = "mark",
                                        [GNOMON_EVENT_COUNTER] = "counter",
                                        [GNOMON_EVENT_MEMORY] = "memory"};
    gnomon_track_info pool;
    uint32_t region = e->region;
    row->kind = e->kind <= GNOMON_EVENT_MEMORY ? kinds[e->kind] : "";
    row->name = "";
    row->track = e->track;
    row->node = e->node;
    row->count = 1;
    if (e->kind == GNOMON_EVENT_EXECUTION)
        region = e->node <= x->tree.count ? x->tree.nodes[e->node].region : 0;
    if (e->kind == GNOMON_EVENT_MEMORY) {
        if (gnomon_profile_track(x->p, region, &pool) == GNOMON_OK)
            row->name = pool.name;
    } else if (gnomon_profile_region(x->p, region, &row->region) == GNOMON_OK) {
        row->name = row->region.name;
    }
}

/* Makes the begin and the end of rows as this one. */
static void csv_make(csv_export *x, const gnomon_event_info *e, csv_row *row,
                     csv_kept *k)
{
    const gnomon_writer to_memory = gnomon__export_to_memory(&k->text);
    gnomon__out *t = x->t;
    *k = (csv_kept){e->kind, e->track, e->node, e->region, 0, k->text};
    k->text.size = 0;
    csv_describe(x, e, row);
    x->t = x->memory;
    x->t->to = &to_memory;
    csv_put_begin(x, row, 0);
    gnomon__out_flush(x->t);
    k->begin = k->text.size;
    csv_put_end(x, row);
    gnomon__out_flush(x->t);
    x->t = t;
    t->code = t->code ? t->code : x->memory->code;
}

static int csv_is_kept(const csv_kept *k, const gnomon_event_info *e)
{
    return k->track && k->track == e->track && k->node == e->node &&
           k->kind == e->kind && k->region == e->region;
}

static void csv_event(csv_export *x, const gnomon_event_info *e,
                      uint64_t unix_ns)
{
    const size_t slot = (e->node + 31 * (size_t)e->region + e->kind) % CSV_KEPT;
    csv_kept *k = &x->kept[slot];
    csv_row row = {.begin_ns = unix_ns,
                   .duration_ns = e->duration_ns,
                   .instance = e->instance,
                   .value = e->value,
                   .has_value = e->kind == GNOMON_EVENT_COUNTER ||
                                e->kind == GNOMON_EVENT_MEMORY};
    if (!csv_is_kept(k, e))
        csv_make(x, e, &row, k);
    if (x->t->code)
        return;
    gnomon__out_put(x->t, k->text.text, k->begin);
    csv_put_middle(x, &row);
    gnomon__out_put(x->t, k->text.text + k->begin, k->text.size - k->begin);
    if (k->text.size > CSV_KEPT_MOST) {
        free(k->text.text);
        *k = (csv_kept){.track = 0};
    }
}

/* Losses have no place among the events, and stand after them whatever time was asked
 * for. */
static void csv_loss(csv_export *x, const gnomon_loss_info *loss)
{
    gnomon_run_info run;
    csv_row row = {.kind = "loss",
                   .name = loss->kind,
                   .track = loss->track,
                   .count = loss->count};
    const int has_time = loss->begin_ns || loss->end_ns;
    if (has_time && gnomon_profile_run(x->p, loss->run, &run) == GNOMON_OK) {
        row.begin_ns = run.zero_unix_ns + loss->begin_ns;
        row.duration_ns =
            loss->end_ns > loss->begin_ns ? loss->end_ns - loss->begin_ns : 0;
    }
    csv_put_row(x, &row, loss->run);
}

static void csv_profile(csv_export *x)
{
    gnomon__event_cursor at;
    const gnomon_event_info *e;
    gnomon_loss_info loss;
    x->kept = calloc(CSV_KEPT, sizeof *x->kept);
    gnomon__export_needs(x->t,
                         gnomon__export_tree_begin(&x->tree, x->p) && x->kept);
    gnomon__event_cursor_all(&at, x->what, x->p);
    while (!x->t->code && (e = gnomon__event_cursor_next(&at)) != NULL)
        csv_event(x, e, at.begin);
    for (size_t i = 1; !x->t->code && !gnomon_profile_loss(x->p, i, &loss); i++)
        csv_loss(x, &loss);
    x->runs += gnomon_profile_count(x->p, GNOMON_RUNS);
    x->tracks += gnomon_profile_count(x->p, GNOMON_TRACKS);
    x->nodes += gnomon_profile_count(x->p, GNOMON_NODES);
    for (size_t i = 0; x->kept && i < CSV_KEPT; i++)
        free(x->kept[i].text.text);
    free(x->kept);
    gnomon__export_tree_end(&x->tree);
}

static int csv_write(const gnomon__export *what, const gnomon_writer *out)
{
    csv_export x = {.t = gnomon__export_text_begin(out),
                    .what = what,
                    .memory = gnomon__export_text_begin(NULL)};
    if (x.t && gnomon__export_needs(x.t, x.memory))
        gnomon__out_text(x.t, csv_header);
    for (size_t i = 0; x.t && !x.t->code && i < what->count; i++) {
        x.p = what->profiles[i];
        csv_profile(&x);
    }
    free(x.memory);
    return gnomon__export_text_end(x.t);
}

const gnomon__exporter gnomon__export_csv = {
    .name = "csv",
    .extension = ".csv",
    .about = "a row for each event, for pandas and spreadsheets",
    .write = csv_write};
