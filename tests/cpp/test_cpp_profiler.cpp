// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Profilers as classes: what they override is called and nothing else, from their
// attachment to its end.
#include <atomic>
#include <thread>
#include <vector>

#include "cpp.h"

// ---- What is overridden -----------------------------------------------------------

class two : public gnomon::profiler
{
  public:
    static gnomon::about about()
    {
        return {"two", GNOMON_WANT_TIMES};
    }
    void start(const gnomon_frame &frame, std::uint64_t &slot) override
    {
        slot = text.size();
        text += std::string("(") + frame.name;
    }
    void stop(const gnomon_frame &frame, std::uint64_t &slot) override
    {
        text += text.substr(slot).find(frame.name) == 1 ? ")" : "?";
        CHECK(frame.end_ns >= frame.begin_ns);
    }
    std::string text;
};

// What the table of a class has, in the order of its fields.
template <class P> static std::string callbacks(P &of)
{
    const gnomon_profiler t = gnomon::table_of<P>::make(of);
    std::string names;
#define HAS(callback) names += t.callback ? #callback " " : ""
    HAS(create);
    HAS(setup);
    HAS(start);
    HAS(stop);
    HAS(step);
    HAS(counter);
    HAS(mark);
    HAS(thread);
    HAS(summary);
    HAS(teardown);
    HAS(destroy);
    HAS(window);
    HAS(stream);
    HAS(link);
    HAS(events);
    return names;
}

TEST(two_overridden_functions_are_called)
{
    two t;
    CHECK_STR(callbacks(t).c_str(), "start stop ");
    gnomon::attachment here(t);
    CHECK_EQ(here.code(), GNOMON_OK);
    for (int i = 0; i < 2; i++) {
        GNOMON_SCOPE("a");
        gnomon::action b("b");
        GNOMON_MARK("m");
    }
    CHECK_STR(t.text.c_str(), "(a(b))(a(b))");
    CHECK_EQ(t.thrown(), 0);
}

class hidden : public gnomon::profiler
{
  public:
    static gnomon::about about()
    {
        return {"hidden"};
    }
    int marks = 0;

  private:
    void mark(const gnomon_mark_event &) override
    {
        marks++;
    }
};

class further final : public two
{
  public:
    void step(const gnomon_step_event &) override
    {
        text += "|";
    }
};

TEST(private_and_inherited_functions_count)
{
    hidden h;
    further f;
    tree t;
    CHECK_STR(callbacks(h).c_str(), "mark ");
    CHECK_STR(callbacks(t).c_str(), "");
    CHECK_STR(callbacks(f).c_str(), "start stop step ");
    gnomon::attachment one(h), other(f);
    GNOMON_MARK("moment");
    gnomon::step();
    CHECK_EQ(h.marks, 1);
    CHECK_STR(f.text.c_str(), "|");
}

TEST(an_object_of_a_derived_class_has_all)
{
    further f;
    two &base = f;
#if GNOMON__HAS_TYPES
    static const char all[] = "setup start stop step counter mark thread "
                              "summary teardown window stream link events ";
    CHECK_STR(callbacks(base).c_str(), all);
    gnomon::attachment here(base);
    gnomon::step();
    CHECK_STR(f.text.c_str(), "|");
#else
    CHECK_STR(callbacks(base).c_str(), "start stop ");
#endif
}

class each : public gnomon::profiler
{
  public:
    static gnomon::about about()
    {
        return {"each", GNOMON_WANT_TREE};
    }
    int setup(const gnomon_run_info &run, const char *stage) override
    {
        CHECK_EQ(run.pid, getpid());
        text += std::string("setup:") + stage + " ";
        return GNOMON_OK;
    }
    void step(const gnomon_step_event &e) override
    {
        text += "step" + std::to_string(e.step) + " ";
    }
    void counter(const gnomon_counter_event &e) override
    {
        text += std::string(e.name) + std::to_string(int(e.value)) + " ";
    }
    void mark(const gnomon_mark_event &e) override
    {
        text += std::string(e.name) + " ";
    }
    void thread(const gnomon_thread_event &e) override
    {
        text += std::string("thread:") + e.name + " ";
    }
    void window(const gnomon_window_event &e) override
    {
        text += "window" + std::to_string(e.phase) + " ";
    }
    void link(const gnomon_link_event &e) override
    {
        text += "link" + std::to_string(e.kind) + " ";
    }
    void teardown(const char *stage) override
    {
        text += std::string("teardown:") + stage + " ";
    }
    int summary(gnomon::profile_view p, gnomon::report &out) override
    {
        out << "nodes " << p.nodes().size() << '\n';
        return out.code();
    }
    std::string text;
};

TEST(each_callback_can_be_overridden)
{
    each e;
    gnomon::attachment here(e);
    {
        gnomon::stage fit("fit");
        gnomon::thread_name("main");
        GNOMON_SCOPE("a");
        GNOMON_COUNTER("loss", 3);
        GNOMON_MARK("moment");
        gnomon_link from = gnomon_link_out();
        GNOMON_SCOPE("b");
        gnomon_link_in(&from, GNOMON_LINK_LAUNCH);
        gnomon::step();
        std::string report;
        CHECK_EQ(gnomon::summary(report, "each"), GNOMON_OK);
        CHECK(report.find("nodes 3\n") == 0); // a, b, and the moment in a
    }
    CHECK_EQ(here.detach(), GNOMON_OK);
    CHECK_STR(e.text.c_str(),
              "setup: window2 setup:fit thread:main loss3 moment link2 step0 "
              "window0 teardown:fit ");
}

// ---- Attaching --------------------------------------------------------------------

TEST(an_attachment_ends_with_its_object)
{
    two t;
    {
        gnomon::attachment first(t, "filter=b*");
        gnomon::attachment here(std::move(first));
        GNOMON_SCOPE("a");
        gnomon::action b("b");
    }
    GNOMON_SCOPE("b");
    CHECK_STR(t.text.c_str(), "(b)");
    gnomon::attachment wrong(t, "fliter=b*");
    CHECK_EQ(wrong.code(), GNOMON_EINVAL);
    CHECK_EQ(wrong.detach(), GNOMON_ENOENT);
    gnomon::attachment twice(t);
    CHECK_EQ(twice.detach(), GNOMON_OK);
    CHECK_EQ(twice.detach(), GNOMON_ENOENT);
}

// Attaches and detaches while another thread marks; each start has its stop.
class balanced : public gnomon::profiler
{
  public:
    static gnomon::about about()
    {
        return {"balanced"};
    }
    void start(const gnomon_frame &, std::uint64_t &slot) override
    {
        slot = 42;
        open++;
    }
    void stop(const gnomon_frame &, std::uint64_t &slot) override
    {
        CHECK_EQ(slot, 42);
        open--;
    }
    std::atomic<int> open{0};
};

TEST(attachments_come_and_go_beside_marks)
{
    std::atomic<bool> over{false};
    std::thread marks([&] {
        while (!over) {
            GNOMON_SCOPE("busy");
        }
    });
    for (int i = 0; i < 50; i++) {
        balanced b;
        {
            gnomon::attachment here(b);
            GNOMON_SCOPE("mine");
        }
        CHECK_EQ(b.open, 0);
    }
    over = true;
    marks.join();
}
