/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The words of keep=. */
#include "spec/keep.h"

#include <stdio.h>

#include "gnomon/base.h"
#include "spec/suggest.h"

int gnomon__keep_parse(gnomon__keep *out, const char *text, char *why,
                       size_t size)
{
    int is_first = gnomon__same_word(text, "first");
    *out = (gnomon__keep){is_first ? GNOMON__KEEP_FIRST : GNOMON__KEEP_LAST};
    if (is_first || gnomon__same_word(text, "last"))
        return GNOMON_OK;
    snprintf(why, size, "say last or first");
    return GNOMON_EINVAL;
}
