/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Profilers that the program brings: registered, attached, detached; and the
 * code and text of each wrong call. */
#include "test.h"

#include "child.h"

#include "gnomon/tool.h"

#define WORDS(...) \
    (const char *const[]) \
    { \
        __VA_ARGS__, NULL \
    }

/* ---- Profilers that record their calls ----------------------------------- */

typedef struct seen {
    char text[256];
    int detach_code, configure_code, register_code, teardown_code, marks;
} seen;

static void seen_add(seen *s, char what, const char *name)
{
    size_t used = strlen(s->text);
    snprintf(s->text + used, sizeof s->text - used, "%c%s ", what, name);
}

static void seen_start(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    CHECK_EQ(*slot, 0);
    *slot = frame->token ^ (uint64_t)(uintptr_t)self;
    seen_add(self, '>', frame->name);
}

static void seen_stop(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    CHECK(*slot == (frame->token ^ (uint64_t)(uintptr_t)self));
    seen_add(self, '<', frame->name);
}

static const gnomon_profiler seer = {
    .struct_size = sizeof seer,
    .abi = GNOMON_ABI,
    .name = "seer",
    .start = seen_start,
    .stop = seen_stop,
};

static void once(const char *name)
{
    gnomon_start(name);
    gnomon_stop(name);
}

/* ---- Attaching ---------------------------------------------------------------- */

TEST(one_table_with_two_selfs)
{
    seen a = {.text = ""}, b = {.text = ""};
    CHECK_EQ(gnomon_attach(&seer, &a, NULL), GNOMON_OK);
    once("x");
    CHECK_EQ(gnomon_attach(&seer, &b, "filter=y"), GNOMON_OK);
    once("x");
    gnomon_start("y");
    CHECK_EQ(gnomon_detach(&seer, &a), GNOMON_OK);
    gnomon_stop("y"); /* b saw the start; a was detached first */
    once("y");
    CHECK_EQ(gnomon_detach(&seer, &b), GNOMON_OK);
    once("y");
    CHECK_STR(a.text, ">x <x >x <x >y <y ");
    CHECK_STR(b.text, ">y <y >y <y ");
}

TEST(a_pair_that_is_attached_twice_takes_two_detaches)
{
    seen a = {.text = ""};
    CHECK_EQ(gnomon_attach(&seer, &a, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&seer, &a, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_detach(&seer, &a), GNOMON_OK);
    once("x");
    CHECK_EQ(gnomon_detach(&seer, &a), GNOMON_OK);
    CHECK_EQ(gnomon_detach(&seer, &a), GNOMON_ENOENT);
    CHECK_STR(a.text, ">x <x ");
}

TEST(a_start_before_the_attach_has_no_stop)
{
    seen a = {.text = ""};
    gnomon_start("before");
    CHECK_EQ(gnomon_attach(&seer, &a, NULL), GNOMON_OK);
    gnomon_stop("before");
    once("x");
    CHECK_EQ(gnomon_detach(&seer, &a), GNOMON_OK);
    CHECK_STR(a.text, ">x <x ");
}

TEST(detach_of_an_unattached_profiler_fails)
{
    seen a = {.text = ""}, b = {.text = ""};
    CHECK_EQ(gnomon_detach(&seer, &a), GNOMON_ENOENT);
    CHECK_STR(gnomon_error_text(),
              "this profiler is not attached with this self");
    CHECK_EQ(gnomon_attach(&seer, &a, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_detach(&seer, &b), GNOMON_ENOENT);
    CHECK_EQ(gnomon_detach(NULL, &a), GNOMON_ENOENT);
    CHECK_EQ(gnomon_detach(&seer, &a), GNOMON_OK);
    CHECK_STR(gnomon_error_text(), "");
    CHECK_EQ(gnomon_detach(&seer, &a), GNOMON_ENOENT);
}

TEST(wrong_tables_and_options_are_refused)
{
    static const struct {
        const char *options, *text;
    } cases[] = {
        {"fliter=a",
         "seer: unknown option 'fliter': did you mean 'filter'? It "
         "knows: filter, exclude, schedule, ranks, at, file, dir, as"},
        {"ranks=x", "seer: ranks=x: say all, or ranks and spans as 0|3|8-15"},
        {"mem=1MiB",
         "seer: 'mem' is for the whole run: write it outside of the brackets"},
        {"schedule=wait:1", NULL},
        {"filter", NULL},
        {"a(b", NULL},
    };
    seen a = {.text = ""};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_EQ(gnomon_attach(&seer, &a, cases[i].options), GNOMON_EINVAL);
        if (cases[i].text)
            CHECK_STR(gnomon_error_text(), cases[i].text);
        CHECK(*gnomon_error_text());
    }
    gnomon_profiler wrong = seer;
    CHECK_EQ(gnomon_attach(NULL, &a, NULL), GNOMON_EINVAL);
    wrong.abi = 99;
    CHECK_EQ(gnomon_attach(&wrong, &a, NULL), GNOMON_EABI);
    CHECK_EQ(gnomon_host_get()->add_profiler(&wrong), GNOMON_EABI);
    wrong.abi = GNOMON_ABI;
    wrong.struct_size = 4;
    CHECK_EQ(gnomon_attach(&wrong, &a, NULL), GNOMON_EABI);
    wrong = seer;
    wrong.name = "";
    CHECK_EQ(gnomon_host_get()->add_profiler(&wrong), GNOMON_EINVAL);
    CHECK_EQ(gnomon_host_get()->add_profiler(NULL), GNOMON_EINVAL);
    once("x");
    CHECK_STR(a.text, "");
}

TEST(thirty_one_profilers_fit)
{
    static seen all[32];
    CHECK_EQ(gnomon_attach(&seer, &all[0], NULL), GNOMON_OK);
    for (int i = 1; i < 31; i++)
        CHECK_EQ(gnomon_attach(&seer, &all[i], NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&seer, &all[31], NULL), GNOMON_EFULL);
    CHECK_STR(gnomon_error_text(),
              "31 profilers and recorders are attached, no more fit: detach "
              "one first");
    once("x");
    CHECK_EQ(gnomon_detach(&seer, &all[7]), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&seer, &all[31], NULL), GNOMON_OK);
    once("y");
    for (int i = 0; i < 32; i++) {
        CHECK_STR(all[i].text, i == 31  ? ">y <y "
                               : i == 7 ? ">x <x "
                                        : ">x <x >y <y ");
        CHECK_EQ(gnomon_detach(&seer, &all[i]), i == 7 ? GNOMON_ENOENT : 0);
    }
    CHECK_EQ(gnomon_enabled, 0);
}

/* ---- Calls from inside a callback --------------------------------------------- */

static const gnomon_profiler *the_caller;

static void caller_start(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    seen *s = self;
    (void)frame, (void)slot;
    s->detach_code = gnomon_detach(the_caller, self);
    s->configure_code = gnomon_attach(NULL, NULL, "simple");
    s->register_code = gnomon_host_get()->add_profiler(&seer);
    s->teardown_code = gnomon_teardown();
    once("inside");
    s->marks++;
}

TEST(control_calls_in_a_callback_are_busy)
{
    static const gnomon_profiler caller = {
        .struct_size = sizeof caller,
        .abi = GNOMON_ABI,
        .name = "caller",
        .start = caller_start,
    };
    seen a = {.text = ""}, b = {.text = ""};
    gnomon_health health = {.struct_size = sizeof health};
    the_caller = &caller;
    CHECK_EQ(gnomon_attach(&caller, &a, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&seer, &b, NULL), GNOMON_OK);
    once("x");
    CHECK_EQ(a.detach_code, GNOMON_EBUSY);
    CHECK_EQ(a.configure_code, GNOMON_EBUSY);
    CHECK_EQ(a.register_code, GNOMON_EBUSY);
    CHECK_EQ(a.teardown_code, GNOMON_EBUSY);
    CHECK_STR(gnomon_error_text(),
              "called inside a callback: call it from outside");
    CHECK_EQ(a.marks, 1);
    CHECK_STR(b.text, ">x <x ");
    gnomon_health_get(&health);
    CHECK_EQ(health.reentered, 2);
    CHECK_EQ(gnomon_detach(&caller, &a), GNOMON_OK);
    CHECK_EQ(gnomon_detach(&seer, &b), GNOMON_OK);
}

/* ---- Registering ---------------------------------------------------------------- */

TEST(the_variable_knows_registered_profilers)
{
    child_result r =
        child_run(CHILD_PROGRAM("registered"), "GNOMON=MINE", WORDS("mine"));
    CHECK_STR(r.out, "first\n");
    CHECK_STR(r.err, "");
    r = child_run(CHILD_PROGRAM("registered"), "GNOMON=mine",
                  WORDS("mine", "Mine"));
    CHECK_STR(r.out, "second\n");
    r = child_run(CHILD_PROGRAM("registered"), "GNOMON=simple",
                  WORDS("simple")); /* instead of the built-in one */
    CHECK_STR(r.out, "first\n");
    CHECK_STR(r.err, "");
    r = child_run(CHILD_PROGRAM("registered"), "GNOMON=mone", WORDS("mine"));
    CHECK_STR(r.out, "");
    CHECK_STR(r.err, "gnomon: $GNOMON: unknown profiler 'mone': did you mean "
                     "'mine'?\n");
    r = child_run(CHILD_PROGRAM("registered"), "GNOMON=help",
                  WORDS("mine", "yours"));
    CHECK_EQ(times_in(r.err, "  mine         the first\n"), 1);
    CHECK_EQ(times_in(r.err, "  yours        the second\n"), 1);
    r = child_run(CHILD_PROGRAM("registered"), NULL, WORDS("mine"));
    CHECK_STR(r.out, "");
    CHECK_STR(r.err, "");
}

TEST(exceptions_of_a_cpp_host_end_scopes)
{
    static const char step[] =
        "(step((anonymous)::deep(inner((anonymous)::deep(inner("
        "(anonymous)::deep(last))))))(caught)(template)(template))";
    char want[512];
    snprintf(want, sizeof want,
             "%s%s\n0 open, 0 crossed, 0 unmatched, code 0\n", step, step);
    child_result r =
        child_run(CHILD_PROGRAM("host_cpp"), "GNOMON=simple", WORDS("x"));
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.out, want);
    CHECK_TABLE(r.err, "Profiler Report", "step", "(anonymous)::deep", "inner",
                "last", "caught", "template");
    r = child_run(CHILD_PROGRAM("host_cpp"), NULL, WORDS("x"));
    CHECK_STR(r.out, want);
    CHECK_STR(r.err, "");
}

TEST(names_are_registered_up_to_a_limit)
{
    static gnomon_profiler many[96];
    static char names[96][16];
    int registered = 0, code = GNOMON_OK;
    for (int i = 0; i < 96 && !code; i++) {
        snprintf(names[i], sizeof names[i], "name%d", i);
        many[i] = seer;
        many[i].name = names[i];
        code = gnomon_host_get()->add_profiler(&many[i]);
        registered += !code;
    }
    CHECK_EQ(code, GNOMON_EFULL);
    CHECK_STR(gnomon_error_text(), "96 profilers are registered, no more fit");
    CHECK(registered > 50);
    CHECK_EQ(gnomon_host_get()->add_profiler(&many[0]),
             GNOMON_OK); /* replaces itself */
    CHECK_EQ(gnomon_attach(NULL, NULL, "name0,name50"), GNOMON_OK);
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
}
