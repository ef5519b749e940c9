// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Marks as objects: they begin where the object is made, and end where it is
// destroyed, also by an exception. Moving hands the end on; nothing is copied.
//
// Which one: GNOMON_SCOPE where the name is a literal and the scope is a block;
// scope where it is a member, or ends early; action where the name is known only
// when the program runs; range where another thread ends it.
//
// Destructors of marks may be left by pthread_cancel's unwinding out of a
// profiler's callback, and are noexcept(false) for that. They throw nothing.
#ifndef GNOMON_CPP_MARKS_HPP
#define GNOMON_CPP_MARKS_HPP

#include "base.hpp"

// The region of this place, for scope, range, linked and the like. `name` is a
// string literal. Costs nothing when it runs: the region is static.
//     gnomon::scope s(GNOMON_REGION_HERE("load"));
#ifndef GNOMON_DISABLE
#define GNOMON_REGION_HERE(name) \
    GNOMON__REGION_HERE(GNOMON_KIND_SCOPE, name, nullptr)
// The same with a category, a string literal too.
#define GNOMON_REGION_HERE_IN(category, name) \
    GNOMON__REGION_HERE(GNOMON_KIND_SCOPE, name, category)
#define GNOMON__REGION_HERE(kind, name, category) \
    ::gnomon::region(__extension__({ \
        static gnomon_region gnomon__region_here = \
            GNOMON_REGION_INIT(kind, name, category, __func__); \
        &gnomon__region_here; \
    }))
#else
#define GNOMON_REGION_HERE(name) \
    ::gnomon::region(sizeof(name) > 0 ? nullptr : nullptr)
#define GNOMON_REGION_HERE_IN(category, name) \
    ::gnomon::region(sizeof(category) + sizeof(name) > 0 ? nullptr : nullptr)
#endif

// GNOMON_SCOPE with what it computes, an operation, which is made only where the scope
// is recorded.
//     GNOMON_OP_SCOPE("linear", gnomon::operation("matmul")
//                                   .input("float32", {rows, in})
//                                   .input("float32", {in, out}));
#ifndef GNOMON_DISABLE
#define GNOMON_OP_SCOPE(name, ...) \
    GNOMON__OP_SCOPE(name, __COUNTER__, (__VA_ARGS__).info())
#else
#define GNOMON_OP_SCOPE(name, ...) \
    GNOMON__SCOPE(sizeof(name) + sizeof((__VA_ARGS__).info()) > 0, __COUNTER__)
#endif

GNOMON__CPP_BEGIN

// Whether anything is attached, or might be: by one relaxed load.
GNOMON__CPP_INLINE bool is_on()
{
#ifdef GNOMON_DISABLE
    return false;
#else
    return __builtin_expect(__atomic_load_n(&gnomon_enabled, __ATOMIC_RELAXED),
                            0) != 0;
#endif
}

// A region by its address: a plain value, which owns nothing.
class region
{
  public:
    // The caller's, which must live as long as all uses; a GNOMON_REGION is static.
    GNOMON__CPP_INLINE region(gnomon_region *of) : region_(of)
    {
    }
    // The region of a name that is known only when the program runs. Takes a lock
    // and hashes the name: keep the result. `kind` is a gnomon_region_kind.
    GNOMON__CPP_INLINE explicit region(text name, text category = nullptr,
                                       int kind = GNOMON_KIND_SCOPE)
        : region_(GNOMON__CPP_HOST(region_get(name.data(), name.length(),
                                              category.data(),
                                              category.length(), kind),
                                   nullptr))
    {
        (void)name, (void)category, (void)kind;
    }
    GNOMON__CPP_INLINE gnomon_region *get() const
    {
        return region_;
    }
    // The region that stands for this one computing `what`: gnomon_op_region.
    GNOMON__CPP_INLINE region computing(const gnomon_op_info &what) const
    {
        (void)what;
        return region(gnomon_op_region(region_, &what));
    }

  private:
    gnomon_region *region_;
};

// What a scope computes, link by link: a gnomon_op_info for the expression that it is
// made in, as its texts and lists are the caller's. Inputs and attributes past the
// eighth are left out.
class operation
{
  public:
    GNOMON__CPP_INLINE explicit operation(const char *name) : info_()
    {
        info_.struct_size = sizeof info_;
        info_.operation = name;
    }
    // The next input.
    GNOMON__CPP_INLINE operation &
    input(const char *dtype, std::initializer_list<std::int64_t> dims)
    {
        if (info_.input_count < most)
            inputs_[info_.input_count++] = {
                sizeof(gnomon_tensor), static_cast<std::uint32_t>(dims.size()),
                dtype, dims.begin(), nullptr};
        return *this;
    }
    // A property, as a JSON value.
    GNOMON__CPP_INLINE operation &attribute(const char *key, const char *json)
    {
        if (info_.attribute_count < most)
            attributes_[info_.attribute_count++] = {sizeof(gnomon_attribute), 0,
                                                    key, json};
        return *this;
    }
    GNOMON__CPP_INLINE operation &backward()
    {
        info_.flags |= GNOMON_OP_BACKWARD;
        return *this;
    }
    // Of one execution; where they are not given, they follow from the inputs.
    GNOMON__CPP_INLINE operation &flops(std::uint64_t count)
    {
        info_.flags |= GNOMON_OP_FLOPS_GIVEN;
        info_.flops = count;
        return *this;
    }
    GNOMON__CPP_INLINE operation &bytes(std::uint64_t count)
    {
        info_.flags |= GNOMON_OP_BYTES_GIVEN;
        info_.bytes = count;
        return *this;
    }
    // Valid as long as the object and what it was given are.
    GNOMON__CPP_INLINE const gnomon_op_info *info()
    {
        info_.inputs = inputs_;
        info_.attributes = attributes_;
        return &info_;
    }

  private:
    enum { most = 8 };
    gnomon_op_info info_;
    gnomon_tensor inputs_[most];
    gnomon_attribute attributes_[most];
};

// A scope: one execution of a region on this thread.
class scope
{
  public:
    // No scope.
    GNOMON__CPP_INLINE scope() : token_(0)
    {
    }
    GNOMON__CPP_INLINE explicit scope(region of)
        : token_(gnomon_begin(of.get()))
    {
        (void)of;
    }
    // That computes `what`, which is looked up where it is recorded: gnomon_begin_op.
    GNOMON__CPP_INLINE scope(region of, const gnomon_op_info &what)
        : token_(gnomon_begin_op(of.get(), &what))
    {
        (void)of, (void)what;
    }
    // By a name. Where something is attached, this looks the region up, under a
    // lock, each time: prefer GNOMON_SCOPE, action, or a region that is kept.
    GNOMON__CPP_INLINE explicit scope(text name, text category = nullptr)
        : token_(0)
    {
        if (is_on())
            token_ = gnomon_begin(region(name, category).get());
        (void)name, (void)category;
    }
    GNOMON__CPP_INLINE scope(scope &&from) noexcept : token_(from.release())
    {
    }
    // Ends the scope that this object had.
    GNOMON__CPP_INLINE scope &operator=(scope &&from) noexcept(false)
    {
        if (this != &from) {
            end();
            token_ = from.release();
        }
        return *this;
    }
    GNOMON__CPP_INLINE ~scope() noexcept(false)
    {
        gnomon_end(token_);
    }
    scope(const scope &) = delete;
    scope &operator=(const scope &) = delete;

    // Ends it now; once more does nothing. Any thread may, as in C.
    GNOMON__CPP_INLINE void end()
    {
        gnomon_end(release());
    }
    // Ends it now, and leaves open what began inside it: gnomon_end_alone.
    GNOMON__CPP_INLINE void end_alone()
    {
        gnomon_end_alone(release());
    }
    // Hands the token to the caller, who ends the scope; 0: it is not recorded.
    GNOMON__CPP_INLINE gnomon_token release() noexcept
    {
        const gnomon_token token = token_;
        token_ = 0;
        return token;
    }
    GNOMON__CPP_INLINE gnomon_token token() const
    {
        return token_;
    }

  private:
    gnomon_token token_;
};

// An operation of the model: a scope of the category "op", by which reports group.
class op : public scope
{
  public:
    GNOMON__CPP_INLINE explicit op(text name) : scope(name, "op")
    {
    }
    // Of a region that is kept: region("matmul", "op").
    GNOMON__CPP_INLINE explicit op(region of) : scope(of)
    {
    }
    // The same with what it computes: shapes, flops, bytes.
    GNOMON__CPP_INLINE op(region of, const gnomon_op_info &what)
        : scope(of, what)
    {
    }
    op(op &&) = default;
    op &operator=(op &&) = default;
    GNOMON__CPP_INLINE ~op() noexcept(false)
    {
    }
};

// An action, by name: gnomon_start and gnomon_stop. The name may be made when the
// program runs; it is not copied, and must live as long as the object. Stop it on
// the thread that started it; an action has one execution at a time on a thread.
class action
{
  public:
    GNOMON__CPP_INLINE explicit action(const char *name)
        : action(name ? name : "(null)", GNOMON_TO_NUL)
    {
    }
    GNOMON__CPP_INLINE explicit action(const std::string &name)
        : action(name.data(), name.size())
    {
    }
    // The name would be gone before the stop.
    explicit action(const std::string &&) = delete;
    GNOMON__CPP_INLINE action(const char *name, std::size_t length)
        : name_(nullptr), length_(length)
    {
        if (is_on()) {
            name_ = name;
            gnomon_start_n(name_, length_);
        }
        (void)name;
    }
    GNOMON__CPP_INLINE action(action &&from) noexcept
        : name_(from.name_), length_(from.length_)
    {
        from.name_ = nullptr;
    }
    GNOMON__CPP_INLINE ~action() noexcept(false)
    {
        end();
    }
    action(const action &) = delete;
    action &operator=(const action &) = delete;
    action &operator=(action &&) = delete;

    // Stops it now; once more does nothing.
    GNOMON__CPP_INLINE void end()
    {
        if (name_)
            gnomon_stop_n(name_, length_);
        name_ = nullptr;
    }

  private:
    const char *name_; // null: it is not started, or is stopped
    std::size_t length_;
};

// A range: may be moved to any thread, and ends there.
class range
{
  public:
    // No range.
    GNOMON__CPP_INLINE range() : range_(0)
    {
    }
    GNOMON__CPP_INLINE explicit range(region of)
        : range_(gnomon_range_begin(of.get()))
    {
        (void)of;
    }
    // By a name, which is looked up under a lock, as in scope.
    GNOMON__CPP_INLINE explicit range(text name) : range_(0)
    {
        if (is_on())
            range_ = gnomon_range_begin(
                region(name, nullptr, GNOMON_KIND_RANGE).get());
        (void)name;
    }
    GNOMON__CPP_INLINE range(range &&from) noexcept : range_(from.release())
    {
    }
    // Ends the range that this object had.
    GNOMON__CPP_INLINE range &operator=(range &&from) noexcept(false)
    {
        if (this != &from) {
            end();
            range_ = from.release();
        }
        return *this;
    }
    GNOMON__CPP_INLINE ~range() noexcept(false)
    {
        gnomon_range_end(range_);
    }
    range(const range &) = delete;
    range &operator=(const range &) = delete;

    // Ends it now, on any thread; once more does nothing.
    GNOMON__CPP_INLINE void end()
    {
        gnomon_range_end(release());
    }
    // Hands it to the caller, who ends it by gnomon_range_end.
    GNOMON__CPP_INLINE gnomon_range release() noexcept
    {
        const gnomon_range of = range_;
        range_ = 0;
        return of;
    }

  private:
    gnomon_range range_;
};

// A counter by its name; keep it: static gnomon::counter loss("loss").
class counter
{
  public:
    explicit counter(text name) : region_(name, nullptr, GNOMON_KIND_COUNTER)
    {
    }
    GNOMON__CPP_INLINE void sample(double value) const
    {
        gnomon_counter(region_.get(), value);
        (void)value;
    }

  private:
    region region_;
};

// A pool of memory by its name (gnomon/tool.h); keep it: static gnomon::pool host("host").
class pool
{
  public:
    explicit pool(text name) : region_(name, nullptr, GNOMON_KIND_POOL)
    {
    }
    GNOMON__CPP_INLINE void allocated(const void *pointer,
                                      std::uint64_t bytes) const
    {
        gnomon_pool_allocated(region_.get(), pointer, bytes);
        (void)pointer;
        (void)bytes;
    }
    GNOMON__CPP_INLINE void freed(const void *pointer) const
    {
        gnomon_pool_freed(region_.get(), pointer);
        (void)pointer;
    }
    GNOMON__CPP_INLINE void reserved(std::uint64_t bytes) const
    {
        gnomon_pool_reserved(region_.get(), bytes);
        (void)bytes;
    }
    GNOMON__CPP_INLINE void exhausted(std::uint64_t bytes) const
    {
        gnomon_pool_exhausted(region_.get(), bytes);
        (void)bytes;
    }

  private:
    region region_;
};

// Marks a moment. Make the region with GNOMON_KIND_MARK, or use GNOMON_MARK.
GNOMON__CPP_INLINE void mark(region of)
{
    gnomon_mark(of.get());
    (void)of;
}

// gnomon_step and gnomon_step_at: a training step is over. gnomon_step_begin: the open one
// begins anew.
GNOMON__CPP_INLINE void step()
{
    gnomon_step();
}
GNOMON__CPP_INLINE void step_at(std::uint64_t number)
{
    gnomon_step_at(number);
    (void)number;
}
GNOMON__CPP_INLINE void step_begin(std::uint64_t number)
{
    gnomon_step_begin(number);
    (void)number;
}

// Names the calling thread in reports. Before its first mark.
GNOMON__CPP_INLINE void thread_name(text name)
{
    if (gnomon_host_get())
        gnomon_host_get()->thread_name(name.data(), name.length());
    (void)name;
}

GNOMON__CPP_END

#endif
