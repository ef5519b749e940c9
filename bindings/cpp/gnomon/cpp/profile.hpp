// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Profiles as ranges, and reports and files as strings.
//
//     gnomon::profile p;
//     gnomon::check(gnomon::snapshot(p, "simple"));
//     for (auto n : p.nodes())
//         if (n.count() > 10) ...
//
// Threads: a profile never changes, so any number of threads may read one.
// Errors: codes, as in C; after one the profile or the text is empty.
#ifndef GNOMON_CPP_PROFILE_HPP
#define GNOMON_CPP_PROFILE_HPP

#include <exception>
#include <iterator>

#include <gnomon/report.h>

#include "recorded.hpp"

GNOMON__CPP_BEGIN

// All entities of a kind, in the order of their numbers. It borrows the profile. Its
// iterators give values, not references: each reads the entity anew.
template <class Entity> class entities
{
  public:
    class iterator
    {
      public:
        // What C++20 and what older algorithms may do with it.
        using iterator_concept = std::random_access_iterator_tag;
        using iterator_category = std::input_iterator_tag;
        using value_type = Entity;
        using difference_type = std::ptrdiff_t;
        using reference = Entity;
        struct pointer {
            Entity of;
            const Entity *operator->() const
            {
                return &of;
            }
        };

        iterator() : of_(nullptr), number_(0)
        {
        }
        iterator(const gnomon_profile *of, std::size_t number)
            : of_(of), number_(static_cast<difference_type>(number))
        {
        }
        Entity operator*() const
        {
            return Entity(of_, static_cast<std::size_t>(number_));
        }
        pointer operator->() const
        {
            return pointer{**this};
        }
        Entity operator[](difference_type n) const
        {
            return *(*this + n);
        }
        iterator &operator+=(difference_type n)
        {
            number_ += n;
            return *this;
        }
        iterator &operator-=(difference_type n)
        {
            number_ -= n;
            return *this;
        }
        iterator &operator++()
        {
            return *this += 1;
        }
        iterator &operator--()
        {
            return *this -= 1;
        }
        iterator operator++(int)
        {
            iterator old = *this;
            ++*this;
            return old;
        }
        iterator operator--(int)
        {
            iterator old = *this;
            --*this;
            return old;
        }
        friend iterator operator+(iterator i, difference_type n)
        {
            return i += n;
        }
        friend iterator operator+(difference_type n, iterator i)
        {
            return i += n;
        }
        friend iterator operator-(iterator i, difference_type n)
        {
            return i -= n;
        }
        friend difference_type operator-(const iterator &a, const iterator &b)
        {
            return a.number_ - b.number_;
        }
        friend bool operator==(const iterator &a, const iterator &b)
        {
            return a.number_ == b.number_;
        }
        friend bool operator!=(const iterator &a, const iterator &b)
        {
            return a.number_ != b.number_;
        }
        friend bool operator<(const iterator &a, const iterator &b)
        {
            return a.number_ < b.number_;
        }
        friend bool operator>(const iterator &a, const iterator &b)
        {
            return b < a;
        }
        friend bool operator<=(const iterator &a, const iterator &b)
        {
            return !(b < a);
        }
        friend bool operator>=(const iterator &a, const iterator &b)
        {
            return !(a < b);
        }

      private:
        const gnomon_profile *of_;
        difference_type number_;
    };

    explicit entities(const gnomon_profile *of)
        : of_(of), count_(of ? gnomon_profile_count(of, Entity::kind()) : 0)
    {
    }
    iterator begin() const
    {
        return iterator(of_, 1);
    }
    iterator end() const
    {
        return iterator(of_, count_ + 1);
    }
    std::size_t size() const
    {
        return count_;
    }
    bool empty() const
    {
        return count_ == 0;
    }
    // By its number, from 1, as fields of other entities have it.
    Entity number(std::size_t number) const
    {
        return Entity(of_, number);
    }

  private:
    const gnomon_profile *of_;
    std::size_t count_;
};

// A profile that somebody else owns, as the one that a summary is given. A plain
// value. It may be no profile: then it is false, and all its ranges are empty.
class profile_view
{
  public:
    explicit profile_view(const gnomon_profile *of = nullptr) : profile_(of)
    {
    }
    explicit operator bool() const
    {
        return profile_ != nullptr;
    }
    // For calls of C.
    const gnomon_profile *get() const
    {
        return profile_;
    }
#define GNOMON__ENTITIES(names, one) \
    entities<recorded::one> names() const \
    { \
        return entities<recorded::one>(profile_); \
    }
    GNOMON__ENTITIES(runs, run)
    GNOMON__ENTITIES(stages, stage)
    GNOMON__ENTITIES(steps, step)
    GNOMON__ENTITIES(tracks, track)
    GNOMON__ENTITIES(regions, region)
    GNOMON__ENTITIES(nodes, node)
    GNOMON__ENTITIES(opens, open)
    GNOMON__ENTITIES(links, link)
    GNOMON__ENTITIES(counters, counter)
    GNOMON__ENTITIES(metadata, metadata)
    GNOMON__ENTITIES(losses, loss)
    GNOMON__ENTITIES(views, view)
    GNOMON__ENTITIES(ops, op)
    GNOMON__ENTITIES(events, event)
    GNOMON__ENTITIES(step_times, step_time)
    GNOMON__ENTITIES(view_times, view_time)
    GNOMON__ENTITIES(strips, strip)
#undef GNOMON__ENTITIES

  protected:
    const gnomon_profile *profile_;
};

// A profile that this object owns: snapshot, load and read make one.
class profile : public profile_view
{
  public:
    profile() : profile_view(nullptr), owned_(nullptr)
    {
    }
    // Takes one that a call of C has given.
    explicit profile(gnomon_profile *of) : profile_view(of), owned_(of)
    {
    }
    profile(profile &&from) noexcept : profile_view(from), owned_(from.owned_)
    {
        from.owned_ = nullptr;
        from.profile_ = nullptr;
    }
    profile &operator=(profile &&from) noexcept
    {
        std::swap(owned_, from.owned_);
        std::swap(profile_, from.profile_);
        return *this;
    }
    ~profile()
    {
        gnomon_profile_free(owned_);
    }
    profile(const profile &) = delete;
    profile &operator=(const profile &) = delete;

  private:
    gnomon_profile *owned_;
};

// gnomon_snapshot: what the attached profiler of that name has recorded, in the open
// stage or in all of them.
inline int snapshot(profile &out, text profiler, bool all_stages = false)
{
    gnomon_profile *p = nullptr;
    const int code = GNOMON__CPP_HOST(
        snapshot(&p, profiler.data(), profiler.length(), all_stages ? 1 : 0),
        GNOMON_ESTATE);
    out = profile(p);
    return code;
}

// gnomon_profile_load: the .gnomon file at `path`.
inline int load(profile &out, const std::string &path)
{
    gnomon_profile *p = nullptr;
    const int code = gnomon_profile_load(&p, path.c_str());
    out = profile(p);
    return code;
}

// gnomon_profile_read: the bytes of a .gnomon file.
inline int read(profile &out, const void *bytes, std::size_t size)
{
    gnomon_profile *p = nullptr;
    const int code = gnomon_profile_read(&p, bytes, size);
    out = profile(p);
    return code;
}
inline int read(profile &out, const std::string &bytes)
{
    return read(out, bytes.data(), bytes.size());
}

// Appends, and throws nothing.
template <bool = GNOMON__THROWS>
int append_to(std::string &to, const char *bytes, std::size_t size)
{
#if GNOMON__THROWS
    try {
        to.append(bytes, size);
    } catch (const std::exception &) { // bad_alloc, or length_error
        return GNOMON_ENOMEM;
    }
#else
    to.append(bytes, size);
#endif
    return GNOMON_OK;
}

// A writer that appends to a string; it lives as long as this object. Where there is
// no memory, its calls return GNOMON_ENOMEM.
class string_writer
{
  public:
    explicit string_writer(std::string &to) : writer_()
    {
        writer_.struct_size = sizeof writer_;
        writer_.write = append;
        writer_.context = &to;
    }
    string_writer(const string_writer &) = delete;
    string_writer &operator=(const string_writer &) = delete;
    const gnomon_writer *get() const
    {
        return &writer_;
    }

  private:
    static int append(const gnomon_writer *writer, const void *bytes,
                      std::size_t size)
    {
        return append_to(*static_cast<std::string *>(writer->context),
                         static_cast<const char *>(bytes), size);
    }

    gnomon_writer writer_;
};

// gnomon_summary: the report that the attached profiler of that name has now, as a
// text. On an error `out` is empty.
inline int summary(std::string &out, text profiler)
{
    out.clear();
    string_writer to(out);
    const int code = GNOMON__CPP_HOST(
        summary(profiler.data(), profiler.length(), to.get()), GNOMON_ESTATE);
    if (code)
        out.clear();
    return code;
}

// gnomon_write: a profile in a format, "gnomon", "json" or "chrome". On an error `out` is
// empty.
inline int write(std::string &out, const profile_view &of, const char *format)
{
    out.clear();
    string_writer to(out);
    const int code = gnomon_write(of.get(), format, to.get());
    if (code)
        out.clear();
    return code;
}

#ifdef GNOMON_COMPAT_H
inline int write(std::string &out, const profile_view &of, gnomon_form form)
{
    return write(out, of, gnomon__old_form(form));
}
#endif

// The rows of a report: regions added up over all their paths (gnomon/report.h).
// `by` is a gnomon_rows_by. Borrows the profile.
class rows
{
  public:
    explicit rows(const profile_view &of, int by = GNOMON_ROWS_ALL)
        : rows_(nullptr),
          code_(GNOMON__CPP_HOST(rows(&rows_, of.get(), by), GNOMON_ESTATE))
    {
    }
    ~rows()
    {
        if (rows_)
            gnomon_host_get()->rows_free(rows_);
    }
    rows(const rows &) = delete;
    rows &operator=(const rows &) = delete;

    // What host->rows returned; with an error there are no rows.
    int code() const
    {
        return code_;
    }
    list<gnomon_row> all() const
    {
        return list<gnomon_row>(rows_ ? rows_->rows : nullptr,
                                rows_ ? rows_->count : 0);
    }

  private:
    gnomon_rows *rows_;
    int code_;
};

GNOMON__CPP_END

#endif
