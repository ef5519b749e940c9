/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Owns the tables of a page until they are written. Invariant: a table that is over has
 * whole rows. What comes out of profiles is in the data, as base64, where no name can be
 * taken for HTML; only the title is text of the page, and is escaped. */
#include "page/sheet.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "export/gzip.h"
#include "page/template.h"
#include "platform/memory.h"
#include "platform/out.h"
#include "profile/slots.h"

#define SHEET_COLUMNS 24
#define SHEET_MOST (((int64_t)1 << 53) - 1)

/* Bytes that grow. */
typedef struct sheet_bytes {
    unsigned char *at;
    size_t size, room;
} sheet_bytes;

typedef struct sheet_column {
    sheet_bytes bytes;
    int64_t last;
    int is_real;
} sheet_column;

struct gnomon__sheet {
    int code;
    const char *kind;
    sheet_bytes data;  /* of the tables that are over */
    sheet_bytes index; /* JSON: what is where in it */
    sheet_bytes texts; /* each with its NUL; the first one is "" */
    gnomon__text_table known;
    uint32_t text_count;
    const char *name, *columns; /* of the table at hand; NULL: there is none */
    size_t count, cell;
    uint64_t cells;
    sheet_column column[SHEET_COLUMNS];
};

static void sheet_add(gnomon__sheet *s, sheet_bytes *to, const void *bytes,
                      size_t size)
{
    if (s->code || !size)
        return;
    if (!gnomon__grow(&to->at, &to->room, to->size + size, 1)) {
        s->code = GNOMON_ENOMEM;
        return;
    }
    memcpy(to->at + to->size, bytes, size);
    to->size += size;
}

static void sheet_index(gnomon__sheet *s, const char *text)
{
    sheet_add(s, &s->index, text, strlen(text));
}

static void sheet_index_number(gnomon__sheet *s, uint64_t number)
{
    char text[24];
    (void)snprintf(text, sizeof text, ",%" PRIu64, number);
    sheet_index(s, text);
}

gnomon__sheet *gnomon__sheet_begin(const char *kind)
{
    gnomon__sheet *s = gnomon__alloc(sizeof *s);
    if (s) {
        *s = (gnomon__sheet){.kind = kind, .text_count = 1};
        sheet_add(s, &s->texts, "", 1);
    }
    return s;
}

/* ---- Tables ------------------------------------------------------------------------- */

/* ["name",rows,"columns",bytes of each column ...] */
static void sheet_table_end(gnomon__sheet *s)
{
    if (!s->name)
        return;
    sheet_index(s, s->index.size ? ",[\"" : "[\"");
    sheet_index(s, s->name);
    sheet_index(s, "\"");
    sheet_index_number(s, s->cells / s->count);
    sheet_index(s, ",\"");
    sheet_index(s, s->columns);
    sheet_index(s, "\"");
    for (size_t i = 0; i < s->count; i++) {
        sheet_column *c = &s->column[i];
        sheet_index_number(s, c->bytes.size);
        sheet_add(s, &s->data, c->bytes.at, c->bytes.size);
        c->bytes.size = 0;
    }
    sheet_index(s, "]");
    s->name = NULL;
}

void gnomon__sheet_table(gnomon__sheet *s, const char *name,
                         const char *columns)
{
    sheet_table_end(s);
    s->name = name;
    s->columns = columns;
    s->count = s->cell = 0;
    s->cells = 0;
    while (*columns && s->count < SHEET_COLUMNS) {
        const size_t n = strcspn(columns, " ");
        sheet_column *c = &s->column[s->count++];
        c->last = 0;
        c->is_real = n > 2 && columns[n - 2] == ':';
        columns += n + (columns[n] == ' ');
    }
}

static sheet_column *sheet_next(gnomon__sheet *s)
{
    sheet_column *c = &s->column[s->cell];
    s->cell = s->cell + 1 < s->count ? s->cell + 1 : 0;
    s->cells++;
    return c;
}

/* The difference with its sign in the lowest bit, 7 bits to a byte, the lowest first. */
void gnomon__sheet_put_signed(gnomon__sheet *s, int64_t number)
{
    unsigned char bytes[10];
    size_t n = 0;
    sheet_column *c = sheet_next(s);
    number = number > SHEET_MOST    ? SHEET_MOST
             : number < -SHEET_MOST ? -SHEET_MOST
                                    : number;
    const int64_t more = number - c->last;
    uint64_t left = more < 0 ? ((uint64_t)-more << 1) - 1 : (uint64_t)more << 1;
    c->last = number;
    do {
        bytes[n++] = (unsigned char)((left & 127) | (left > 127 ? 128u : 0u));
        left >>= 7;
    } while (left);
    sheet_add(s, &c->bytes, bytes, n);
}

void gnomon__sheet_put(gnomon__sheet *s, uint64_t number)
{
    gnomon__sheet_put_signed(
        s, number > (uint64_t)SHEET_MOST ? SHEET_MOST : (int64_t)number);
}

/* Little-endian, as page.js reads it. */
void gnomon__sheet_put_real(gnomon__sheet *s, double number)
{
    unsigned char bytes[8];
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(bits >> 8 * i);
    sheet_add(s, &sheet_next(s)->bytes, bytes, sizeof bytes);
}

void gnomon__sheet_put_text(gnomon__sheet *s, const char *text)
{
    gnomon__text_item *item = NULL;
    if (text && *text && !s->code) {
        item = gnomon__text_intern(&s->known, text);
        if (item && !item->text) {
            item->text = gnomon__strdup(text);
            item->number = s->text_count++;
            sheet_add(s, &s->texts, text, strlen(text) + 1);
        }
        if (!item || !item->text)
            s->code = GNOMON_ENOMEM;
    }
    gnomon__sheet_put(s, item ? item->number : 0);
}

void gnomon__sheet_put_none(gnomon__sheet *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->column[s->cell].is_real)
            gnomon__sheet_put_real(s, 0);
        else
            gnomon__sheet_put(s, 0);
}

/* ---- Base64 -------------------------------------------------------------------------- */

/* Up to two bytes wait for a third. */
typedef struct sheet_base64 {
    gnomon__out *to;
    unsigned char wait[3];
    size_t waiting;
} sheet_base64;

static void base64_three(sheet_base64 *b, size_t known)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint32_t bits =
        (uint32_t)b->wait[0] << 16 | (uint32_t)b->wait[1] << 8 | b->wait[2];
    for (size_t i = 0; i < 4; i++)
        gnomon__out_put(
            b->to, i <= known ? &digits[bits >> (18 - 6 * i) & 63] : "=", 1);
    memset(b->wait, 0, sizeof b->wait);
    b->waiting = 0;
}

static int base64_write(const gnomon_writer *w, const void *bytes, size_t size)
{
    sheet_base64 *b = w->context;
    const unsigned char *from = bytes;
    for (size_t i = 0; i < size; i++) {
        b->wait[b->waiting++] = from[i];
        if (b->waiting == 3)
            base64_three(b, 3);
    }
    return b->to->code;
}

static void base64_end(sheet_base64 *b)
{
    if (b->waiting)
        base64_three(b, b->waiting);
}

/* ---- The page ------------------------------------------------------------------------ */

static void put_title(gnomon__out *o, const char *title)
{
    for (; *title; title++)
        if (*title == '<')
            gnomon__out_literal(o, "&lt;");
        else if (*title == '&')
            gnomon__out_literal(o, "&amp;");
        else
            gnomon__out_put(o, title, 1);
}

static void put_hash(gnomon__out *o, const gnomon__template *of)
{
    sheet_base64 b = {.to = o};
    const gnomon_writer w = {.context = &b};
    gnomon__out_literal(o, "'sha256-");
    (void)base64_write(&w, of->sha256, 32);
    base64_end(&b);
    gnomon__out_literal(o, "'");
}

/* Nothing may be loaded, and only this script and this style are obeyed. */
static void put_policy(gnomon__out *o)
{
    gnomon__out_literal(o, "default-src 'none'; base-uri 'none'; "
                           "form-action 'none'; script-src ");
    put_hash(o, &gnomon__template_js);
    gnomon__out_literal(o, "; style-src ");
    put_hash(o, &gnomon__template_css);
}

static void put_index(gnomon__out *o, const gnomon__sheet *s)
{
    gnomon__out_literal(o, "{\"kind\":\"");
    gnomon__out_text(o, s->kind);
    gnomon__out_literal(o, "\",\"version\":\"" GNOMON_VERSION "\",\"gzip\":");
    gnomon__out_text(o, gnomon__gzip_is_there() ? "true" : "false");
    gnomon__out_literal(o, ",\"tables\":[");
    gnomon__out_put(o, (const char *)s->index.at, s->index.size);
    gnomon__out_literal(o, "]}");
}

static int make_data(void *context, const gnomon_writer *out)
{
    const gnomon__sheet *s = context;
    int code =
        s->data.size ? out->write(out, s->data.at, s->data.size) : GNOMON_OK;
    return code ? code : out->write(out, s->texts.at, s->texts.size);
}

static void put_data(gnomon__out *o, gnomon__sheet *s)
{
    sheet_base64 b = {.to = o};
    const gnomon_writer w = {
        .struct_size = sizeof w, .write = base64_write, .context = &b};
    const int code = gnomon__gzip_is_there() ? gnomon__gzip(&w, make_data, s)
                                             : make_data(s, &w);
    base64_end(&b);
    o->code = o->code ? o->code : code;
}

static void put_part(gnomon__out *o, gnomon__sheet *s, const char *name,
                     size_t size, const char *title)
{
    if (strncmp(name, "policy", size) == 0)
        put_policy(o);
    else if (strncmp(name, "title", size) == 0)
        put_title(o, title);
    else if (strncmp(name, "index", size) == 0)
        put_index(o, s);
    else if (strncmp(name, "data", size) == 0)
        put_data(o, s);
    else if (strncmp(name, "style", size) == 0)
        gnomon__out_put(o, gnomon__template_css.text,
                        gnomon__template_css.size);
    else
        gnomon__out_put(o, gnomon__template_js.text, gnomon__template_js.size);
}

/* The template up to the end; {{name}} is a part. */
static void put_all(gnomon__out *o, gnomon__sheet *s, const char *title)
{
    const char *at = gnomon__template_html.text, *part;
    while ((part = strstr(at, "{{")) != NULL) {
        const char *end = strstr(part, "}}");
        gnomon__out_put(o, at, (size_t)(part - at));
        put_part(o, s, part + 2, (size_t)(end - part - 2), title);
        at = end + 2;
    }
    gnomon__out_text(o, at);
    gnomon__out_flush(o);
}

void gnomon__sheet_free(gnomon__sheet *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->known.slots.count; i++)
        gnomon__free((char *)(size_t)s->known.items[i].text);
    gnomon__text_table_free(&s->known);
    for (size_t i = 0; i < SHEET_COLUMNS; i++)
        gnomon__free(s->column[i].bytes.at);
    gnomon__free(s->data.at);
    gnomon__free(s->index.at);
    gnomon__free(s->texts.at);
    gnomon__free(s);
}

int gnomon__sheet_end(gnomon__sheet *s, const char *title,
                      const gnomon_writer *out)
{
    if (!s)
        return GNOMON_ENOMEM;
    sheet_table_end(s);
    gnomon__out *o = gnomon__alloc(sizeof *o);
    int code = o ? s->code : GNOMON_ENOMEM;
    if (!code) {
        o->to = out;
        put_all(o, s, title);
        code = o->code;
    }
    gnomon__free(o);
    gnomon__sheet_free(s);
    return code;
}
