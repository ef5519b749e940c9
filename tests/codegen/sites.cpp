/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The sites as C++11 inline functions and as members of a class template. All modules
 * share one copy of the region of such a function, so code with -fPIC reaches it through
 * the GOT. */
#include "marks.h"

#define SITE(type, name, args) \
    extern "C" __attribute__((used)) inline type inline_##name args
#include "sites.h"
#undef SITE

template <int> struct templates {
#define SITE(type, name, args) __attribute__((used)) static type name args
#include "sites.h"
};
template struct templates<0>;
