/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The sums are those of print/rows.h. How long any kernel of a row ran is known once all
 * are in the order of their begins: then they are added once more. */
#include "nsys/groups.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "command/inputs.h"
#include "gnomon/report.h"
#include "nsys/collectives.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "print/letters.h"
#include "print/order.h"
#include "print/rows.h"
#include "profile/model.h"

/* From GROUP_TC_NS on they are never shown: in seconds at the peak, and of kernels whose
 * bytes are known. */
#define GROUP_COLUMN_LIST(X) \
    X(GROUP_NAME, "name", "Name", TEXT, SHOWN, KEY) \
    X(GROUP_KERNELS, "kernels", "Kernels", COUNT, SHOWN, SUM) \
    X(GROUP_SUM, "sum", "Sum", TIME, SHOWN, SUM) \
    X(GROUP_SHARE, "share", "%", SHARE, SHOWN, MADE) \
    X(GROUP_UNION, "union", "Union", TIME, SHOWN, UNION) \
    X(GROUP_MIN, "min", "Min", TIME, EXTRA, LEAST) \
    X(GROUP_MAX, "max", "Max", TIME, EXTRA, MOST) \
    X(GROUP_TC, "tc", "TC %", SHARE, SHOWN, MADE) \
    X(GROUP_FLOPS, "flops", "FLOPs", COUNT, SHOWN, SUM) \
    X(GROUP_BYTES, "bytes", "Bytes", COUNT, SHOWN, SUM) \
    X(GROUP_INTENSITY, "intensity", "FLOP/B", NUMBER, EXTRA, MADE) \
    X(GROUP_TFLOPS, "tflops", "TFLOP/s", NUMBER, EXTRA, MADE) \
    X(GROUP_PEAK, "peak_tflops", "Peak", NUMBER, EXTRA, MADE) \
    X(GROUP_FLOPS_SHARE, "tflops_share", "% of it", SHARE, EXTRA, MADE) \
    X(GROUP_GBS, "gbs", "GB/s", NUMBER, EXTRA, MADE) \
    X(GROUP_PEAK_GBS, "peak_gbs", "Peak GB/s", NUMBER, EXTRA, MADE) \
    X(GROUP_BYTES_SHARE, "gbs_share", "% of it", SHARE, EXTRA, MADE) \
    X(GROUP_ROOF, "roof_share", "% of roof", SHARE, EXTRA, MADE) \
    X(GROUP_WALL, "wall", "Wall", TIME, EXTRA, FIRST) \
    X(GROUP_MFU, "mfu", "MFU %", SHARE, EXTRA, MADE) \
    X(GROUP_HFU, "hfu", "HFU %", SHARE, EXTRA, MADE) \
    X(GROUP_EXPOSED, "exposed", "Exposed comm", TIME, EXTRA, UNION) \
    X(GROUP_MESSAGE, "message", "Message", NUMBER, EXTRA, SUM) \
    X(GROUP_ALGORITHM_GBS, "algbw_gbs", "Alg GB/s", NUMBER, EXTRA, MADE) \
    X(GROUP_BUS_GBS, "busbw_gbs", "Bus GB/s", NUMBER, EXTRA, MADE) \
    X(GROUP_TC_NS, "tc_ns", "", TIME, HIDDEN, SUM) \
    X(GROUP_PEAK_FLOPS, "", "", NUMBER, HIDDEN, SUM) \
    X(GROUP_PEAK_TIME, "", "", NUMBER, HIDDEN, SUM) \
    X(GROUP_MODEL_TIME, "", "", NUMBER, HIDDEN, SUM) \
    X(GROUP_ROOF_TIME, "", "", NUMBER, HIDDEN, SUM) \
    X(GROUP_DEVICES, "", "", COUNT, HIDDEN, ONCE) \
    X(GROUP_MESSAGE_NS, "", "", NUMBER, HIDDEN, SUM) \
    X(GROUP_BUS_BYTES, "", "", NUMBER, HIDDEN, SUM) \
    X(GROUP_BUS_NS, "", "", NUMBER, HIDDEN, SUM)
GNOMON__COLUMNS(group_columns, GROUP_COLUMNS, GROUP_COLUMN_LIST);
/* The usual ones of a roofline and of steps. */
#define ROOFLINE_COLUMNS \
    "name,kernels,union,flops,bytes,intensity,tflops,peak_tflops,tflops_" \
    "share," \
    "gbs,peak_gbs,gbs_share,roof_share"
#define STEP_COLUMNS "name,kernels,wall,union,exposed,flops,peak_tflops,mfu,hfu"
#define COLLECTIVE_COLUMNS \
    "name,kernels,sum,union,exposed,message,algbw_gbs,busbw_gbs"

/* When a kernel ran, of a row. */
typedef struct piece {
    uint64_t from, until;
    uint64_t device; /* of its process */
    uint32_t row;    /* 0: none, as where compute is merged */
    bool is_communication;
} piece;

/* A kernel of NCCL, by its launch. */
typedef struct transfer {
    int64_t process, thread, launch_ns;
    uint64_t ns;
    uint32_t row;
    gnomon__collective_bytes said; /* by its operation */
} transfer;

typedef struct groups {
    gnomon__nsys_kernels *kernels;
    const gnomon__nsys_grouping *asked;
    gnomon__peaks peaks; /* as asked, else of the device */
    gnomon__peaks known; /* of the device, where nobody asked */
    gnomon__nsys_device device;
    const char *source; /* of its peaks */
    piece *pieces;
    size_t count, room;
    transfer *transfers;
    size_t transfer_count, transfer_room;
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

/* "3", or of several processes "112: 3". */
static const char *step_name(gnomon__report_rows *rows,
                             const gnomon__nsys_record *r)
{
    const groups *g = rows->more;
    size_t processes;
    const gnomon__nsys_step_range *steps =
        gnomon__nsys_records_steps(g->kernels->records, &processes);
    char text[64];
    if (!r->step)
        return "(none)";
    const gnomon__nsys_step_range *s = &steps[r->step - 1];
    if (processes > 1)
        snprintf(text, sizeof text, "%" PRId64 ": %" PRIu32,
                 s->process & 0xffffff, s->number);
    else
        snprintf(text, sizeof text, "%" PRIu32, s->number);
    return gnomon__report_text(rows, text);
}

static const char *name_of(gnomon__report_rows *rows, int by,
                           const gnomon__nsys_record *r, const gnomon__work *w)
{
    char text[32];
    switch (by) {
    case GNOMON__NSYS_BY_OP:
        return w->op;
    case GNOMON__NSYS_BY_MODULE:
        return w->mod;
    case GNOMON__NSYS_BY_LAYER:
        return joined(rows, &r->layers);
    case GNOMON__NSYS_BY_KERNEL:
        return r->name;
    case GNOMON__NSYS_BY_STEP:
        return step_name(rows, r);
    case GNOMON__NSYS_BY_COLLECTIVE:
        return gnomon__collective_name(r->name, text)
                   ? gnomon__report_text(rows, text)
                   : "(compute)";
    default:
        return r->path.count ? r->path.at[r->path.count - 1] : "(none)";
    }
}

static double or_known(double asked, double *known)
{
    *known = asked > 0 ? 0 : *known;
    return asked > 0 ? asked : *known;
}

static void set_device(groups *g)
{
    const gnomon__nsys *db = gnomon__nsys_records_database(g->kernels->records);
    if (!db)
        return;
    g->device = gnomon__nsys_device_of(db);
    g->source = gnomon__peaks_of_device(&g->known, &g->device);
    g->peaks.gbs = or_known(g->peaks.gbs, &g->known.gbs);
    for (int k = 0; k < GNOMON__PEAK_KINDS; k++)
        g->peaks.tflops[k] = or_known(g->peaks.tflops[k], &g->known.tflops[k]);
}

/* What a kernel would take at its peaks. */
static void set_peaks(const groups *g, gnomon__cell *cells,
                      const gnomon__nsys_record *r)
{
    const gnomon__work *w = &g->kernels->work;
    const double peak = gnomon__peak_of(&g->peaks, w) * 1e12,
                 flops = (double)w->flops,
                 by_flops = peak > 0 ? flops / peak : 0,
                 by_bytes = g->peaks.gbs > 0
                                ? (double)w->bytes / g->peaks.gbs / 1e9
                                : 0;
    if (peak > 0) {
        gnomon__cell_number(&cells[GROUP_PEAK_FLOPS], flops);
        gnomon__cell_number(&cells[GROUP_PEAK_TIME], by_flops);
        gnomon__cell_number(&cells[GROUP_MODEL_TIME],
                            r->is_recomputed ? 0 : by_flops);
    }
    if (peak > 0 || g->peaks.gbs > 0)
        gnomon__cell_number(&cells[GROUP_ROOF_TIME],
                            by_flops > by_bytes ? by_flops : by_bytes);
}

static void add_transfer(gnomon__report_rows *rows, groups *g,
                         const gnomon__nsys_record *r, uint32_t row)
{
    const gnomon__work *w = &g->kernels->work;
    transfer t = {.process = r->process,
                  .thread = r->thread,
                  .launch_ns = r->launch_ns,
                  .ns = r->ns > 0 ? (uint64_t)r->ns : 0,
                  .row = row};
    if (w->info)
        t.said = gnomon__collective_of(r->name, w->info, w->input_bytes);
    if (!GNOMON__PUSH(g->transfers, g->transfer_room, g->transfer_count, t))
        rows->code = GNOMON_ENOMEM;
}

static void add_kernel(gnomon__report_rows *rows, groups *g,
                       const gnomon__nsys_record *r)
{
    const gnomon__work *w = &g->kernels->work;
    const uint64_t ns = r->ns > 0 ? (uint64_t)r->ns : 0;
    const uint64_t device = (uint64_t)r->process << 16 ^ (uint64_t)r->device;
    const char *name = name_of(rows, g->asked->by, r, w);
    gnomon__cell *cells = gnomon__report_row_of(rows, 0);
    gnomon__cell_text(&cells[GROUP_NAME], name);
    gnomon__cell_count(&cells[GROUP_KERNELS], 1);
    gnomon__cell_count(&cells[GROUP_SUM], ns);
    gnomon__cell_count(&cells[GROUP_MIN], ns);
    gnomon__cell_count(&cells[GROUP_MAX], ns);
    gnomon__cell_count(&cells[GROUP_FLOPS], w->flops);
    gnomon__cell_count(&cells[GROUP_BYTES], w->bytes);
    gnomon__cell_count(&cells[GROUP_TC_NS], *w->tensor_cores == '1' ? ns : 0);
    gnomon__cell_count(&cells[GROUP_DEVICES], 1);
    set_peaks(g, cells, r);
    if (r->step) {
        size_t processes;
        const gnomon__nsys_step_range *s = &gnomon__nsys_records_steps(
            g->kernels->records, &processes)[r->step - 1];
        gnomon__cell_count(&cells[GROUP_WALL],
                           (uint64_t)(s->end_ns - s->begin_ns));
    }
    rows->id = device + 1;
    const uint32_t row = gnomon__report_put(rows);
    const bool is_communication = !strncmp(r->name, "nccl", 4);
    if (row && is_communication)
        add_transfer(rows, g, r, row);
    if (!row || !r->begin_ns)
        return;
    if (r->begin_ns < g->first_ns)
        g->first_ns = r->begin_ns;
    if (!GNOMON__PUSH(g->pieces, g->room, g->count,
                      (piece){(uint64_t)r->begin_ns, (uint64_t)r->begin_ns + ns,
                              device, row, is_communication}))
        rows->code = GNOMON_ENOMEM;
}

GNOMON__ORDER(by_begin, piece, UP(device), UP(from))

/* Adds a time of a row to a column of the rule UNION. Times of a device begin with 1: an
 * id of 0 is none. */
static void add_time(gnomon__report_rows *rows, const piece *p, int column)
{
    gnomon__cell *cells = gnomon__report_row_to(rows, p->row);
    gnomon__cell_count(&cells[column], p->until);
    rows->from_ns = p->from;
    rows->id = p->device + 1;
}

/* Of communication, what no other kernel of the device ran beside: `p` less the compute
 * from `at` on, which is merged and of the same order. Returns where that is past `p`. */
static size_t add_exposed(gnomon__report_rows *rows, piece p,
                          const piece *compute, size_t count, size_t at)
{
    while (at < count &&
           (compute[at].device < p.device ||
            (compute[at].device == p.device && compute[at].until <= p.from)))
        at++;
    for (size_t i = at; i < count && compute[i].device == p.device &&
                        compute[i].from < p.until && p.from < p.until;
         i++) {
        piece before = p;
        before.until = compute[i].from;
        if (before.until > before.from)
            add_time(rows, &before, GROUP_EXPOSED);
        p.from = compute[i].until > p.from ? compute[i].until : p.from;
    }
    if (p.from < p.until)
        add_time(rows, &p, GROUP_EXPOSED);
    return at;
}

/* Pieces become those of compute, each moment once. Returns how many. */
static size_t merge_compute(piece *pieces, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        piece *last = kept ? &pieces[kept - 1] : NULL;
        if (pieces[i].is_communication)
            continue;
        if (last && last->device == pieces[i].device &&
            last->until >= pieces[i].from) {
            if (pieces[i].until > last->until)
                last->until = pieces[i].until;
        } else {
            pieces[kept++] = pieces[i];
        }
    }
    return kept;
}

static void add_unions(gnomon__report_rows *rows, groups *g)
{
    uint64_t until = 0;
    piece *communication = NULL;
    size_t communications = 0, room = 0, at = 0;
    GNOMON__SORT(g->pieces, g->count, by_begin);
    for (size_t i = 0; i < g->count && !rows->code; i++) {
        piece *p = &g->pieces[i];
        p->from -= (uint64_t)g->first_ns;
        p->until -= (uint64_t)g->first_ns;
        add_time(rows, p, GROUP_UNION);
        until = i && p[-1].device == p->device ? until : 0;
        const uint64_t from = p->from > until ? p->from : until;
        g->union_ns += p->until > from ? p->until - from : 0;
        until = p->until > until ? p->until : until;
        if (p->is_communication &&
            !GNOMON__PUSH(communication, room, communications, *p))
            rows->code = GNOMON_ENOMEM;
    }
    g->count = merge_compute(g->pieces, g->count);
    for (size_t i = 0; i < communications && !rows->code; i++)
        at = add_exposed(rows, communication[i], g->pieces, g->count, at);
    free(communication);
}

GNOMON__ORDER(by_launch, transfer, UP(process), UP(thread), UP(launch_ns))

/* A kernel has the calls of its thread from the launch before it on. */
static void add_messages(gnomon__report_rows *rows, groups *g)
{
    const gnomon__nsys *db = gnomon__nsys_records_database(g->kernels->records);
    gnomon__collective_calls calls = {0};
    size_t at = 0;
    if (g->transfer_count && db && !g->kernels->status) {
        g->kernels->status = gnomon__collectives_read(&calls, db);
        GNOMON__SORT(g->transfers, g->transfer_count, by_launch);
    }
    for (size_t i = 0; i < g->transfer_count && !rows->code; i++) {
        const transfer *t = &g->transfers[i];
        gnomon__collective_bytes is = {0, 0};
        for (; at < calls.count; at++) {
            const gnomon__collective_call *c = &calls.at[at];
            const transfer call = {.process = c->process,
                                   .thread = c->thread,
                                   .launch_ns = c->begin_ns};
            if (by_launch(&call, t) > 0)
                break;
            if (c->process == t->process && c->thread == t->thread) {
                is.bytes += c->is.bytes;
                is.bus_bytes += c->is.bus_bytes;
            }
        }
        is = is.bytes > 0 ? is : t->said;
        if (!(is.bytes > 0))
            continue;
        gnomon__cell *cells = gnomon__report_row_to(rows, t->row);
        gnomon__cell_number(&cells[GROUP_MESSAGE], is.bytes);
        gnomon__cell_number(&cells[GROUP_MESSAGE_NS], (double)t->ns);
        gnomon__cell_number(&cells[GROUP_BUS_BYTES], is.bus_bytes);
        gnomon__cell_number(&cells[GROUP_BUS_NS],
                            is.bus_bytes > 0 ? (double)t->ns : 0);
    }
    gnomon__free(calls.at);
}

static void read_kernels(gnomon__report_rows *rows)
{
    groups *g = rows->more;
    const gnomon__nsys_record *r;
    while (!rows->code && (r = gnomon__nsys_kernel_next(g->kernels)))
        add_kernel(rows, g, r);
    add_unions(rows, g);
    add_messages(rows, g);
}

static void set_rates(const groups *g, gnomon__cell *cells)
{
    const uint64_t ns = cells[GROUP_UNION].is_there ? cells[GROUP_UNION].count
                                                    : cells[GROUP_SUM].count;
    const double flops = (double)cells[GROUP_FLOPS].count,
                 bytes = (double)cells[GROUP_BYTES].count,
                 time = (double)ns / 1e9;
    if (flops > 0 && bytes > 0)
        gnomon__cell_number(&cells[GROUP_INTENSITY], flops / bytes);
    if (flops > 0 && ns)
        gnomon__cell_number(&cells[GROUP_TFLOPS], flops / time / 1e12);
    if (bytes > 0 && ns)
        gnomon__cell_number(&cells[GROUP_GBS], bytes / time / 1e9);
    if (bytes > 0 && ns && g->peaks.gbs > 0) {
        gnomon__cell_number(&cells[GROUP_PEAK_GBS], g->peaks.gbs);
        gnomon__cell_number(&cells[GROUP_BYTES_SHARE],
                            100 * bytes / g->peaks.gbs / 1e9 / time);
    }
    if (cells[GROUP_ROOF_TIME].number > 0 && ns)
        gnomon__cell_number(&cells[GROUP_ROOF],
                            100 * cells[GROUP_ROOF_TIME].number / time);
    if (!(cells[GROUP_PEAK_TIME].number > 0))
        return;
    gnomon__cell_number(&cells[GROUP_PEAK], cells[GROUP_PEAK_FLOPS].number /
                                                cells[GROUP_PEAK_TIME].number /
                                                1e12);
    if (ns)
        gnomon__cell_number(&cells[GROUP_FLOPS_SHARE],
                            100 * cells[GROUP_PEAK_TIME].number / time);
}

static bool finish_group(gnomon__report_rows *rows, gnomon__cell *cells)
{
    const groups *g = rows->more;
    const uint64_t sum = cells[GROUP_SUM].count;
    const double wall = (double)cells[GROUP_WALL].count / 1e9 *
                        (double)cells[GROUP_DEVICES].count;
    gnomon__cell_share(&cells[GROUP_SHARE], sum, g->kernels->ns);
    gnomon__cell_share(&cells[GROUP_TC], cells[GROUP_TC_NS].count, sum);
    set_rates(g, cells);
    if (cells[GROUP_MESSAGE_NS].number > 0)
        gnomon__cell_number(&cells[GROUP_ALGORITHM_GBS],
                            cells[GROUP_MESSAGE].number /
                                cells[GROUP_MESSAGE_NS].number);
    if (cells[GROUP_BUS_NS].number > 0)
        gnomon__cell_number(&cells[GROUP_BUS_GBS],
                            cells[GROUP_BUS_BYTES].number /
                                cells[GROUP_BUS_NS].number);
    if (g->asked->by != GNOMON__NSYS_BY_STEP)
        cells[GROUP_WALL].is_there = false;
    if (cells[GROUP_PEAK_TIME].number > 0 && cells[GROUP_WALL].is_there &&
        wall > 0) {
        gnomon__cell_number(&cells[GROUP_MFU],
                            100 * cells[GROUP_MODEL_TIME].number / wall);
        gnomon__cell_number(&cells[GROUP_HFU],
                            100 * cells[GROUP_PEAK_TIME].number / wall);
    }
    return true;
}

static void note_totals(const gnomon__report_rows *rows,
                        const gnomon_writer *out)
{
    const groups *g = rows->more;
    const gnomon__nsys_kernels *k = g->kernels;
    char sum[GNOMON__DURATION], all[GNOMON__DURATION];
    int peaks = 0;
    out->print(out,
               "\n%llu kernels: sum %s, union %s, %llu flops, %llu bytes\n",
               (unsigned long long)k->count, gnomon__print_duration(sum, k->ns),
               g->count ? gnomon__print_duration(all, g->union_ns) : "-",
               (unsigned long long)k->flops, (unsigned long long)k->bytes);
    if (g->known.gbs > 0)
        out->print(out, "Peak of memory, as the driver said: %.4g GB/s\n",
                   g->known.gbs);
    for (int i = 0; i < GNOMON__PEAK_KINDS; i++)
        if (g->known.tflops[i] > 0)
            out->print(out, "%s%s %.5g", peaks++ ? ", " : "Peaks, TFLOP/s: ",
                       gnomon__peak_words[i], g->known.tflops[i]);
    if (peaks)
        out->print(out, " of %s (%s)\n",
                   *g->device.name ? g->device.name : "the device", g->source);
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

static bool has_peaks(const gnomon__peaks *p)
{
    double all = p->gbs;
    for (int k = 0; k < GNOMON__PEAK_KINDS; k++)
        all += p->tflops[k];
    return all > 0;
}

int gnomon__nsys_groups_choose(gnomon__nsys_grouping *grouping,
                               const char *columns, const char *sort)
{
    char words[512] = "";
    if (!columns && grouping->by == GNOMON__NSYS_BY_STEP)
        columns = STEP_COLUMNS;
    else if (!columns && grouping->by == GNOMON__NSYS_BY_COLLECTIVE)
        columns = COLLECTIVE_COLUMNS;
    else if (!columns && (has_peaks(&grouping->peaks) || grouping->plot))
        columns = ROOFLINE_COLUMNS;
    for (size_t i = 0; columns && columns[i] && i + 1 < sizeof words; i++)
        words[i] = columns[i] == ',' ? '|' : columns[i];
    const choice_words asked = {
        {.text = choice_text, .log = log_choice}, columns ? words : NULL, sort};
    if (gnomon__table_choose(&grouping->choice, "nsys", group_columns,
                             GROUP_TC_NS, false, &asked.base)) {
        gnomon__log("no memory for the columns");
        return GNOMON__EXIT_UNREADABLE;
    }
    return choice_is_wrong ? GNOMON__EXIT_USAGE : GNOMON__EXIT_OK;
}

static int draw(const gnomon__report_rows *rows, const groups *g)
{
    const gnomon__report_table *t = &rows->table;
    gnomon__roofline_point *points =
        gnomon__alloc((t->row_count + 1) * sizeof *points);
    size_t count = 0;
    for (size_t i = 0; points && i < t->row_count; i++) {
        const gnomon__cell *cells = gnomon__cells_of(t, i);
        if (cells[GROUP_INTENSITY].is_there && cells[GROUP_TFLOPS].is_there)
            points[count++] = (gnomon__roofline_point){
                cells[GROUP_NAME].text, cells[GROUP_INTENSITY].number,
                cells[GROUP_TFLOPS].number, cells[GROUP_SUM].count};
    }
    const int status =
        points ? gnomon__roofline_draw(g->asked->plot, &g->peaks, points, count)
               : GNOMON__EXIT_UNREADABLE;
    gnomon__free(points);
    return status;
}

int gnomon__nsys_groups_print(gnomon__nsys_kernels *kernels,
                              const gnomon__nsys_grouping *grouping,
                              const gnomon_writer *out)
{
    groups g = {.kernels = kernels,
                .asked = grouping,
                .peaks = grouping->peaks,
                .first_ns = INT64_MAX};
    gnomon__report_rows rows;
    int status = GNOMON__EXIT_OK;
    gnomon__model *none = gnomon__model_create(); /* tables are of a profile */
    int code =
        none ? gnomon__report_begin(&rows, &group_report, &grouping->choice, &g)
             : GNOMON_ENOMEM;
    set_device(&g);
    if (!code) {
        rows.keeps = true; /* names are a kernel's */
        code = gnomon__report_add(&rows, &none->base, NULL);
    }
    if (!code)
        code = gnomon__report_end(&rows, &none->base);
    gnomon__progress_end();
    if (!code && grouping->plot)
        status = draw(&rows, &g);
    if (!code && rows.table.row_count)
        code = gnomon__report_put_all(&rows, out);
    if (none) {
        gnomon__report_free(&rows);
        gnomon_profile_free(&none->base);
    }
    free(g.pieces);
    free(g.transfers);
    if (code == GNOMON_ENOMEM)
        gnomon__log("no memory to add kernels up");
    if (!status && code)
        status = GNOMON__EXIT_UNREADABLE;
    return kernels->status ? kernels->status : status;
}
