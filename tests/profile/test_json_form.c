/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A profile written as JSON and read again is unchanged.
 *
 * links: testing
 * needs: cli */
#include <float.h>
#include <locale.h>
#include <math.h>

#include "json_form.h"
#include "marks.h"
#include "probe_profile.h"
#include "platform/json.h"
#include "platform/memory.h"
#include "sanitizer.h"
#include "full_profile.h"

#define A_NAN ((double)NAN)

/* ---- There and back ------------------------------------------------------------- */

TEST(a_profile_of_every_entity_survives)
{
    NEEDS_JANSSON();
    check_survives(full_of("01"));
    check_survives(full_of("1"));
    check_survives(full_of(""));
}

TEST(equal_profiles_have_equal_bytes)
{
    gnomon_profile *p = full_of("01"), *q = full_of("01");
    char *one = json_of(p), *other = json_of(q);
    CHECK_STR(one, other);
    CHECK(strncmp(one, "{\"gnomon\": 1,\n\"runs\": [\n{\"job\": \"job-7\", ",
                  41) == 0);
    CHECK_STR(one + strlen(one) - 3, "]}\n");
    gnomon_profile_free(p);
    gnomon_profile_free(q);
    free(one);
    free(other);
}

static void *mark_elsewhere(void *name)
{
    gnomon_thread_name(name);
    GNOMON_SCOPE("elsewhere");
    return NULL;
}

TEST(recorded_profiles_survive)
{
    NEEDS_JANSSON();
    pthread_t thread;
    gnomon_region *region =
        gnomon_region_get("a \"b\"\n", "c", GNOMON_KIND_SCOPE);
    attach_probe();
    gnomon_stage_begin("fit");
    gnomon_metadata("key", "{\"lr\": 1e-3}");
    for (int i = 0; i < 100; i++) {
        gnomon_token t = gnomon_begin(region);
        gnomon_link link = gnomon_link_out();
        pass((uint64_t)i * (uint64_t)i * 7);
        GNOMON_SCOPE("inner");
        gnomon_link_in(&link, GNOMON_LINK_LAUNCH);
        pass(20);
        gnomon_counter(gnomon_region_get("loss", NULL, GNOMON_KIND_COUNTER),
                       1.0 / (1 + i));
        if (i % 7)
            gnomon_end(t);
        gnomon_step();
    }
    gnomon_stop("never started"); /* a loss */
    pthread_create(&thread, NULL, mark_elsewhere, (void *)(size_t) "worker");
    pthread_join(thread, NULL);
    gnomon_stage_begin("validate");
    gnomon_begin(region);
    pass(5);
    check_survives(profile_of("probe", 0));
    check_survives(profile_of("probe", 1));
}

/* Profiles that gnomon does not produce, but a form must keep. */
TEST(extreme_values_survive)
{
    NEEDS_JANSSON();
    static char text[200000];
    static const double reals[] = {-0.0,
                                   A_NAN,
                                   HUGE_VAL,
                                   -HUGE_VAL,
                                   DBL_MIN,
                                   DBL_TRUE_MIN,
                                   DBL_MAX,
                                   1e16,
                                   1e17,
                                   123456789e9,
                                   0.3,
                                   1e-5,
                                   1e-7,
                                   5e-324,
                                   2.0 / 3,
                                   1e22,
                                   9007199254740993.0};
    double odd_nan;
    uint64_t bits = 0xfff800000000beefu;
    gnomon_builder *b;
    gnomon_profile *p;
    memcpy(&odd_nan, &bits, sizeof odd_nan);
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    for (size_t i = 0; i + 4 < sizeof text; i += 4)
        memcpy(text + i, i % 8 ? "\xf4\x8f\xbf\xbf" : "\"\\\x01 ", 4);
    gnomon_add_run(b, &(gnomon_run_info){.rank = INT32_MIN,
                                         .pid = INT64_MIN,
                                         .host = text,
                                         .uuid = "",
                                         .zero_unix_ns = UINT64_MAX});
    gnomon_add_track(b, &(gnomon_track_info){.run = 1,
                                             .kind = 77,
                                             .os_id = -1,
                                             .alive = 2,
                                             .inexact = -3,
                                             .device = INT32_MAX});
    gnomon_add_region(b, &(gnomon_region_info){.kind = UINT32_MAX, .name = ""});
    /* A part of a node's device times must lie on a stream, so no node here is one. */
    gnomon_add_node(
        b, &(gnomon_node_info){
               .track = 1,
               .region = 1,
               .flags = UINT32_MAX & ~(uint32_t)GNOMON_NODE_PART,
               .host = &(gnomon_stats){.struct_size = sizeof(gnomon_stats)},
               .work = &(gnomon_work_stats){.struct_size =
                                                sizeof(gnomon_work_stats)}});
    gnomon_add_stage(b, &(gnomon_stage_info){.run = 1});
    gnomon_add_step(b, &(gnomon_step_info){.stage = 1, .phase = -5});
    gnomon_add_op(b, &(gnomon_op_info){.flags = 1u << 31 | 4});
    gnomon_add_link(b, &(gnomon_link_info){.from = 1, .to = 1, .count = 9});
    gnomon_add_loss(b, &(gnomon_loss_info){.count = 1});
    gnomon_event_info e = {.kind = GNOMON_EVENT_MARK, .track = 1, .region = 1};
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        e.value = reals[i];
        gnomon_add_event(b, &e);
    }
    e.value = odd_nan;
    gnomon_add_event(b, &e);
    if (CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_OK))
        check_survives(p);
    else
        fprintf(stderr, "    %s\n", gnomon_error_text());
}

/* ---- Numbers --------------------------------------------------------------------- */

static void check_real(double value, const char *wanted)
{
    char text[GNOMON__JSON_REAL];
    size_t n = gnomon__json_real(value, text);
    CHECK_EQ(n, strlen(text));
    CHECK_STR(text, wanted);
}

static void check_reals(void)
{
    check_real(0, "0");
    check_real(-0.0, "-0.0");
    check_real(-3, "-3");
    check_real(0.1, "0.1");
    check_real(1.0 / 3, "0.3333333333333333");
    check_real(-1.5e-5, "-0.000015");
    check_real(1.5e-6, "1.5e-6");
    check_real(1e-300, "1e-300");
    check_real(9007199254740994.0, "9007199254740994.0");
    check_real(1e16, "10000000000000000.0");
    check_real(1.5e17, "1.5e17");
    check_real(123456.789, "123456.789");
    check_real(DBL_MAX, "1.7976931348623157e308");
    check_real(HUGE_VAL, "\"Infinity\"");
    check_real(-HUGE_VAL, "\"-Infinity\"");
    check_real(A_NAN, "\"NaN\"");
    check_real(-A_NAN, "\"NaN(0xfff8000000000000)\"");
}

TEST(numbers_read_back_to_the_same_bits)
{
    uint64_t state = 1;
    check_reals();
    for (int i = 0; i < 200000; i += EACH) {
        char text[GNOMON__JSON_REAL], *end;
        double value, back;
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint64_t bits = state ^ state >> 31;
        memcpy(&value, &bits, sizeof value);
        size_t n = gnomon__json_real(value, text);
        if (isnan(value) || isinf(value))
            continue;
        back = strtod(text, &end);
        if (!CHECK(memcmp(&back, &value, sizeof value) == 0 && !*end &&
                   n < sizeof text && gnomon__json_valid(text, n)))
            fprintf(stderr, "    %s\n", text);
    }
}

TEST(a_comma_of_the_locale_stays_out)
{
    NEEDS_JANSSON();
    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "de_DE.utf8") &&
        !setlocale(LC_ALL, "fr_FR.UTF-8"))
        SKIP("no locale with a comma");
    check_reals();
    check_survives(full_of("01"));
}

/* ---- Writers --------------------------------------------------------------------- */

/* A large profile is written in pieces of one buffer. */
static size_t largest_piece;

static int pieces_write(const gnomon_writer *w, const void *bytes, size_t size)
{
    if (size > largest_piece)
        largest_piece = size;
    return fake_write(w, bytes, size);
}

TEST(large_profiles_go_out_in_pieces)
{
    gnomon_builder *b;
    gnomon_profile *p, *q;
    fake_writer w;
    gnomon_builder_create(&b);
    for (int i = 0; i < 20000; i++) {
        char name[32];
        snprintf(name, sizeof name, "layer%d.attn", i);
        gnomon_add_region(b, &(gnomon_region_info){.name = name});
    }
    CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_OK);
    fake_open(&w);
    w.base.write = pieces_write;
    gnomon__test_fail_allocation(0);
    CHECK_EQ(gnomon_write(p, "json", &w.base), GNOMON_OK);
    CHECK_EQ(gnomon__test_allocations(), 1);
    CHECK(largest_piece > 65000 && largest_piece <= 65536);
    CHECK(w.size > 400000);
    if (GNOMON_WITH_JANSSON) {
        q = profile_of_json(w.text);
        same_profiles(p, q);
        gnomon_profile_free(q);
    }
    free(w.text);
    for (size_t limit = 0; limit < 400000; limit += 65000) {
        fake_open(&w);
        w.limit = limit;
        CHECK_EQ(gnomon_write(p, "json", &w.base), GNOMON_EIO);
        CHECK(w.size <= limit);
        free(w.text);
    }
    fake_open(&w);
    gnomon__test_fail_allocation(1);
    CHECK_EQ(gnomon_write(p, "json", &w.base), GNOMON_ENOMEM);
    CHECK_EQ(w.size, 0);
    CHECK(strstr(gnomon_error_text(), "no memory") != NULL);
    free(w.text);
    gnomon_profile_free(p);
}

/* ---- Others' readers ------------------------------------------------------------- */

TEST(python_reads_it)
{
    static const char program[] =
        "import json, sys\n"
        "d = json.load(open(sys.argv[1], encoding='utf-8'))\n"
        "assert list(d)[0] == 'gnomon' and d['gnomon'] == 1\n"
        "assert d['runs'][0]['now_ns'] == str(2**63 + 6)\n"
        "assert d['runs'][0]['host'] == 'node\\t1 \\u00e9'\n"
        "assert d['tracks'][0]['os_id'] == 2**63 - 1\n"
        "assert d['nodes'][0]['host']['cells'] == [[179, 3]]\n"
        "assert d['ops'][0]['flags'] == ['backward', 'flops_given']\n"
        "assert d['counters'][0]['max'] == sys.float_info.max\n"
        "assert json.loads(d['metadata'][0]['json'])[0] == 1.5\n";
    char path[] = "/tmp/gnomon-json-XXXXXX", command[1500];
    if (system("python3 -c 0 2> /dev/null"))
        SKIP("no python3 here");
    gnomon_profile *p = full_of("01");
    char *text = json_of(p);
    int fd = mkstemp(path);
    CHECK_EQ(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    snprintf(command, sizeof command, "python3 -c \"%s\" %s", program, path);
    CHECK_EQ(system(command), 0);
    unlink(path);
    free(text);
    gnomon_profile_free(p);
}
