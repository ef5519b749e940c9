// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// C++20's coroutines that a pool resumes on whichever thread is free: which marks
// suit them, and what the others come to. What a function that never suspends counts
// is exact in any case.
#include <condition_variable>
#include <coroutine>
#include <cstdlib>
#include <deque>
#include <exception>
#include <mutex>
#include <semaphore>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "gnomon/profile.h"
#include "gnomon/tool.h"
#include "sanitizer.h"
#include "test.h"

namespace
{

constexpr int threads = 4, at_once = 16;
constexpr long jobs = IS_SLOW ? 20000 : 100000;

class pool
{
  public:
    pool()
    {
        for (int i = 0; i < threads; i++)
            workers.emplace_back([this] { work(); });
    }
    ~pool()
    {
        {
            std::lock_guard<std::mutex> hold(lock);
            is_over = true;
        }
        bell.notify_all();
        for (std::thread &t : workers)
            t.join();
    }
    void add(std::coroutine_handle<> job)
    {
        {
            std::lock_guard<std::mutex> hold(lock);
            queue.push_back(job);
        }
        bell.notify_one();
    }

  private:
    void work()
    {
        for (;;) {
            std::unique_lock<std::mutex> hold(lock);
            bell.wait(hold, [this] { return is_over || !queue.empty(); });
            if (queue.empty())
                return;
            std::coroutine_handle<> job = queue.front();
            queue.pop_front();
            hold.unlock();
            job.resume();
        }
    }
    std::mutex lock;
    std::condition_variable bell;
    std::deque<std::coroutine_handle<>> queue;
    bool is_over = false;
    std::vector<std::thread> workers;
};

pool *the_pool;
std::counting_semaphore<> *room;

/* Goes on on whichever thread of the pool comes first. */
struct elsewhere {
    bool await_ready() const noexcept
    {
        return false;
    }
    void await_suspend(std::coroutine_handle<> job) const
    {
        the_pool->add(job);
    }
    void await_resume() const noexcept
    {
    }
};

/* Nobody waits for it. */
struct detached {
    struct promise_type {
        detached get_return_object()
        {
            return {};
        }
        std::suspend_never initial_suspend() noexcept
        {
            return {};
        }
        std::suspend_never final_suspend() noexcept
        {
            return {};
        }
        void return_void()
        {
        }
        void unhandled_exception()
        {
            std::terminate();
        }
    };
};

void never_suspends()
{
    GNOMON_SCOPE("never_suspends");
}

/* ---- Marks over a suspension ------------------------------------------------ */

gnomon_region job_region =
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "job", nullptr, nullptr);

class scope
{
  public:
    scope() : token(gnomon_begin(&job_region))
    {
    }
    ~scope()
    {
        gnomon_end(token);
    }

  private:
    gnomon_token token;
};

class lone_scope
{
  public:
    lone_scope() : token(gnomon_begin(&job_region))
    {
    }
    ~lone_scope()
    {
        gnomon_end_alone(token);
    }

  private:
    gnomon_token token;
};

class range
{
  public:
    range() : open(gnomon_range_begin(&job_region))
    {
    }
    ~range()
    {
        gnomon_range_end(open);
    }

  private:
    gnomon_range open;
};

template <typename mark> detached run()
{
    co_await elsewhere{};
    {
        mark job;
        never_suspends();
        co_await elsewhere{};
        never_suspends();
        co_await elsewhere{};
    }
    room->release();
}

/* The macro in a coroutine: its token lies in the frame. */
detached run_macro()
{
    co_await elsewhere{};
    {
        GNOMON_SCOPE("job");
        never_suspends();
        co_await elsewhere{};
        never_suspends();
        co_await elsewhere{};
    }
    room->release();
}

struct by_macro {
};
template <> detached run<by_macro>()
{
    return run_macro();
}

/* ---- What must hold --------------------------------------------------------------- */

gnomon_profiler keeper;

gnomon_health health()
{
    gnomon_health h = {};
    h.struct_size = sizeof h;
    gnomon_health_get(&h);
    return h;
}

struct counts {
    long long jobs, never, other;
    int depth;
};

counts count(const char *profiler)
{
    gnomon_profile *p = nullptr;
    counts all = {};
    CHECK_EQ(gnomon_snapshot(&p, profiler, 1), GNOMON_OK);
    if (!CHECK_EQ(gnomon_profile_check(p), GNOMON_OK))
        fprintf(stderr, "    %s\n", gnomon_error_text());
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
        gnomon_node_info n, above;
        gnomon_region_info r;
        gnomon_profile_node(p, i, &n);
        gnomon_profile_region(p, n.region, &r);
        long long its = n.host ? (long long)n.host->count : 0;
        all.jobs += strcmp(r.name, "job") == 0 ? its : 0;
        all.never += strcmp(r.name, "never_suspends") == 0 ? its : 0;
        all.other += strcmp(r.name, "(other)") == 0 ? its : 0;
        int depth = 1;
        for (uint32_t at = n.parent; at; at = above.parent, depth++)
            gnomon_profile_node(p, at, &above);
        all.depth = depth > all.depth ? depth : all.depth;
    }
    gnomon_profile_free(p);
    return all;
}

template <typename mark> void run_pool(long many)
{
    std::counting_semaphore<> all(at_once);
    room = &all;
    pool workers;
    the_pool = &workers;
    for (long i = 0; i < many; i++) {
        all.acquire();
        run<mark>();
    }
    for (int i = 0; i < at_once; i++)
        all.acquire();
}

template <typename mark> counts run_jobs()
{
    keeper.struct_size = sizeof keeper;
    keeper.abi = GNOMON_ABI;
    keeper.wants = GNOMON_WANT_TREE;
    keeper.name = "keeper";
    CHECK_EQ(gnomon_attach(&keeper, nullptr, nullptr), GNOMON_OK);
    run_pool<mark>(jobs);
    counts c = count("keeper");
    CHECK_EQ(c.never, 2 * jobs);
    CHECK_EQ(c.jobs, jobs);
    CHECK_EQ(c.other, 0);
    CHECK_EQ(health().too_deep + health().left_open, 0);
    /* What was over on a thread's chain, and may stay there, beside what is
     * open. */
    if (!CHECK(c.depth <= at_once + 20))
        fprintf(stderr, "    %d deep\n", c.depth);
    return c;
}

} // namespace

TEST(ranges_suit_them)
{
    counts c = run_jobs<range>();
    CHECK_EQ(health().foreign + health().crossed + health().unmatched, 0);
    CHECK_EQ(c.depth, 1);
}

TEST(scopes_that_end_alone_are_counted_right)
{
    run_jobs<lone_scope>();
    CHECK_EQ(health().foreign + health().crossed + health().unmatched, 0);
}

/* A job that comes back to its thread ends those that began inside it, as any scope
 * does: they count, for a shorter time, and that is told. */
TEST(scopes_cost_no_other_one_its_count)
{
    run_jobs<scope>();
    CHECK(health().crossed >= health().foreign + health().unmatched);
}

TEST(the_macro_does_as_well)
{
    run_jobs<by_macro>();
}

/* The pool's first marks come while another thread's control call starts gnomon, at a
 * moment that differs from process to process: they wait for it. */
TEST(no_mark_is_lost_while_another_thread_starts_gnomon)
{
    constexpr long few = 500;
    setenv("GNOMON", "simple", 1);
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        if (child == 0) {
            std::thread starter([] { gnomon_stage_begin("fit"); });
            run_pool<scope>(few);
            starter.join();
            counts c = count("simple");
            CHECK_EQ(c.never, 2 * few);
            CHECK_EQ(c.jobs, few);
            _exit(test_failures != 0);
        }
        int status = -1;
        CHECK_EQ(waitpid(child, &status, 0), child);
        CHECK_EQ(status, 0);
    }
}
