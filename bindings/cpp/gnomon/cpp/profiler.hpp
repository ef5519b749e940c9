// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Profilers as classes: derive from gnomon::profiler and override what you want.
//
//     struct slow : gnomon::profiler {
//         static gnomon::about about() { return {"slow", GNOMON_WANT_TIMES}; }
//         void stop(const gnomon_frame &f, std::uint64_t &) override { ... }
//         int summary(gnomon::profile_view, gnomon::report &out) override { ... }
//     };
//     slow mine;
//     gnomon::attachment here(mine, "filter=opt*");   until `here` is destroyed
//     gnomon::add_profiler<slow>();                   or by name, for $GNOMON
//     GNOMON_CPP_PLUGIN(slow)                         or as a plugin
//
// What a class does not override is not in the table that gnomon is given, and so
// costs nothing; the compiler knows this from the class that these three are given.
//
// Exceptions: none comes out of a callback. One of a callback that returns int
// becomes GNOMON_EPLUGIN (of a gnomon::error its code, of std::bad_alloc
// GNOMON_ENOMEM) with its what() as the text: host->fail. Of the others the first
// one is one line on stderr, and all are counted: thrown().
#ifndef GNOMON_CPP_PROFILER_HPP
#define GNOMON_CPP_PROFILER_HPP

#include <memory>
#include <new>

#include "profile.hpp"
#include "report.hpp"
#include "profiler_table.hpp"

GNOMON__CPP_BEGIN

// A profiler object that is attached for as long as this one lives. It must be
// destroyed before the profiler. `options` has what stands in the brackets in
// $GNOMON. Control calls: gnomon.h.
class attachment
{
  public:
    // Give the profiler by its own class, not by a reference to a base. With run-time
    // types a base will do too, and then all callbacks are called.
    template <class Profiler>
    explicit attachment(Profiler &of, text options = nullptr)
        : self_(&of), table_(new (std::nothrow)
                                 gnomon_profiler(table_of<Profiler>::make(of))),
          code_(table_ ? GNOMON_OK : GNOMON_ENOMEM)
    {
        self_->calls_ = own_calls();
        self_->name_ = Profiler::about().name;
        if (table_)
            code_ = GNOMON__CPP_HOST(
                attach(table_.get(), self_, options.data(), options.length()),
                GNOMON_ESTATE);
        is_on_ = code_ == GNOMON_OK;
    }
    attachment(attachment &&from) noexcept
        : self_(from.self_), table_(std::move(from.table_)), code_(from.code_),
          is_on_(from.is_on_)
    {
        from.is_on_ = false;
    }
    // Detaches. A callback that does not return is waited for; where this is called
    // inside a callback of the same profiler, the callbacks go on, and the profiler
    // must stay.
    ~attachment()
    {
        int code = GNOMON_OK;
        for (int tries = 0; is_on_ && tries < 60; tries++)
            if ((code = detach()) != GNOMON_EBUSY)
                return;
        if (is_on_)
            (void)table_.release(); // still in use
    }
    attachment(const attachment &) = delete;
    attachment &operator=(const attachment &) = delete;
    attachment &operator=(attachment &&) = delete;

    // What gnomon_attach returned. With an error nothing is attached.
    int code() const
    {
        return code_;
    }
    // gnomon_detach: after GNOMON_OK no callback runs, and none will come.
    int detach()
    {
        const int code = is_on_ ? gnomon_detach(table_.get(), self_)
                                : static_cast<int>(GNOMON_ENOENT);
        if (code != GNOMON_EBUSY)
            is_on_ = false;
        return code;
    }

  private:
    profiler *self_;
    std::unique_ptr<gnomon_profiler> table_;
    int code_;
    bool is_on_;
};

// host->add_profiler: makes a class known to $GNOMON and gnomon::configure under the
// name that its about() has. Each time that it is attached, an object is made, by
// Profiler(gnomon::options &) where there is such a constructor, else Profiler().
// Call it before the first mark.
template <class Profiler> int add_profiler()
{
    return GNOMON__CPP_HOST(
        add_profiler(table_of<Profiler>::registered(own_calls())), GNOMON_OK);
}

GNOMON__CPP_END

// Exports a class as a plugin, GNOMON=./mine.so. Once in a shared library, outside
// of namespaces. The library needs none of gnomon's symbols: link it to nothing.
#define GNOMON_CPP_PLUGIN(Profiler) \
    extern "C" GNOMON_API const gnomon_profiler *gnomon_plugin_v1( \
        const gnomon_host *host); \
    extern "C" const gnomon_profiler *gnomon_plugin_v1( \
        const gnomon_host *host) \
    { \
        return host->abi == GNOMON_ABI \
                   ? ::gnomon::table_of<Profiler>::registered( \
                         ::gnomon::calls_of(host)) \
                   : nullptr; \
    } \
    extern "C" gnomon_plugin_entry gnomon_plugin_v1

#endif
