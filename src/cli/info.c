/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gnomon info: what files hold, for a person; of many runs a line for each, one
 * in memory at a time. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command/command.h"
#include "merge/gather.h"
#include "command/inputs.h"
#include "command/output.h"
#include "platform/error.h"
#include "print/letters.h"
#include "print/rows.h"

#define FEW_RUNS 4 /* in one file: printed in full; more are a table */

/* ---- One file ------------------------------------------------------------------- */

/* How many bytes of a text fit into so many columns, up to the last comma or blank among
 * them, if there is one. */
static size_t fitting_size(const char *text, size_t columns)
{
    size_t size = 0, used = 0, best = 0;
    while (text[size]) {
        char letter[8] = "";
        size_t n = 1;
        while (n < 4 && ((unsigned char)text[size + n] & 0xC0) == 0x80)
            n++;
        memcpy(letter, text + size, n);
        used += gnomon__cli_width(letter);
        if (used > columns && size)
            return best ? best : size;
        size += n;
        if (text[size - 1] == ',' || text[size - 1] == ' ')
            best = size;
    }
    return size;
}

/* Writes "key = " before the value, unless that is "". Long ones go on in the next line. */
static void put_pair(const gnomon_writer *out, const char *name,
                     const char *key, const char *value)
{
    size_t columns = out->columns > 40 && out->columns < 80 ? out->columns : 80;
    size_t used = 12 + (*key ? gnomon__cli_width(key) + 3 : 0);
    out->print(out, "  %-9s ", name);
    gnomon__cli_put(out, key, 0);
    out->print(out, "%s", *key ? " = " : "");
    while (*value) {
        char line[4 * 80 + 1];
        const size_t size =
            fitting_size(value, used < columns ? columns - used : 1);
        memcpy(line, value, size);
        line[size] = 0;
        gnomon__cli_put(out, line, 0);
        value += size;
        used = 12;
        out->print(out, *value ? "\n%12s" : "%s", "");
    }
    out->write(out, "\n", 1);
}

static void put_field(const gnomon_writer *out, const char *name,
                      const char *value)
{
    if (value && *value)
        put_pair(out, name, "", value);
}

static void put_number(const gnomon_writer *out, const char *name,
                       int64_t value)
{
    if (value >= 0)
        out->print(out, "  %-9s %" PRId64 "\n", name, value);
}

static void put_metadata(const gnomon_writer *out, const gnomon_profile *p,
                         uint32_t run)
{
    gnomon_metadata_info data;
    for (size_t i = 1; !gnomon_profile_metadata(p, i, &data); i++)
        if (data.run == run)
            put_pair(out, "metadata", data.key, data.json);
}

static void put_stages(const gnomon_writer *out, const gnomon_profile *p,
                       uint32_t run)
{
    gnomon_stage_info s;
    char text[GNOMON__DURATION];
    for (size_t i = 1; !gnomon_profile_stage(p, i, &s); i++) {
        if (s.run != run)
            continue;
        out->print(out, "  stage %-3" PRIu32 " ", s.ordinal);
        gnomon__cli_put(out, *s.name ? s.name : "(no name)", 10);
        out->print(out, " %10s",
                   gnomon__print_duration(text, s.end_ns - s.begin_ns));
        if (s.steps && s.steps->count)
            out->print(out, ", %" PRIu64 " step%s of %s", s.steps->count,
                       s.steps->count == 1 ? "" : "s",
                       gnomon__print_duration(text, s.steps->total_ns /
                                                        s.steps->count));
        out->print(out, "%s\n", s.ended ? "" : ", open");
    }
}

/* Whether one is damage to the file, as those of no run are. */
static int put_losses(const gnomon_writer *out, const gnomon_profile *p,
                      uint32_t run)
{
    int has_damage = 0;
    gnomon_loss_info loss;
    char text[320];
    for (size_t i = 1; !gnomon_profile_loss(p, i, &loss); i++) {
        if (loss.run != run)
            continue;
        put_field(out, "lost", gnomon__cli_loss(text, sizeof text, &loss));
        has_damage |= gnomon__cli_is_damage(&loss);
    }
    return has_damage;
}

static void put_clock(const gnomon_writer *out, const gnomon_run_info *run)
{
    char when[32], text[GNOMON__DURATION];
    if (run->zero_unix_ns)
        out->print(out, "  began     %s, within %s\n",
                   gnomon__cli_when(when, run->zero_unix_ns),
                   gnomon__print_duration(text, run->clock_error_ns));
    if (run->now_ns)
        out->print(out, "  taken     %s later\n",
                   gnomon__print_duration(text, run->now_ns));
    put_field(out, "clock", run->clock);
}

static void put_run(const gnomon_writer *out, const gnomon_profile *p,
                    uint32_t number)
{
    const char *bold = gnomon__cli_bold(stdout);
    gnomon_run_info run;
    gnomon_profile_run(p, number, &run);
    out->print(out, "%srun %" PRIu32 "%s\n", bold, number,
               gnomon__cli_plain(stdout));
    put_field(out, "job", run.job);
    put_number(out, "rank", run.rank);
    put_number(out, "local", run.local_rank);
    put_number(out, "of ranks", run.world_size);
    put_field(out, "attempt", run.attempt);
    put_field(out, "host", run.host);
    if (run.pid)
        put_number(out, "pid", run.pid);
    put_field(out, "uuid", run.uuid);
    put_clock(out, &run);
    put_field(out, "spec", run.spec);
    put_field(out, "dir", run.dir);
    put_metadata(out, p, number);
    put_stages(out, p, number);
    put_losses(out, p, number);
}

static void put_counts(const gnomon_writer *out, const gnomon_profile *p,
                       uint64_t events)
{
    static const struct {
        int entity;
        const char *name;
    } kinds[] = {
        {GNOMON_TRACKS, "track"},         {GNOMON_REGIONS, "region"},
        {GNOMON_NODES, "node"},           {GNOMON_OPENS, "open scope"},
        {GNOMON_STEPS, "step kept"},      {GNOMON_OPS, "op"},
        {GNOMON_EVENTS, "event"},         {GNOMON_LINKS, "link"},
        {GNOMON_COUNTERS, "counter"},     {GNOMON_VIEWS, "view"},
        {GNOMON_STEP_TIMES, "step time"}, {GNOMON_VIEW_TIMES, "view time"},
        {GNOMON_STRIPS, "strip"}};
    out->print(out, "%sholds%s\n", gnomon__cli_bold(stdout),
               gnomon__cli_plain(stdout));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        uint64_t n = kinds[i].entity == GNOMON_EVENTS
                         ? events
                         : gnomon_profile_count(p, kinds[i].entity);
        if (n)
            out->print(out, "  %-10s %" PRIu64 "\n", kinds[i].name, n);
    }
}

static int info_whole(const gnomon_writer *out, const char *path,
                      const gnomon_profile *p, uint64_t events)
{
    out->print(out, "%s", gnomon__cli_bold(stdout));
    gnomon__cli_put(out, path, 0);
    out->print(out, "%s\n", gnomon__cli_plain(stdout));
    for (uint32_t i = 1; i <= gnomon_profile_count(p, GNOMON_RUNS); i++)
        put_run(out, p, i);
    put_counts(out, p, events);
    return put_losses(out, p, 0) ? GNOMON__EXIT_UNREADABLE : GNOMON__EXIT_OK;
}

/* ---- Several files ------------------------------------------------------------- */

#define INFO_COLUMN_LIST(X) \
    X(INFO_FILE, "file", "File", TEXT, SHOWN, MADE) \
    X(INFO_RANK, "rank", "Rank", ID, SHOWN, MADE) \
    X(INFO_HOST, "host", "Host", TEXT, SHOWN, MADE) \
    X(INFO_STAGES, "stages", "Stages", COUNT, SHOWN, MADE) \
    X(INFO_TIME, "time", "Time", TIME, SHOWN, MADE) \
    X(INFO_NODES, "nodes", "Nodes", COUNT, SHOWN, MADE) \
    X(INFO_LOST, "lost", "Lost", COUNT, SHOWN, MADE) \
    X(INFO_BEGAN, "began", "Began", TEXT, SHOWN, MADE) \
    X(INFO_PID, "pid", "Pid", ID, SHOWN, MADE) \
    X(INFO_ATTEMPT, "attempt", "Attempt", TEXT, SHOWN, MADE)
GNOMON__COLUMNS(info_columns, INFO_COLUMNS, INFO_COLUMN_LIST);

/* From the first stage's begin to the last one's end. */
static uint64_t time_of(const gnomon_profile *p)
{
    uint64_t first_ns = UINT64_MAX, last_ns = 0;
    gnomon_stage_info s;
    for (size_t i = 1; !gnomon_profile_stage(p, i, &s); i++) {
        first_ns = s.begin_ns < first_ns ? s.begin_ns : first_ns;
        last_ns = s.end_ns > last_ns ? s.end_ns : last_ns;
    }
    return last_ns > first_ns ? last_ns - first_ns : 0;
}

/* A copy; what is not known stays empty. */
static int put_text(gnomon__report_table *t, gnomon__cell *cell,
                    const char *text)
{
    if (text && *text)
        gnomon__cell_text(cell, gnomon__table_keep(t, "%s", text));
    return cell->is_there && !cell->text ? GNOMON_ENOMEM : GNOMON_OK;
}

/* For a profile of one run, or of none. */
static int info_add(gnomon__report_table *t, const char *path,
                    const gnomon_profile *p)
{
    gnomon_run_info run;
    char when[32];
    gnomon__cell *cells = gnomon__table_add(t, 0, 0);
    if (!cells)
        return GNOMON_ENOMEM;
    gnomon__cell_text(&cells[INFO_FILE], path);
    gnomon__cell_count(&cells[INFO_STAGES],
                       gnomon_profile_count(p, GNOMON_STAGES));
    gnomon__cell_count(&cells[INFO_TIME], time_of(p));
    gnomon__cell_count(&cells[INFO_NODES],
                       gnomon_profile_count(p, GNOMON_NODES));
    gnomon__cell_count(&cells[INFO_LOST],
                       gnomon_profile_count(p, GNOMON_LOSSES));
    if (gnomon_profile_run(p, 1, &run) != GNOMON_OK)
        return GNOMON_OK; /* losses of files without runs */
    if (run.rank >= 0)
        gnomon__cell_count(&cells[INFO_RANK], (uint64_t)run.rank);
    if (run.pid > 0)
        gnomon__cell_count(&cells[INFO_PID], (uint64_t)run.pid);
    if (run.zero_unix_ns)
        gnomon__cli_when(when, run.zero_unix_ns);
    return put_text(t, &cells[INFO_HOST], run.host) ||
                   put_text(t, &cells[INFO_ATTEMPT], run.attempt) ||
                   put_text(t, &cells[INFO_BEGAN],
                            run.zero_unix_ns ? when : NULL)
               ? GNOMON_ENOMEM
               : GNOMON_OK;
}

static int info_print(gnomon__report_table *t, const gnomon_writer *out)
{
    const gnomon__table_choice choice = {.limit = SIZE_MAX, .sort = -1};
    t->title = gnomon__table_keep(t, "%zu run%s", t->row_count,
                                  t->row_count == 1 ? "" : "s");
    return t->title ? gnomon__table_print(t, &choice, NULL, out)
                    : GNOMON_ENOMEM;
}

/* A row for each run of all files. */
static int info_table(const gnomon_writer *out, gnomon__gather *g)
{
    gnomon__report_table t = {.name = "info",
                              .columns = info_columns,
                              .column_count = INFO_COLUMNS,
                              .is_ordered = true,
                              .is_part = true};
    int code = GNOMON_OK, status = GNOMON__EXIT_OK;
    size_t runs = gnomon__merge_count(g->merge), input = 0;
    for (size_t i = 0; !code && i < runs; i++) {
        gnomon_profile *p;
        (void)gnomon__merge_reading(g->merge, i, 0, &input);
        gnomon__progress_at("run", i + 1, runs);
        code = gnomon__merge_run(g->merge, i, &p);
        gnomon__progress_hide();
        if (!code)
            code = info_add(&t, g->in->paths[input], p);
        if (!code)
            status = gnomon__cli_worse(status, gnomon__cli_log_damage(NULL, p));
        gnomon_profile_free(p);
    }
    if (code)
        gnomon__log("%s: %s", g->in->paths[input],
                    *gnomon_error_text() ? gnomon_error_text()
                                         : gnomon_error_name(code));
    if (t.row_count && info_print(&t, out) == GNOMON_ENOMEM) {
        gnomon__log("no memory for the table");
        code = GNOMON_ENOMEM;
    }
    gnomon__table_free(&t);
    status = gnomon__cli_worse(status, gnomon__gather_damage(g));
    return code ? GNOMON__EXIT_UNREADABLE : status;
}

static int info_files(const gnomon__cli_inputs *in)
{
    const uint32_t kinds = GNOMON__EVERY_KIND & ~(1u << GNOMON_EVENTS);
    const gnomon_writer out = gnomon__cli_writer(stdout);
    gnomon__gather g;
    int status = gnomon__gather_begin(&g, in, kinds, 1);
    if (!g.merge || (status && in->count == 1)) {
        ; /* the error is logged */
    } else if (in->count > 1 || gnomon__merge_count(g.merge) > FEW_RUNS) {
        gnomon__gather_notes(&g);
        status = gnomon__cli_worse(status, info_table(&out, &g));
    } else {
        gnomon_profile *p;
        uint64_t events;
        if (gnomon__gather_whole(&g, 0, &p, &events))
            status = GNOMON__EXIT_UNREADABLE;
        else
            status = info_whole(&out, in->paths[0], p, events);
        gnomon_profile_free(p);
    }
    gnomon__gather_end(&g);
    return status;
}

static int info_run(const gnomon__command *c, int argc, char **argv)
{
    gnomon__cli_inputs in = {0};
    int status = gnomon__cli_read(c, argc, argv, NULL);
    if (status != GNOMON__CLI_END)
        return status;
    if (optind == argc)
        return gnomon__cli_usage(c, "no file is named");
    status = gnomon__cli_expand(&in, argv + optind);
    gnomon__progress_begin(&in);
    if (in.count)
        status = gnomon__cli_worse(status, info_files(&in));
    gnomon__progress_end();
    gnomon__cli_inputs_free(&in);
    return status;
}

const gnomon__command gnomon__command_info = {
    .name = "info",
    .operands = "FILE...",
    .about = "Says what profiles hold; of many runs, a line for each",
    .run = info_run,
    .takes_files = 1,
};
