/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The sums are those of print/rows.h. How long any kernel of a row ran is known once all
 * are in the order of their begins: then they are added once more. */
#include "nsys/groups.h"

#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "gnomon/report.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "print/letters.h"
#include "print/rows.h"
#include "profile/model.h"

enum {
    GROUP_NAME,
    GROUP_KERNELS,
    GROUP_SUM,
    GROUP_SHARE,
    GROUP_UNION,
    GROUP_MIN,
    GROUP_MAX,
    GROUP_TC,
    GROUP_FLOPS,
    GROUP_BYTES,
    GROUP_TC_NS
};

static const gnomon__column group_columns[] = {
    [GROUP_NAME] = GNOMON__COLUMN("name", "Name", TEXT, SHOWN, KEY),
    [GROUP_KERNELS] = GNOMON__COLUMN("kernels", "Kernels", COUNT, SHOWN, SUM),
    [GROUP_SUM] = GNOMON__COLUMN("sum", "Sum", TIME, SHOWN, SUM),
    [GROUP_SHARE] = GNOMON__COLUMN("share", "%", SHARE, SHOWN, MADE),
    [GROUP_UNION] = GNOMON__COLUMN("union", "Union", TIME, SHOWN, UNION),
    [GROUP_MIN] = GNOMON__COLUMN("min", "Min", TIME, EXTRA, LEAST),
    [GROUP_MAX] = GNOMON__COLUMN("max", "Max", TIME, EXTRA, MOST),
    [GROUP_TC] = GNOMON__COLUMN("tc", "TC %", SHARE, SHOWN, MADE),
    [GROUP_FLOPS] = GNOMON__COLUMN("flops", "FLOPs", COUNT, SHOWN, SUM),
    [GROUP_BYTES] = GNOMON__COLUMN("bytes", "Bytes", COUNT, SHOWN, SUM),
    [GROUP_TC_NS] = GNOMON__COLUMN("tc_ns", "", TIME, HIDDEN, SUM)};
#define GROUP_COLUMNS (sizeof group_columns / sizeof *group_columns)

/* When a kernel ran, of a row. */
typedef struct piece {
    uint64_t from, until;
    uint64_t device; /* of its process */
    uint32_t row;
} piece;

typedef struct groups {
    gnomon__nsys_kernels *kernels;
    int by;
    piece *pieces;
    size_t count, room;
    int64_t first_ns;
    uint64_t union_ns; /* of all */
} groups;

/* ---- Rows ------------------------------------------------------------------------------ */

static const char *joined(gnomon__report_rows *rows, const gnomon__texts *t)
{
    char text[1024];
    size_t n = 0;
    text[0] = 0;
    for (size_t i = 0; i < t->count && n < sizeof text; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", i ? ":" : "",
                              t->at[i]);
    return t->count ? gnomon__report_text(rows, text) : "(none)";
}

static const char *name_of(gnomon__report_rows *rows, int by,
                           const gnomon__nsys_record *r, const gnomon__work *w)
{
    switch (by) {
    case GNOMON__NSYS_BY_OP:
        return w->op;
    case GNOMON__NSYS_BY_MODULE:
        return w->mod;
    case GNOMON__NSYS_BY_LAYER:
        return joined(rows, &r->layers);
    case GNOMON__NSYS_BY_KERNEL:
        return r->name;
    default:
        return r->path.count ? r->path.at[r->path.count - 1] : "(none)";
    }
}

static void add_kernel(gnomon__report_rows *rows, groups *g,
                       const gnomon__nsys_record *r)
{
    const gnomon__work *w = &g->kernels->work;
    const uint64_t ns = r->ns > 0 ? (uint64_t)r->ns : 0;
    const char *name = name_of(rows, g->by, r, w);
    gnomon__cell *cells = gnomon__report_row_of(rows, 0);
    gnomon__cell_text(&cells[GROUP_NAME], name);
    gnomon__cell_count(&cells[GROUP_KERNELS], 1);
    gnomon__cell_count(&cells[GROUP_SUM], ns);
    gnomon__cell_count(&cells[GROUP_MIN], ns);
    gnomon__cell_count(&cells[GROUP_MAX], ns);
    gnomon__cell_count(&cells[GROUP_FLOPS], w->flops);
    gnomon__cell_count(&cells[GROUP_BYTES], w->bytes);
    gnomon__cell_count(&cells[GROUP_TC_NS], *w->tensor_cores == '1' ? ns : 0);
    const uint32_t row = gnomon__report_put(rows);
    if (!row || !r->begin_ns)
        return;
    if (!gnomon__grow(&g->pieces, &g->room, g->count + 1, sizeof *g->pieces)) {
        rows->code = GNOMON_ENOMEM;
        return;
    }
    if (r->begin_ns < g->first_ns)
        g->first_ns = r->begin_ns;
    g->pieces[g->count++] =
        (piece){(uint64_t)r->begin_ns, (uint64_t)r->begin_ns + ns,
                (uint64_t)r->process << 16 ^ (uint64_t)r->device, row};
}

static int by_begin(const void *left, const void *right)
{
    const piece *a = left, *b = right;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return (a->from > b->from) - (a->from < b->from);
}

/* Times of a device begin with 1: an id of 0 is none. */
static void add_unions(gnomon__report_rows *rows, groups *g)
{
    uint64_t until = 0;
    for (size_t i = 0; i < g->count; i++) {
        g->pieces[i].from -= (uint64_t)g->first_ns;
        g->pieces[i].until -= (uint64_t)g->first_ns;
    }
    if (g->count)
        qsort(g->pieces, g->count, sizeof *g->pieces, by_begin);
    for (size_t i = 0; i < g->count && !rows->code; i++) {
        const piece *p = &g->pieces[i];
        gnomon__cell *cells = gnomon__report_row_to(rows, p->row);
        gnomon__cell_count(&cells[GROUP_UNION], p->until);
        rows->from_ns = p->from;
        rows->id = p->device + 1;
        until = i && p[-1].device == p->device ? until : 0;
        const uint64_t from = p->from > until ? p->from : until;
        g->union_ns += p->until > from ? p->until - from : 0;
        until = p->until > until ? p->until : until;
    }
}

static void read_kernels(gnomon__report_rows *rows)
{
    groups *g = rows->more;
    const gnomon__nsys_record *r;
    while (!rows->code && (r = gnomon__nsys_kernel_next(g->kernels)))
        add_kernel(rows, g, r);
    add_unions(rows, g);
}

static bool finish_group(gnomon__report_rows *rows, gnomon__cell *cells)
{
    const groups *g = rows->more;
    const uint64_t sum = cells[GROUP_SUM].count;
    gnomon__cell_share(&cells[GROUP_SHARE], sum, g->kernels->ns);
    gnomon__cell_share(&cells[GROUP_TC], cells[GROUP_TC_NS].count, sum);
    return true;
}

static void note_totals(const gnomon__report_rows *rows,
                        const gnomon_writer *out)
{
    const groups *g = rows->more;
    const gnomon__nsys_kernels *k = g->kernels;
    char sum[GNOMON__DURATION], all[GNOMON__DURATION];
    out->print(out,
               "\n%llu kernels: sum %s, union %s, %llu flops, %llu bytes\n",
               (unsigned long long)k->count, gnomon__print_duration(sum, k->ns),
               g->count ? gnomon__print_duration(all, g->union_ns) : "-",
               (unsigned long long)k->flops, (unsigned long long)k->bytes);
}

static const gnomon__report group_report = {.name = "nsys",
                                            .title = "Kernels",
                                            .columns = group_columns,
                                            .column_count = GROUP_COLUMNS,
                                            .sort = GROUP_SUM,
                                            .read = read_kernels,
                                            .finish = finish_group,
                                            .note = note_totals};

/* ---- The table ------------------------------------------------------------------------- */

typedef struct choice_words {
    gnomon_options base;
    const char *columns, *sort;
} choice_words;

static const char *choice_text(const gnomon_options *options, const char *key)
{
    const choice_words *w = (const void *)options;
    return !strcmp(key, "columns") ? w->columns
           : !strcmp(key, "sort")  ? w->sort
                                   : NULL;
}

static bool choice_is_wrong;

static void log_choice(const char *line)
{
    gnomon__log("%s", line);
    choice_is_wrong = true;
}

int gnomon__nsys_groups_choose(gnomon__table_choice *choice,
                               const char *columns, const char *sort)
{
    char words[512] = "";
    for (size_t i = 0; columns && columns[i] && i + 1 < sizeof words; i++)
        words[i] = columns[i] == ',' ? '|' : columns[i];
    const choice_words asked = {
        {.text = choice_text, .log = log_choice}, columns ? words : NULL, sort};
    if (gnomon__table_choose(choice, "nsys", group_columns, GROUP_TC_NS, false,
                             &asked.base)) {
        gnomon__log("no memory for the columns");
        return GNOMON__EXIT_UNREADABLE;
    }
    return choice_is_wrong ? GNOMON__EXIT_USAGE : GNOMON__EXIT_OK;
}

int gnomon__nsys_groups_print(gnomon__nsys_kernels *kernels, int by,
                              const gnomon__table_choice *choice,
                              const gnomon_writer *out)
{
    groups g = {.kernels = kernels, .by = by, .first_ns = INT64_MAX};
    gnomon__report_rows rows;
    gnomon__model *none = gnomon__model_create(); /* tables are of a profile */
    int code = none ? gnomon__report_begin(&rows, &group_report, choice, &g)
                    : GNOMON_ENOMEM;
    if (!code) {
        rows.keeps = true; /* names are a kernel's */
        code = gnomon__report_add(&rows, &none->base, NULL);
    }
    if (!code)
        code = gnomon__report_end(&rows, &none->base);
    if (!code && rows.table.row_count)
        code = gnomon__report_put_all(&rows, out);
    if (none) {
        gnomon__report_free(&rows);
        gnomon_profile_free(&none->base);
    }
    gnomon__free(g.pieces);
    if (code == GNOMON_ENOMEM)
        gnomon__log("no memory to add kernels up");
    return kernels->status     ? kernels->status
           : code == GNOMON_OK ? GNOMON__EXIT_OK
                               : GNOMON__EXIT_UNREADABLE;
}
