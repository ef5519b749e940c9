/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A profile as JSON. */
#include "platform/error.h"
#include "profile/forms.h"

int gnomon__write_json(const gnomon_profile *p, const gnomon_writer *out)
{
    (void)p;
    (void)out;
    return gnomon__fail(GNOMON_ESTATE, "not there yet");
}
