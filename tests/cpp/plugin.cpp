// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A plugin in C++, which no gnomon is linked to. Its constructor throws, where the
// limit is 0; without exceptions it says so.
#include <atomic>
#include <stdexcept>

#include "gnomon.hpp"

namespace
{

const gnomon_option_info table[] = {
    gnomon::option("limit", GNOMON_OPTION_INTEGER, "3", "of scopes"),
    gnomon::no_option()};

class counting final : public gnomon::profiler
{
  public:
    static gnomon::about about()
    {
        return {"cpp_plugin", GNOMON_WANT_TREE, "counts scopes", table};
    }
    explicit counting(gnomon::options &given)
        : limit_(given.number("limit")), scopes_(0)
    {
        if (limit_ == 0) {
#if GNOMON__THROWS
            throw std::invalid_argument("the limit is 0");
#else
            given.fail(GNOMON_EINVAL, "the limit is 0");
#endif
        }
    }
    void start(const gnomon_frame &, std::uint64_t &) override
    {
        scopes_++;
    }
    int summary(gnomon::profile_view profile, gnomon::report &out) override
    {
        std::size_t nodes = 0;
        for (auto node : profile.nodes())
            nodes += node.count() > 0;
        out << scopes_.load() << " scopes, limit " << limit_ << ", nodes "
            << nodes << '\n';
        return out.code();
    }

  private:
    std::int64_t limit_;
    std::atomic<int> scopes_;
};

} // namespace

GNOMON_CPP_PLUGIN(counting);
