/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The times of each region, with quantiles: as a report, and as the public rows of
 * gnomon/report.h. */
#include "print/regions.h"

#include <stdlib.h>
#include <string.h>

#include "gnomon.h"
#include "gnomon/report.h"

static const gnomon__column region_columns[] = {
    GNOMON__REGION_COLUMN_LIST(GNOMON__COLUMN_ROW)};

/* What a device did has a report of its own (profilers/kernels.c), also where its kind
 * says nothing. */
static bool region_has_row(const gnomon_region_info *r)
{
    if (strcmp(r->category, "cuda_sync") == 0 ||
        strcmp(r->category, "overhead") == 0)
        return false;
    switch (r->kind) {
    case GNOMON_KIND_MARK:
    case GNOMON_KIND_COUNTER:
    case GNOMON_KIND_API:
    case GNOMON_KIND_KERNEL:
    case GNOMON_KIND_COPY:
    case GNOMON_KIND_SET:
        return false;
    default:
        return true;
    }
}

/* Nodes on a stream that are a part of others' are left out. */
static bool region_is_read(const gnomon__report_node *n)
{
    return !(n->of.flags & GNOMON_NODE_PART) && n->of.region &&
           region_has_row(&n->region);
}

bool gnomon__region_has_ended(const gnomon__report_node *n)
{
    const gnomon_stats *host = n->of.host, *device = n->of.device;
    return ((host && host->count) || (device && device->count)) &&
           region_is_read(n);
}

/* Parents have lower numbers than their children. */
uint64_t *gnomon__own_flops(const gnomon_profile *profile)
{
    const size_t count = gnomon_profile_count(profile, GNOMON_NODES);
    uint64_t *own = calloc(count + 1, sizeof *own);
    gnomon_node_info n;
    for (size_t i = count; own && i; i--) { /* own[i]: of those below, so far */
        const bool says_so = !gnomon_profile_node(profile, i, &n) && n.work &&
                             !(n.flags & GNOMON_NODE_PART);
        const uint64_t says = says_so ? n.work->flops : 0, below = own[i];
        const uint64_t all = says > below ? says : below;
        own[i] = all - below;
        own[n.parent] +=
            all < UINT64_MAX - own[n.parent] ? all : UINT64_MAX - own[n.parent];
    }
    return own;
}

static void region_set_flops(const gnomon__report_rows *r, uint64_t flops,
                             uint32_t number, gnomon__cell *cells)
{
    gnomon_op_info op;
    if (!number || gnomon_profile_op(r->profile, number, &op) || !op.flops)
        return;
    gnomon__cell_count(&cells[GNOMON__REGION_FLOPS], flops);
    gnomon__cell_count(&cells[GNOMON__REGION_BY_DEFINITION],
                       op.flags & GNOMON_OP_BY_DEFINITION ? flops : 0);
}

/* A path that was left before an end has self time alone. */
static void region_read_all(gnomon__report_rows *r)
{
    gnomon__report_node n;
    uint64_t *flops = gnomon__own_flops(r->profile);
    if (!flops)
        r->code = GNOMON_ENOMEM;
    for (size_t i = 1; flops && gnomon__report_node_at(r->profile, i, &n);
         i++) {
        const gnomon_stats *host = n.of.host, *device = n.of.device;
        const bool is_counted = host && host->count;
        if (!(is_counted || (host && host->self_ns) ||
              (device && device->count)) ||
            !region_is_read(&n))
            continue;
        gnomon__cell *cells = gnomon__report_row(r, n.of.track, n.of.region);
        gnomon__cell_text(&cells[GNOMON__REGION_NAME], n.region.name);
        gnomon__cell_text(&cells[GNOMON__REGION_CATEGORY], n.region.category);
        gnomon__cell_times(&cells[GNOMON__REGION_HOST_TIMES], host);
        gnomon__cell_times(&cells[GNOMON__REGION_DEVICE_TIMES], device);
        gnomon__cell_count(&cells[GNOMON__REGION_FIRST],
                           is_counted && n.of.first ? n.of.first : UINT64_MAX);
        gnomon__cell_count(&cells[GNOMON__REGION_RANGES],
                           (n.of.flags & GNOMON_NODE_RANGE) != 0);
        region_set_flops(r, flops[i], n.of.op, cells);
    }
    free(flops);
}

/* What has no finished execution is no row, and what open ones took so far is in no total
 * and in no self. */
static bool region_make(gnomon__report_rows *r, gnomon__cell *cells)
{
    const gnomon_stats *s = gnomon__times_of(&cells[GNOMON__REGION_HOST_TIMES]);
    const gnomon_stats *d =
        gnomon__times_of(&cells[GNOMON__REGION_DEVICE_TIMES]);
    const struct {
        int column;
        uint64_t value;
    } of_calls[] = {
        {GNOMON__REGION_CALLS, s->count},
        {GNOMON__REGION_TOTAL, s->total_ns},
        {GNOMON__REGION_SELF,
         s->self_ns < s->total_ns ? s->self_ns : s->total_ns},
        {GNOMON__REGION_MEAN, s->count ? s->total_ns / s->count : 0},
        {GNOMON__REGION_MIN, s->min_ns},
        {GNOMON__REGION_P50, gnomon_quantile_ns(s, 0.5)},
        {GNOMON__REGION_P90, gnomon_quantile_ns(s, 0.9)},
        {GNOMON__REGION_P99, gnomon_quantile_ns(s, 0.99)},
        {GNOMON__REGION_MAX, s->max_ns}};
    const bool has_ranges = cells[GNOMON__REGION_RANGES].count != 0;
    for (size_t i = 0; s->count && i < sizeof of_calls / sizeof *of_calls; i++)
        if (of_calls[i].column != GNOMON__REGION_SELF || !has_ranges)
            gnomon__cell_count(&cells[of_calls[i].column], of_calls[i].value);
    if (d->count) {
        gnomon__cell_count(&cells[GNOMON__REGION_DEVICE_CALLS], d->count);
        gnomon__cell_count(&cells[GNOMON__REGION_DEVICE], d->total_ns);
    }
    (void)r;
    return s->count || d->count;
}

static void region_choose(gnomon__report_rows *r)
{
    for (size_t i = 0; i < r->table.row_count; i++) {
        gnomon__cell *cells = gnomon__cells_of(&r->table, i);
        if (cells[GNOMON__REGION_TOTAL].is_there)
            gnomon__cell_share(&cells[GNOMON__REGION_PERCENT],
                               cells[GNOMON__REGION_TOTAL].count,
                               r->recorded_ns);
    }
}

static const gnomon__report_alias region_aliases[] = {
    {"simple", "", ""},
    {"threads", "by", "thread"},
    {"json", "format", "json"},
    {"", "", ""}};

const gnomon__report gnomon__regions = {
    .aliases = region_aliases,
    .name = "regions",
    .title = "Regions",
    .columns = region_columns,
    .column_count = GNOMON__REGION_COLUMNS,
    .by_from = GNOMON__BY_THREAD,
    .by_to = GNOMON__BY_FILE,
    .sort = GNOMON__REGION_TOTAL,
    .order = GNOMON__REGION_FIRST,
    .read = region_read_all,
    .finish = region_make,
    .choose = region_choose,
};

/* ---- Public rows ------------------------------------------------------------------- */

_Static_assert(GNOMON_ROWS_BY_THREAD == (int)GNOMON__BY_THREAD &&
                   GNOMON_ROWS_BY_FILE == (int)GNOMON__BY_FILE,
               "one order");

typedef struct public_rows {
    gnomon_rows base; /* first */
    gnomon__report_rows of;
    gnomon_row *rows;
} public_rows;

void gnomon__region_rows_free(gnomon_rows *rows)
{
    public_rows *r = (public_rows *)(void *)rows;
    if (!r)
        return;
    gnomon__report_free(&r->of);
    free(r->rows);
    free(r);
}

static void make_public_row(const public_rows *r, size_t i)
{
    const gnomon__cell *cells = gnomon__cells_of(&r->of.table, i);
    const gnomon_stats *device =
        gnomon__times_of(&cells[GNOMON__REGION_DEVICE_TIMES]);
    r->rows[i] = (gnomon_row){
        .struct_size = sizeof *r->rows,
        .name = cells[GNOMON__REGION_NAME].text,
        .category = cells[GNOMON__REGION_CATEGORY].text,
        .group = r->of.groups.texts
                     ? r->of.groups.texts[r->of.table.rows[i].group]
                     : "",
        .host = gnomon__times_of(&cells[GNOMON__REGION_HOST_TIMES]),
        .device = device->count ? device : NULL};
}

int gnomon__region_rows_make(gnomon_rows **out, const gnomon_profile *profile,
                             int by)
{
    gnomon__report by_name = gnomon__regions;
    const gnomon__table_choice choice = {.by = by};
    if (!out)
        return GNOMON_EINVAL;
    *out = NULL;
    if (!profile || by < GNOMON_ROWS_ALL || by > GNOMON_ROWS_BY_FILE)
        return GNOMON_EINVAL;
    public_rows *r = calloc(1, sizeof *r);
    if (!r)
        return GNOMON_ENOMEM;
    by_name.order = 0;
    if (!gnomon__report_make(&r->of, &by_name, &choice, NULL, profile))
        r->rows = calloc(r->of.table.row_count + 1, sizeof *r->rows);
    if (!r->rows) {
        gnomon__region_rows_free(&r->base);
        return GNOMON_ENOMEM;
    }
    r->base = (gnomon_rows){.struct_size = sizeof r->base,
                            .count = r->of.table.row_count,
                            .rows = r->rows};
    for (size_t i = 0; i < r->base.count; i++)
        make_public_row(r, i);
    r->of.of = &gnomon__regions;
    *out = &r->base;
    return GNOMON_OK;
}
