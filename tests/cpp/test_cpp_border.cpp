// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where C calls profilers that are classes: objects that are made by a name or come in
// a plugin, and exceptions, which become a code, a text and a line.
#include <cstring>
#include <new>
#include <stdexcept>

#include "cpp.h"

// ---- By name ----------------------------------------------------------------------

static int alive; // objects of `named`

static const gnomon_option_info named_options[] = {
    gnomon::option("over", GNOMON_OPTION_DURATION, "1ms", "what is slow"),
    gnomon::option("says", GNOMON_OPTION_TEXT, "", "what to say"),
    gnomon::option("no", GNOMON_OPTION_BOOL, "false", "declines"),
    gnomon::no_option()};

class named final : public gnomon::profiler
{
  public:
    static gnomon::about about()
    {
        return {"named", 0, "for tests", named_options};
    }
    explicit named(gnomon::options &o)
        : over_(o.number("over")), says_(o.string("says"))
    {
        alive++;
        if (o.flag("no"))
            o.decline("named does not run here");
        if (says_ == "fail")
            o.fail(GNOMON_EIO, "named cannot run");
#if GNOMON__THROWS
        if (says_ == "throw")
            throw_error();
#endif
    }
    ~named() override
    {
        alive--;
    }
    int summary(gnomon::profile_view p, gnomon::report &out) override
    {
        out << "over " << over_ << " ns, " << says_ << (p ? " tree" : "") << ' '
            << 2.5 << '\n';
        out.print("%d %s\n", 7, std::string(1000, 'x').c_str());
        return out.code();
    }

  private:
#if GNOMON__THROWS
    void throw_error()
    {
        alive--; // no destructor comes
        throw std::runtime_error("from the constructor");
    }
#endif

    std::int64_t over_;
    std::string says_;
};

TEST(a_registered_class_is_made_by_its_name)
{
    CHECK_EQ(gnomon::add_profiler<named>(), GNOMON_OK);
    CHECK_EQ(gnomon::configure("named(over=2us,says=hello)"), GNOMON_OK);
    CHECK_EQ(alive, 1);
    std::string text;
    CHECK_EQ(gnomon::summary(text, "named"), GNOMON_OK);
    const std::string want =
        "over 2000 ns, hello 2.5\n7 " + std::string(1000, 'x') + "\n";
    CHECK(text.compare(0, want.size(), want) == 0);
    CHECK_EQ(gnomon::configure(""), GNOMON_OK);
    CHECK_EQ(alive, 0);
}

TEST(a_constructor_may_decline_or_fail)
{
    CHECK_EQ(gnomon::add_profiler<named>(), GNOMON_OK);
    said lines;
    CHECK_EQ(gnomon::configure("named(no)"), GNOMON_OK);
    CHECK_EQ(gnomon::configure("named(says=fail)"), GNOMON_EPLUGIN);
    CHECK(std::strstr(gnomon_error_text(),
                      "named: create failed (named cannot run)"));
#if GNOMON__THROWS
    CHECK_EQ(gnomon::configure("named(says=throw)"), GNOMON_EPLUGIN);
    CHECK(std::strstr(gnomon_error_text(),
                      "named: create failed (from the constructor)"));
#endif
    CHECK_EQ(alive, 0);
    const std::string text = lines.stop();
    CHECK(text.find("gnomon: named does not run here\n") == 0);
}

TEST(a_plugin_needs_nothing_of_the_host)
{
    const std::string path = TEST_BINARY_DIR "/cpp/plugin.so";
    CHECK_EQ(gnomon::configure(path + "(limit=1)"), GNOMON_OK);
    {
        GNOMON_SCOPE("a");
        GNOMON_SCOPE("b");
    }
    std::string text;
    CHECK_EQ(gnomon::summary(text, "cpp_plugin"), GNOMON_OK);
    CHECK(text.find("2 scopes, limit 1, nodes 2\n") == 0);
    said lines; // the last report
    CHECK_EQ(gnomon::configure(path + "(limit=0)"), GNOMON_EPLUGIN);
    CHECK(std::strstr(gnomon_error_text(),
                      "cpp_plugin: create failed (the limit is 0)"));
    CHECK_EQ(gnomon::configure(""), GNOMON_OK);
}

// ---- Exceptions -------------------------------------------------------------------

#if GNOMON__THROWS
class throws : public gnomon::profiler
{
  public:
    static gnomon::about about()
    {
        return {"throws"};
    }
    int setup(const gnomon_run_info &, const char *) override
    {
        throw std::logic_error("no setup");
    }
    void start(const gnomon_frame &, std::uint64_t &) override
    {
        throw std::runtime_error("no start");
    }
    void stop(const gnomon_frame &, std::uint64_t &) override
    {
        throw 42;
    }
    int summary(gnomon::profile_view, gnomon::report &out) override
    {
        out << "half a report";
        if (what == 0)
            throw gnomon::error(GNOMON_EIO, "no disk");
        if (what == 3)
            throw gnomon::error(7, "no code");
        if (what == 1)
            throw std::bad_alloc();
        throw "text";
    }
    void teardown(const char *) override
    {
        throw std::runtime_error("no teardown");
    }
    int what = 0;
};

TEST(what_callbacks_throw_becomes_one_line)
{
    throws t;
    said lines;
    {
        gnomon::attachment here(t);
        CHECK_EQ(here.code(), GNOMON_OK);
        for (int i = 0; i < 3; i++) {
            GNOMON_SCOPE("a");
        }
        gnomon::stage fit("fit");
        GNOMON_SCOPE("b");
    }
    const std::string text = lines.stop();
    CHECK(text.find("gnomon: throws: setup failed (no setup); it goes on\n") ==
          0);
    CHECK(text.find("gnomon: throws: start threw: no start; it goes on, and "
                    "the next ones are only counted\n") != std::string::npos);
    CHECK(text.find("stop threw") == std::string::npos);
    CHECK_EQ(t.thrown(), 9); // four starts and stops, one teardown
}

TEST(what_a_summary_throws_is_its_error)
{
    throws t;
    said lines;
    std::string text;
    gnomon::attachment here(t);
    CHECK_EQ(gnomon::summary(text, "throws"), GNOMON_EPLUGIN);
    CHECK_STR(gnomon_error_text(), "throws: summary failed (no disk)");
    CHECK_STR(text.c_str(), "");
    t.what = 3; // a code that is no error
    CHECK_EQ(gnomon::summary(text, "throws"), GNOMON_EPLUGIN);
    CHECK_STR(gnomon_error_text(), "throws: summary failed (no code)");
    t.what = 1;
    CHECK_EQ(gnomon::summary(text, "throws"), GNOMON_EPLUGIN);
    CHECK_STR(gnomon_error_text(), "throws: summary failed (std::bad_alloc)");
    t.what = 2;
    CHECK_EQ(gnomon::summary(text, "throws"), GNOMON_EPLUGIN);
    CHECK_STR(gnomon_error_text(), "throws: summary failed (an exception that "
                                   "is no std::exception)");
}
#endif
