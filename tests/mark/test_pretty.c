/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names of C++ functions as gcc 12 and clang 14 write them, in C++11 and
 * C++20, and the short names that gnomon makes; and other texts.
 *
 * links: static
 * threads: none */
#include "mark/pretty.h"

#include <stdlib.h>

#include "test.h"

#define LINE 42

static const struct {
    const char *pretty, *name;
} functions[] = {
    {"void plain()", "plain"},
    {"int with_args(int, const char*, double&)", "with_args"},
    {"void ns::inner::deep(int)", "ns::inner::deep"},
    {"void {anonymous}::anon(int)", "(anonymous)::anon"},
    {"void (anonymous namespace)::anon(int)", "(anonymous)::anon"},
    {"void {anonymous}::in_anon::f() const", "(anonymous)::in_anon::f"},
    {"{anonymous}::in_anon::~in_anon()", "(anonymous)::in_anon::~in_anon"},
    {"(anonymous namespace)::in_anon::~in_anon()",
     "(anonymous)::in_anon::~in_anon"},
    {"void<unnamed struct>::f()", "(anonymous)::f"},
    {"void (anonymous struct)::f()", "(anonymous)::f"},
    {"layer<N>::layer(int) [with int N = 4]", "layer<4>::layer"},
    {"layer<4>::layer(int) [N = 4]", "layer<4>::layer"},
    {"layer<N>::layer(T, T) [with T = double; int N = 4]",
     "layer<4>::layer<double>"},
    {"layer<N>::~layer() [with int N = 4]", "layer<4>::~layer"},
    {"void layer<N>::forward(int) [with int N = 4]", "layer<4>::forward"},
    {"void layer<4>::forward(int) [N = 4]", "layer<4>::forward"},
    {"U layer<N>::generic(U) [with U = float; int N = 4]",
     "layer<4>::generic<float>"},
    {"U layer<4>::generic(U) [N = 4, U = float]", "layer<4>::generic"},
    {"static void layer<N>::two(U) [with U = int; int M = 3; int N = 4]",
     "layer<4>::two<int, 3>"},
    {"void layer<N>::member::g(V) [with V = char; int N = 4]",
     "layer<4>::member::g<char>"},
    {"layer<4>::nested()::<lambda(int)>", "layer<4>::nested::lambda at 42"},
    {"auto layer<4>::nested()::(anonymous class)::operator()(int) const [N = "
     "4]",
     "layer<4>::nested::lambda at 42"},
    {"layer<4>::nested()::<lambda(int)>::<lambda()>",
     "layer<4>::nested::lambda::lambda at 42"},
    {"auto layer<4>::nested()::(anonymous class)::operator()(int)::(anonymous "
     "class)::operator()() const [N = 4]",
     "layer<4>::nested::lambda::lambda at 42"},
    {"void layer<N>::nested()::local::run() [with int N = 4]",
     "layer<4>::nested::local::run"},
    {"void layer<4>::nested()::local::run() [N = 4]",
     "layer<4>::nested::local::run"},
    {"bool layer<N>::operator()(int) const [with int N = 4]",
     "layer<4>::operator()"},
    {"bool layer<4>::operator()(int) const [N = 4]", "layer<4>::operator()"},
    {"layer<N>::operator const char*() [with int N = 4]",
     "layer<4>::operator const char*"},
    {"const char *layer<4>::operator const char *() [N = 4]",
     "layer<4>::operator const char *"},
    {"layer<N>::operator std::vector<T>() [with T = long int; int N = 4]",
     "layer<4>::operator std::vector<long int>"},
    {"layer<N>& layer<N>::operator=(const layer<N>&) [with int N = 4]",
     "layer<4>::operator="},
    {"layer<N> &layer<4>::operator=(const layer<N> &) [N = 4]",
     "layer<4>::operator="},
    {"int layer<N>::operator[](int) [with int N = 4]", "layer<4>::operator[]"},
    {"layer<N>* layer<N>::operator->() [with int N = 4]",
     "layer<4>::operator->"},
    {"void layer<N>::operator,(int) [with int N = 4]", "layer<4>::operator,"},
    {"static void* layer<N>::operator new(std::size_t) [with int N = 4; "
     "std::size_t = long unsigned int]",
     "layer<4>::operator new"},
    {"static void* ops::operator new [](std::size_t)", "ops::operator new []"},
    {"static void *ops::operator new[](std::size_t)", "ops::operator new[]"},
    {"bool operator<(const layer<N>&, const layer<N>&) [with int N = 4]",
     "operator< <4>"},
    {"bool operator<(const layer<N> &, const layer<N> &) [N = 4]",
     "operator< <4>"},
    {"layer<N> operator>>(layer<N>, int) [with int N = 4]", "operator>> <4>"},
    {"std::strong_ordering cmp::operator<=>(const cmp&) const",
     "cmp::operator<=>"},
    {"void ops::operator->*(int)", "ops::operator->*"},
    {"void operator\"\"_u(long long unsigned int)", "operator\"\"_u"},
    {"base::operator int() const", "base::operator int"},
    {"int base::operator int() const", "base::operator int"},
    {"conv<T>::operator T*() [with T = int]", "conv<int>::operator int*"},
    {"T *conv<int>::operator int *() [T = int]", "conv<int>::operator int *"},
    {"T twice(T) [with T = int]", "twice<int>"},
    {"T twice(T) [T = int]", "twice<int>"},
    {"void pack(A ...) [with A = {int, double, const char*}]",
     "pack<int, double, const char*>"},
    {"void pack(A...) [A = <int, double, const char *>]",
     "pack<int, double, const char *>"},
    {"void pack(A ...) [with A = {}]", "pack<>"},
    {"void packs(A, B ...) [with A = int; B = {int, int}]",
     "packs<int, int, int>"},
    {"void holder<T>::f() [with T = "
     "std::vector<std::__cxx11::basic_string<char> >]",
     "holder<std::vector<std::__cxx11::basic_string<char> >>::f"},
    {"void holder<std::vector<std::basic_string<char>>>::f() [T = "
     "std::vector<std::basic_string<char>>]",
     "holder<std::vector<std::basic_string<char>>>::f"},
    {"void pair2<A, B>::in::f(C) [with C = long int; A = int; B = "
     "holder<char>]",
     "pair2<int, holder<char>>::in::f<long int>"},
    {"void dflt<T, A>::f() [with T = int; A = std::allocator<int>]",
     "dflt<int, std::allocator<int>>::f"},
    {"void dflt<int>::f() [T = int, A = std::allocator<int>]", "dflt<int>::f"},
    {"void var<A>::g(B ...) [with B = {double, char}; A = {int}]",
     "var<int>::g<double, char>"},
    {"void ints<N>::f() [with int ...N = {1, 2, 3}]", "ints<1, 2, 3>::f"},
    {"void ints<1, 2, 3>::f() [N = <1, 2, 3>]", "ints<1, 2, 3>::f"},
    {"void sig<R(A ...)>::f() [with R = int; A = {char, double}]",
     "sig<int(char, double)>::f"},
    {"void sig<int (char, double)>::f() [R = int (char, double), A = <>]",
     "sig<int (char, double)>::f"},
    {"void arrs<T [N], N>::f() [with T = int; int N = 3]",
     "arrs<int [3], 3>::f"},
    {"void explicit_only() [with T = int (layer<2>::*)(char) const]",
     "explicit_only<int (layer<2>::*)(char) const>"},
    {"void explicit_only() [T = void (*)(int, char)]",
     "explicit_only<void (*)(int, char)>"},
    {"void fptr() [with void (* X)(int) = target]", "fptr<target>"},
    {"void mp() [with int ops::* M = -1]", "mp<-1>"},
    {"void chr() [with char C = ';']", "chr<';'>"},
    {"void chr() [with char C = ']']", "chr<']'>"},
    {"void chr() [C = '\\'']", "chr<'\\''>"},
    {"void chr() [C = ',']", "chr<','>"},
    {"void enuc() [with shade C = shade::dark]", "enuc<shade::dark>"},
    {"void nontype() [with nt X = nt{3}]", "nontype<nt{3}>"},
    {"void types(uint32_t, std::size_t, typename std::vector<T>::size_type) "
     "[with T = int; uint32_t = unsigned int; std::size_t = long unsigned int; "
     "typename std::vector<T>::size_type = long unsigned int]",
     "types<int>"},
    {"decltype ((t + 1)) dtype(T) [with T = int; decltype ((t + 1)) = int]",
     "dtype<int>"},
    {"<dependent type> dtype(T) [T = int]", "dtype<int>"},
    {"decltype(auto) da()", "da"},
    {"auto gl()", "gl"},
    {"gl()::<lambda(auto:11, auto:12 ...)> [with auto:11 = int; auto:12 = {}]",
     "gl::lambda at 42"},
    {"auto gl()::(anonymous class)::operator()(auto, auto...) const [v:auto = "
     "int, w:auto = <>]",
     "gl::lambda at 42"},
    {"void abbr(auto:13, auto:14) [with auto:13 = int; auto:14 = double]",
     "abbr"},
    {"<lambda(T)> [with T = int]", "lambda at 42"},
    {"auto (anonymous class)::operator()(T) const [T = int]", "lambda at 42"},
    {"T trail(T) requires  sizeof (T) > 1 [with T = int]", "trail<int>"},
    {"void rq<T>::f() requires  integral<T> [with T = int]", "rq<int>::f"},
    {"void (* returns_fp(int))(double)", "returns_fp"},
    {"void (*returns_fp(int))(double)", "returns_fp"},
    {"void (* (* fpfp(int))(char))(double)", "fpfp"},
    {"int (& returns_arr())[3]", "returns_arr"},
    {"int (layer<4>::* returns_mfp())(int) const", "returns_mfp"},
    {"std::function<void(int)> takes_fn(std::function<int(double)>)",
     "takes_fn"},
    {"long unsigned int* const* pp()", "pp"},
    {"virtual base::~base()", "base::~base"},
    {"void base::r() &&", "base::r"},
    {"void full(T) [with T = double]", "full<double>"},
    {"lambdas(int)::<lambda(int)> mutable", "lambdas::lambda at 42"},
    {"lambdas(int)::loc::s()::<lambda()>", "lambdas::loc::s::lambda at 42"},
    {"void call(F) [with F = lambdas(int)::<lambda()>]",
     "call<lambdas(int)::lambda>"},
    {"void call(F) [F = (lambda at all.cpp:83:8)]", "call<lambda>"},
    {"in_template<int>(int)::<lambda(int)>::<lambda(int)>",
     "in_template<int>::lambda::lambda at 42"},
    {"void in_template(T)::local::run() [with T = int]",
     "in_template<int>::local::run"},
    {"void tl(T)::<lambda()>::q::z() [with T = int]", "tl<int>::lambda::q::z"},
    {"cm::f() const::<lambda()>", "cm::f::lambda at 42"},
    {"void cm::f() const::loc::r()", "cm::f::loc::r"},
    {"cm::h() &&::<lambda()>", "cm::h::lambda at 42"},
    {"ops::operator< <int>(int)::<lambda()>",
     "ops::operator< <int>::lambda at 42"},
    {"bool ops::operator<(T) [with T = int]", "ops::operator< <int>"},
    {"ops::operator bool()::<lambda()>", "ops::operator bool::lambda at 42"},
    {"void ops::operator()(int)::in::f()", "ops::operator()::in::f"},
    {"a::{anonymous}::b::x<T>::y::~y() [with T = int]",
     "a::(anonymous)::b::x<int>::y::~y"},
    {"void a::(anonymous namespace)::b::x<int>::y::f() [T = int]",
     "a::(anonymous)::b::x<int>::y::f"},
};
#define FUNCTIONS (sizeof functions / sizeof *functions)

static void check_name(const char *pretty, const char *name)
{
    char out[512];
    size_t n = gnomon__pretty_name(pretty, LINE, out, sizeof out);
    CHECK_STR(out, name);
    CHECK_EQ(n, strlen(name));
}

TEST(functions_as_compilers_write_them)
{
    for (size_t i = 0; i < FUNCTIONS; i++)
        check_name(functions[i].pretty, functions[i].name);
}

/* What later releases of gcc and clang may write. */
TEST(lambdas_of_other_releases)
{
    check_name("auto f(int)::(lambda)::operator()(int) const",
               "f::lambda at 42");
    check_name("auto f(int)::(lambda at a b.cpp:1:2)::operator()() const",
               "f::lambda at 42");
    check_name("void f() [T = A<(lambda at /a/b.cpp:3:4)>]", "f<A<lambda>>");
    check_name("void lambda(lambda_t)", "lambda");
    check_name("void holder<lambda_t>::f()", "holder<lambda_t>::f");
    check_name("void f() const noexcept::g()", "f::g");
    check_name("void f() requires std::integral<T> [with T = int]", "f<int>");
}

/* They stay as they are. */
TEST(texts_that_are_no_functions)
{
    static const char *const texts[] = {
        "",     "plain",    "top level",        "(", ")",   "int",
        "a b",  "operator", "x [with T = int]", "]", " []", "()",
        "void", "<lambda"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_name(texts[i], texts[i]);
}

TEST(a_name_is_cut_where_there_is_no_room)
{
    static const char pretty[] = "void layer<N>::forward(int) [with int N = 4]";
    static const char name[] = "layer<4>::forward";
    for (size_t size = 0; size < sizeof name + 3; size++) {
        char *out = malloc(size + 1);
        out[size] = 'x';
        CHECK_EQ(gnomon__pretty_name(pretty, 1, size ? out : NULL, size),
                 sizeof name - 1);
        CHECK(out[size] == 'x');
        if (size)
            CHECK(strncmp(out, name, size - 1) == 0 && strlen(out) < size);
        free(out);
    }
}

/* Nested deeper than any compiler writes: with little stack, and in short
 * time. */
TEST(brackets_in_brackets)
{
    static char text[100000];
    static const char brackets[] = "(<[{";
    for (const char *b = brackets; *b; b++) {
        memset(text, *b, sizeof text - 1);
        CHECK(gnomon__pretty_name(text, 1, NULL, 0) > 0);
        memcpy(text, "void f", 6);
        CHECK(gnomon__pretty_name(text, 1, NULL, 0) > 0);
    }
}

/* Parts of names in any order and number: read within bounds, in short time. */
TEST(texts_that_no_compiler_makes)
{
    uint64_t random = 88172645463325252u;
    for (int i = 0; i < 50000; i++) {
        char text[600];
        size_t n = 0;
        for (int parts = 0; parts < 4; parts++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            const char *from = functions[random % FUNCTIONS].pretty;
            size_t all = strlen(from), at = (random >> 20) % all;
            size_t take = (random >> 40) % (all - at + 1);
            if (n + take + 1 > sizeof text)
                break;
            memcpy(text + n, from + at, take);
            n += take;
        }
        char *exact = malloc(n + 1), out[64];
        memcpy(exact, text, n);
        exact[n] = 0;
        CHECK(gnomon__pretty_name(exact, 1, out, sizeof out) < 20 * n + 20);
        CHECK(strlen(out) < sizeof out);
        free(exact);
    }
}
