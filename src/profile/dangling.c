/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A file's dangling references, for its losses. */
#include "profile/dangling.h"

#include <stdio.h>

void gnomon__dangling_add(gnomon__dangling *n, int entity, uint64_t number,
                          const gnomon__field *f, uint32_t target)
{
    uint64_t i = n->count++;
    if (i >= GNOMON__DANGLING_NAMED)
        return;
    int used = snprintf(n->named[i], sizeof n->named[i], "%s", f->name);
    if (target)
        used += snprintf(n->named[i] + used, sizeof n->named[i] - (size_t)used,
                         " %u", (unsigned)target);
    snprintf(n->named[i] + used, sizeof n->named[i] - (size_t)used,
             " of %s %llu", gnomon__structs[entity].one,
             (unsigned long long)number);
}
