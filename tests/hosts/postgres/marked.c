/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A marked extension of PostgreSQL. marked_sum(n) adds 1 .. n: one scope for the call,
 * and in it one for each number. It is loaded when the server starts, and marks then too.
 * So each connection is a process forked from one that records. */
#include "postgres.h"

#include "fmgr.h"

#include "gnomon.h"

PG_MODULE_MAGIC;

void _PG_init(void);
void _PG_init(void)
{
    GNOMON_SCOPE("init");
}

PG_FUNCTION_INFO_V1(marked_sum);
Datum marked_sum(PG_FUNCTION_ARGS)
{
    GNOMON_SCOPE("call");
    int64 sum = 0;
    int32 n = PG_GETARG_INT32(0);
    for (int32 i = 1; i <= n; i++) {
        GNOMON_SCOPE("add");
        sum += i;
    }
    if (n < 0) /* longjmp out of the scope */
        ereport(ERROR, errmsg("nothing to add"));
    PG_RETURN_INT64(sum);
}
