// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tasks that are handed on: the link leads from the scope in which linked() was
// called to the scope of the task, once for each run.
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "cpp.h"

// Workers that run what they are handed, in an outer scope of their own.
class pool
{
  public:
    explicit pool(int workers)
    {
        for (int i = 0; i < workers; i++)
            threads_.emplace_back([this] { work(); });
    }
    ~pool()
    {
        {
            std::lock_guard<std::mutex> hold(lock_);
            over_ = true;
        }
        more_.notify_all();
        for (auto &t : threads_)
            t.join();
    }
    void submit(std::function<void()> task)
    {
        {
            std::lock_guard<std::mutex> hold(lock_);
            tasks_.push_back(std::move(task));
        }
        more_.notify_one();
    }

  private:
    void work()
    {
        gnomon::thread_name("worker");
        gnomon::scope outer(GNOMON_REGION_HERE("worker"));
        std::unique_lock<std::mutex> hold(lock_);
        for (;;) {
            more_.wait(hold, [this] { return over_ || !tasks_.empty(); });
            if (tasks_.empty())
                return;
            std::function<void()> task = std::move(tasks_.front());
            tasks_.pop_front();
            hold.unlock();
            task();
            hold.lock();
        }
    }

    std::mutex lock_;
    std::condition_variable more_;
    std::deque<std::function<void()>> tasks_;
    bool over_ = false;
    std::vector<std::thread> threads_;
};

// The link is of the moment of linked(), not of the moment at which a worker takes
// the task: that may come when the submitting scope is over.
TEST(tasks_of_a_pool_are_linked_from_path_to_path)
{
    tree t;
    gnomon::attachment here(t);
    {
        pool workers(4);
        GNOMON_SCOPE("train");
        for (int i = 0; i < 100; i++) {
            GNOMON_SCOPE("submit");
            workers.submit(
                gnomon::linked("decode", [] { GNOMON_SCOPE("inside"); }));
        }
        GNOMON_SCOPE("other");
        for (int i = 0; i < 50; i++)
            workers.submit(
                gnomon::linked(GNOMON_REGION_HERE("augment"), [] {}));
    }
    gnomon::profile p = recorded_now();
    CHECK_EQ(links_between(p, "train/submit", "worker/decode"), 100);
    CHECK_EQ(links_between(p, "train/other", "worker/augment"), 50);
    CHECK_EQ(count_at(p, "worker/decode/inside"), 100);
    unsigned long long all = 0;
    for (auto link : p.links()) {
        all += link.count();
        CHECK_EQ(link->kind, GNOMON_LINK_SUBMIT);
    }
    CHECK_EQ(all, 150);
    check_health();
}

TEST(async_tasks_are_linked)
{
    tree t;
    gnomon::attachment here(t);
    std::future<int> sum;
    {
        GNOMON_SCOPE("caller");
        sum = std::async(
            std::launch::async,
            gnomon::linked("sum", [](int a, int b) { return a + b; }), 2, 3);
    }
    CHECK_EQ(sum.get(), 5);
    CHECK_EQ(links_between(recorded_now(), "caller", "sum"), 1);
    check_health();
}

TEST(packaged_tasks_are_linked)
{
    tree t;
    gnomon::attachment here(t);
    std::unique_ptr<std::packaged_task<int(int)>> task;
    {
        GNOMON_SCOPE("caller");
        task.reset(new std::packaged_task<int(int)>(
            gnomon::linked("twice", [](int a) { return 2 * a; })));
    }
    std::future<int> result = task->get_future();
    std::thread(std::move(*task), 21).join();
    CHECK_EQ(result.get(), 42);
    CHECK_EQ(links_between(recorded_now(), "caller", "twice"), 1);
}

// As in loops that are split over threads: one body, many runs and copies.
TEST(copies_of_a_task_are_linked_each_time)
{
    tree t;
    gnomon::attachment here(t);
    std::function<int(int)> body;
    {
        GNOMON_SCOPE("loop");
        int base = 1;
        auto task = gnomon::linked("body", [base](int a) { return base + a; });
        const auto &same = task;
        CHECK_EQ(same(1), 2);
        body = task;
    }
    const std::function<int(int)> copy = body;
    std::thread([&] { CHECK_EQ(copy(2), 3); }).join();
    CHECK_EQ(body(3), 4);
    gnomon::profile p = recorded_now();
    CHECK_EQ(links_between(p, "loop", "body"), 2);
    CHECK_EQ(links_between(p, "loop", "loop/body"), 1);
}

struct moves_only {
    std::unique_ptr<int> value;
    int operator()() &&
    {
        return *value;
    }
};

TEST(tasks_that_can_only_be_moved)
{
    tree t;
    gnomon::attachment here(t);
    auto task =
        gnomon::linked("moved", moves_only{std::unique_ptr<int>(new int(7))});
    static_assert(!std::is_copy_constructible<decltype(task)>::value,
                  "as the callable");
    auto taken = std::move(task);
    CHECK_EQ(std::move(taken)(), 7);
    CHECK_EQ(count_at(recorded_now(), "moved"), 1);
}

static int plain(int &value)
{
    return ++value;
}

/* As large as a pointer: gcc 12 thinks that a call by a pointer to a member may read a
 * table of virtual functions. */
struct item {
    int size;
    int unused[3];
    int grow(int by)
    {
        return size += by;
    }
};

TEST(functions_and_members_are_callables_too)
{
    tree t;
    gnomon::attachment here(t);
    int value = 1;
    item i = {5, {0, 0, 0}};
    CHECK_EQ(gnomon::linked("plain", plain)(value), 2);
    CHECK_EQ(value, 2);
    CHECK_EQ(gnomon::linked("grow", &item::grow)(&i, 2), 7);
    CHECK_EQ(gnomon::linked("size", &item::size)(i), 7);
    int &same =
        gnomon::linked("same", [](int &v) -> int & { return v; })(value);
    CHECK(&same == &value);
    gnomon::profile p = recorded_now();
    CHECK_EQ(count_at(p, "plain") + count_at(p, "grow"), 2);
}

TEST(a_task_without_a_name)
{
    tree t;
    gnomon::attachment here(t);
    GNOMON_SCOPE("caller");
    auto task = gnomon::linked([] {});
    std::thread(task).join();
    std::thread(gnomon::linked(
                    GNOMON_REGION_HERE("back"), [] {}, GNOMON_LINK_BACKWARD))
        .join();
    gnomon::profile p = recorded_now();
    CHECK_EQ(links_between(p, "caller", "linked task"), 1);
    for (auto link : p.links())
        if (link.to().path() == "back")
            CHECK_EQ(link->kind, GNOMON_LINK_BACKWARD);
    CHECK_EQ(p.links().size(), 2);
}

#if GNOMON__THROWS
TEST(an_exception_ends_the_scope_of_a_task)
{
    tree t;
    gnomon::attachment here(t);
    GNOMON_SCOPE("caller");
    std::future<void> f =
        std::async(std::launch::async,
                   gnomon::linked("fails", [] { THROW("from a task"); }));
    try {
        f.get();
        CHECK(false);
    } catch (const std::runtime_error &e) {
        CHECK_STR(e.what(), "from a task");
    }
    gnomon::profile p = recorded_now();
    CHECK_EQ(links_between(p, "caller", "fails"), 1);
    CHECK_EQ(count_at(p, "fails"), 1);
    check_health();
}
#endif

TEST(where_nothing_is_attached_tasks_are_plain)
{
    gnomon_attach(nullptr, nullptr, "");
    auto task = gnomon::linked("task", [] { return 3; });
    tree t;
    gnomon::attachment here(t);
    CHECK_EQ(task(), 3); // was linked while off
    gnomon::profile p = recorded_now();
    CHECK_EQ(p.links().size(), 0);
    CHECK_EQ(count_at(p, "linked task"), 1); // no name was looked up
    check_health();
}
