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
    const gnomon_writer *out;
    unsigned char wait[3];
    size_t waiting, used;
    char room[4096];
} sheet_base64;

static int base64_flush(sheet_base64 *b)
{
    const size_t used = b->used;
    b->used = 0;
    return used ? b->out->write(b->out, b->room, used) : GNOMON_OK;
}

static void base64_three(sheet_base64 *b, size_t known)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint32_t bits =
        (uint32_t)b->wait[0] << 16 | (uint32_t)b->wait[1] << 8 | b->wait[2];
    for (size_t i = 0; i < 4; i++)
        b->room[b->used++] =
            (char)(i <= known ? digits[bits >> (18 - 6 * i) & 63] : '=');
    memset(b->wait, 0, sizeof b->wait);
    b->waiting = 0;
}

static int base64_write(const gnomon_writer *w, const void *bytes, size_t size)
{
    sheet_base64 *b = w->context;
    const unsigned char *from = bytes;
    int code = GNOMON_OK;
    for (size_t i = 0; i < size && !code; i++) {
        b->wait[b->waiting++] = from[i];
        if (b->waiting == 3)
            base64_three(b, 3);
        if (b->used == sizeof b->room)
            code = base64_flush(b);
    }
    return code;
}

static int base64_end(sheet_base64 *b)
{
    if (b->waiting)
        base64_three(b, b->waiting);
    return base64_flush(b);
}

/* ---- The page ------------------------------------------------------------------------ */

static int put_text(const gnomon_writer *out, const char *text)
{
    return *text ? out->write(out, text, strlen(text)) : GNOMON_OK;
}

static int put_title(const gnomon_writer *out, const char *title)
{
    int code = GNOMON_OK;
    for (; *title && !code; title++)
        code = *title == '<'   ? put_text(out, "&lt;")
               : *title == '&' ? put_text(out, "&amp;")
                               : out->write(out, title, 1);
    return code;
}

static int put_hash(const gnomon_writer *out, const gnomon__template *of)
{
    sheet_base64 b = {.out = out};
    const gnomon_writer w = {
        .struct_size = sizeof w, .write = base64_write, .context = &b};
    int code = put_text(out, "'sha256-");
    code = code ? code : base64_write(&w, of->sha256, 32);
    code = code ? code : base64_end(&b);
    return code ? code : put_text(out, "'");
}

/* Nothing may be loaded, and only this script and this style are obeyed. */
static int put_policy(const gnomon_writer *out)
{
    int code = put_text(out, "default-src 'none'; base-uri 'none'; "
                             "form-action 'none'; script-src ");
    code = code ? code : put_hash(out, &gnomon__template_js);
    code = code ? code : put_text(out, "; style-src ");
    return code ? code : put_hash(out, &gnomon__template_css);
}

static int put_index(const gnomon__sheet *s, const gnomon_writer *out)
{
    int code = put_text(out, "{\"kind\":\"");
    code = code ? code : put_text(out, s->kind);
    code = code ? code : put_text(out, "\",\"version\":\"" GNOMON_VERSION);
    code = code ? code
                : put_text(out, gnomon__gzip_is_there()
                                    ? "\",\"gzip\":true,\"tables\":["
                                    : "\",\"gzip\":false,\"tables\":[");
    code = code ? code : out->write(out, s->index.at, s->index.size);
    return code ? code : put_text(out, "]}");
}

static int make_data(void *context, const gnomon_writer *out)
{
    const gnomon__sheet *s = context;
    int code =
        s->data.size ? out->write(out, s->data.at, s->data.size) : GNOMON_OK;
    return code ? code : out->write(out, s->texts.at, s->texts.size);
}

static int put_data(gnomon__sheet *s, const gnomon_writer *out)
{
    sheet_base64 b = {.out = out};
    const gnomon_writer w = {
        .struct_size = sizeof w, .write = base64_write, .context = &b};
    int code = gnomon__gzip_is_there() ? gnomon__gzip(&w, make_data, s)
                                       : make_data(s, &w);
    return code ? code : base64_end(&b);
}

static int put_part(gnomon__sheet *s, const char *name, size_t size,
                    const char *title, const gnomon_writer *out)
{
    const gnomon__template *of = NULL;
    if (strncmp(name, "policy", size) == 0)
        return put_policy(out);
    if (strncmp(name, "title", size) == 0)
        return put_title(out, title);
    if (strncmp(name, "index", size) == 0)
        return put_index(s, out);
    if (strncmp(name, "data", size) == 0)
        return put_data(s, out);
    of = strncmp(name, "style", size) == 0 ? &gnomon__template_css
                                           : &gnomon__template_js;
    return out->write(out, of->text, of->size);
}

/* The template up to the end; {{name}} is a part. */
static int put_all(gnomon__sheet *s, const char *title,
                   const gnomon_writer *out)
{
    const char *at = gnomon__template_html.text, *part;
    int code = GNOMON_OK;
    while (!code && (part = strstr(at, "{{")) != NULL) {
        const char *end = strstr(part, "}}");
        code = out->write(out, at, (size_t)(part - at));
        if (!code)
            code = put_part(s, part + 2, (size_t)(end - part - 2), title, out);
        at = end + 2;
    }
    return code ? code : put_text(out, at);
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
    const int code = s->code ? s->code : put_all(s, title, out);
    gnomon__sheet_free(s);
    return code;
}
