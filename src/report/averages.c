/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for size */
/* The text of the rows. Titles, widths and units depend on all of them, so that these are
 * looked at first. */
#include "report/averages.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "platform/error.h"
#include "print/letters.h"

#define NUMBERS 12 /* the width of a column of numbers */

const gnomon__averages_choice gnomon__averages_preset = {
    .row_limit = 100, .name_width = 55, .shapes_width = 80, .source_width = 75};

enum average_form {
    AS_NAME,
    AS_LAYER,
    AS_SHAPES,
    AS_FRAMES,
    AS_SHARE,
    AS_TIME,
    AS_BYTES,
    AS_WHOLE,
    AS_FLOPS
};

/* What a column needs to be there. */
enum {
    IF_OVERLOADS = 1,
    IF_DEVICE = 2,
    IF_MEMORY = 4,
    IF_DEVICE_MEMORY = 8,
    IF_NODES = 16,
    IF_SHAPES = 32,
    IF_STACKS = 64,
    IF_FLOPS = 128,
    IF_LAYERS = 256
};

static const struct average_column {
    char title[16]; /* '@' is the device, or the unit of flops */
    uint8_t cell, form;
    uint16_t needs;
} average_columns[] = {
    {"Name", GNOMON__AVERAGE_NAME, AS_NAME, 0},
    {"Overload Name", GNOMON__AVERAGE_OVERLOAD, AS_NAME, IF_OVERLOADS},
    {"Layer", GNOMON__AVERAGE_LAYER, AS_LAYER, IF_LAYERS},
    {"Self CPU %", GNOMON__AVERAGE_SELF_CPU, AS_SHARE, 0},
    {"Self CPU", GNOMON__AVERAGE_SELF_CPU, AS_TIME, 0},
    {"CPU total %", GNOMON__AVERAGE_CPU, AS_SHARE, 0},
    {"CPU total", GNOMON__AVERAGE_CPU, AS_TIME, 0},
    {"CPU time avg", GNOMON__AVERAGE_CPU_MEAN, AS_TIME, 0},
    {"Self @", GNOMON__AVERAGE_SELF_DEVICE, AS_TIME, IF_DEVICE},
    {"Self @ %", GNOMON__AVERAGE_SELF_DEVICE, AS_SHARE, IF_DEVICE},
    {"@ total", GNOMON__AVERAGE_DEVICE, AS_TIME, IF_DEVICE},
    {"@ time avg", GNOMON__AVERAGE_DEVICE_MEAN, AS_TIME, IF_DEVICE},
    {"CPU Mem", GNOMON__AVERAGE_CPU_BYTES, AS_BYTES, IF_MEMORY},
    {"Self CPU Mem", GNOMON__AVERAGE_SELF_CPU_BYTES, AS_BYTES, IF_MEMORY},
    {"@ Mem", GNOMON__AVERAGE_DEVICE_BYTES, AS_BYTES, IF_DEVICE_MEMORY},
    {"Self @ Mem", GNOMON__AVERAGE_SELF_DEVICE_BYTES, AS_BYTES,
     IF_DEVICE_MEMORY},
    {"# of Calls", GNOMON__AVERAGE_COUNT, AS_WHOLE, 0},
    {"Node ID", GNOMON__AVERAGE_NODE, AS_WHOLE, IF_NODES},
    {"Input Shapes", GNOMON__AVERAGE_SHAPES, AS_SHAPES, IF_SHAPES},
    {"Source Location", GNOMON__AVERAGE_STACK, AS_FRAMES, IF_STACKS},
    {"Total @", GNOMON__AVERAGE_FLOPS, AS_FLOPS, IF_FLOPS}};

#define AVERAGE_COLUMNS (sizeof average_columns / sizeof *average_columns)

typedef struct averages_table {
    const gnomon__report_table *rows;
    const gnomon__averages_choice *choice;
    const gnomon_writer *out;
    size_t width[AVERAGE_COLUMNS]; /* 0: there is no such column */
    unsigned has;                  /* IF_OVERLOADS, ... */
    double self_cpu, self_device;  /* of all rows */
    double flops_scale;
    const char *flops_word;
} averages_table;

/* ---- Cells ------------------------------------------------------------------------- */

/* With a point in any locale. */
static void fixed_text(char text[40], double value, int digits, int width,
                       const char *unit)
{
    int n = snprintf(text, 40, "%*.*f", width, digits, value);
    if (n > digits && digits)
        text[n - digits - 1] = '.';
    snprintf(text + n, 40 - (size_t)n, "%s", unit);
}

static void time_text(char text[40], double us, const char *unit)
{
    const char forced = unit && (!strcmp(unit, "s") || !strcmp(unit, "ms") ||
                                 !strcmp(unit, "us"))
                            ? *unit
                            : 0;
    if (forced ? forced == 's' : us >= 1e6)
        fixed_text(text, us / 1e6, 3, 0, "s");
    else if (forced ? forced == 'm' : us >= 1e3)
        fixed_text(text, us / 1e3, 3, 0, "ms");
    else
        fixed_text(text, us, 3, 0, "us");
}

static void bytes_text(char text[40], double bytes)
{
    static const char units[][4] = {" B", " KB", " MB", " GB"};
    int unit = 0;
    for (; unit < 3 && fabs(bytes) >= 1024.0; unit++)
        bytes /= 1024.0;
    fixed_text(text, bytes, unit ? 2 : 0, 0, units[unit]);
}

/* A cell that is a number. */
static void number_text(char text[40], const averages_table *t,
                        const struct average_column *c,
                        const gnomon__cell *cells)
{
    const double value = cells[c->cell].number;
    const double whole = c->needs & IF_DEVICE ? t->self_device : t->self_cpu;
    if (c->form == AS_SHARE && c->cell == GNOMON__AVERAGE_CPU &&
        cells[GNOMON__AVERAGE_ORDER].count & 2)
        snprintf(text, 40, "0");
    else if (c->form == AS_SHARE && whole == 0)
        snprintf(text, 40, "NaN");
    else if (c->form == AS_SHARE)
        fixed_text(text, value * 100.0 / whole, 2, 0, "%");
    else if (c->form == AS_TIME)
        time_text(text, value, t->choice->time_unit);
    else if (c->form == AS_BYTES)
        bytes_text(text, value);
    else if (c->form == AS_WHOLE)
        snprintf(text, 40, "%.0f", value);
    else if (value > 0)
        fixed_text(text, value * t->flops_scale, 3, 8, "");
    else
        snprintf(text, 40, "--");
}

/* ---- Lines ------------------------------------------------------------------------- */

/* A cell of `size` bytes, to the right or to the left, and what stands after it. */
static void put_cell(const averages_table *t, size_t column, const char *text,
                     size_t size)
{
    const size_t wide = gnomon__print_width(text, size);
    const size_t blanks = wide < t->width[column] ? t->width[column] - wide : 0;
    const bool is_left = average_columns[column].form == AS_FRAMES;
    gnomon__print_many(t->out, ' ', is_left ? 0 : blanks);
    t->out->write(t->out, text, size);
    gnomon__print_many(t->out, ' ', (is_left ? blanks : 0) + 2);
}

static void put_rule(const averages_table *t)
{
    for (size_t i = 0; i < AVERAGE_COLUMNS; i++)
        if (t->width[i]) {
            gnomon__print_many(t->out, '-', t->width[i]);
            gnomon__print_many(t->out, ' ', 2);
        }
    t->out->write(t->out, "\n", 1);
}

/* Where the first `characters` of a text end. */
static size_t bytes_of(const char *text, size_t characters)
{
    size_t at = 0;
    while (text[at] && characters--)
        do
            at++;
        while (((unsigned char)text[at] & 0xC0) == 0x80);
    return at;
}

/* A name is cut from three characters below the limit on. */
static void put_name(const averages_table *t, size_t column, const char *name)
{
    const int64_t limit = t->choice->name_width;
    char cut[512];
    const size_t size = strlen(name);
    if (limit < 0 ||
        gnomon__print_width(name, size) + 3 < (size_t)(limit > 3 ? limit : 3)) {
        put_cell(t, column, name, size);
        return;
    }
    const size_t kept = bytes_of(name, limit > 3 ? (size_t)limit - 3 : 0);
    const int n = snprintf(cut, sizeof cut, "%.*s...",
                           (int)(kept < 500 ? kept : 500), name);
    put_cell(t, column, cut, (size_t)n);
}

/* A frame keeps its tail. */
static void put_frame(const averages_table *t, size_t column, const char *frame,
                      size_t size)
{
    const size_t wide = gnomon__print_width(frame, size);
    const size_t most = t->choice->source_width < 0
                            ? SIZE_MAX
                            : (size_t)t->choice->source_width;
    char cut[512];
    if (wide <= most) {
        put_cell(t, column, frame, size);
        return;
    }
    const size_t from = bytes_of(frame, wide - (most > 3 ? most - 3 : 0));
    const int n =
        snprintf(cut, sizeof cut, "...%.*s", (int)(size - from), frame + from);
    put_cell(t, column, cut,
             (size_t)n < sizeof cut ? (size_t)n : sizeof cut - 1);
}

/* The line of a row, or, below it, of a frame alone. */
static void put_line(const averages_table *t, const gnomon__cell *cells,
                     const char *frame, bool is_first)
{
    char text[40];
    for (size_t i = 0; i < AVERAGE_COLUMNS; i++) {
        const struct average_column *c = &average_columns[i];
        const char *of = c->form < AS_SHARE ? cells[c->cell].text : "";
        if (!t->width[i])
            continue;
        if (c->form == AS_FRAMES) {
            put_frame(t, i, frame, strcspn(frame, "\n"));
        } else if (!is_first) {
            put_cell(t, i, "", 0);
        } else if (c->form <= AS_LAYER) {
            put_name(t, i, of);
        } else if (c->form == AS_SHAPES) {
            put_cell(t, i, of,
                     t->choice->shapes_width < 0
                         ? strlen(of)
                         : bytes_of(of, (size_t)t->choice->shapes_width));
        } else {
            number_text(text, t, c, cells);
            put_cell(t, i, text, strlen(text));
        }
    }
    t->out->write(t->out, "\n", 1);
}

/* Where there are stacks, an empty line ends each. */
static void put_average(const averages_table *t, const gnomon__cell *cells)
{
    const char *frame = cells[GNOMON__AVERAGE_STACK].text;
    put_line(t, cells, frame, true);
    if (!(t->has & IF_STACKS))
        return;
    do {
        frame += strcspn(frame, "\n");
        frame += *frame != 0;
        put_line(t, cells, frame, false);
    } while (*frame);
}

/* ---- Columns ----------------------------------------------------------------------- */

typedef struct averages_seen {
    size_t name, layer, shapes, frame; /* the longest */
    unsigned has;
    double least_flops;
} averages_seen;

static void see_text(size_t *longest, const char *text, size_t size)
{
    const size_t wide = gnomon__print_width(text, size);
    *longest = wide > *longest ? wide : *longest;
}

static void see_row(averages_seen *seen, const gnomon__cell *cells)
{
    const char *name = cells[GNOMON__AVERAGE_NAME].text;
    const char *shapes = cells[GNOMON__AVERAGE_SHAPES].text;
    const char *layer = cells[GNOMON__AVERAGE_LAYER].text;
    const double flops = cells[GNOMON__AVERAGE_FLOPS].number;
    see_text(&seen->name, name, strlen(name));
    see_text(&seen->shapes, shapes, strlen(shapes));
    see_text(&seen->layer, layer, strlen(layer));
    for (const char *at = cells[GNOMON__AVERAGE_STACK].text; *at;
         at += *at != 0) {
        const size_t size = strcspn(at, "\n");
        see_text(&seen->frame, at, size);
        at += size;
        seen->has |= IF_STACKS;
    }
    if (flops > 0) {
        if (!(seen->has & IF_FLOPS) || flops < seen->least_flops)
            seen->least_flops = flops;
        seen->has |= IF_FLOPS;
    }
    if (*cells[GNOMON__AVERAGE_OVERLOAD].text)
        seen->has |= IF_OVERLOADS;
    if (*layer)
        seen->has |= IF_LAYERS;
    if (cells[GNOMON__AVERAGE_SELF_DEVICE].number > 0)
        seen->has |= IF_DEVICE;
    if (cells[GNOMON__AVERAGE_SELF_DEVICE_BYTES].number > 0)
        seen->has |= IF_DEVICE_MEMORY;
    if (cells[GNOMON__AVERAGE_NODE].number >= 0)
        seen->has |= IF_NODES;
    if (*shapes && strcmp(shapes, "[]") != 0)
        seen->has |= IF_SHAPES;
}

static size_t limited(size_t longest, int64_t limit)
{
    return limit >= 0 && longest + 4 > (size_t)limit ? (size_t)limit
                                                     : longest + 4;
}

static void add_columns(averages_table *t, const averages_seen *seen)
{
    static const char units[][7] = {"FLOPs",  "KFLOPs", "MFLOPs",
                                    "GFLOPs", "TFLOPs", "PFLOPs"};
    const gnomon__averages_choice *c = t->choice;
    const unsigned asked =
        (c->has_overloads ? IF_OVERLOADS : 0u) | IF_LAYERS | IF_DEVICE |
        IF_NODES | (c->has_memory ? IF_MEMORY : 0u) |
        (c->has_memory && c->device ? IF_DEVICE_MEMORY : 0u) |
        (c->has_shapes ? IF_SHAPES : 0u) | (c->has_stacks ? IF_STACKS : 0u) |
        (c->has_flops ? IF_FLOPS : 0u);
    t->has = asked & (seen->has | IF_MEMORY);
    const size_t width[] = {
        [AS_NAME] = limited(seen->name, c->name_width),
        [AS_LAYER] = limited(seen->layer, c->name_width),
        [AS_SHAPES] = limited(seen->shapes, c->shapes_width),
        [AS_FRAMES] = limited(seen->frame, c->source_width)};
    for (size_t i = 0; i < AVERAGE_COLUMNS; i++) {
        const struct average_column *of = &average_columns[i];
        if (!of->needs || t->has & of->needs)
            t->width[i] = of->form < AS_SHARE ? width[of->form] : NUMBERS;
    }
    if (t->has & IF_FLOPS) {
        const double third = log10(seen->least_flops) / 3.0;
        const int unit = third > 5 ? 5 : (int)third;
        t->flops_scale = pow(10.0, -3.0 * unit);
        t->flops_word = units[unit];
    }
}

static void put_titles(const averages_table *t)
{
    for (size_t i = 0; i < AVERAGE_COLUMNS; i++) {
        const struct average_column *c = &average_columns[i];
        const char *at = strchr(c->title, '@');
        const char *word = c->form == AS_FLOPS ? t->flops_word
                           : t->choice->device ? t->choice->device
                                               : "";
        char title[64];
        const int n =
            at ? snprintf(title, sizeof title, "%.*s%s%s", (int)(at - c->title),
                          c->title, word, at + 1)
               : snprintf(title, sizeof title, "%s", c->title);
        if (t->width[i])
            put_cell(t, i, title, (size_t)n);
    }
    t->out->write(t->out, "\n", 1);
}

/* ---- Order ------------------------------------------------------------------------- */

#define AVERAGE_CELL(number, name, ...) \
    [number] = GNOMON__COLUMN("", __VA_ARGS__),
#define AVERAGE_NAME(number, name, ...) [number] = name,

const gnomon__column gnomon__average_columns[] = {
    GNOMON__AVERAGE_LIST(AVERAGE_CELL)};
const char *const gnomon__average_names[] = {
    GNOMON__AVERAGE_LIST(AVERAGE_NAME)};

/* torch's words of a device stand for "device". -1: there is no such key. */
static int key_cell(const char *sort_by)
{
    static const char *const devices[] = {"cuda", "xpu", "privateuse1"};
    char key[64];
    const char *at = NULL;
    for (size_t i = 0; !at && i < sizeof devices / sizeof *devices; i++)
        if ((at = strstr(sort_by, devices[i])) != NULL)
            snprintf(key, sizeof key, "%.*sdevice%s", (int)(at - sort_by),
                     sort_by, at + strlen(devices[i]));
    if (!at)
        snprintf(key, sizeof key, "%s", sort_by);
    for (int i = 0; i < GNOMON__AVERAGE_CELLS; i++) {
        const int kind = gnomon__average_columns[i].kind;
        if (strcmp(key, gnomon__average_names[i]) == 0 &&
            (kind == GNOMON__CELL_NUMBER || i == GNOMON__AVERAGE_NAME))
            return i;
    }
    return -1;
}

/* Numbers and names descend; of equal ones the first comes first. */
void gnomon__averages_choose(gnomon__report_rows *r)
{
    const gnomon__averages_choice *c = (const void *)r->choice;
    const int cell = c->sort_by ? key_cell(c->sort_by) : -1;
    r->code = gnomon__table_sort(&r->table, GNOMON__AVERAGE_ORDER);
    if (cell == GNOMON__AVERAGE_NAME)
        gnomon__report_reverse(r);
    if (cell >= 0 && !r->code)
        r->code = gnomon__table_sort(&r->table, cell);
    if (cell == GNOMON__AVERAGE_NAME)
        gnomon__report_reverse(r);
}

/* ---- The table --------------------------------------------------------------------- */

static void put_heading(const averages_table *t, const char *text)
{
    size_t wide = 0;
    for (size_t i = 0; i < AVERAGE_COLUMNS; i++)
        wide += t->width[i] ? t->width[i] + 2 : 0;
    gnomon__print_many(t->out, '=', wide - 2);
    t->out->write(t->out, "\n", 1);
    t->out->write(t->out, text, strlen(text));
    t->out->write(t->out, "\n", 1);
}

static void put_total(const averages_table *t, const char *device, double us)
{
    char text[40], line[96];
    time_text(text, us, t->choice->time_unit);
    const int n =
        snprintf(line, sizeof line, "Self %s time total: %s\n", device, text);
    t->out->write(t->out, line, (size_t)n);
}

static void put_table(const averages_table *t)
{
    const gnomon__averages_choice *c = t->choice;
    int64_t shown = 0;
    if (c->header)
        put_heading(t, c->header);
    if (c->is_top_level)
        put_heading(t, "This report only display top-level ops statistics");
    put_rule(t);
    put_titles(t);
    put_rule(t);
    for (size_t i = 0; i < t->rows->row_count && shown != c->row_limit; i++) {
        const gnomon__cell *cells = gnomon__cells_of(t->rows, i);
        if (c->is_top_level && cells[GNOMON__AVERAGE_ORDER].count & 1)
            continue;
        put_average(t, cells);
        shown++;
    }
    put_rule(t);
    put_total(t, "CPU", t->self_cpu);
    if (t->has & IF_DEVICE)
        put_total(t, c->device ? c->device : "", t->self_device);
}

int gnomon__averages_text(const gnomon__report_rows *r,
                          const gnomon_writer *out)
{
    averages_table t = {
        .rows = &r->table, .choice = (const void *)r->choice, .out = out};
    averages_seen seen = {0};
    const char *sort_by = t.choice->sort_by;
    if (!t.rows->row_count)
        return GNOMON_OK;
    if (sort_by && key_cell(sort_by) < 0)
        return gnomon__fail(GNOMON_EINVAL,
                            "averages: sort=%s: no such column: key, count, "
                            "flops, cpu_time, cpu_time_total, "
                            "self_cpu_time_total, cuda_time_total, ...",
                            sort_by);
    for (size_t i = 0; i < t.rows->row_count; i++) {
        gnomon__cell *cells = gnomon__cells_of(t.rows, i);
        cells[GNOMON__AVERAGE_NAME].text =
            gnomon_shown(out, cells[GNOMON__AVERAGE_NAME].text);
        cells[GNOMON__AVERAGE_LAYER].text =
            gnomon_shown(out, cells[GNOMON__AVERAGE_LAYER].text);
        see_row(&seen, cells);
        t.self_cpu += cells[GNOMON__AVERAGE_SELF_CPU].number;
        if ((cells[GNOMON__AVERAGE_KIND].count & 3) == 2)
            t.self_device += cells[GNOMON__AVERAGE_SELF_DEVICE].number;
    }
    add_columns(&t, &seen);
    put_table(&t);
    return out->write(out, "", 0);
}
