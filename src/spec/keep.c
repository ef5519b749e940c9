/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The words of keep=. */
#include "spec/keep.h"

#include <stdio.h>

#include "gnomon.h"
#include "spec/suggest.h"

/* "8steps", also with a blank between. 0: it is none. */
static uint32_t keep_steps(const char *text)
{
    int64_t n = gnomon__digits(&text);
    while (*text == ' ')
        text++;
    int is_steps =
        gnomon__same_word(text, "steps") || gnomon__same_word(text, "step");
    return is_steps && n > 0 && n <= GNOMON__KEEP_MOST_STEPS ? (uint32_t)n : 0;
}

int gnomon__keep_parse(gnomon__keep *out, const char *text, int can_stream,
                       char *why, size_t size)
{
    uint32_t steps = keep_steps(text);
    *out = (gnomon__keep){GNOMON__KEEP_LAST, steps};
    if (steps || gnomon__same_word(text, "last"))
        return GNOMON_OK;
    int is_stream = gnomon__same_word(text, "stream");
    if (gnomon__same_word(text, "first"))
        out->mode = GNOMON__KEEP_FIRST;
    else if (is_stream && can_stream)
        out->mode = GNOMON__KEEP_STREAM;
    if (out->mode != GNOMON__KEEP_LAST)
        return GNOMON_OK;
    if (is_stream)
        snprintf(why, size,
                 "nothing takes events while the run goes on: say "
                 "last, first, or a number of steps, as 8steps");
    else
        snprintf(why, size,
                 "say last, first, %sor a number of steps up to %u, as 8steps",
                 can_stream ? "stream, " : "", GNOMON__KEEP_MOST_STEPS);
    return GNOMON_EINVAL;
}
