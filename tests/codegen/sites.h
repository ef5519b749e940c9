/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The marked functions, called sites, whose code check.py walks. SITE is a C function, a
 * C++ inline function or a member of a C++ class template: see sites.c and sites.cpp.
 *
 * Each is compiled with the marks, and with NO_MARKS, without them. The difference on the
 * off path is what a mark costs. A site's own operands stay in registers, so its loads
 * are those of marks.
 */
SITE(int, plain, (int x))
{
    x += 1;
    {
        GNOMON_SCOPE("plain");
        x *= 3;
    }
    return x ^ 5;
}

SITE(void, call, (void))
{
    {
        GNOMON_SCOPE("call");
        work();
    }
    after();
}

SITE(int, early_return, (int x))
{
    GNOMON_SCOPE("early_return");
    if (x < 0)
        return -1;
    work();
    return x;
}

SITE(void, loop, (int n))
{
    int i;
    for (i = 0; i < n; i++) {
        GNOMON_SCOPE("loop");
        work();
    }
}

SITE(void, nested, (void))
{
    GNOMON_SCOPE("outer");
    after();
    {
        GNOMON_SCOPE("inner");
        work();
    }
}

SITE(void, function, (void))
{
    GNOMON_FUNCTION();
    work();
}

SITE(void, begin_end, (void))
{
    GNOMON_REGION(marked_region, "begin_end", GNOMON_NULL);
    gnomon_token token = gnomon_begin(&marked_region);
    work();
    gnomon_end(token);
}

SITE(void, begin_op, (void))
{
    GNOMON_REGION(marked_region, "begin_op", GNOMON_NULL);
    gnomon_token token = gnomon_begin_op(&marked_region, &marked_op);
    work();
    gnomon_end(token);
}

SITE(void, op_scope, (void))
{
    {
        MARKED_OP("op_scope", (int64_t)value());
        work();
    }
    after();
}

SITE(void, start_stop, (void))
{
    gnomon_start("start_stop");
    work();
    gnomon_stop("start_stop");
}

SITE(void, range, (void))
{
    GNOMON_REGION(marked_region, "range", GNOMON_NULL);
    gnomon_range range = gnomon_range_begin(&marked_region);
    work();
    gnomon_range_end(range);
}

SITE(void, mark, (void))
{
    GNOMON_MARK("mark");
}

SITE(void, counter, (void))
{
    GNOMON_COUNTER("counter", value());
}

#ifdef __cplusplus
SITE(void, object, (void))
{
    {
        MARKED(gnomon::scope, s, GNOMON_REGION_HERE("object"));
        work();
    }
    after();
}

SITE(void, object_loop, (int n))
{
    int i;
    for (i = 0; i < n; i++) {
        MARKED(gnomon::scope, s, GNOMON_REGION_HERE("object_loop"));
        work();
    }
}

SITE(void, object_range, (void))
{
    MARKED(gnomon::range, r, GNOMON_REGION_HERE("object_range"));
    work();
}

SITE(void, object_moved, (void))
{
    MARKED(gnomon::scope, s, GNOMON_REGION_HERE("object_moved"));
    MARKED(gnomon::scope, moved, std::move(s));
    work();
}
#endif

SITE(void, step, (void))
{
    gnomon_step();
}
