// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How functions of C++ are named in profiles and to hooks: by what the compiler
// that builds this says of them. Where gcc and clang write types in two ways, or
// clang does not tell a thing, both names stand here.
#include "gnomon/profile.h"
#include "gnomon/tool.h"
#include "test.h"

#ifdef __clang__
#define GCC_CLANG(gcc, clang) clang
#else
#define GCC_CLANG(gcc, clang) gcc
#endif

static char text[4096]; // names in the order of their starts, a line each
static int lines[2];    // of lambdas

static void on_start(void *, const gnomon_frame *frame, uint64_t *)
{
    size_t n = strlen(text);
    snprintf(text + n, sizeof text - n, "%s\n", frame->name);
    CHECK_EQ(frame->region->kind, GNOMON_KIND_FUNCTION);
    CHECK_STR(frame->region->name, frame->name);
}

static gnomon_profiler listener;

static void attach()
{
    listener.struct_size = sizeof listener;
    listener.abi = GNOMON_ABI;
    listener.wants = GNOMON_WANT_TREE;
    listener.name = "listener";
    listener.start = on_start;
    CHECK_EQ(gnomon_attach(&listener, nullptr, nullptr), GNOMON_OK);
}

#define CHECK_NAMES(call, names) \
    do { \
        *text = 0; \
        call; \
        CHECK_STR(text, names "\n"); \
    } while (0)

// ---- Functions ------------------------------------------------------------------

static void plain()
{
    GNOMON_FUNCTION();
}

extern "C" {
static int as_in_c(int value)
{
    GNOMON_FUNCTION();
    return value;
}
}

namespace outer
{
namespace
{
struct hidden {
    hidden()
    {
        GNOMON_FUNCTION();
    }
    ~hidden()
    {
        GNOMON_FUNCTION();
    }
};
} // namespace

inline const char *const *inlined(void (*)(int))
{
    GNOMON_FUNCTION();
    return nullptr;
}
} // namespace outer

template <class T> static T twice(T value)
{
    GNOMON_FUNCTION();
    return value + value;
}

template <class... T> static void pack(T...)
{
    GNOMON_FUNCTION();
}

TEST(functions)
{
    attach();
    CHECK_NAMES(plain(), "plain");
    CHECK_NAMES(as_in_c(1), "as_in_c");
    CHECK_NAMES(outer::inlined(nullptr), "outer::inlined");
    CHECK_NAMES(outer::hidden(), "outer::(anonymous)::hidden::hidden\n"
                                 "outer::(anonymous)::hidden::~hidden");
    CHECK_NAMES(twice(1), "twice<int>");
    CHECK_NAMES(twice(1.5), "twice<double>");
    CHECK_NAMES(pack(), "pack<>");
    CHECK_NAMES(pack(1, 'c'), "pack<int, char>");
}

// ---- Members ------------------------------------------------------------------

template <int N> struct layer {
    void forward(int) const
    {
        GNOMON_FUNCTION();
    }
    template <class T> static void member(T)
    {
        GNOMON_FUNCTION();
    }
    int operator()(int value)
    {
        GNOMON_FUNCTION();
        return value;
    }
    explicit operator bool() const
    {
        GNOMON_FUNCTION();
        return true;
    }
    friend bool operator<(const layer &, const layer &)
    {
        GNOMON_FUNCTION();
        return false;
    }
    void lambdas() const
    {
        GNOMON_FUNCTION();
        auto one = [](int) {
            GNOMON_FUNCTION();
            lines[0] = __LINE__ - 1;
            auto two = [] {
                GNOMON_FUNCTION();
                lines[1] = __LINE__ - 1;
            };
            two();
        };
        one(1);
    }
    void local()
    {
        struct inside {
            void run()
            {
                GNOMON_FUNCTION();
            }
        };
        inside().run();
    }
};

template <class T> struct layer_of : layer<8> {
    virtual ~layer_of()
    {
        GNOMON_FUNCTION();
    }
    virtual T *run()
    {
        GNOMON_FUNCTION();
        return nullptr;
    }
};

TEST(members)
{
    attach();
    layer<4> l;
    CHECK_NAMES(l.forward(1), "layer<4>::forward");
    CHECK_NAMES(layer<16>().forward(1), "layer<16>::forward");
    CHECK_NAMES(l.member(1u), GCC_CLANG("layer<4>::member<unsigned int>",
                                        "layer<4>::member"));
    CHECK_NAMES(l(1), "layer<4>::operator()");
    CHECK_NAMES(static_cast<void>(static_cast<bool>(l)),
                "layer<4>::operator bool");
    CHECK_NAMES(static_cast<void>(l < l), "operator<");
    CHECK_NAMES(l.local(), "layer<4>::local::inside::run");
    CHECK_NAMES(layer_of<layer<2>>().run(),
                "layer_of<layer<2>>::run\nlayer_of<layer<2>>::~layer_of");
}

// By the lines of the marks in them.
TEST(lambdas)
{
    char names[256];
    attach();
    *text = 0;
    layer<4>().lambdas();
    snprintf(names, sizeof names,
             "layer<4>::lambdas\nlayer<4>::lambdas::lambda at %d\n"
             "layer<4>::lambdas::lambda::lambda at %d\n",
             lines[0], lines[1]);
    CHECK_STR(text, names);
    auto lambda = [] {
        GNOMON_FUNCTION();
        lines[0] = __LINE__ - 1;
    };
    *text = 0;
    lambda();
    snprintf(names, sizeof names, "test_run_lambdas::lambda at %d\n", lines[0]);
    CHECK_STR(text, names);
}

#if __cplusplus >= 202002L
template <class T>
requires(sizeof(T) > 1) static void constrained(T)
{
    GNOMON_FUNCTION();
}

TEST(functions_of_later_standards)
{
    attach();
    CHECK_NAMES(constrained(1), "constrained<int>");
    auto generic = [](auto) {
        GNOMON_FUNCTION();
        lines[0] = __LINE__ - 1;
    };
    *text = 0;
    generic(1);
    generic(1.5);
    char names[256];
    const char *in = "test_run_functions_of_later_standards";
    snprintf(names, sizeof names, "%s::lambda at %d\n%s::lambda at %d\n", in,
             lines[0], in, lines[0]);
    CHECK_STR(text, names);
}
#endif

// ---- What else there is --------------------------------------------------------

// Another mark keeps its name, whatever it looks like.
TEST(other_names_stay)
{
    attach();
    *text = 0;
    static gnomon_region plain_name = GNOMON_REGION_INIT(
        GNOMON_KIND_FUNCTION, "void f(int)", nullptr, nullptr);
    gnomon_end(gnomon_begin(&plain_name));
    CHECK_STR(text, "void f(int)\n");
}

TEST(profiles_have_the_short_names)
{
    attach();
    layer<4>().forward(1);
    gnomon_profile *p = nullptr;
    gnomon_region_info r;
    int found = 0;
    CHECK_EQ(gnomon_snapshot(&p, "listener", 1), GNOMON_OK);
    for (size_t i = 1; gnomon_profile_region(p, i, &r) == GNOMON_OK; i++)
        if (strcmp(r.name, "layer<4>::forward") == 0)
            found += r.kind == GNOMON_KIND_FUNCTION &&
                     strcmp(r.function, "forward") == 0;
    CHECK_EQ(found, 1);
    gnomon_profile_free(p);
}
