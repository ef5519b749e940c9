// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Marks as objects: each begins and ends once, wherever it is moved, and however its
// block is left.
#include <pthread.h>

#include <thread>
#include <type_traits>
#include <vector>

#include "cpp.h"

// ---- Scopes ---------------------------------------------------------------------

TEST(a_scope_ends_with_its_block)
{
    tree t;
    gnomon::attachment here(t);
    for (int i = 0; i < 3; i++) {
        gnomon::scope outer(GNOMON_REGION_HERE("outer"));
        gnomon::scope inner(GNOMON_REGION_HERE_IN("io", "inner"));
    }
    GNOMON_SCOPE("after");
    gnomon::profile p = recorded_now();
    CHECK_EQ(count_at(p, "outer"), 3);
    CHECK_EQ(count_at(p, "outer/inner"), 3);
    for (auto r : p.regions())
        if (std::string(r.name()) == "inner") {
            CHECK_STR(r.category(), "io");
            CHECK_STR(r->function, "test_run_a_scope_ends_with_its_block");
        }
    check_health();
}

TEST(macros_are_those_of_c)
{
    tree t;
    gnomon::attachment here(t);
    {
        GNOMON_SCOPE("macro");
        GNOMON_SCOPE_IN("io", "in");
        GNOMON_MARK("moment");
        GNOMON_COUNTER("loss", 0.5);
    }
    gnomon::profile p = recorded_now();
    CHECK_EQ(count_at(p, "macro/in"), 1);
    CHECK_EQ(p.counters().size(), 1);
    check_health();
}

template <int N> struct layer {
    int forward(int x) const
    {
        GNOMON_FUNCTION();
        return x + N;
    }
};

TEST(methods_have_their_pretty_names)
{
    tree t;
    gnomon::attachment here(t);
    layer<4>().forward(1);
    CHECK_EQ(count_at(recorded_now(), "layer<4>::forward"), 1);
}

static gnomon::scope made_elsewhere()
{
    gnomon::scope s(GNOMON_REGION_HERE("made"));
    return s;
}

TEST(moved_scopes_end_once)
{
    tree t;
    gnomon::attachment here(t);
    {
        std::vector<gnomon::scope> all;
        for (int i = 0; i < 5; i++)
            all.push_back(made_elsewhere()); // each inside the one before
        gnomon::scope one(std::move(all.back()));
        all.pop_back();
        one.end();
        one.end();
        while (!all.empty())
            all.pop_back();
    }
    gnomon::profile p = recorded_now();
    CHECK_EQ(count_at(p, "made"), 1);
    CHECK_EQ(count_at(p, "made/made/made/made/made"), 1);
    CHECK_EQ(p.opens().size(), 0);
    check_health();
}

TEST(assigning_ends_what_was_there)
{
    tree t;
    gnomon::attachment here(t);
    gnomon::scope s;
    s = gnomon::scope(GNOMON_REGION_HERE("first"));
    CHECK_EQ(count_at(recorded_now(), "first"), 0);
    s.end();
    s = gnomon::scope(GNOMON_REGION_HERE("second"));
    gnomon::scope &same = s;
    s = std::move(same);
    CHECK_EQ(recorded_now().opens().size(), 1);
    s = gnomon::scope();
    gnomon::profile p = recorded_now();
    CHECK_EQ(count_at(p, "first"), 1);
    CHECK_EQ(count_at(p, "second"), 1);
    CHECK_EQ(p.opens().size(), 0);
    check_health();
}

TEST(scopes_by_names_that_are_made_at_run_time)
{
    tree t;
    gnomon::attachment here(t);
    for (int i = 0; i < 2; i++) {
        gnomon::scope s("layer" + std::to_string(i));
        gnomon::op matmul("matmul");
        gnomon::scope none(static_cast<const char *>(nullptr));
    }
    gnomon::profile p = recorded_now();
    CHECK_EQ(count_at(p, "layer0/matmul/(null)"), 1);
    CHECK_EQ(count_at(p, "layer1/matmul"), 1);
    for (auto r : p.regions())
        if (std::string(r.name()) == "matmul")
            CHECK_STR(r.category(), "op");
    CHECK_EQ(gnomon::region("layer0").get() ==
                 gnomon_region_get("layer0", nullptr, GNOMON_KIND_SCOPE),
             1);
}

TEST(operations_say_what_they_compute)
{
    tree t;
    gnomon::attachment here(t);
    gnomon_op_info what = gnomon_op_info();
    what.struct_size = sizeof what;
    what.operation = "matmul";
    const gnomon::region linear("linear", "op");
    for (what.flops = 8; what.flops <= 16; what.flops += 8)
        gnomon::op by_info(linear, what);
    what.flops = 16;
    gnomon::op kept(linear.computing(what));
    kept.end();
    gnomon::profile p = recorded_now();
    CHECK_EQ(count_at(p, "linear"), 3);
    CHECK_EQ(p.ops().size(), 2);
    for (auto node : p.nodes()) {
        CHECK_STR(node.op().operation(), "matmul");
        CHECK_EQ(node->work &&
                     node->work->flops == node.count() * node.op()->flops,
                 1);
    }
    check_health();
}

static int evaluated;

static void computing_scope()
{
    GNOMON_OP_SCOPE("linear", gnomon::operation("matmul")
                                  .input("float32", {8, 64})
                                  .input("float32", {64, 31 + ++evaluated})
                                  .attribute("transpose", "false")
                                  .backward()
                                  .bytes(7));
    GNOMON_OP_SCOPE("given", gnomon::operation("mm").flops(5));
}

TEST(an_operation_is_made_where_it_is_recorded)
{
    computing_scope(); // makes the regions known
    evaluated = 0;
    computing_scope();
    CHECK_EQ(evaluated, 0);
    tree t;
    gnomon::attachment here(t);
    computing_scope();
    CHECK_EQ(evaluated, 1);
    gnomon::profile p = recorded_now();
    CHECK_EQ(count_at(p, "linear/given"), 1);
    CHECK_EQ(p.ops().size(), 2);
    for (auto node : p.nodes()) {
        const bool is_given = std::string(node.op().operation()) == "mm";
        CHECK_EQ(node.op()->flops, is_given ? 5 : 2 * 2 * 8 * 64 * 32);
        CHECK_EQ(node.op()->bytes, is_given ? 0 : 7);
        CHECK_EQ(node.op()->input_count, is_given ? 0 : 2);
        CHECK_EQ(node.op()->flags & GNOMON_OP_BACKWARD, is_given ? 0 : 1);
    }
    check_health();
}

TEST(a_scope_may_end_before_what_is_in_it)
{
    tree t;
    gnomon::attachment here(t);
    gnomon::scope outer(GNOMON_REGION_HERE("outer"));
    gnomon::scope inner(GNOMON_REGION_HERE("inner"));
    outer.end_alone();
    inner.end();
    gnomon::profile p = recorded_now();
    CHECK_EQ(count_at(p, "outer"), 1);
    CHECK_EQ(count_at(p, "outer/inner"), 1);
    check_health();
}

TEST(a_scope_may_end_on_another_thread)
{
    tree t;
    gnomon::attachment here(t);
    gnomon::scope s(GNOMON_REGION_HERE("moves"));
    std::thread([&s] { gnomon::scope mine(std::move(s)); }).join();
    GNOMON_MARK("next"); // closes it
    CHECK_EQ(count_at(recorded_now(), "moves"), 1);
    CHECK_EQ(gnomon::health().unmatched, 0);
}

#if GNOMON__THROWS
static void deep(int levels)
{
    gnomon::scope s(GNOMON_REGION_HERE("deep"));
    gnomon::action a("action");
    if (levels == 0)
        THROW("from below");
    a.end();
    deep(levels - 1);
}

TEST(exceptions_end_scopes)
{
    tree t;
    gnomon::attachment here(t);
    try {
        gnomon::range r(GNOMON_REGION_HERE("range"));
        deep(2);
        CHECK(false);
    } catch (const std::runtime_error &e) {
        CHECK_STR(e.what(), "from below");
    }
    gnomon::profile p = recorded_now();
    CHECK_EQ(count_at(p, "deep/deep/deep"), 1);
    CHECK_EQ(count_at(p, "deep/deep/deep/action"), 1);
    CHECK_EQ(count_at(p, "range"), 1);
    CHECK_EQ(p.opens().size(), 0);
    check_health();
}
#endif

// ---- Actions, ranges and the rest ---------------------------------------------------

static_assert(!std::is_constructible<gnomon::action, std::string>::value,
              "the name of an action outlives it");
static_assert(!std::is_copy_constructible<gnomon::scope>::value &&
                  !std::is_copy_constructible<gnomon::range>::value &&
                  !std::is_copy_constructible<gnomon::action>::value,
              "what ends once is not copied");
static_assert(sizeof(gnomon::scope) == sizeof(gnomon_token), "no more than C");

TEST(actions_need_not_nest)
{
    tree t;
    gnomon::attachment here(t);
    const std::string name = "first";
    {
        gnomon::action first(name);
        gnomon::action second("second");
        gnomon::action moved(std::move(second));
        first.end();
        first.end();
    }
    gnomon::profile p = recorded_now();
    CHECK_EQ(count_at(p, "first"), 1);
    CHECK_EQ(count_at(p, "first/second"), 1);
    check_health();
}

TEST(an_action_that_began_while_off_is_not_stopped)
{
    gnomon_attach(nullptr, nullptr, ""); // reads $GNOMON
    gnomon::action a("late");
    tree t;
    gnomon::attachment here(t);
    a.end();
    check_health(); // never_started too
}

TEST(ranges_end_on_any_thread)
{
    tree t;
    gnomon::attachment here(t);
    gnomon::range r(GNOMON_REGION_HERE("first")), none;
    gnomon::range named("named");
    std::thread([&] {
        gnomon::range mine(std::move(r));
        none = std::move(named);
    }).join();
    none.end();
    none.end();
    gnomon::profile p = recorded_now();
    CHECK_EQ(count_at(p, "first"), 1);
    CHECK_EQ(count_at(p, "named"), 1);
    for (auto node : p.nodes())
        CHECK(node->flags & GNOMON_NODE_RANGE);
    check_health();
}

TEST(counters_steps_and_names_of_threads)
{
    tree t;
    gnomon::attachment here(t);
    gnomon::thread_name(std::string("loader"));
    gnomon::counter loss("loss");
    loss.sample(2);
    loss.sample(0.5);
    gnomon::mark(gnomon::region("moment", nullptr, GNOMON_KIND_MARK));
    gnomon::step();
    gnomon::step_at(9);
    gnomon::step();
    gnomon::profile p = recorded_now();
    for (auto c : p.counters()) {
        CHECK_STR(c.name(), "loss");
        CHECK_EQ(c->count, 2);
        CHECK_EQ(c->sum * 2, 5);
    }
    CHECK_EQ(p.counters().size(), 1);
    CHECK_EQ(p.steps().size(), 3);
    CHECK_EQ(p.steps().number(3)->number, 9);
    CHECK_STR(p.tracks().number(1).name(), "loader");
    check_health();
}

#if __cplusplus >= 201703L
TEST(names_may_be_string_views)
{
    tree t;
    gnomon::attachment here(t);
    const std::string_view all("forward/backward");
    gnomon::scope(all.substr(0, 7)).end();
    gnomon::scope(std::string_view()).end();
    gnomon::profile p = recorded_now();
    CHECK_EQ(count_at(p, "forward"), 1);
    CHECK_EQ(count_at(p, ""), 1);
}
#endif

// ---- Cancellation -----------------------------------------------------------------

// A callback in which its thread is cancelled.
class ends_threads : public gnomon::profiler
{
  public:
    static gnomon::about about()
    {
        return {"ends_threads"};
    }
    void stop(const gnomon_frame &frame, std::uint64_t &) override
    {
        if (frame.flags & GNOMON_FRAME_UNFINISHED)
            return;
        pthread_cancel(pthread_self());
        pthread_testcancel();
    }
};

static bool was_left; // the thread's frames were unwound

static void *ends_in_a_callback(void *)
{
    struct leaves {
        ~leaves()
        {
            was_left = true;
        }
    } object;
    gnomon::scope s(GNOMON_REGION_HERE("cancelled"));
    return &was_left;
}

// pthread_cancel unwinds through the callback, the library and the scope.
TEST(a_thread_may_be_cancelled_in_a_callback)
{
#if GNOMON__THROWS && defined(__GLIBC__)
    ends_threads e;
    gnomon::attachment here(e);
    pthread_t thread;
    void *result = nullptr;
    CHECK_EQ(pthread_create(&thread, nullptr, ends_in_a_callback, nullptr), 0);
    CHECK_EQ(pthread_join(thread, &result), 0);
    CHECK(result == PTHREAD_CANCELED);
    CHECK(was_left);
    CHECK_EQ(e.thrown(), 0);
#else
    (void)ends_in_a_callback;
    SKIP("no exceptions, or no unwinding in this libc");
#endif
}
