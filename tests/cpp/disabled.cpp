// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// With GNOMON_DISABLE, marks as objects leave nothing: no symbol, no data, no text.
// built.sh looks; and it runs this, without the library.
#include "gnomon.hpp"

extern int done;
int done;

void marked(int n);
void marked(int n)
{
    GNOMON_FUNCTION();
    gnomon::scope s(GNOMON_REGION_HERE("marked name 1"));
    gnomon::scope named("marked name 2");
    gnomon::action a("marked name 3");
    gnomon::range r(GNOMON_REGION_HERE("marked name 4"));
    gnomon::device_scope d(GNOMON_REGION_HERE("marked name 5"), nullptr);
    gnomon::op o("marked name 6");
    gnomon_op_info what = gnomon_op_info();
    what.operation = "marked name 7";
    gnomon::op computed(GNOMON_REGION_HERE("marked name 8"), what);
    gnomon::scope kept(gnomon::region(nullptr).computing(what));
    GNOMON_OP_SCOPE("marked name 9", gnomon::operation("marked name 10")
                                         .input("marked name 11", {n, done++})
                                         .flops(1));
    gnomon::scope moved(std::move(s));
    gnomon::step();
    done += n;
    r.end();
    a.end();
}

#ifndef ONLY_MARKS
class quiet : public gnomon::profiler
{
  public:
    static gnomon::about about()
    {
        return {"quiet"};
    }
    void start(const gnomon_frame &, std::uint64_t &) override
    {
        done = 100;
    }
};

int main()
{
    marked(1);
    done += gnomon::linked("task", [](int i) { return i; })(2);
    quiet q;
    gnomon::attachment here(q);
    gnomon::profile p;
    std::string text("old");
    marked(4);
    if (here.code() != GNOMON_ESTATE || gnomon::add_profiler<quiet>() != 0)
        return 1;
    if (gnomon::snapshot(p, "quiet") != GNOMON_ESTATE || p)
        return 2;
    if (gnomon::summary(text, "quiet") != GNOMON_ESTATE || !text.empty())
        return 3;
    if (!gnomon::spec().empty() || gnomon::configure("simple") == 0)
        return 4;
    gnomon::run run;
    gnomon::stage fit("fit");
    if (run.code() || fit.end() || gnomon::health().crossed)
        return 5;
    gnomon::cuda_timer timer;
    double ms = 1;
    if (timer.start(nullptr) != GNOMON_ESTATE || !timer.elapsed(ms) || ms > 0)
        return 6;
    return done == 7 ? 0 : 7;
}
#endif
