/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The program's own tables: per thread, and for scripts. Pure; memory
 * is taken before the first byte is written. */
#include "report/tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/rows.h"
#include "command/text.h"
#include "platform/error.h"
#include "platform/memory.h"

/* "FIT Threads, 2 stages added up"; as the titles of the classical reports. */
static void put_title(const gnomon_profile *p, const char *what,
                      const gnomon_writer *out)
{
    gnomon_stage_info stage;
    const char *c = "";
    uint32_t count = 0;
    if (gnomon_profile_count(p, GNOMON_STAGES) == 1 &&
        gnomon_profile_stage(p, 1, &stage) == GNOMON_OK) {
        c = stage.name;
        count = stage.count;
    }
    int has_name = *c != 0;
    for (; *c; c++) {
        char capital = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
        out->write(out, &capital, 1);
    }
    out->print(out, "%s%s", has_name ? " " : "", what);
    if (count > 1)
        out->print(out, ", %" PRIu32 " stages added up", count);
    out->write(out, "\n", 1);
}

/* ---- Threads -------------------------------------------------------------------- */

static void put_track(const gnomon_profile *p, uint32_t number,
                      const gnomon_writer *out)
{
    gnomon_track_info t;
    gnomon_profile_track(p, number, &t);
    out->print(out, "\nThread %" PRIu32 " ", t.index);
    gnomon__cli_put(out, t.name, 0);
    if (t.os_id)
        out->print(out, " (%" PRId64 ")", t.os_id);
    if (t.lives > 1)
        out->print(out, ", %" PRIu32 " that followed one another", t.lives);
    out->write(out, "\n", 1);
}

int gnomon__table_threads(const gnomon_profile *p,
                          const gnomon__table_request *request,
                          const gnomon_writer *out)
{
    gnomon__cli_row *rows;
    size_t count, width = 6, shown = 0;
    int code = gnomon__cli_rows(p, 1, request->key, &rows, &count);
    if (code)
        return code;
    for (size_t i = 0; i < count; i++)
        if (gnomon__cli_width(rows[i].name) > width)
            width = gnomon__cli_width(rows[i].name);
    put_title(p, "Threads", out);
    for (size_t i = 0; i < count; i++) {
        const gnomon__cli_row *r = &rows[i];
        char total[24], self[24], mean[24];
        if (!i || r->track != rows[i - 1].track) {
            put_track(p, r->track, out);
            gnomon__cli_put(out, "  Action", width + 2);
            out->print(out, "  %10s  %10s  %10s  %10s\n", "Calls", "Total",
                       "Self", "Mean");
            shown = 0;
        }
        if (shown++ >= request->limit)
            continue;
        out->write(out, "  ", 2);
        gnomon__cli_put(out, r->name, width);
        out->print(out, "  %10" PRIu64 "  %10s  %10s  %10s\n", r->calls,
                   gnomon__cli_duration(total, r->total_ns),
                   gnomon__cli_duration(self, r->self_ns),
                   gnomon__cli_duration(mean, r->mean_ns));
    }
    gnomon__free(rows);
    return out->write(out, "", 0);
}

/* ---- JSON ----------------------------------------------------------------------- */

static void put_json_row(const gnomon__cli_row *r, const gnomon_writer *out)
{
    const struct {
        const char *name;
        uint64_t value;
    } fields[] = {{"calls", r->calls},     {"total_ns", r->total_ns},
                  {"mean_ns", r->mean_ns}, {"self_ns", r->self_ns},
                  {"min_ns", r->min_ns},   {"p50_ns", r->p50_ns},
                  {"p90_ns", r->p90_ns},   {"p99_ns", r->p99_ns},
                  {"max_ns", r->max_ns}};
    out->print(out, "{\"name\": ");
    gnomon__cli_put_json(out, r->name);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        out->print(out, ", \"%s\": %" PRIu64, fields[i].name, fields[i].value);
}

static void put_json_ranks(const char *name, const gnomon__rank_table *ranks,
                           const gnomon_writer *out)
{
    for (size_t i = 0; i < ranks->count; i++) {
        const gnomon__rank_row *r = &ranks->rows[i];
        if (strcmp(r->name, name) != 0)
            continue;
        out->print(out,
                   ", \"ranks\": {\"count\": %zu, \"min_ns\": %" PRIu64
                   ", \"median_ns\": %" PRIu64 ", \"max_ns\": %" PRIu64
                   ", \"slowest\": %" PRId32 "}",
                   r->count, r->min_ns, r->median_ns, r->max_ns,
                   r->slowest.rank);
        return;
    }
}

int gnomon__table_json(const gnomon_profile *p, const char *file,
                       const gnomon__rank_table *ranks,
                       const gnomon__table_request *request,
                       const gnomon_writer *out)
{
    gnomon__cli_row *rows;
    size_t count;
    gnomon_stage_info stage;
    gnomon_run_info run;
    int code = gnomon__cli_rows(p, 0, request->key, &rows, &count);
    if (code)
        return code;
    out->print(out, "{\"file\": ");
    gnomon__cli_put_json(out, file);
    if (gnomon_profile_run(p, 1, &run) == GNOMON_OK && run.rank >= 0)
        out->print(out, ", \"rank\": %" PRId32, run.rank);
    else
        out->print(out, ", \"rank\": null");
    if (ranks->runs)
        out->print(out, ", \"ranks\": %" PRIu32, ranks->runs);
    if (gnomon_profile_stage(p, 1, &stage) == GNOMON_OK) {
        out->print(out, ", \"stage\": ");
        gnomon__cli_put_json(out, stage.name);
        out->print(out,
                   ", \"ordinal\": %" PRIu32 ", \"stages\": %" PRIu32
                   ", \"wall_ns\": %" PRIu64 ", \"steps\": %" PRIu64,
                   stage.ordinal, stage.count ? stage.count : 1,
                   stage.recorded_ns ? stage.recorded_ns
                                     : stage.end_ns - stage.begin_ns,
                   stage.steps ? stage.steps->count : 0);
    }
    out->print(out, ", \"rows\": [");
    for (size_t i = 0; i < count && i < request->limit; i++) {
        out->print(out, i ? ",\n" : "\n");
        put_json_row(&rows[i], out);
        put_json_ranks(rows[i].name, ranks, out);
        out->write(out, "}", 1);
    }
    gnomon__free(rows);
    return out->print(out, "]}");
}
