// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From C to a profiler's virtual functions: the table of callbacks, and the border
// that no exception passes. Included by profiler.hpp; not for users.
#ifndef GNOMON_CPP_PROFILER_TABLE_HPP
#define GNOMON_CPP_PROFILER_TABLE_HPP

#include <exception>
#include <memory>
#include <new>
#include <type_traits>

#include "profiler_base.hpp"

#if GNOMON__THROWS && (defined(__GNUC__) || defined(__clang__))
#include <cxxabi.h>
#endif

// Whether this file is compiled with run-time types.
#if defined(__cpp_rtti) || defined(__GXX_RTTI)
#define GNOMON__HAS_TYPES 1
#include <typeinfo>
#else
#define GNOMON__HAS_TYPES 0
#endif

GNOMON__CPP_BEGIN

// Calls a callback, and makes a code or a line of what it throws.
template <bool = GNOMON__THROWS> class border_of
{
  public:
    static profiler *of(void *self)
    {
        return static_cast<profiler *>(self);
    }

    // A callback that returns a code.
    template <class Call> static int code(const error_calls &calls, Call call)
    {
#if GNOMON__THROWS
        try {
            return call();
        } catch (const error &e) {
            return fail(calls, e.code() < 0 ? e.code() : GNOMON_EPLUGIN,
                        e.what());
        } catch (const std::bad_alloc &e) {
            return fail(calls, GNOMON_ENOMEM, e.what());
        } catch (const std::exception &e) {
            return fail(calls, GNOMON_EPLUGIN, e.what());
        } catch (...) {
            if (is_cancelled())
                throw;
            return fail(calls, GNOMON_EPLUGIN, unknown());
        }
#else
        (void)calls;
        return call();
#endif
    }

    // A callback that returns nothing: `name` is the function's.
    template <class Call>
    static void event(profiler *p, const char *name, Call call)
    {
#if GNOMON__THROWS
        try {
            call();
        } catch (const std::exception &e) {
            tell(p, name, e.what());
        } catch (...) {
            if (is_cancelled())
                throw;
            tell(p, name, unknown());
        }
#else
        (void)p, (void)name;
        call();
#endif
    }

    static int fail(const error_calls &calls, int code, const char *why)
    {
        if (calls.fail)
            calls.fail(code, why, GNOMON_TO_NUL);
        else if (calls.log) // an older host, which has no place for it
            calls.log(why);
        return code;
    }

  private:
    // In a handler: whether pthread_cancel unwinds the thread, or another language.
    // Its exception is not C++'s, and must go on.
    static bool is_cancelled()
    {
#if GNOMON__THROWS && (defined(__GNUC__) || defined(__clang__))
        return ::abi::__cxa_current_exception_type() == nullptr;
#else
        return false;
#endif
    }

    static const char *unknown()
    {
        return "an exception that is no std::exception";
    }

    // The first exception of a profiler is told, from whichever callback.
    static void tell(profiler *p, const char *name, const char *why)
    {
        char line[512];
        if (p->thrown_.fetch_add(1, std::memory_order_relaxed) != 0)
            return;
        std::snprintf(
            line, sizeof line,
            "%s: %s threw: %s; it goes on, and the next ones are only "
            "counted",
            p->name_, name, why);
        if (p->calls_.log)
            p->calls_.log(line);
    }
};

using border = border_of<>;

// Whether a class has a function of its own for a callback. Where the address cannot
// be taken, as of one that is private, it has: the base's can be.
#define GNOMON__OVERRIDES(callback) \
    template <class P> struct overrides_##callback { \
        template <class Q> static std::is_same<decltype(&Q::callback), \
                                               decltype(&profiler::callback)> \
        same(int); \
        template <class> static std::false_type same(...); \
        static constexpr bool value = !decltype(same<P>(0))::value; \
    };
GNOMON__OVERRIDES(setup)
GNOMON__OVERRIDES(start)
GNOMON__OVERRIDES(stop)
GNOMON__OVERRIDES(step)
GNOMON__OVERRIDES(counter)
GNOMON__OVERRIDES(mark)
GNOMON__OVERRIDES(thread)
GNOMON__OVERRIDES(summary)
GNOMON__OVERRIDES(teardown)
GNOMON__OVERRIDES(window)
GNOMON__OVERRIDES(stream)
GNOMON__OVERRIDES(link)
GNOMON__OVERRIDES(events)
#undef GNOMON__OVERRIDES

// The table of a profiler class. Files with and without exceptions, or run-time
// types, have tables of their own.
template <class P, int = GNOMON__THROWS + 2 * GNOMON__HAS_TYPES> class table_of
{
  public:
    // For an object: `of` may be of a class that is derived from P, whose functions
    // the compiler does not see here. Then all callbacks are in the table.
    static gnomon_profiler make(P &of)
    {
#if GNOMON__HAS_TYPES
        if (typeid(of) != typeid(P))
            return filled(true);
#endif
        (void)of;
        return filled(std::is_abstract<P>::value);
    }

    // For a name: objects are made by create. The table lives as long as the process.
    static const gnomon_profiler *registered(const error_calls &calls)
    {
        static gnomon_profiler table = filled(false);
        table.create = create;
        table.destroy = destroy;
        calls_of_class() = calls;
        return &table;
    }

  private:
    static error_calls &calls_of_class()
    {
        static error_calls calls = error_calls();
        return calls;
    }

    static P *make_object(options &given, std::true_type)
    {
        return new (std::nothrow) P(given);
    }
    static P *make_object(options &, std::false_type)
    {
        return new (std::nothrow) P();
    }

    static int create(const gnomon_options *given, void **self)
    {
        const error_calls &calls = calls_of_class();
        return border::code(calls, [&]() -> int {
            options o(given);
            std::unique_ptr<P> made(
                make_object(o, std::is_constructible<P, options &>()));
            if (!made)
                return GNOMON_ENOMEM;
            if (o.code())
                return o.code() == GNOMON_DECLINED
                           ? o.code()
                           : border::fail(calls, o.code(), o.why().c_str());
            profiler *base = made.release();
            base->calls_ = calls;
            base->name_ = P::about().name;
            *self = base;
            return GNOMON_OK;
        });
    }
    static void destroy(void *self)
    {
        profiler *p = border::of(self);
        border::event(p, "the destructor", [=] { delete p; });
    }

    static int setup(void *self, const gnomon_run_info *run, const char *stage)
    {
        profiler *p = border::of(self);
        return border::code(p->calls_, [=] { return p->setup(*run, stage); });
    }
    static int summary(void *self, const gnomon_profile *of,
                       const gnomon_writer *to)
    {
        profiler *p = border::of(self);
        return border::code(p->calls_, [=] {
            report out(to);
            return p->summary(profile_view(of), out);
        });
    }
    static int events(void *self, const gnomon_profile *of,
                      const gnomon_writer *to)
    {
        profiler *p = border::of(self);
        return border::code(p->calls_, [=] {
            report out(to);
            return p->events(profile_view(of), out);
        });
    }
    static void teardown(void *self, const char *stage)
    {
        profiler *p = border::of(self);
        border::event(p, "teardown", [=] { p->teardown(stage); });
    }
    static void start(void *self, const gnomon_frame *frame,
                      std::uint64_t *slot)
    {
        profiler *p = border::of(self);
        border::event(p, "start", [=] { p->start(*frame, *slot); });
    }
    static void stop(void *self, const gnomon_frame *frame, std::uint64_t *slot)
    {
        profiler *p = border::of(self);
        border::event(p, "stop", [=] { p->stop(*frame, *slot); });
    }
#define GNOMON__EVENT(callback, Event) \
    static void callback(void *self, const Event *event) \
    { \
        profiler *p = border::of(self); \
        border::event(p, #callback, [=] { p->callback(*event); }); \
    }
    GNOMON__EVENT(step, gnomon_step_event)
    GNOMON__EVENT(counter, gnomon_counter_event)
    GNOMON__EVENT(mark, gnomon_mark_event)
    GNOMON__EVENT(thread, gnomon_thread_event)
    GNOMON__EVENT(window, gnomon_window_event)
    GNOMON__EVENT(stream, gnomon_stream_event)
    GNOMON__EVENT(link, gnomon_link_event)
#undef GNOMON__EVENT

    static gnomon_profiler filled(bool with_all)
    {
        const about what = P::about();
        gnomon_profiler table = gnomon_profiler();
        table.struct_size = sizeof table;
        table.abi = GNOMON_ABI;
        table.wants = what.wants;
        table.name = what.name;
        table.help = what.help;
        table.options = what.options;
#define GNOMON__FILL(callback) \
    table.callback = \
        with_all || overrides_##callback<P>::value ? callback : nullptr
        GNOMON__FILL(setup);
        GNOMON__FILL(start);
        GNOMON__FILL(stop);
        GNOMON__FILL(step);
        GNOMON__FILL(counter);
        GNOMON__FILL(mark);
        GNOMON__FILL(thread);
        GNOMON__FILL(summary);
        GNOMON__FILL(teardown);
        GNOMON__FILL(window);
        GNOMON__FILL(stream);
        GNOMON__FILL(link);
        GNOMON__FILL(events);
#undef GNOMON__FILL
        return table;
    }
};

GNOMON__CPP_END

#endif
