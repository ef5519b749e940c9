/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Structured payloads and registered counters of programs that know nothing of
 * gnomon (tests/nvtx_in/extended.c).
 * timeout: 300
 * labels: guest */
#include <math.h>

#include "gnomon.h"
#include "injected.h"
#include "sanitizer.h"

#define RUN(spec, ...) \
    run_at(AT("extended"), spec, (const char *const[]){__VA_ARGS__, NULL})
#define PROFILE(...) profile_of(RUN("profile,file=p.gnomon", __VA_ARGS__))

#define NEEDS_EXTENSIONS \
    NEEDS_NVTX; \
    do { \
        if (RUN(NULL, "nothing").status == 77) \
            SKIP("NVTX's headers have no extensions, or older ones"); \
    } while (0)

/* All samples of the counter "name [category]", or "name". */
static gnomon_counter_info counter_at(const gnomon_profile *p, const char *name)
{
    gnomon_counter_info c, sum = {.count = 0};
    gnomon_region_info r;
    for (uint32_t i = 1; p && i <= gnomon_profile_count(p, GNOMON_COUNTERS);
         i++) {
        char text[512] = "";
        gnomon_profile_counter(p, i, &c);
        gnomon_profile_region(p, c.region, &r);
        append(text, r.name, "");
        if (*r.category) {
            append(text, " [", r.category);
            append(text, "]", "");
        }
        if (strcmp(text, name) != 0)
            continue;
        sum.min = !sum.count || c.min < sum.min ? c.min : sum.min;
        sum.max = !sum.count || c.max > sum.max ? c.max : sum.max;
        sum.last = c.last;
        sum.sum += c.sum;
        sum.count += c.count;
    }
    return sum;
}

#define CHECK_COUNTER(p, name, samples, total) \
    do { \
        gnomon_counter_info counter_c = counter_at(p, name); \
        CHECK_EQ(counter_c.count, samples); \
        if (!CHECK(counter_c.sum == (total))) \
            fprintf(stderr, "    %s: %g\n", name, counter_c.sum); \
    } while (0)

/* ---- Payloads ------------------------------------------------------------ */

/* Its registered names, its ids, its mask of what it says. */
TEST(parameters_of_nccl_are_counters)
{
    NEEDS_EXTENSIONS;
    child_result r = RUN("simple", "nccl=8");
    CHECK_STR(r.out, "");
    CHECK_TABLE(r.err, "Profiler Report", "ncclCommInitRank", "ncclAllReduce",
                "ncclSend");
    CHECK_EQ(calls_of(r.err, "ncclAllReduce"), 8);
    gnomon_profile *p = PROFILE("nccl=8");
    CHECK_EQ(count_at(p, "ncclAllReduce [NCCL]"), 8);
    CHECK_EQ(count_at(p, "!(null) [NCCL]"), 1);
    CHECK_EQ(count_all(p), 18);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_COUNTERS), 13);
    CHECK_COUNTER(p, "ncclCommInitRank.Communicator [NCCL]", 1, 7);
    CHECK_COUNTER(p, "ncclCommInitRank.No. of ranks [NCCL]", 1, 8);
    CHECK_COUNTER(p, "ncclCommInitRank.CUDA device [NCCL]", 1, 1);
    CHECK_COUNTER(p, "ncclAllReduce.Message size [bytes] [NCCL]", 8, 20480);
    CHECK_COUNTER(p, "ncclAllReduce.Operation [NCCL]", 8, 16);
    CHECK_COUNTER(p, "ncclSend.Peer [NCCL]", 8, 16);
    CHECK(counter_at(p, "ncclSend.Peer [NCCL]").min == -1);
    gnomon_profile_free(p);
    p = profile_of(RUN("profile(filter=ncclSend*),file=p.gnomon", "nccl=8"));
    CHECK_EQ(count_all(p), 8);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_COUNTERS), 3);
    gnomon_profile_free(p);
}

/* What gnomon's own profiler nvtx sends with an operation. */
TEST(operations_of_gnomon_are_counters)
{
    NEEDS_EXTENSIONS;
    gnomon_profile *p = profile_of(run_at(AT("ops"), "profile,file=p.gnomon",
                                          (const char *const[]){NULL}));
    CHECK_EQ(count_at(p, "linear [mine]"), 2);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_COUNTERS), 3);
    CHECK_COUNTER(p, "linear.flops [mine]", 2, 65536);
    CHECK_COUNTER(p, "linear.bytes [mine]", 2, 20480);
    CHECK_COUNTER(p, "linear.backward [mine]", 2, 2);
    gnomon_profile_free(p);
}

TEST(events_that_are_payloads_have_text_and_category)
{
    NEEDS_EXTENSIONS;
    child_result r = RUN("simple", "alone");
    CHECK_STR(r.out, "0 1 1 0 -1\n");
    CHECK_TABLE(r.err, "Profiler Report", "epoch", "plain");
    gnomon_profile *p = PROFILE("alone");
    /* The push and, on a path of its own, the range of the same name. */
    CHECK_EQ(count_at(p, "epoch [lib/five]"), 2);
    CHECK_EQ(count_at(p, "epoch [lib/five] > plain [lib]"), 1);
    CHECK_EQ(count_at(p, "!epoch [lib/five]"), 2);
    CHECK_EQ(count_at(p, "!last [lib]"), 1);
    CHECK_EQ(count_at(p, "!attributes [lib/five]"), 1);
    CHECK_EQ(count_at(p, "!attributes [lib/7]"), 1);
    CHECK_EQ(count_all(p), 8);
    CHECK_COUNTER(p, "epoch.loss [lib/five]", 4, 2);
    CHECK_COUNTER(p, "epoch.n [lib/five]", 2, 7); /* push and pop */
    CHECK_COUNTER(p, "last.loss [lib]", 2, 2.5);
    CHECK_COUNTER(p, "plain.n [lib]", 2, 8);
    CHECK_COUNTER(p, "attributes.n [lib/five]", 1, 5);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_COUNTERS), 5);
    gnomon_profile_free(p);
}

TEST(texts_have_many_forms)
{
    NEEDS_EXTENSIONS;
    static const char *const once[] = {"!pointer",
                                       "!within",
                                       "!cut ",
                                       "!fixed",
                                       "!fi",
                                       "!ended",
                                       "!cou",
                                       "!",
                                       "!more",
                                       "!u\U0001F600\ufffd\ufffd",
                                       "!\u00fc\U0001F600"};
    gnomon_region_info r;
    uint32_t longest = 0;
    gnomon_profile *p = PROFILE("texts");
    for (size_t i = 0; i < sizeof once / sizeof *once; i++)
        if (!CHECK_EQ(count_at(p, once[i]), 1))
            fprintf(stderr, "    %s\n", once[i]);
    CHECK_EQ(count_at(p, "!wit"), 2); /* as far as its payload goes */
    for (uint32_t i = 1; i <= gnomon_profile_count(p, GNOMON_REGIONS); i++)
        if (gnomon_profile_region(p, i, &r) == GNOMON_OK)
            longest += strspn(r.name, "l") == 900 && !r.name[900];
    CHECK_EQ(longest, 1);
    CHECK_EQ(count_all(p), 14);
    CHECK_COUNTER(p, "fixed.after", 1, 7);
    CHECK_COUNTER(p, "fi.after", 1, 9);
    CHECK_COUNTER(p, "ended.before", 1, 1);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_COUNTERS), 4);
    gnomon_profile_free(p);
}

TEST(numbers_of_every_type_are_exact)
{
    NEEDS_EXTENSIONS;
    static const struct {
        const char *name;
        double value;
    } fields[] = {{"c", -1},      {"uc", 255},  {"s", -2},
                  {"us", 65535},  {"i", -3},    {"u", 2147483648.0},
                  {"l", -5},      {"ul", 6},    {"i8", -7},
                  {"u16", 65534}, {"i64", -8},  {"u64", 9223372036854775808.0},
                  {"f", 0.5},     {"d", -2.5},  {"ld", 1.25},
                  {"size", 9},    {"half", -5}, {"small", 0x1p-24},
                  {"brain", 1.5}, {"tf", 1.5},  {"after", 10}};
    size_t n = sizeof fields / sizeof *fields;
    gnomon_profile *p = PROFILE("types");
    CHECK_EQ(count_at(p, "!types"), 1);
    for (size_t i = 0; i < n; i++) {
        char name[32];
        snprintf(name, sizeof name, "types.%s", fields[i].name);
        CHECK_COUNTER(p, name, 1, fields[i].value);
    }
    CHECK_EQ(gnomon_profile_count(p, GNOMON_COUNTERS), n);
    gnomon_profile_free(p);
}

TEST(fields_are_read_at_their_offsets)
{
    NEEDS_EXTENSIONS;
    gnomon_profile *p = PROFILE("layouts");
    CHECK_COUNTER(p, "outer.one.a", 1, 1);
    CHECK_COUNTER(p, "outer.one.b", 1, 2);
    CHECK_COUNTER(p, "outer.last", 1, 7); /* behind two arrays */
    CHECK_COUNTER(p, "deep.before", 1, 1);
    CHECK_COUNTER(p, "deep.deep.x.a", 1, 2);
    CHECK_COUNTER(p, "deep.deep.x.b", 1, 3);
    CHECK_COUNTER(p, "deep.deep.y", 1, 4);
    CHECK_COUNTER(p, "deep.after", 1, 5);
    CHECK_COUNTER(p, "packed.a", 1, 1);
    CHECK_COUNTER(p, "packed.b", 1, 2);
    CHECK_COUNTER(p, "packed.d", 1, 7);
    CHECK_COUNTER(p, "roomy.x.a", 1, 1);
    CHECK_COUNTER(p, "roomy.x.b", 1, 2);
    CHECK_COUNTER(p, "roomy.after", 1, 3);
    CHECK_COUNTER(p, "narrow.a", 1, 1);
    CHECK_COUNTER(p, "long.b", 1, 2);
    CHECK_COUNTER(p, "gap.known", 1, 1);
    CHECK_COUNTER(p, "gap.told", 1, 4);
    CHECK_COUNTER(p, "bare", 2, 5);
    /* ... and no other event leaves anything. */
    CHECK_EQ(gnomon_profile_count(p, GNOMON_COUNTERS), 19);
    CHECK_EQ(count_all(p), 10);
    gnomon_profile_free(p);
}

TEST(registered_counters_are_counters)
{
    NEEDS_EXTENSIONS;
    CHECK_STR(RUN(NULL, "counters").out, "1 1 1 1\n");
    gnomon_profile *p = PROFILE("counters");
    CHECK_COUNTER(p, "temperature", 4, -10);
    CHECK(counter_at(p, "temperature").last == -4);
    CHECK_COUNTER(p, "mine [lib]", 3, 4); /* 1.5, 2.5 and zero */
    CHECK_COUNTER(p, "node.free [lib]", 4, 3 + 5 + 5);
    CHECK_COUNTER(p, "node.load [lib]", 3, 1);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_COUNTERS), 4);
    CHECK_EQ(count_all(p), 0);
    gnomon_profile_free(p);
}

/* Eight threads that register the same layouts at once. */
TEST(threads_share_layouts_and_counters)
{
    NEEDS_EXTENSIONS;
    long long n = IS_TSAN || IS_ASAN ? 100 : 2000;
    gnomon_profile *p =
        n == 100 ? PROFILE("threads=100") : PROFILE("threads=2000");
    CHECK_EQ(count_at(p, "ncclSend [NCCL]"), 8 * n);
    CHECK_EQ(count_at(p, "ncclAllReduce [NCCL]"), 8 * n);
    CHECK_EQ(count_at(p, "round [lib]"), 16 * n); /* scopes and ranges */
    CHECK_EQ(count_all(p), 8 * (4 * n + 1));
    CHECK_COUNTER(p, "ncclSend.Message size [bytes] [NCCL]", 8 * n,
                  (double)(800 * n));
    CHECK_COUNTER(p, "ncclAllReduce.Message size [bytes] [NCCL]", 8 * n,
                  (double)(8 * n / 4 * 10240));
    CHECK_COUNTER(p, "round.loss [lib]", 24 * n, (double)(6 * n));
    CHECK_COUNTER(p, "ticks [lib]", 8 * n, (double)(4 * n * (n - 1)));
    gnomon_profile_free(p);
}

/* ---- Trouble ----------------------------------------------------------------- */

TEST(no_payload_is_read_past_its_end)
{
    NEEDS_EXTENSIONS;
    child_result r = RUN("simple", "bad", "bad");
    CHECK_EQ(r.status, 0);
    CHECK_EQ(calls_of(r.err, "(null)"), 2);
    gnomon_profile *p = PROFILE("bad");
    CHECK_EQ(count_at(p, "!pair"), 20);
    CHECK_COUNTER(p, "pair.one", 17,
                  17.0 * 'a'); /* of 1 to 16, and an unknown size */
    CHECK_EQ(counter_at(p, "pair.two").count, 2);
    CHECK_COUNTER(p, "far.near", 1, 'a');
    CHECK_EQ(counter_at(p, "(null).length").count, 2); /* and one NaN */
    CHECK_EQ(gnomon_profile_count(p, GNOMON_COUNTERS), 4);
    CHECK_EQ(count_at(p, "!abcdefg"), 1); /* of 40 */
    CHECK_EQ(count_at(p, "!no text"), 1);
    CHECK_EQ(count_at(p, "!itself"), 1);
    CHECK_EQ(count_at(p, "!category"), 1); /* which ends outside */
    gnomon_profile_free(p);
}

TEST(layouts_that_are_none_are_refused)
{
    NEEDS_EXTENSIONS;
    CHECK_STR(RUN("simple", "refused").out, "0000000000011101\n");
    gnomon_profile *p = PROFILE("refused");
    CHECK_EQ(count_at(p, "!five"), 1);
    CHECK_COUNTER(p, "six.one", 1, '6'); /* the first that had its id */
    CHECK_EQ(gnomon_profile_count(p, GNOMON_COUNTERS), 1);
    gnomon_profile_free(p);
}

TEST(what_is_kept_is_bounded_and_reported)
{
    NEEDS_EXTENSIONS;
    child_result r = RUN("simple", "many=5000");
    CHECK_EQ(r.status, 0);
    CHECK_EQ(calls_of(r.err, "kept"), 4096);
    CHECK_EQ(calls_of(r.err, "not kept"), 904);
    CHECK_EQ(times_in(r.err, "gnomon: NVTX: more than 65536 fields are in "
                             "payloads: the rest are not kept\n"),
             1);
    CHECK_EQ(times_in(r.err, "gnomon: NVTX: more than 4096 counters are "
                             "registered: the rest are not kept\n"),
             1);
    gnomon_profile *p = PROFILE("many=5000");
    CHECK_COUNTER(p, "many0.field", 20, 2 * 45 + 20.0 * '0');
    gnomon_profile_free(p);
}

/* ---- Off ---------------------------------------------------------------------- */

TEST(unset_is_silent)
{
    NEEDS_EXTENSIONS;
    child_result r = RUN(NULL, "is_on", "nccl=8", "alone", "texts", "types",
                         "layouts", "bad", "threads=10", "many=5000");
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.err, "");
    CHECK_STR(r.out, "0 0\n-2 -2 -2 -2 -2\n");
}

TEST(a_domain_is_enabled_while_something_is_attached)
{
    NEEDS_EXTENSIONS;
    CHECK_STR(RUN("simple", "is_on").out, "1 1\n");
    CHECK_STR(RUN("nothing_like_it", "is_on").out, "0 0\n");
}
