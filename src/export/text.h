/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The few forms in which exports write values. */
#ifndef GNOMON_EXPORT_TEXT_H
#define GNOMON_EXPORT_TEXT_H

#include <string.h>

#include "platform/out.h"
#include "print/letters.h"
#include "print/table.h"

/* What a byte that is no UTF-8 is written as: U+FFFD. */
#define GNOMON__NO_CHARACTER "\xef\xbf\xbd"

/* NULL: no memory. _end writes what is left, frees it and returns its code; NULL:
 * GNOMON_ENOMEM. */
gnomon__out *gnomon__export_text_begin(const gnomon_writer *out);
int gnomon__export_text_end(gnomon__out *t);
/* Whether there was no error so far; if what the export needs is not there, that is one. */
static inline bool gnomon__export_needs(gnomon__out *t, bool is_there)
{
    if (!is_there && !t->code)
        t->code = GNOMON_ENOMEM;
    return !t->code;
}

/* Bytes in memory, of zeroes: as a writer, for what is written or read more than once. The
 * owner frees `text`. */
typedef struct gnomon__export_memory {
    char *text;
    size_t size, room;
} gnomon__export_memory;
gnomon_writer gnomon__export_to_memory(gnomon__export_memory *m);

/* ns as microseconds with exactly three decimals. */
void gnomon__export_us(gnomon__out *t, uint64_t ns);
/* What printf made of a number: the locale's point may be any, of several bytes too. */
void gnomon__export_printed(gnomon__out *t, const char *text);
/* So that it reads back as the same double; NaN and infinities as JSON's null. */
void gnomon__export_double(gnomon__out *t, double value);
/* What all formats call a track: its name, or its kind and a number: that of a thread in
 * the system, where it is known, or else the track's index. Valid as long as `text` and the
 * profile. */
const char *gnomon__export_track_name(char text[48],
                                      const gnomon_track_info *track);
/* Writes `form`, in which ' is a quotation mark, and of `...`: %s a text, as the inside of
 * a JSON string, %d, %u, %jd and %ju numbers, %g a double, and %jx ns as _us does. */
__attribute__((format(printf, 2, 3))) void
gnomon__export_form(gnomon__out *t, const char *form, ...);
#define GNOMON__CONTROLS \
    "\1\2\3\4\5\6\7\b\t\n\v\f\r\16\17\20\21\22\23\24\25\26\27\30\31\32\33\34" \
    "\35\36\37"
/* Writes a text up to the first character that is special, or no UTF-8: *character is that
 * one's size, or 0. Returns where it is, or the end. */
const char *gnomon__export_plain(gnomon__out *t, const char *text,
                                 const char *special, size_t *character);
/* The inside of a JSON string, without quotes: what is no UTF-8 becomes U+FFFD; and what is
 * special in it an escape. */
#define GNOMON__JSON_SPECIAL GNOMON__CONTROLS "\"\\\x7f"
void gnomon__export_json_inside(gnomon__out *t, const char *text,
                                const char *special);

/* Whether the strides of any input are known. */
static inline int gnomon__export_has_strides(const gnomon_op_info *op)
{
    for (size_t i = 0; i < op->input_count; i++)
        if (gnomon_input_at(op, i)->strides)
            return 1;
    return 0;
}

#endif
