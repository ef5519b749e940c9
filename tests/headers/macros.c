/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Uses every public macro, as C11 and as C++11; those that declare, twice in
 * one block. Compiled under strict warnings, checked for completeness by
 * every_macro.sh, and run: nothing is attached, so all must be quiet. With
 * GNOMON_DISABLE too (disabled.sh). */
#include <gnomon.h>
#include <gnomon/cuda.h>
#include <gnomon/profile.h>
#include <gnomon/report.h>
#include <gnomon/tool.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

GNOMON_BEGIN_DECLS
GNOMON_API int headers_exported(int value);
int headers_print(const char *format, ...) GNOMON_PRINTF(1, 2);
GNOMON_END_DECLS

int headers_exported(int value)
{
    GNOMON_FUNCTION();
    return GNOMON_CAST(int, value + 0.5);
}

int headers_print(const char *format, ...)
{
    int length;
    va_list arguments;
    GNOMON_FUNCTION();
    va_start(arguments, format);
    length = vprintf(format, arguments);
    va_end(arguments);
    return length;
}

/* ---- Structs of any size -------------------------------------------------- */

/* Of a list whose items are as large as two of ours: the second, and whether a
 * struct of the first release has all of it. */
static int sizes_are_told(void)
{
    static gnomon_work_stats work;
    static gnomon_attribute list[4];
    static gnomon_op_info op;
    int had, has;
    work.struct_size = offsetof(gnomon_work_stats, bytes);
    had = GNOMON_HAS(&work, flops) && !GNOMON_HAS(&work, bytes);
    work.struct_size = sizeof work;
    has = GNOMON_HAS(&work, bytes);
    list[0].struct_size = 2 * sizeof *list;
    op.attributes = list;
    op.attribute_count = 2;
    return had && has && gnomon_attribute_at(&op, 1) == &list[2];
}

static int sums_are_empty(void)
{
    static gnomon_cell cells[GNOMON_CELLS];
    return cells[GNOMON_CELLS - 1].count == 0;
}

/* ---- A plugin: the entry is all that it exports --------------------------- */

static int silent(void *self, const gnomon_profile *profile,
                  const gnomon_writer *out)
{
    GNOMON_SCOPE_IN("headers", "summary");
    GNOMON_SCOPE_IN("headers", "twice");
    return self == GNOMON_NULL && profile == GNOMON_NULL && out->write
               ? GNOMON_OK
               : GNOMON_ESTATE;
}

static const gnomon_profiler quiet = {
    sizeof(gnomon_profiler), /* struct_size */
    GNOMON_ABI,
    GNOMON_WANT_TREE | GNOMON_WANT_TIMES,
    0,
    "quiet",
    "says nothing",
    GNOMON_NULL, /* options */
    GNOMON_NULL, /* create */
    GNOMON_NULL, /* setup */
    GNOMON_NULL, /* start */
    GNOMON_NULL, /* stop */
    GNOMON_NULL, /* step */
    GNOMON_NULL, /* counter */
    GNOMON_NULL, /* mark */
    GNOMON_NULL, /* thread */
    silent,
    GNOMON_NULL, /* teardown */
    GNOMON_NULL, /* destroy */
    GNOMON_NULL, /* window */
    GNOMON_NULL, /* stream */
    GNOMON_NULL, /* link */
    GNOMON_NULL  /* events */
};
GNOMON_PLUGIN(quiet);

/* ---- X-macros -------------------------------------------------------------- */

#define HEADERS_ERROR(name, code, text) {#name, code, text},
static const struct {
    const char *name;
    int code;
    const char *text;
} errors[] = {GNOMON_ERRORS(HEADERS_ERROR){"OK", GNOMON_OK, ""}};

#define HEADERS_HEALTH(field, text) #field ": " text,
static const char *const health[] = {GNOMON_HEALTH(HEADERS_HEALTH) ""};

/* ---- Marks ----------------------------------------------------------------- */

static int evaluated;

GNOMON_INLINE double sample(void)
{
    evaluated++;
    return 1.0;
}

static gnomon_cuda_stream null_stream;

GNOMON_INLINE gnomon_cuda_stream stream(void)
{
    return null_stream;
}

static uint64_t marks(void)
{
    static gnomon_region made =
        GNOMON_REGION_INIT(GNOMON_KIND_RANGE, "made", "headers", "marks");
    static gnomon_region pretty =
        GNOMON_REGION_INIT(GNOMON_KIND_FUNCTION | GNOMON_KIND_PRETTY,
                           "void f(int)", GNOMON_NULL, GNOMON_NULL);
    GNOMON_REGION(first, "first", "headers");
    GNOMON_REGION(second, "second", GNOMON_NULL);
    GNOMON_SCOPE("outer");
    GNOMON_SCOPE("inner");
    GNOMON_SCOPE_ON("on a stream", stream());
    GNOMON_SCOPE_ON("on another", stream());
    GNOMON_SCOPE_ON_DEVICE("on a device", gnomon_cuda_device(), stream());
    GNOMON_SCOPE_ON_DEVICE("on another", gnomon_cuda_device(), stream());
    GNOMON_POOL(pool, "pool");
    gnomon_pool_allocated(&pool, null_stream, 1);
    gnomon_pool_freed(
        gnomon_region_get("another", GNOMON_NULL, GNOMON_KIND_POOL),
        null_stream);
    gnomon_pool_reserved(&pool, 1);
    gnomon_pool_exhausted(&pool, 1);
#ifndef __cplusplus
    const int rows = 2;
    GNOMON_OP_SCOPE("computed", .operation = "relu");
    GNOMON_OP_SCOPE("computed too", .operation = "mm",
                    .flops = (uint64_t)sample(), .flags = GNOMON_OP_FLOPS_GIVEN,
                    GNOMON_INPUTS(GNOMON_TENSOR("float32", rows, 3),
                                  GNOMON_TENSOR("float32", 3, 4)));
#endif
    gnomon_device_scope on =
        gnomon_begin_on(&first, gnomon_cuda_device(), stream());
    gnomon_region *named =
        gnomon_region_get("named", "headers", GNOMON_KIND_SCOPE);
    gnomon_token token = gnomon_begin(named);
    gnomon_start_n("by length", GNOMON_TO_NUL);
    gnomon_stop_n("by length", GNOMON_TO_NUL);
    gnomon_range range = gnomon_range_begin(&made);
    gnomon_link link = gnomon_link_out();
    static gnomon_forwards forwards;
    gnomon_forward(&forwards, GNOMON_FORWARDS, 0);
    int is_linked = gnomon_backward(&forwards, GNOMON_FORWARDS, 0);
    GNOMON_MARK("a moment");
    GNOMON_MARK("another");
    GNOMON_COUNTER("loss", sample());
    GNOMON_COUNTER("accuracy", sample());
    if (token == 0)
        GNOMON_MARK("in a branch");
    else
        GNOMON_COUNTER("in a branch", 1.0);
    gnomon_mark(&second);
    gnomon_counter(&second, 2.0);
    gnomon_start("by name");
    gnomon_stop("by name");
    gnomon_link_in(&link, GNOMON_LINK_SUBMIT);
    gnomon_range_end(range);
    gnomon_end_on(on);
    gnomon_end(token);
    gnomon_end_alone(0);
    gnomon_step();
    gnomon_step_at(17);
    gnomon_step_begin(18);
    return token | range | (is_linked ? 1u : 0u) |
           ((made.mask | pretty.mask) & ~GNOMON_MASK_UNSEEN);
}

int main(void)
{
    static gnomon_host host;
    uint64_t seen = marks(); /* the first touch of a region is not yet "off" */
    int before = evaluated;
    char version[32];
    seen |= marks();
#ifdef GNOMON_DISABLE
    before = 0; /* not at the first touch either */
#endif
    if (seen != 0 || evaluated != before)
        return headers_print("a mark was recorded\n") ? 1 : 2;
    snprintf(version, sizeof version, "%d.%d.%d", GNOMON_VERSION_MAJOR,
             GNOMON_VERSION_MINOR, GNOMON_VERSION_PATCH);
    if (strcmp(version, GNOMON_VERSION) != 0 ||
        strcmp(gnomon_version(), GNOMON_VERSION) != 0)
        return headers_print("version: %s\n", version) ? 1 : 2;
    host.struct_size = sizeof host;
    host.abi = GNOMON_ABI;
    if (strcmp(GNOMON_PLUGIN_ENTRY, "gnomon_plugin_v1") != 0 ||
        gnomon_plugin_v1(&host) != &quiet)
        return headers_print("no plugin\n") ? 1 : 2;
    if (sizeof errors / sizeof *errors < 2 || errors[0].code >= 0 ||
        *health[0] == '\0')
        return headers_print("an empty table\n") ? 1 : 2;
    if (!sums_are_empty())
        return headers_print("a sum of nothing\n") ? 1 : 2;
    if (!sizes_are_told())
        return headers_print("a struct of another size\n") ? 1 : 2;
    return headers_exported(0);
}
