// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// gnomon for C++11 and later, in headers alone: all of it calls the C library.
//
//     GNOMON_SCOPE("train_step");                  as in C: ends with the block
//     gnomon::scope s(GNOMON_REGION_HERE("io"));   the same as an object
//     pool.submit(gnomon::linked("decode", f));    a worker's time, linked to here
//     for (auto n : profile.nodes()) ...           what was recorded
//     struct mine : gnomon::profiler { ... };      a profiler of your own
//
// The macros of gnomon.h work in C++ as in C, exceptions end scopes too, and
// GNOMON_FUNCTION() names methods as "layer<4>::forward". docs/cpp.md is the tour.
//
//     gnomon/cpp/marks.hpp     scopes, actions, ranges, counters, steps
//     gnomon/cpp/linked.hpp    tasks that know who handed them on
//     gnomon/cpp/device.hpp    scopes on streams, and timers
//     gnomon/cpp/run.hpp       setup, stages, what is attached
//     gnomon/cpp/profile.hpp   profiles as ranges, reports as strings
//     gnomon/cpp/profiler.hpp  profilers as classes
//
// For all of it:
// Errors: marks cannot fail. Control calls return GNOMON_OK or a negative code, as
// in C; gnomon::check(code) throws gnomon::error where it is one. Nothing else
// throws, but for std::bad_alloc where a std::string or a copy of the caller's is
// made. No exception passes through the C library.
// Cost: a mark that is off costs what it costs in C (tests/codegen).
// GNOMON_DISABLE: marks leave no code; the other calls are those of
// gnomon/off.h. Files with and without it may be linked together: their classes
// have different names. So may files with and without -fno-exceptions and -fno-rtti.
#ifndef GNOMON_HPP
#define GNOMON_HPP

#include "gnomon/cpp/marks.hpp"
#include "gnomon/cpp/linked.hpp"
#include "gnomon/cpp/device.hpp"
#include "gnomon/cpp/run.hpp"
#include "gnomon/cpp/profile.hpp"
#include "gnomon/cpp/profiler.hpp"

#endif
