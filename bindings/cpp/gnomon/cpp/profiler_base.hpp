// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The class that profilers derive from. Included by profiler.hpp.
#ifndef GNOMON_CPP_PROFILER_BASE_HPP
#define GNOMON_CPP_PROFILER_BASE_HPP

#include <atomic>

#include "profile.hpp"
#include "report.hpp"

GNOMON__CPP_BEGIN

// What a profiler class says of itself. All texts must live as long as the process.
struct about {
    about(const char *its_name, std::uint32_t its_wants = 0,
          const char *its_help = nullptr,
          const gnomon_option_info *its_options = nullptr)
        : name(its_name), wants(its_wants), help(its_help), options(its_options)
    {
    }
    // In $GNOMON; not null, not "".
    const char *name;
    // Bits of gnomon_wants.
    std::uint32_t wants;
    // One line for GNOMON=help.
    const char *help;
    // A table, as of option().
    const gnomon_option_info *options;
};

// How callbacks tell of exceptions, by the host table.
struct error_calls {
    int (*fail)(int code, const char *text, std::size_t length);
    void (*log)(const char *line);
};

inline error_calls calls_of(const gnomon_host *host)
{
    const error_calls calls = {host->fail, host->log};
    return calls;
}

inline error_calls own_calls()
{
    const error_calls none = {nullptr, nullptr};
    return gnomon_host_get() ? calls_of(gnomon_host_get()) : none;
}

// A profiler. Override what you want; call none of these from your own. A derived
// class has `static gnomon::about about()`, and may be final, which saves a load.
// Threads, order and what may be done inside: as in gnomon_profiler, whose fields
// these are. start, stop and the other events come from all threads at once.
// The frames and events are valid during the call; each is C's struct.
class profiler
{
  public:
    virtual ~profiler()
    {
    }
    virtual int setup(const gnomon_run_info &, const char * /* stage */)
    {
        return GNOMON_OK;
    }
    // The slot is 64 bits of the profiler's own, from a start to its stop; 0 first.
    virtual void start(const gnomon_frame &, std::uint64_t & /* slot */)
    {
    }
    virtual void stop(const gnomon_frame &, std::uint64_t & /* slot */)
    {
    }
    virtual void step(const gnomon_step_event &)
    {
    }
    virtual void counter(const gnomon_counter_event &)
    {
    }
    virtual void mark(const gnomon_mark_event &)
    {
    }
    virtual void thread(const gnomon_thread_event &)
    {
    }
    virtual void window(const gnomon_window_event &)
    {
    }
    virtual void stream(const gnomon_stream_event &)
    {
    }
    virtual void link(const gnomon_link_event &)
    {
    }
    // The profile is none where the class does not want GNOMON_WANT_TREE.
    virtual int summary(profile_view, report &)
    {
        return GNOMON_OK;
    }
    // With GNOMON_WANT_EVENTS. The report is for files; its text goes nowhere.
    virtual int events(profile_view, report &)
    {
        return GNOMON_OK;
    }
    virtual void teardown(const char * /* stage */)
    {
    }

    // How many exceptions came out of the callbacks above. Any thread.
    unsigned long thrown() const
    {
        return thrown_.load(std::memory_order_relaxed);
    }

  protected:
    profiler() : calls_(), name_(""), thrown_(0)
    {
    }
    profiler(const profiler &) : profiler()
    {
    }
    profiler &operator=(const profiler &)
    {
        return *this;
    }

  private:
    friend class attachment;
    template <bool> friend class border_of;
    template <class, int> friend class table_of;

    error_calls calls_;
    const char *name_;
    std::atomic<unsigned long> thrown_;
};

GNOMON__CPP_END

#endif
