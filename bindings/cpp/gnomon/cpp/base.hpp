// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the other C++ headers need: texts, errors, and the name of the namespace.
#ifndef GNOMON_CPP_BASE_HPP
#define GNOMON_CPP_BASE_HPP

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>
#if __cplusplus >= 201703L
#include <string_view>
#endif

#include <gnomon/tool.h>

// Whether this file is compiled with exceptions.
#if defined(__cpp_exceptions) || defined(__EXCEPTIONS)
#define GNOMON__THROWS 1
#else
#define GNOMON__THROWS 0
#endif

// Files with and without GNOMON_DISABLE have different inline functions. The linker
// keeps one function of a name, so each kind has a namespace of its own. It is
// inline: nobody writes its name.
#ifdef GNOMON_DISABLE
#define GNOMON__CPP_KIND v1_disabled
#else
#define GNOMON__CPP_KIND v1
#endif
#define GNOMON__CPP_BEGIN \
    namespace gnomon \
    { \
    inline namespace GNOMON__CPP_KIND \
    {
#define GNOMON__CPP_END \
    } \
    }

// For members: inlined at -O0 and -Os too, so that a mark which is off calls
// nothing, and a disabled one leaves nothing.
#if defined(__GNUC__) || defined(__clang__)
#define GNOMON__CPP_INLINE inline __attribute__((__always_inline__))
#else
#define GNOMON__CPP_INLINE inline
#endif

// A call of the host table, which takes lengths. `off` is its value with
// GNOMON_DISABLE, where there is no table.
#ifdef GNOMON_DISABLE
#define GNOMON__CPP_HOST(call, off) \
    (gnomon_host_get() ? gnomon_host_get()->call : (off))
#else
#define GNOMON__CPP_HOST(call, off) gnomon_host_get()->call
#endif

GNOMON__CPP_BEGIN

// A text that a call is given: a literal, a std::string, or from C++17 on a
// std::string_view. Borrowed: it is valid during the call. A null pointer is what
// the C call of that name takes NULL for.
class text
{
  public:
    GNOMON__CPP_INLINE text(const char *data)
        : data_(data), length_(GNOMON_TO_NUL)
    {
    }
    GNOMON__CPP_INLINE text(const char *data, std::size_t length)
        : data_(data), length_(length)
    {
    }
    GNOMON__CPP_INLINE text(const std::string &of)
        : data_(of.data()), length_(of.size())
    {
    }
#if __cplusplus >= 201703L
    GNOMON__CPP_INLINE text(std::string_view of)
        : data_(of.data() ? of.data() : ""), length_(of.size())
    {
    }
#endif
    GNOMON__CPP_INLINE const char *data() const
    {
        return data_;
    }
    // In bytes, or GNOMON_TO_NUL.
    GNOMON__CPP_INLINE std::size_t length() const
    {
        return length_;
    }
    // A copy; "" of a null pointer.
    std::string str() const
    {
        if (!data_)
            return std::string();
        return length_ == GNOMON_TO_NUL ? std::string(data_)
                                        : std::string(data_, length_);
    }

  private:
    const char *data_;
    std::size_t length_;
};

// What check throws: the code of a control call with its text.
class error : public std::runtime_error
{
  public:
    error(int code, const std::string &what)
        : std::runtime_error(what), code_(code)
    {
    }
    // One of the GNOMON_E codes.
    int code() const
    {
        return code_;
    }

  private:
    int code_;
};

// Takes what a control call returned: check(gnomon::configure("simple")). Throws
// error where it is negative; else returns it. Compiled without exceptions it
// always returns it.
GNOMON_INLINE int check(int code)
{
#if GNOMON__THROWS
    if (code < 0) {
        const std::string name = gnomon_error_name(code);
        const char *why = gnomon_error_text();
        throw error(code, *why ? name + ": " + why : name);
    }
#endif
    return code;
}

GNOMON__CPP_END

#endif
