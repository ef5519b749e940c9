// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a profiler's callbacks are given besides events: the report that they write,
// and their options. Included by profiler.hpp.
#ifndef GNOMON_CPP_REPORT_HPP
#define GNOMON_CPP_REPORT_HPP

#include <cstdarg>
#include <cstdio>
#include <type_traits>

#include <gnomon/tool.h>

#include "base.hpp"

GNOMON__CPP_BEGIN

// Where a report goes: gnomon_writer. Keeps the first error, so that all may be
// written and `return out.code();` end it. For one thread, during the callback.
class report
{
  public:
    explicit report(const gnomon_writer *to) : to_(to), code_(GNOMON_OK)
    {
    }
    report(const report &) = delete;
    report &operator=(const report &) = delete;

    report &operator<<(text what)
    {
        if (what.data())
            keep(what.length() == GNOMON_TO_NUL
                     ? to_->print(to_, "%s", what.data())
                     : to_->write(to_, what.data(), what.length()));
        return *this;
    }
    report &operator<<(char what)
    {
        return *this << text(&what, 1);
    }
    template <class Number>
    typename std::enable_if<std::is_integral<Number>::value, report &>::type
    operator<<(Number what)
    {
        return *this << text(std::to_string(what));
    }
    // As %g.
    report &operator<<(double what)
    {
        keep(to_->print(to_, "%g", what));
        return *this;
    }
    // As printf.
#if defined(__GNUC__) || defined(__clang__)
    __attribute__((__format__(__printf__, 2, 3)))
#endif
    report &
    print(const char *format, ...)
    {
        char few[256];
        va_list list, again;
        va_start(list, format);
        va_copy(again, list);
        const int length = std::vsnprintf(few, sizeof few, format, list);
        va_end(list);
        const std::size_t size =
            length < 0 ? 0 : static_cast<std::size_t>(length);
        if (size < sizeof few) {
            *this << text(few, size);
        } else {
            std::string all(size + 1, '\0');
            std::vsnprintf(&all[0], all.size(), format, again);
            *this << text(all.data(), size);
        }
        va_end(again);
        return *this;
    }
    // Writes a file next to the report: gnomon_writer's `file`.
    int file(text part, text extension, text bytes)
    {
        const std::string last = extension.str(), of = part.str();
        if (!to_->file)
            return keep(GNOMON_ENOENT);
        const std::string all = bytes.str();
        return keep(to_->file(to_, part.data() ? of.c_str() : nullptr,
                              last.c_str(), all.data(), all.size()));
    }
    // A name as a reader may safely see it: gnomon_shown.
    const char *shown(const char *name) const
    {
        return gnomon_shown(to_, name);
    }
    // The first error, or GNOMON_OK.
    int code() const
    {
        return code_;
    }
    const gnomon_writer *get() const
    {
        return to_;
    }

  private:
    int keep(int code)
    {
        if (!code_)
            code_ = code;
        return code;
    }

    const gnomon_writer *to_;
    int code_;
};

// The options of a profiler that $GNOMON made; for its constructor alone.
class options
{
  public:
    explicit options(const gnomon_options *of) : of_(of), code_(GNOMON_OK)
    {
    }
    options(const options &) = delete;
    options &operator=(const options &) = delete;

    // As it was written, or the default; "" where there is neither.
    std::string string(const char *key) const
    {
        const char *value = of_->text(of_, key);
        return value ? value : "";
    }
    // 0 or 1 of a BOOL, bytes of BYTES, ns of a DURATION.
    std::int64_t number(const char *key) const
    {
        return of_->number(of_, key);
    }
    bool flag(const char *key) const
    {
        return of_->number(of_, key) != 0;
    }
    // The profiler does not want to run here: says why in a line, and is destroyed
    // as soon as its constructor returns. No error.
    void decline(const std::string &why)
    {
        of_->log(why.c_str());
        code_ = GNOMON_DECLINED;
    }
    // The profiler cannot run; an exception of its constructor says the same.
    void fail(int code, text why)
    {
        why_ = why.str();
        code_ = code < 0 ? code : GNOMON_EPLUGIN;
    }
    const gnomon_options *get() const
    {
        return of_;
    }
    int code() const
    {
        return code_;
    }
    const std::string &why() const
    {
        return why_;
    }

  private:
    const gnomon_options *of_;
    int code_;
    std::string why_;
};

// One item for a profiler's table of options, which ends with an empty one:
//     static const gnomon_option_info table[] = {
//         gnomon::option("over", GNOMON_OPTION_DURATION, "1ms", "what is slow"),
//         gnomon::no_option()};
inline gnomon_option_info option(const char *key, int type, const char *preset,
                                 const char *help)
{
    gnomon_option_info item = gnomon_option_info();
    item.struct_size = sizeof item;
    item.type = type;
    item.key = key;
    item.preset = preset;
    item.help = help;
    return item;
}
inline gnomon_option_info no_option()
{
    return gnomon_option_info();
}

GNOMON__CPP_END

#endif
