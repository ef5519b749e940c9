/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* For what must be in memory as a whole before it is read again. */
#include "command/memory.h"

#include <string.h>

#include "platform/error.h"
#include "platform/memory.h"

static int memory_write(const gnomon_writer *out, const void *bytes,
                        size_t size)
{
    gnomon__cli_memory *to = out->context;
    if (!gnomon__grow(&to->bytes, &to->room, to->size + size, 1))
        return gnomon__fail(GNOMON_ENOMEM, "no memory for a whole file");
    memcpy(to->bytes + to->size, bytes, size);
    to->size += size;
    return GNOMON_OK;
}

gnomon_writer gnomon__cli_memory_writer(gnomon__cli_memory *to)
{
    return (gnomon_writer){.struct_size = sizeof(gnomon_writer),
                           .write = memory_write,
                           .context = to};
}

void gnomon__cli_memory_free(gnomon__cli_memory *m)
{
    gnomon__free(m->bytes);
    *m = (gnomon__cli_memory){0};
}
