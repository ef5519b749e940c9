// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tasks that know who handed them on: for thread pools, std::async,
// std::packaged_task, std::function, TBB.
//
//     pool.submit(gnomon::linked("decode", [=] { return decode(item); }));
//
// The link begins where linked() is called, in the innermost scope that is open
// there. Where the task is run, on whichever thread, it is a scope of its own, and
// the link comes in there. So reports show its time under the scope that submitted
// it. A task that is run several times is that many scopes and links.
#ifndef GNOMON_CPP_LINKED_HPP
#define GNOMON_CPP_LINKED_HPP

#include <functional>
#include <type_traits>

#include "marks.hpp"

GNOMON__CPP_BEGIN

// A callable with a link: what linked() returns. It takes the arguments of F and
// returns what F returns; it is copyable where F is, and else can be moved.
// Threads: as F. Memory: 48 bytes beside F, none on the heap.
template <class F> class linked_task
{
  public:
    template <class G> linked_task(region of, int kind, G &&f,
                                   const gnomon_link &from = gnomon_link_out())
        : f_(std::forward<G>(f)), region_(of), from_(from), kind_(kind)
    {
    }

    template <class... A>
    auto operator()(A &&...given) & -> decltype(std::declval<F &>()(
        std::forward<A>(given)...))
    {
        scope in(region_);
        link_in();
        return f_(std::forward<A>(given)...);
    }
    template <class... A>
    auto operator()(A &&...given) const & -> decltype(std::declval<const F &>()(
        std::forward<A>(given)...))
    {
        scope in(region_);
        link_in();
        return f_(std::forward<A>(given)...);
    }
    template <class... A>
    auto operator()(A &&...given) && -> decltype(std::declval<F>()(
        std::forward<A>(given)...))
    {
        scope in(region_);
        link_in();
        return std::move(f_)(std::forward<A>(given)...);
    }

  private:
    // By a copy: gcc 12 warns where it cannot see that a pointer to a member, in f_,
    // stays as it was.
    void link_in() const
    {
        const gnomon_link from = from_;
        gnomon_link_in(&from, kind_);
    }
    F f_;
    region region_;
    gnomon_link from_;
    int kind_;
};

// The callable that is kept for an F: a copy of it, or std::mem_fn of a member.
template <class F,
          bool = std::is_member_pointer<typename std::decay<F>::type>::value>
struct linked_callable {
    using type = typename std::decay<F>::type;
    static F &&of(F &&f)
    {
        return std::forward<F>(f);
    }
};
template <class F> struct linked_callable<F, true> {
    using type = decltype(std::mem_fn(std::declval<F>()));
    static type of(F &&f)
    {
        return std::mem_fn(f);
    }
};
#ifndef GNOMON_DISABLE
template <class F> using linked_of =
    linked_task<typename linked_callable<F>::type>;
#else
template <class F> using linked_of = typename linked_callable<F>::type;
#endif

// The region of tasks that have no name.
inline region linked_region()
{
    return GNOMON_REGION_HERE("linked task");
}

// Links `f`, in a scope of region `of`. `kind` is a gnomon_link_kind. With
// GNOMON_DISABLE it returns `f`.
template <class F>
linked_of<F> linked(region of, F &&f, int kind = GNOMON_LINK_SUBMIT)
{
#ifndef GNOMON_DISABLE
    return linked_of<F>(of, kind, linked_callable<F>::of(std::forward<F>(f)));
#else
    (void)of, (void)kind;
    return linked_callable<F>::of(std::forward<F>(f));
#endif
}

// The same by a name, which is looked up under a lock each time where something is
// attached.
template <class F>
linked_of<F> linked(text name, F &&f, int kind = GNOMON_LINK_SUBMIT)
{
    return linked(is_on() ? region(name) : linked_region(), std::forward<F>(f),
                  kind);
}

// The same in a scope that is named "linked task".
template <class F> linked_of<F> linked(F &&f)
{
    return linked(linked_region(), std::forward<F>(f));
}

GNOMON__CPP_END

#endif
