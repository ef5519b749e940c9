/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* NVTX's texts of all kinds as UTF-8. Of wide ones what is no code point becomes
 * U+FFFD; the locale has no say. */
#include <errno.h>
#include <wchar.h>

#include "inject/nvtx.h"
#include "platform/memory.h"

#define MOST 4u /* bytes of a code point */

static size_t put_code_point(char *out, uint32_t c)
{
    if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000))
        c = 0xFFFD;
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char first[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = n; i-- > 1; c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3F));
    out[0] = (char)(first[n] | c);
    return n;
}

void gnomon__in_wide(gnomon__in_text *out, const wchar_t *wide)
{
    char *to = out->buffer; /* cppcheck-suppress ctuuninitvar */
    size_t room = sizeof out->buffer - 1, used = 0;
    out->kept = NULL;
    out->text = "(null)";
    if (!wide)
        return;
    size_t length = wcslen(wide);
    if (length > room / MOST) {
        int kept_errno = errno;
        out->kept = gnomon__alloc(MOST * length + 1);
        errno = kept_errno;
    }
    if (out->kept) {
        to = out->kept;
        room = MOST * length;
    }
    for (; *wide && used + MOST <= room; wide++)
        used += put_code_point(to + used, (uint32_t)*wide);
    to[used] = 0;
    out->text = to;
}

void gnomon__in_message(gnomon__in_text *out, int32_t type,
                        nvtxMessageValue_t message)
{
    const gnomon__in_name *name = (const void *)message.registered;
    out->kept = NULL;
    out->text = NULL;
    if (type == NVTX_MESSAGE_TYPE_ASCII)
        out->text = message.ascii;
    else if (type == NVTX_MESSAGE_TYPE_UNICODE)
        gnomon__in_wide(out, message.unicode);
    else if (type == NVTX_MESSAGE_TYPE_REGISTERED && name)
        out->text = name->text;
    if (!out->text)
        out->text = "(null)";
}

void gnomon__in_text_free(gnomon__in_text *text)
{
    gnomon__free(text->kept);
}
