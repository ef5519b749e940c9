// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// C++: tasks on a pool of threads, linked to who submitted them, and a profiler that
// is a class.
// env: GNOMON=callers
#include <gnomon.hpp>

#include <functional>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

// Two threads, which work through all tasks when they are started.
class pool
{
  public:
    void submit(std::function<void()> task)
    {
        tasks_.push(std::move(task));
    }
    void run()
    {
        std::vector<std::thread> workers;
        for (int i = 0; i < 2; i++)
            workers.emplace_back([this, i] { work(i); });
        for (auto &worker : workers)
            worker.join();
    }

  private:
    void work(int number)
    {
        gnomon::thread_name("worker " + std::to_string(number));
        for (;;) {
            std::function<void()> task;
            {
                std::lock_guard<std::mutex> hold(lock_);
                if (tasks_.empty())
                    return;
                task = std::move(tasks_.front());
                tasks_.pop();
            }
            task(); // a scope "decode" or "augment", linked to its submitter
        }
    }

    std::mutex lock_;
    std::queue<std::function<void()>> tasks_;
};

// Reports who submitted how many tasks: paths and links, whichever thread ran them.
class callers final : public gnomon::profiler
{
  public:
    static gnomon::about about()
    {
        return {"callers", GNOMON_WANT_TREE, "who submitted which tasks"};
    }
    int summary(gnomon::profile_view profile, gnomon::report &out) override
    {
        for (const char *task : {"augment", "decode"}) {
            std::uint64_t count = 0;
            std::string from;
            for (auto link : profile.links())
                if (link.to().name() == std::string(task)) {
                    count += link.count();
                    from = link.from().path(" > ");
                }
            out << task << ": " << count << " from " << from << '\n';
        }
        return out.code();
    }
};

int main()
{
    gnomon::add_profiler<callers>(); // now $GNOMON knows the name
    gnomon::stage fit("fit");
    pool workers;
    {
        GNOMON_SCOPE("load_batch");
        for (int i = 0; i < 8; i++)
            workers.submit(gnomon::linked("decode", [] {}));
        GNOMON_SCOPE("transform");
        workers.submit(gnomon::linked("augment", [] {}));
    }
    workers.run();
    return gnomon::check(fit.end());
}
