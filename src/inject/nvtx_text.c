/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Converts NVTX's texts of all kinds to UTF-8, and cuts off what PyTorch appends to
 * them. In wide texts, what is no code point becomes U+FFFD. Does not depend on the
 * locale. */
#include <errno.h>
#include <string.h>
#include <wchar.h>

#include "inject/nvtx.h"
#include "platform/memory.h"
#include "platform/utf8_put.h"

#define MOST 4u /* bytes of a code point */

void *gnomon__inject_alloc(size_t bytes)
{
    int kept_errno = errno;
    void *memory = gnomon__alloc(bytes);
    errno = kept_errno;
    return memory;
}

/* The next code point, from units of 2 or 4 bytes. A pair of surrogates is one code
 * point; a single surrogate is returned as it is. */
static uint32_t take_code_point(const char *units, size_t width, size_t *at,
                                size_t count)
{
    uint32_t c = 0;
    uint16_t half[2] = {0, 0};
    if (width == sizeof c) {
        memcpy(&c, units + *at * width, width);
        ++*at;
        return c;
    }
    memcpy(half, units + *at * width, (*at + 1 < count ? 2 : 1) * width);
    ++*at;
    if (half[0] >> 10 != 0x36 || half[1] >> 10 != 0x37)
        return half[0];
    ++*at;
    return 0x10000u + ((half[0] & 0x3FFu) << 10) + (half[1] & 0x3FFu);
}

void gnomon__inject_units(gnomon__inject_text *out, const void *units,
                          size_t count, size_t width)
{
    const char *from = units;
    char *to = out->buffer; /* cppcheck-suppress ctuuninitvar */
    size_t room = sizeof out->buffer - 1, used = 0;
    size_t most = width == 1 ? 1 : MOST;
    out->kept = NULL;
    if (count > room / most && count < SIZE_MAX / MOST)
        out->kept = gnomon__inject_alloc(most * count + 1);
    if (out->kept) {
        to = out->kept;
        room = most * count;
    }
    if (width == 1) {
        used = count < room ? count : room;
        memcpy(to, from, used);
    } else {
        for (size_t at = 0; at < count && used + MOST <= room;)
            used += gnomon__utf8_put(to + used,
                                     take_code_point(from, width, &at, count));
    }
    to[used] = 0;
    out->text = to;
}

void gnomon__inject_wide(gnomon__inject_text *out, const wchar_t *wide)
{
    out->kept = NULL;
    out->text = "(null)";
    if (wide)
        gnomon__inject_units(out, wide, wcslen(wide), sizeof *wide);
}

void gnomon__inject_message(gnomon__inject_text *out, int32_t type,
                            nvtxMessageValue_t message)
{
    const gnomon__inject_name *name = (const void *)message.registered;
    out->kept = NULL;
    out->text = NULL;
    if (type == NVTX_MESSAGE_TYPE_ASCII)
        out->text = message.ascii;
    else if (type == NVTX_MESSAGE_TYPE_UNICODE)
        gnomon__inject_wide(out, message.unicode);
    else if (type == NVTX_MESSAGE_TYPE_REGISTERED && name)
        out->text = name->text;
    if (!out->text)
        out->text = "(null)";
}

void gnomon__inject_text_free(gnomon__inject_text *text)
{
    gnomon__free(text->kept);
}

/* ---- PyTorch's ------------------------------------------------------------- */

/* The end of a value such as "12", "[[2, 3], []]" or "[(5,0), (7,1)]"; NULL: none. */
static const char *skip_value(const char *at)
{
    const char *from = at;
    if (*at != '[') {
        at += strspn(at, "0123456789");
        return at != from ? at : NULL;
    }
    int depth = 0;
    do {
        if (!*at || !strchr("[]() ,-0123456789", *at))
            return NULL;
        depth += (*at == '[') - (*at == ']');
        at++;
    } while (depth);
    return at;
}

/* The end of a part that PyTorch appends: ", seq = 12" or, in 1.0, ", seq=12"; NULL:
 * none. */
static const char *skip_part(const char *at)
{
    static const char *const keys[] = {"seq", "stashed seq", "op_id", "sizes",
                                       "input_op_ids"};
    if (strncmp(at, ", ", 2) != 0)
        return NULL;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        size_t n = strlen(keys[i]);
        if (strncmp(at + 2, keys[i], n) != 0)
            continue;
        const char *equals = at + 2 + n;
        if (strncmp(equals, " = ", 3) == 0)
            return skip_value(equals + 3);
        return *equals == '=' ? skip_value(equals + 1) : NULL;
    }
    return NULL;
}

/* Such parts in the middle of a text are the program's own, and stay. */
size_t gnomon__inject_bare(const char *text)
{
    const char *comma = strchr(text, ',');
    while (comma) {
        const char *end = comma, *next;
        while ((next = skip_part(end)))
            end = next;
        if (!*end && comma != text)
            return (size_t)(comma - text);
        comma = *end ? strchr(end + 1, ',') : NULL;
    }
    return strlen(text);
}
