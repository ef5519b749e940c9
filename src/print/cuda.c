/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* cuda: how long scopes on streams were on their stream, waits and idle time included, a
 * table below others'; as the other tables where columns, groups, an order or a format
 * are asked for. The node of a scope on its thread has the times of all devices; nodes
 * on streams have parts of them, which are rows where there are several. Numbers are
 * made of integers, as printf's decimal point depends on the host's locale. */
#include "print/devices.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CUDA_COLUMN_LIST(X) \
    X(CUDA_NAME, "name", "Action", TEXT, SHOWN, KEY) \
    X(CUDA_CALLS, "calls", "Calls", COUNT, SHOWN, SUM) \
    X(CUDA_TOTAL, "total", "Stream", TIME, SHOWN, SUM) \
    X(CUDA_SELF, "self", "Self", TIME, SHOWN, SUM) \
    X(CUDA_MEAN, "mean", "Mean", TIME, SHOWN, MADE) \
    X(CUDA_MIN, "min", "Min", TIME, SHOWN, LEAST) \
    X(CUDA_MAX, "max", "Max", TIME, SHOWN, MOST) \
    X(CUDA_HOST_CALLS, "host_calls", "Host calls", COUNT, EXTRA, SUM) \
    X(CUDA_HOST, "host", "Host", TIME, SHOWN, SUM) \
    X(CUDA_DEVICE, "", "", ID, HIDDEN, KEY) /* 1 + its number; 0: all */ \
    X(CUDA_ALL, "", "", TIME, HIDDEN, MADE) /* total of all devices */
GNOMON__COLUMNS(cuda_columns, CUDA_COLUMNS, CUDA_COLUMN_LIST);

/* ---- Rows ---------------------------------------------------------------- */

/* Whether the node was timed, and is shown; *device is as the cell. */
static bool cuda_is_shown(const gnomon_profile *p, const gnomon_node_info *n,
                          uint64_t *device)
{
    gnomon_track_info t;
    *device = 0;
    if (!n->device || !n->device->count ||
        gnomon_profile_track(p, n->track, &t) != GNOMON_OK)
        return false;
    if (t.kind != GNOMON_TRACK_STREAM)
        return t.kind == GNOMON_TRACK_THREAD;
    *device = (uint64_t)((int64_t)t.device + 1);
    return (n->flags & GNOMON_NODE_PART) != 0;
}

static void cuda_read(gnomon__report_rows *r)
{
    gnomon__report_node n;
    uint64_t device;
    for (size_t i = 1; gnomon__report_node_at(r->profile, i, &n); i++) {
        const gnomon_stats *d = n.of.device, *host = n.of.host;
        if (!cuda_is_shown(r->profile, &n.of, &device))
            continue;
        const uint64_t values[] = {d->count,
                                   d->total_ns,
                                   d->self_ns,
                                   0,
                                   d->min_ns,
                                   d->max_ns,
                                   host ? host->count : 0,
                                   host ? host->total_ns : 0,
                                   device};
        gnomon__cell *cells = gnomon__report_row(r, n.of.track, n.of.region);
        gnomon__cell_text(&cells[CUDA_NAME], n.region.name);
        for (size_t k = 0; k < sizeof values / sizeof *values; k++)
            gnomon__cell_count(&cells[CUDA_CALLS + k], values[k]);
    }
}

static bool cuda_finish(gnomon__report_rows *r, gnomon__cell *cells)
{
    (void)r;
    gnomon__cell_count(&cells[CUDA_MEAN],
                       cells[CUDA_TOTAL].count / cells[CUDA_CALLS].count);
    return true;
}

/* Rows of single devices stay where a name has several, below that of all. */
static void cuda_choose(gnomon__report_rows *r)
{
    gnomon__report_table *t = &r->table;
    size_t kept = 0, same;
    for (size_t i = 0; i < t->row_count; i += same) {
        const gnomon__cell *first = gnomon__cells_of(t, i);
        for (same = 1;
             i + same < t->row_count &&
             t->rows[i + same].group == t->rows[i].group &&
             strcmp(gnomon__cells_of(t, i + same)->text, first->text) == 0;)
            same++;
        const char *name = first->text;
        for (size_t k = i; k < i + same; k++) {
            gnomon__cell *cells = gnomon__cells_of(t, k);
            const uint64_t device = cells[CUDA_DEVICE].count;
            if (device && (same < 3 || first[CUDA_DEVICE].count))
                continue;
            gnomon__cell_count(&cells[CUDA_ALL], first[CUDA_TOTAL].count);
            if (device)
                gnomon__cell_text(
                    cells, gnomon__report_kept(
                               r, gnomon__table_keep(t, "%s (GPU %" PRIu64 ")",
                                                     name, device - 1)));
            t->rows[kept++] = t->rows[k];
        }
    }
    t->row_count = kept;
}

/* ---- Text ---------------------------------------------------------------- */

/* `last`: the value of the last digit in ns, of so many after the point. Rounded half
 * up. */
static const char *cuda_number(char text[32], uint64_t ns, uint64_t last,
                               int places)
{
    const uint64_t value = ns / last + (ns % last >= last / 2);
    uint64_t whole = 1;
    for (int i = 0; i < places; i++)
        whole *= 10;
    const int length = snprintf(text, 32, "%" PRIu64 ".%0*" PRIu64,
                                value / whole, places, value % whole);
    return length > 0 && length < 32 ? text : "";
}

static const char *cuda_shown(char room[32], const gnomon__report_table *t,
                              size_t column, const gnomon__cell *cells)
{
    const uint64_t device = cells[CUDA_DEVICE].count;
    (void)t;
    switch (column) {
    case CUDA_NAME: /* "  GPU 1" below the row of all devices */
        snprintf(room, 32, "  GPU %" PRIu32, (uint32_t)device - 1);
        return device ? room : NULL;
    case CUDA_CALLS:
        snprintf(room, 32, "%" PRIu64 "/%" PRIu64, cells[CUDA_CALLS].count,
                 cells[CUDA_HOST_CALLS].count);
        return cells[CUDA_CALLS].count < cells[CUDA_HOST_CALLS].count ? room
                                                                      : NULL;
    case CUDA_MEAN:
    case CUDA_MIN:
    case CUDA_MAX:
        return cuda_number(room, cells[column].count, 100, 4);
    default:
        return column == CUDA_HOST && device
                   ? "            "
                   : cuda_number(room, cells[column].count, 1000, 6);
    }
}

/* How much time the events themselves take in a stream, as measured on each device:
 * metadata gnomon.KIND.INDEX.event_ns, and .name. */
static void cuda_cost(const gnomon_profile *profile, const gnomon_writer *out)
{
    gnomon_metadata_info m;
    for (size_t i = 1; !gnomon_profile_metadata(profile, i, &m); i++) {
        char key[64], one[32], two[32];
        const uint64_t ns = strtoull(m.json, NULL, 10);
        if (strncmp(m.key, "gnomon.", 7) != 0 || !ns || ns > UINT64_MAX / 2)
            continue;
        const char *kind = m.key + 7;
        const int letters = (int)strcspn(kind, ".");
        const char *index = kind + letters + (kind[letters] == '.');
        const int digits = (int)strspn(index, "0123456789");
        int length;
        if (!letters || letters > 31 || !digits || digits > 9 ||
            strcmp(index + digits, ".event_ns") != 0)
            continue;
        snprintf(key, sizeof key, "gnomon.%.*s.%.*s.name", letters, kind,
                 digits, index);
        const char *name = gnomon__metadata_text(profile, 0, key, &length);
        out->print(out,
                   "%.*s %.*s%s%.*s: two events one after the other take %s us "
                   "of a stream, so an empty scope measures %s us\n",
                   letters, kind, digits, index, length ? ", " : "", length,
                   name, cuda_number(two, 2 * ns, 100, 1),
                   cuda_number(one, ns, 100, 1));
    }
}

/* Columns of times are as wide as their titles. */
static int cuda_text(gnomon__report_rows *r, const gnomon_writer *out)
{
    static const uint16_t shown[] = {CUDA_NAME, CUDA_CALLS, CUDA_TOTAL,
                                     CUDA_SELF, CUDA_MEAN,  CUDA_MIN,
                                     CUDA_MAX,  CUDA_HOST};
    enum { CUDA_SHOWN = sizeof shown / sizeof *shown };
    static const char titles[CUDA_SHOWN][sizeof r->table.columns->title] = {
        "Action",       "   Num calls", "  Stream (s)", "    Self (s)",
        "   Mean (ms)", "    Min (ms)", "    Max (ms)", "    Host (s)"};
    const gnomon__table_choice choice = {
        .limit = SIZE_MAX, .sort = -1, .count = CUDA_SHOWN, .columns = shown};
    gnomon__column columns[CUDA_COLUMNS];
    memcpy(columns, cuda_columns, sizeof columns);
    for (size_t i = 0; i < CUDA_SHOWN; i++)
        memcpy(columns[shown[i]].title, titles[i], sizeof titles[i]);
    r->table.columns = columns;
    r->table.shown = cuda_shown;
    r->table.stage = gnomon__only_stage(r->profile);
    r->table.if_empty = "no scope on a stream was timed";
    r->table.is_ordered = true;
    const int code = gnomon__table_print(&r->table, &choice, r->profile, out);
    if (!code && r->table.row_count)
        cuda_cost(r->profile, out);
    out->write(out, "\n", 1);
    return code;
}

/* A limit makes it a table, too. */
static void cuda_set(void *settings, const gnomon_options *options)
{
    gnomon__table_choice *c = settings;
    (void)options;
    c->is_table |= c->limit != SIZE_MAX;
}

const gnomon__report gnomon__stream_times = {
    .name = "cuda",
    .title = "Device Report",
    .columns = cuda_columns,
    .column_count = CUDA_COLUMNS,
    .by_from = GNOMON__BY_THREAD,
    .by_to = GNOMON__BY_FILE,
    .sort = -1,
    .order = CUDA_ALL,
    .set = cuda_set,
    .read = cuda_read,
    .finish = cuda_finish,
    .choose = cuda_choose,
    .text = cuda_text,
};
