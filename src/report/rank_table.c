/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One time for each rank and action, whatever the number of paths: so a table
 * of 10^4 ranks takes 16 bytes for each of these. */
#include "report/rank_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/rows.h"
#include "command/text.h"
#include "platform/error.h"
#include "platform/memory.h"

static int no_room_for_ranks(void)
{
    return gnomon__fail(GNOMON_ENOMEM, "no memory for the ranks");
}

/* Rows are few, and sorted by name until they are summed up. NULL: no memory. */
static gnomon__rank_row *rank_row(gnomon__rank_table *t, const char *name)
{
    size_t low = 0, high = t->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(t->rows[middle].name, name);
        if (!order)
            return &t->rows[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (!gnomon__grow(&t->rows, &t->room, t->count + 1, sizeof *t->rows))
        return NULL;
    char *copy = gnomon__strdup(name);
    if (!copy)
        return NULL;
    memmove(&t->rows[low + 1], &t->rows[low],
            (t->count++ - low) * sizeof *t->rows);
    t->rows[low] = (gnomon__rank_row){.name = copy};
    return &t->rows[low];
}

int gnomon__rank_table_add(gnomon__rank_table *t, int32_t rank,
                           const gnomon_profile *stage)
{
    gnomon__cli_row *rows;
    size_t count;
    int code = gnomon__cli_rows(stage, 0, GNOMON__ROW_NAME, &rows, &count);
    /* One more attempt of the rank before it. */
    if (!t->runs || rank < 0 || rank != t->before)
        t->runs++;
    t->before = rank;
    for (size_t i = 0; !code && i < count; i++) {
        gnomon__rank_row *r = rank_row(t, rows[i].name);
        if (r && r->count && r->times[r->count - 1].run == t->runs - 1) {
            r->times[r->count - 1].total_ns += rows[i].total_ns;
            r->total_ns += rows[i].total_ns;
            continue;
        }
        if (!r || !gnomon__grow(&r->times, &r->room, r->count + 1,
                                sizeof *r->times)) {
            code = no_room_for_ranks();
            break;
        }
        r->times[r->count++] =
            (gnomon__rank_time){rows[i].total_ns, rank, t->runs - 1};
        r->total_ns += rows[i].total_ns;
    }
    gnomon__free(rows);
    return code;
}

static int by_time(const void *left, const void *right)
{
    const gnomon__rank_time *a = left, *b = right;
    if (a->total_ns != b->total_ns)
        return a->total_ns < b->total_ns ? -1 : 1;
    return (b->run > a->run) - (b->run < a->run); /* the first is slowest */
}

static int by_total(const void *left, const void *right)
{
    const gnomon__rank_row *a = left, *b = right;
    if (a->total_ns != b->total_ns)
        return a->total_ns > b->total_ns ? -1 : 1;
    return strcmp(a->name, b->name);
}

void gnomon__rank_table_sum(gnomon__rank_table *t)
{
    for (size_t i = 0; i < t->count; i++) {
        gnomon__rank_row *r = &t->rows[i];
        if (!r->count) /* memory ended */
            continue;
        qsort(r->times, r->count, sizeof *r->times, by_time);
        uint64_t low = r->times[(r->count - 1) / 2].total_ns;
        uint64_t high = r->times[r->count / 2].total_ns;
        r->min_ns = r->times[0].total_ns;
        r->median_ns = low + (high - low) / 2;
        r->slowest = r->times[r->count - 1];
        r->max_ns = r->slowest.total_ns;
    }
    if (t->count > 1)
        qsort(t->rows, t->count, sizeof *t->rows, by_total);
}

int gnomon__rank_table_print(const gnomon__rank_table *t, size_t limit,
                             const gnomon_writer *out)
{
    size_t width = 6;
    for (size_t i = 0; i < t->count && i < limit; i++)
        if (gnomon__cli_width(t->rows[i].name) > width)
            width = gnomon__cli_width(t->rows[i].name);
    out->print(out, "%" PRIu32 " rank%s, time of each\n", t->runs,
               t->runs == 1 ? "" : "s");
    gnomon__cli_put(out, "Action", width);
    out->print(out, "  %6s  %10s  %10s  %10s  %s\n", "Ranks", "Min", "Median",
               "Max", "Slowest");
    for (size_t i = 0; i < t->count && i < limit; i++) {
        const gnomon__rank_row *r = &t->rows[i];
        char min[24], median[24], max[24];
        gnomon__cli_put(out, r->name, width);
        out->print(out, "  %6zu  %10s  %10s  %10s  ", r->count,
                   gnomon__cli_duration(min, r->min_ns),
                   gnomon__cli_duration(median, r->median_ns),
                   gnomon__cli_duration(max, r->max_ns));
        if (r->slowest.rank >= 0)
            out->print(out, "rank %" PRId32 "\n", r->slowest.rank);
        else
            out->print(out, "run %" PRIu32 "\n", r->slowest.run + 1);
    }
    return out->write(out, "", 0);
}

void gnomon__rank_table_free(gnomon__rank_table *t)
{
    for (size_t i = 0; i < t->count; i++) {
        gnomon__free(t->rows[i].name);
        gnomon__free(t->rows[i].times);
    }
    gnomon__free(t->rows);
    *t = (gnomon__rank_table){0};
}
