/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A column is a row of the table and a case of put_cell. */
#include "nsys/columns.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "command/command.h"
#include "platform/error.h"
#include "platform/escape.h"
#include "platform/json.h"
#include "print/letters.h"

enum column {
    IDX,
    SEQ,
    ALT_SEQ,
    TID,
    LAYER,
    TRACE,
    DIR,
    SUB,
    MOD,
    OP,
    KERNEL,
    PARAMS,
    SIL,
    TC,
    DEVICE,
    STREAM,
    GRID,
    BLOCK,
    FLOPS,
    BYTES
};

/* `width` 0: what the others leave. */
static const struct {
    const char *key, *title;
    int width;
    bool is_number;
} nsys_columns[GNOMON__NSYS_COLUMNS] = {
    [IDX] = {"idx", "Idx", 7, true},
    [SEQ] = {"seq", "SeqId", 7, false},
    [ALT_SEQ] = {"altseq", "AltSeqId", 7, false},
    [TID] = {"tid", "TId", 12, true},
    [LAYER] = {"layer", "Layer", 10, false},
    [TRACE] = {"trace", "Trace", 25, false},
    [DIR] = {"dir", "Direction", 5, false},
    [SUB] = {"sub", "Sub", 3, true},
    [MOD] = {"mod", "Module", 15, false},
    [OP] = {"op", "Op", 15, false},
    [KERNEL] = {"kernel", "Kernel", 0, false},
    [PARAMS] = {"params", "Params", 0, false},
    [SIL] = {"sil", "Sil(ns)", 10, true},
    [TC] = {"tc", "TC", 2, false},
    [DEVICE] = {"device", "Device", 3, true},
    [STREAM] = {"stream", "Stream", 3, true},
    [GRID] = {"grid", "Grid", 12, false},
    [BLOCK] = {"block", "Block", 12, false},
    [FLOPS] = {"flops", "FLOPs", 12, true},
    [BYTES] = {"bytes", "Bytes", 12, true}};

const char *gnomon__nsys_keys(void)
{
    return "idx,seq,altseq,tid,layer,trace,dir,sub,mod,op,kernel,params,sil,tc,"
           "device,stream,grid,block,flops,bytes";
}

int gnomon__nsys_choose(gnomon__nsys_table *t, const char *words)
{
    t->count = 0;
    for (const char *at = words ? words
                                : "idx,dir,sub,mod,op,kernel,params,sil";
         *at; at += *at == ',') {
        const size_t n = strcspn(at, ",");
        int c = 0;
        while (c < GNOMON__NSYS_COLUMNS && (strlen(nsys_columns[c].key) != n ||
                                            memcmp(nsys_columns[c].key, at, n)))
            c++;
        if (c == GNOMON__NSYS_COLUMNS || t->count == GNOMON__NSYS_COLUMNS) {
            gnomon__log("-c: no column '%.*s', or more than 20: there are %s",
                        (int)n, at, gnomon__nsys_keys());
            return GNOMON__EXIT_USAGE;
        }
        t->columns[t->count++] = c;
        at += n;
    }
    return GNOMON__EXIT_OK;
}

/* ---- Cells ------------------------------------------------------------------------------ */

/* A cell's text as it grows; what does not fit is cut off. For people names are escaped,
 * so that a row stays a line, and nothing of a file is an order to a terminal. */
typedef struct cell {
    char *text;
    size_t used, size;
    bool is_shown;
} cell;

static void put(cell *c, const char *text)
{
    char *to = c->text + c->used;
    const size_t room = c->size - c->used;
    if (c->is_shown) {
        c->used += gnomon__escape_copy(text, to, room);
        return;
    }
    const size_t n = strlen(text);
    const size_t fits = n < room ? n : room - 1;
    memcpy(to, text, fits);
    to[fits] = 0;
    c->used += fits;
}

static void put_number(cell *c, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    put(c, text);
}

static void put_list(cell *c, const gnomon__texts *t, const char *between)
{
    for (size_t i = 0; i < t->count; i++) {
        put(c, i ? between : "");
        put(c, t->at[i]);
    }
    put(c, t->count ? "" : "-");
}

static void put_seqs(cell *c, const gnomon__seqs *seqs)
{
    for (size_t i = 0; i < seqs->count; i++) {
        put(c, i ? "," : "");
        put_number(c, (int64_t)seqs->at[i]);
    }
    put(c, seqs->count ? "" : "-");
}

static void put_sizes(cell *c, const int64_t sizes[3])
{
    for (int i = 0; i < 3; i++) {
        put(c, i ? "," : "");
        put_number(c, sizes[i]);
    }
}

/* In a width only the name of the innermost file is there. */
static void put_trace(const gnomon__nsys_table *t, cell *c,
                      const gnomon__texts *trace)
{
    if (t->form != GNOMON__NSYS_WIDTH || !trace->count) {
        put_list(c, trace, ",");
        return;
    }
    const char *frame = trace->at[trace->count - 1],
               *slash = strrchr(frame, '/');
    put(c, slash ? slash + 1 : frame);
}

static void put_cell(const gnomon__nsys_table *t, cell *c, int column,
                     const gnomon__nsys_record *r, const gnomon__work *w)
{
    c->used = 0;
    c->text[0] = 0;
    switch (column) {
    case IDX:
        put_number(c, (int64_t)t->rows);
        break;
    case SEQ:
        put_seqs(c, &r->seqs);
        break;
    case ALT_SEQ:
        put_seqs(c, &r->other_seqs);
        break;
    case TID:
        put_number(c, r->thread);
        break;
    case LAYER:
        put_list(c, &r->layers, ":");
        break;
    case TRACE:
        put_trace(t, c, &r->trace);
        break;
    case DIR:
        put(c, r->is_backward ? "bprop" : "fprop");
        break;
    case SUB:
        put_number(c, r->sub);
        break;
    case MOD:
        put(c, w->mod);
        break;
    case OP:
        put(c, w->op);
        break;
    case KERNEL:
        put(c, r->name);
        for (char *at = c->text; (at = strchr(at, ' '));)
            *at = '_';
        break;
    case PARAMS:
        put(c, w->params);
        break;
    case SIL:
        put_number(c, r->ns);
        break;
    case TC:
        put(c, w->tensor_cores);
        break;
    case DEVICE:
        put_number(c, r->device);
        break;
    case STREAM:
        put_number(c, r->stream);
        break;
    case GRID:
        put_sizes(c, r->grid);
        break;
    case BLOCK:
        put_sizes(c, r->block);
        break;
    case FLOPS:
        put_number(c, (int64_t)w->flops);
        break;
    default:
        put_number(c, (int64_t)w->bytes);
    }
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static int width_of(const gnomon__nsys_table *t, int column)
{
    int left = t->width, open = 0;
    if (nsys_columns[column].width)
        return nsys_columns[column].width;
    for (int i = 0; i < t->count; i++) {
        left -= nsys_columns[t->columns[i]].width + 1;
        open += !nsys_columns[t->columns[i]].width;
    }
    return left / open;
}

static void print_text(const gnomon__nsys_table *t, int i, const char *text)
{
    const int column = t->columns[i];
    const int width = t->form == GNOMON__NSYS_WIDTH ? width_of(t, column) : 0;
    switch (t->form) {
    case GNOMON__NSYS_WORDS:
        fprintf(t->to, "%s%s", i ? " " : "", text);
        break;
    case GNOMON__NSYS_WIDTH:
        if (nsys_columns[column].is_number)
            fprintf(t->to, "%*.*s ", width, width, text);
        else
            fprintf(t->to, "%-*.*s ", width, width, text);
        break;
    default: /* RFC 4180 */
        fputs(i ? ",\"" : "\"", t->to);
        if (!nsys_columns[column].is_number && text[1] && /* "-": none */
            gnomon__print_is_formula(text))
            fputc('\'', t->to);
        for (; *text; text++)
            fprintf(t->to, *text == '"' ? "\"\"" : "%c", *text);
        fputc('"', t->to);
    }
}

static void print_member(const gnomon__nsys_table *t, int i, const cell *c,
                         char *quoted, size_t size)
{
    const int column = t->columns[i];
    fprintf(t->to, "%s\"%s\": ", i ? ", " : "", nsys_columns[column].key);
    if (!nsys_columns[column].is_number)
        gnomon__json_quote(c->text, c->used, quoted, size);
    fputs(nsys_columns[column].is_number ? c->text : quoted, t->to);
}

int gnomon__nsys_head(gnomon__nsys_table *t)
{
    int least = 0;
    t->rows = 0;
    for (int i = 0; i < t->count; i++)
        least += (nsys_columns[t->columns[i]].width
                      ? nsys_columns[t->columns[i]].width
                      : 2) +
                 1;
    if (t->form == GNOMON__NSYS_WIDTH && t->width < least) {
        fputs("Minimum width required to print ", stdout);
        for (int i = 0; i < t->count; i++)
            printf("%s%s", i ? "," : "", nsys_columns[t->columns[i]].key);
        printf(" = %d. Exiting.\n", least);
        return GNOMON__EXIT_USAGE;
    }
    for (int i = 0; i < t->count && t->form != GNOMON__NSYS_JSON; i++)
        print_text(t, i, nsys_columns[t->columns[i]].title);
    fputs(t->form == GNOMON__NSYS_JSON ? "[" : "\n", t->to);
    return GNOMON__EXIT_OK;
}

void gnomon__nsys_row(gnomon__nsys_table *t, const gnomon__nsys_record *r,
                      const gnomon__work *w)
{
    char text[16384], quoted[2 * sizeof text];
    const bool is_csv = t->form == GNOMON__NSYS_CSV;
    cell c = {text, 0, sizeof text,
              t->form < GNOMON__NSYS_CSV || (is_csv && isatty(fileno(t->to)))};
    t->rows++;
    if (t->form == GNOMON__NSYS_JSON)
        fputs(t->rows > 1 ? ",\n {" : "\n {", t->to);
    for (int i = 0; i < t->count; i++) {
        put_cell(t, &c, t->columns[i], r, w);
        if (t->form == GNOMON__NSYS_JSON)
            print_member(t, i, &c, quoted, sizeof quoted);
        else
            print_text(t, i, text);
    }
    fputs(t->form == GNOMON__NSYS_JSON ? "}" : "\n", t->to);
}

void gnomon__nsys_foot(gnomon__nsys_table *t)
{
    if (t->form == GNOMON__NSYS_JSON)
        fputs(t->rows ? "\n]\n" : "]\n", t->to);
}
