// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every class and macro of the C++ binding, for strict.sh to compile.
#include <vector>

#include "gnomon.hpp"
#include "gnomon.hpp" // twice

extern int used;

namespace user
{

struct item {
    gnomon::range open; // a member
    gnomon::scope held;
};

class all : public gnomon::profiler
{
  public:
    static gnomon::about about()
    {
        return {"all", GNOMON_WANT_TREE, "everything"};
    }
    int setup(const gnomon_run_info &, const char *) override;
    void start(const gnomon_frame &, std::uint64_t &slot) override
    {
        slot++;
    }
    int summary(gnomon::profile_view p, gnomon::report &out) override
    {
        for (auto n : p.nodes())
            out << n.path() << ' ' << n.count() << ' ' << 0.5 << "\n";
        out.print("%d", 1);
        return out.file(nullptr, ".txt", "text");
    }
};

template <class T> T marked(T value)
{
    GNOMON_FUNCTION();
    GNOMON_SCOPE("scope");
    GNOMON_SCOPE_IN("category", "scope");
    GNOMON_MARK("moment");
    GNOMON_COUNTER("counter", value);
    gnomon::scope s(GNOMON_REGION_HERE("here"));
    gnomon::scope in(GNOMON_REGION_HERE_IN("category", "here"));
    gnomon::scope taken(std::move(in));
    taken = gnomon::scope("by name", "category");
    gnomon::op o("op"), other(gnomon::region("op", "op"));
    gnomon_op_info what = gnomon_op_info();
    what.struct_size = sizeof what;
    what.operation = "matmul";
    gnomon::op computed(GNOMON_REGION_HERE("computed"), what);
    gnomon::scope again(gnomon::region("op", "op").computing(what));
    GNOMON_OP_SCOPE("linear", gnomon::operation("matmul")
                                  .input("float32", {2, 3})
                                  .input("float32", {3, 4})
                                  .attribute("transpose", "true")
                                  .backward()
                                  .flops(48)
                                  .bytes(104));
    GNOMON_OP_SCOPE("twice", gnomon::operation("relu"));
    const std::string name("action");
    gnomon::action a(name), b("literal"), c(std::move(b));
    gnomon::range r(GNOMON_REGION_HERE("range")), empty("range");
    r = std::move(empty);
    r.end();
    a.end();
    s.end();
    c.end();
    static const gnomon::counter loss("loss");
    loss.sample(1);
    static const gnomon::pool host("host");
    host.allocated(&used, 4);
    host.freed(&used);
    host.reserved(8);
    host.exhausted(16);
    gnomon::mark(GNOMON_REGION_HERE("moment"));
    gnomon::step();
    gnomon::step_at(3);
    gnomon::step_begin(3);
    gnomon::thread_name("name");
    gnomon::device_scope d(GNOMON_REGION_HERE("device"), nullptr);
    gnomon::device_scope e(GNOMON_REGION_HERE("device"), nullptr, nullptr);
    gnomon::cuda_timer timer, second(std::move(timer));
    double ms = 0;
    used += second.start(nullptr) + second.stop(nullptr) + second.elapsed(ms) +
            second.query(ms);
    auto task = gnomon::linked("task", [](int i) { return i; });
    auto plain = gnomon::linked([] {});
    plain();
    struct member {
        int n;
        int get()
        {
            return n;
        }
    } of = {3};
    used += gnomon::linked("member", &member::get)(of);
    std::vector<item> items(2);
    items.push_back(item());
    return static_cast<T>(value +
                          gnomon::linked(GNOMON_REGION_HERE("task"), task)(2));
}

int control();
int control()
{
    gnomon::run run(gnomon::setup_options());
    gnomon::stage fit("fit");
    all mine;
    gnomon::attachment here(mine, "filter=a*");
    gnomon::profile p, other(std::move(p));
    std::string text = gnomon::spec();
    int code = gnomon::add_profiler<all>() | gnomon::snapshot(other, "all") |
               gnomon::load(other, "file") | gnomon::read(other, "bytes") |
               gnomon::write(text, other, "json") |
               gnomon::summary(text, "all") | gnomon::configure("") |
               gnomon::metadata("key", "1") | run.code() | fit.end();
    for (const auto &row : gnomon::rows(other).all())
        code += row.name != nullptr;
    return gnomon::check(code) + marked(1) + static_cast<int>(marked(0.5)) +
           static_cast<int>(gnomon::health().crossed);
}

} // namespace user

GNOMON_CPP_PLUGIN(user::all);
