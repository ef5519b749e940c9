/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Every mark and every call, for GNOMON_DISABLE and for compilers and systems
 * that gnomon does not know: compiled without any libc, as C11 and C++11, and,
 * where it can be, run without the library. disabled.sh looks at what is left
 * of it with ONLY_MARKS; else the exit status is the line that went wrong. */
#include <gnomon.h>
#include <gnomon/profile.h>
#include <gnomon/tool.h>

#ifndef GNOMON_DISABLE
#error "gnomon is not disabled here"
#endif

static int evaluated;

static int once(void)
{
    return ++evaluated;
}

static const char *a_name(void)
{
    return once() ? "evaluated name" : GNOMON_NULL;
}

/* Used in marks only: this must count as a use. */
static const char only_marked[] = "marked name 0";

static int only_in_marks(void)
{
    return once();
}

GNOMON_BEGIN_DECLS
void disabled_marks(int argument, const gnomon_link *from);
GNOMON_END_DECLS

void disabled_marks(int argument, const gnomon_link *from)
{
    GNOMON_FUNCTION();
    GNOMON_SCOPE("marked name 1");
    GNOMON_SCOPE_IN("marked name 2", "marked name 3");
#ifndef __cplusplus
    const int64_t only_a_size = argument;
    GNOMON_OP_SCOPE("marked name 16", .operation = "marked name 17",
                    .flops = (uint64_t)once(),
                    GNOMON_INPUTS(GNOMON_TENSOR("marked name 18", only_a_size),
                                  GNOMON_TENSOR(a_name(), 1, once())));
#endif
    GNOMON_REGION(region, "marked name 4", "marked name 5");
    GNOMON_REGION(never_used, "marked name 6", GNOMON_NULL);
    gnomon_token token = gnomon_begin((once(), &region));
    gnomon_range range = gnomon_range_begin((once(), &region));
    gnomon_range inner =
        gnomon_range_begin_in((once(), &region), (once(), range));
    gnomon_token computed =
        gnomon_begin_op((once(), &region), (once(), GNOMON_NULL));
    int only_counted = argument + 1;
    (void)gnomon_op_region((once(), &region), GNOMON_NULL);
    (void)gnomon_region_get(a_name(), a_name(), GNOMON_KIND_SCOPE);
    (void)gnomon_region_get(a_name(), a_name(), GNOMON_KIND_MARK);
    gnomon_start(a_name());
    gnomon_start_n(a_name(), 1);
    gnomon_stop_n("marked name 15", 13);
    gnomon_stop("marked name 7");
    gnomon_stop(only_marked);
    gnomon_link_in((once(), from), only_in_marks());
    gnomon_counter((once(), &region), evaluated++);
    gnomon_mark((once(), &region));
    gnomon_thread_name(a_name());
    gnomon_step();
    gnomon_step_at(GNOMON_CAST(uint64_t, once()));
    gnomon_step_begin(GNOMON_CAST(uint64_t, once()));
    gnomon_range_end((once(), inner));
    gnomon_range_end((once(), range));
    gnomon_end((once(), computed));
    gnomon_end((once(), token));
    gnomon_end_alone((once(), token));
    if (argument > 1)
        GNOMON_MARK("marked name 8");
    else
        GNOMON_COUNTER("marked name 9", once() + only_counted);
    for (; argument > 2; argument--, gnomon_start("a"), gnomon_stop("b")) {
        GNOMON_SCOPE("marked name 10");
    }
}

#ifdef __cplusplus
namespace elsewhere
{
void marks(int argument);
void marks(int argument)
{
    GNOMON_REGION(region, "marked name 11", GNOMON_NULL);
    gnomon_token token = ::gnomon_begin(&region);
    ::gnomon_start("marked name 12");
    [&] { ::gnomon_end(token); }();
    switch (argument) {
    case 1: {
        GNOMON_SCOPE("marked name 13");
    } break;
    default:
        GNOMON_MARK("marked name 14");
    }
}
} // namespace elsewhere
#endif

#ifndef ONLY_MARKS
/* A name of a mark may also be a pointer to it. */
typedef void by_name(const char *name);

static int calls(void)
{
    by_name *start = gnomon_start;
    char text[8] = "full";
    gnomon_health health;
    gnomon_open_scope scopes[2];
    gnomon_profile *profile = GNOMON_NULL;
    gnomon_link nowhere = gnomon_link_out();
    uint32_t i;
    start("by pointer");
    for (i = 0; i < 8; i++)
        if (nowhere.word[i] != 0)
            return __LINE__;
    if (gnomon_begin(GNOMON_NULL) != 0 ||
        gnomon_range_begin(GNOMON_NULL) != 0 ||
        gnomon_range_begin_in(GNOMON_NULL, 1) != 0)
        return __LINE__;
    if (gnomon_begin_op(GNOMON_NULL, GNOMON_NULL) != 0 ||
        gnomon_op_region(GNOMON_NULL, GNOMON_NULL) != GNOMON_NULL)
        return __LINE__;
    if (gnomon_region_get("x", "y", GNOMON_KIND_SCOPE) != GNOMON_NULL)
        return __LINE__;
    if (gnomon_setup(GNOMON_NULL) != GNOMON_OK ||
        gnomon_stage_begin("fit") != GNOMON_OK ||
        gnomon_metadata("key", "1") != GNOMON_OK ||
        gnomon_stage_end() != GNOMON_OK || gnomon_teardown() != GNOMON_OK)
        return __LINE__;
    if (gnomon_attach(GNOMON_NULL, GNOMON_NULL, "") != GNOMON_OK ||
        gnomon_attach(GNOMON_NULL, GNOMON_NULL, "simple") != GNOMON_ESTATE ||
        gnomon_error_text()[0] != 't')
        return __LINE__;
    if (gnomon_host_get() != GNOMON_NULL)
        return __LINE__;
    if (gnomon_spec(GNOMON_NULL, 0) != 0 || gnomon_spec(text, 8) != 0 ||
        text[0] != 0)
        return __LINE__;
    health.struct_size = sizeof health;
    health.threads = 7;
    health.bad_stages = 7;
    gnomon_health_get(&health);
    if (health.struct_size != sizeof health || health.threads != 0 ||
        health.bad_stages != 0)
        return __LINE__;
    if (gnomon_thread_count() != 0 ||
        gnomon_thread_stack(0, scopes, 2) != GNOMON_EINVAL)
        return __LINE__;
    if (gnomon_attach(GNOMON_NULL, &health, "") != GNOMON_ESTATE ||
        gnomon_attach(GNOMON_NULL, GNOMON_NULL, GNOMON_NULL) != GNOMON_ESTATE ||
        gnomon_detach(GNOMON_NULL, GNOMON_NULL) != GNOMON_ENOENT ||
        gnomon_summary("simple", GNOMON_NULL) != GNOMON_ESTATE)
        return __LINE__;
    if (gnomon_snapshot(&profile, "simple", 0) != GNOMON_ESTATE ||
        profile != GNOMON_NULL ||
        gnomon_profile_check(profile) != GNOMON_ESTATE)
        return __LINE__;
    gnomon_profile_free(profile);
    if (gnomon_error_name(GNOMON_EIO)[8] != 'I' ||
        gnomon_error_name(0)[7] != 'O' || gnomon_error_name(99)[8] != '?' ||
        gnomon_version()[1] != '.')
        return __LINE__;
    /* Cells are the same without the compiler's builtins. */
    if (gnomon_cell_of(31) != 31 || gnomon_cell_of(32) != 32 ||
        gnomon_cell_of(63) != 47 || gnomon_cell_of(64) != 48 ||
        gnomon_cell_of(UINT64_MAX) != 975)
        return __LINE__;
    return 0;
}

int main(void)
{
    disabled_marks(3, GNOMON_NULL);
#ifdef __cplusplus
    elsewhere::marks(1);
#endif
    return evaluated ? __LINE__ : calls();
}
#endif
