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

#include "print/letters.h"
#include "print/width.h"

enum {
    CUDA_NAME,
    CUDA_CALLS,
    CUDA_TOTAL,
    CUDA_SELF,
    CUDA_MEAN,
    CUDA_MIN,
    CUDA_MAX,
    CUDA_HOST_CALLS,
    CUDA_HOST,
    CUDA_DEVICE, /* 1 + its number; 0: all */
    CUDA_ALL,    /* total of all devices */
    CUDA_COLUMNS
};

static const gnomon__column cuda_columns[CUDA_COLUMNS] = {
    [CUDA_NAME] = GNOMON__COLUMN("name", "Action", TEXT, SHOWN, KEY),
    [CUDA_CALLS] = GNOMON__COLUMN("calls", "Calls", COUNT, SHOWN, SUM),
    [CUDA_TOTAL] = GNOMON__COLUMN("total", "Stream", TIME, SHOWN, SUM),
    [CUDA_SELF] = GNOMON__COLUMN("self", "Self", TIME, SHOWN, SUM),
    [CUDA_MEAN] = GNOMON__COLUMN("mean", "Mean", TIME, SHOWN, MADE),
    [CUDA_MIN] = GNOMON__COLUMN("min", "Min", TIME, SHOWN, LEAST),
    [CUDA_MAX] = GNOMON__COLUMN("max", "Max", TIME, SHOWN, MOST),
    [CUDA_HOST_CALLS] =
        GNOMON__COLUMN("host_calls", "Host calls", COUNT, EXTRA, SUM),
    [CUDA_HOST] = GNOMON__COLUMN("host", "Host", TIME, SHOWN, SUM),
    [CUDA_DEVICE] = GNOMON__COLUMN("", "", ID, HIDDEN, KEY),
    [CUDA_ALL] = GNOMON__COLUMN("", "", TIME, HIDDEN, MADE),
};

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
    *device = (uint64_t)(t.device + 1);
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
                gnomon__cell_text(cells,
                                  gnomon__table_keep(t, "%s (GPU %" PRIu64 ")",
                                                     name, device - 1));
            if (!cells->text)
                r->code = GNOMON_ENOMEM;
            t->rows[kept++] = t->rows[k];
        }
    }
    t->row_count = kept;
}

/* ---- Text ---------------------------------------------------------------- */

/* The units of times, in ns; `last` is the value of the last digit. */
typedef struct cuda_unit {
    uint64_t unit, last;
    int places;
} cuda_unit;
static const cuda_unit cuda_s = {1000000000u, 1000u, 6};
static const cuda_unit cuda_ms = {1000000u, 100u, 4};
static const cuda_unit cuda_us = {1000u, 100u, 1};

/* Rounded half up. */
static const char *cuda_number(char text[32], uint64_t ns, cuda_unit in)
{
    uint64_t half = in.last / 2, whole = ns / in.unit;
    uint64_t part = (ns % in.unit + half) / in.last;
    if (part == in.unit / in.last) {
        whole++;
        part = 0;
    }
    snprintf(text, 32, "%" PRIu64 ".%0*" PRIu64, whole, in.places, part);
    return text;
}

static void cuda_line(const gnomon_writer *out, size_t width,
                      const char *const cells[8])
{
    size_t is = gnomon__print_width(cells[0], strlen(cells[0]));
    out->print(out, "%s%*s", cells[0], (int)(width - is), "");
    for (int i = 1; i < 8; i++)
        out->print(out, "  %12s", cells[i]);
    out->write(out, "\n", 1);
}

/* "  GPU 1" below the row of all devices. */
static const char *cuda_label(const gnomon_writer *out,
                              const gnomon__cell *cells, char text[24])
{
    if (!cells[CUDA_DEVICE].count)
        return gnomon_shown(out, cells->text);
    snprintf(text, 24, "  GPU %" PRIu32,
             (uint32_t)cells[CUDA_DEVICE].count - 1);
    return text;
}

static void cuda_print_row(const gnomon_writer *out, size_t width,
                           const gnomon__cell *row)
{
    char text[7][48], label[24];
    snprintf(text[0], sizeof text[0],
             row[CUDA_CALLS].count < row[CUDA_HOST_CALLS].count ? "%" PRIu64
                                                                  "/%" PRIu64
                                                                : "%" PRIu64,
             row[CUDA_CALLS].count, row[CUDA_HOST_CALLS].count);
    const char *cells[8] = {
        cuda_label(out, row, label),
        text[0],
        cuda_number(text[1], row[CUDA_TOTAL].count, cuda_s),
        cuda_number(text[2], row[CUDA_SELF].count, cuda_s),
        cuda_number(text[3], row[CUDA_MEAN].count, cuda_ms),
        cuda_number(text[4], row[CUDA_MIN].count, cuda_ms),
        cuda_number(text[5], row[CUDA_MAX].count, cuda_ms),
        row[CUDA_DEVICE].count
            ? ""
            : cuda_number(text[6], row[CUDA_HOST].count, cuda_s)};
    cuda_line(out, width, cells);
}

/* The JSON text of metadata `key`, without its quotes; length 0: none. */
static const char *cuda_metadata(const gnomon_profile *profile, const char *key,
                                 int *length)
{
    size_t count = gnomon_profile_count(profile, GNOMON_METADATA);
    *length = 0;
    for (size_t i = 1; i <= count; i++) {
        gnomon_metadata_info m;
        if (gnomon_profile_metadata(profile, i, &m) != GNOMON_OK ||
            strcmp(m.key, key) != 0 || *m.json != '"')
            continue;
        size_t size = strlen(m.json);
        *length = size < 2 || size > 256 ? 0 : (int)size - 2;
        return m.json + 1;
    }
    return "";
}

/* How much time the events themselves take in a stream, as measured on each device:
 * metadata gnomon.KIND.INDEX.event_ns, and .name. */
static void cuda_cost(const gnomon_profile *profile, const gnomon_writer *out)
{
    static const char head[] = "gnomon.", tail[] = ".event_ns";
    const size_t fixed = sizeof head + sizeof tail - 2;
    size_t count = gnomon_profile_count(profile, GNOMON_METADATA);
    for (size_t i = 1; i <= count; i++) {
        gnomon_metadata_info m;
        char device[64], key[96], one[32], two[32];
        if (gnomon_profile_metadata(profile, i, &m) != GNOMON_OK)
            continue;
        size_t size = strlen(m.key);
        uint64_t ns = strtoull(m.json, NULL, 10);
        if (size <= fixed || size - fixed >= sizeof device ||
            memcmp(m.key, head, sizeof head - 1) != 0 ||
            strcmp(m.key + size - (sizeof tail - 1), tail) != 0 || !ns ||
            ns > UINT64_MAX / 2)
            continue;
        snprintf(device, sizeof device, "%.*s", (int)(size - fixed),
                 m.key + sizeof head - 1);
        snprintf(key, sizeof key, "gnomon.%s.name", device);
        char *dot = strrchr(device, '.');
        if (dot)
            *dot = ' ';
        int length;
        const char *name = cuda_metadata(profile, key, &length);
        out->print(out,
                   "%s%s%.*s: two events one after the other take %s us of a "
                   "stream, so an empty scope measures %s us\n",
                   device, length > 0 ? ", " : "", length, name,
                   cuda_number(two, 2 * ns, cuda_us),
                   cuda_number(one, ns, cuda_us));
    }
}

static int cuda_text(gnomon__report_rows *r, const gnomon_writer *out)
{
    static const char *const heads[8] = {"Action",   "Num calls", "Stream (s)",
                                         "Self (s)", "Mean (ms)", "Min (ms)",
                                         "Max (ms)", "Host (s)"};
    const size_t count = r->table.row_count;
    size_t width = strlen(heads[0]);
    gnomon__print_title(out, gnomon__only_stage(r->profile),
                        "Device Report\n\n");
    for (size_t i = 0; i < count; i++) {
        char label[24];
        const char *shown =
            cuda_label(out, gnomon__cells_of(&r->table, i), label);
        size_t is = gnomon__print_width(shown, strlen(shown));
        width = is > width ? is : width;
    }
    if (count)
        cuda_line(out, width, heads);
    else
        out->print(out, "no scope on a stream was timed\n");
    for (size_t i = 0; i < count; i++)
        cuda_print_row(out, width, gnomon__cells_of(&r->table, i));
    if (count)
        cuda_cost(r->profile, out);
    out->write(out, "\n", 1);
    return GNOMON_OK;
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
