// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For the tests of the C++ binding: a profiler that wants a call tree and nothing
// else, and what it has recorded, by path.
#ifndef GNOMON_TESTS_CPP_H
#define GNOMON_TESTS_CPP_H

#include <cstdio>
#include <cstdlib>
#include <string>

#include "gnomon.hpp"
#include "test.h"

class tree : public gnomon::profiler
{
  public:
    static gnomon::about about()
    {
        return {"tree", GNOMON_WANT_TREE};
    }
};

// What the profiler "tree" has recorded so far.
static inline gnomon::profile recorded_now(const char *profiler = "tree")
{
    gnomon::profile p;
    CHECK_EQ(gnomon::snapshot(p, profiler, true), GNOMON_OK);
    return p;
}

// How often the path was executed, on all threads.
static inline long long count_at(const gnomon::profile &p, const char *path)
{
    unsigned long long n = 0;
    for (auto node : p.nodes())
        if (node.path() == path)
            n += node.count();
    return static_cast<long long>(n);
}

// How often one path is linked to another.
static inline long long links_between(const gnomon::profile &p,
                                      const char *from, const char *to)
{
    unsigned long long n = 0;
    for (auto link : p.links())
        if (link.from().path() == from && link.to().path() == to)
            n += link.count();
    return static_cast<long long>(n);
}

// No mark was refused or found anything wrong.
static inline void check_health()
{
    const gnomon_health h = gnomon::health();
#define NONE(field, text) CHECK_EQ(h.field, 0);
    GNOMON_HEALTH(NONE)
#undef NONE
}

// Collects what is written to stderr meanwhile.
class said
{
  public:
    said() : file_(std::tmpfile()), old_(dup(2))
    {
        std::fflush(stderr);
        if (file_)
            dup2(fileno(file_), 2);
    }
    ~said()
    {
        stop();
    }
    said(const said &) = delete;
    said &operator=(const said &) = delete;

    // All of it; stderr is as before.
    std::string stop()
    {
        std::string text;
        if (!file_)
            return text;
        std::fflush(stderr);
        dup2(old_, 2);
        close(old_);
        std::rewind(file_);
        for (int c; (c = std::fgetc(file_)) != EOF;)
            text += static_cast<char>(c);
        std::fclose(file_);
        file_ = nullptr;
        return text;
    }

  private:
    FILE *file_;
    int old_;
};

// What a call does that throws std::runtime_error, where there are exceptions.
#if GNOMON__THROWS
#define THROW(text) throw std::runtime_error(text)
#endif

#endif
