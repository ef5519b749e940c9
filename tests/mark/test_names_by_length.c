/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Every call by name has a form that takes lengths, for languages whose strings
 * do not end with NUL: the same text is the same name in both forms, nothing after
 * the length is read, and a NUL inside is a byte that is not UTF-8.
 * links: testing */
#include <stdlib.h>

#include "marks.h"
#include "probe_profile.h"

/* `text` without a NUL, at the end of a block of its own, so that a sanitizer sees
 * a byte that is read past it. */
static char *bare(const char *text)
{
    size_t n = strlen(text);
    char *copy = malloc(n ? n : 1);
    return copy ? memcpy(copy, text, n) : NULL;
}

#define BARE(variable, text) \
    char *variable = bare(text); \
    const size_t variable##_n = strlen(text)

TEST(a_region_is_the_same_by_either_form)
{
    BARE(name, "forward");
    BARE(category, "model");
    gnomon_region *r = gnomon_host_get()->region_get(
        name, name_n, category, category_n, GNOMON_KIND_SCOPE);
    CHECK(r == gnomon_region_get("forward", "model", GNOMON_KIND_SCOPE));
    CHECK_STR(r->name, "forward");
    CHECK_STR(r->category, "model");
    CHECK(r != gnomon_host_get()->region_get(name, name_n - 1, category,
                                             category_n, GNOMON_KIND_SCOPE));
    CHECK(gnomon_host_get()->region_get("x", 0, "", 0, GNOMON_KIND_SCOPE) ==
          gnomon_region_get("", NULL, GNOMON_KIND_SCOPE));
    CHECK(gnomon_host_get()->region_get(NULL, 7, NULL, 7, GNOMON_KIND_SCOPE) ==
          gnomon_region_get("(null)", NULL, GNOMON_KIND_SCOPE));
    free(name);
    free(category);
}

/* An interned mark has no row in a table of scopes. */
TEST(a_region_has_the_kind_that_was_asked_for)
{
    gnomon_region *mark = gnomon_region_get("n", NULL, GNOMON_KIND_MARK);
    CHECK(mark != gnomon_region_get("n", NULL, GNOMON_KIND_SCOPE));
    CHECK_EQ(mark->kind, GNOMON_KIND_MARK);
    CHECK_EQ(gnomon_region_get("n", NULL, GNOMON_KIND_COLLECTIVE)->kind,
             GNOMON_KIND_COLLECTIVE);
    CHECK(gnomon_region_get("n", NULL, -1) ==
          gnomon_region_get("n", NULL, GNOMON_KIND_SCOPE));
    CHECK(gnomon_region_get("n", NULL, 1 << 20) ==
          gnomon_region_get("n", NULL, GNOMON_KIND_SCOPE));
}

TEST(a_nul_inside_is_replaced)
{
    gnomon_health before = health_now();
    gnomon_region *r =
        gnomon_host_get()->region_get("a\0b", 3, NULL, 0, GNOMON_KIND_SCOPE);
    CHECK_STR(r->name, "a\xEF\xBF\xBD"
                       "b");
    CHECK(r != gnomon_region_get("a", NULL, GNOMON_KIND_SCOPE));
    CHECK(r ==
          gnomon_host_get()->region_get("a\0b", 3, NULL, 0, GNOMON_KIND_SCOPE));
    CHECK_HEALTH(before, .bad_names = 2);
    char *zeros = calloc(1, 5000);
    if (!CHECK(zeros != NULL))
        return;
    r = gnomon_host_get()->region_get(zeros, 5000, zeros, 5000,
                                      GNOMON_KIND_SCOPE);
    CHECK(strlen(r->name) <= 1024);
    zeros[4999] = 1;
    CHECK(r != gnomon_host_get()->region_get(zeros, 5000, zeros, 5000,
                                             GNOMON_KIND_SCOPE));
    free(zeros);
}

TEST(actions_by_either_form_are_one)
{
    BARE(name, "optimizer_step");
    attach_probe();
    gnomon_health before = health_now();
    gnomon_start_n(name, name_n);
    pass(3);
    gnomon_stop("optimizer_step");
    gnomon_start("optimizer_step");
    gnomon_start_n(name, name_n);
    pass(4);
    gnomon_stop_n(name, name_n);
    gnomon_stop_n(name, name_n - 1);
    gnomon_start_n(NULL, 3);
    gnomon_stop(NULL);
    CHECK_HEALTH(before, .twice = 1, .never_started = 1, .bad_names = 2);
    gnomon_profile *p = profile_of("probe", 1);
    CHECK_NODE(p, "optimizer_step", 2, 7, 7);
    CHECK_EQ(calls_of(p, "(null)"), 1);
    gnomon_profile_free(p);
    free(name);
}

TEST(threads_stages_and_metadata_are_named_by_length)
{
    BARE(fit, "fit");
    BARE(key, "batch");
    BARE(json, "{\"size\": 8}");
    attach_probe();
    gnomon_host_get()->thread_name("worker 7", 6);
    CHECK_EQ(gnomon_host_get()->stage_begin(fit, fit_n), GNOMON_OK);
    CHECK_EQ(gnomon_host_get()->metadata(key, key_n, json, json_n), GNOMON_OK);
    CHECK_EQ(gnomon_host_get()->metadata(key, key_n, json, json_n - 1),
             GNOMON_EINVAL);
    CHECK_STR(gnomon_error_text(),
              "gnomon_metadata: the value of batch is not JSON; a text needs "
              "its quotes");
    gnomon_start("a");
    gnomon_stop("a");
    gnomon_profile *p = NULL;
    CHECK_EQ(gnomon_host_get()->snapshot(&p, "probes", 5, 0), GNOMON_OK);
    gnomon_stage_info stage;
    gnomon_track_info track;
    gnomon_metadata_info data;
    CHECK_EQ(gnomon_profile_stage(p, 1, &stage), GNOMON_OK);
    CHECK_STR(stage.name, "fit");
    CHECK_EQ(gnomon_profile_track(p, 1, &track), GNOMON_OK);
    CHECK_STR(track.name, "worker");
    CHECK_EQ(gnomon_profile_metadata(p, 1, &data), GNOMON_OK);
    CHECK_STR(data.key, "batch");
    CHECK_STR(data.json, "{\"size\": 8}");
    gnomon_profile_free(p);
    free(fit);
    free(key);
    free(json);
}

static int bytes_out;

static int count_bytes(const gnomon_writer *writer, const void *bytes,
                       size_t size)
{
    (void)writer, (void)bytes;
    bytes_out += (int)size;
    return GNOMON_OK;
}

TEST(control_calls_take_lengths)
{
    const gnomon_writer out = {.struct_size = sizeof out, .write = count_bytes};
    gnomon_profile *p = NULL;
    BARE(spec, "simple(extended=false)");
    BARE(options, "filter=a*");
    char resolved[256];
    CHECK_EQ(gnomon_host_get()->configure(spec, spec_n), GNOMON_OK);
    gnomon_spec(resolved, sizeof resolved);
    CHECK(strstr(resolved, "extended=false") != NULL);
    CHECK_EQ(gnomon_host_get()->summary("SIMPLETON", 6, &out), GNOMON_OK);
    CHECK(bytes_out > 0);
    CHECK_EQ(gnomon_host_get()->summary("simple", 5, &out), GNOMON_ENOENT);
    CHECK_STR(gnomon_error_text(), "no profiler 'simpl' is attached");
    CHECK_EQ(gnomon_host_get()->snapshot(&p, NULL, 3, 0), GNOMON_ENOENT);
    CHECK_EQ(gnomon_host_get()->attach(&probe, NULL, options, options_n),
             GNOMON_OK);
    gnomon_start("a1");
    gnomon_stop("a1");
    gnomon_start("b1");
    gnomon_stop("b1");
    p = profile_of("probe", 1);
    CHECK_EQ(calls_of(p, "a1"), 1);
    CHECK_EQ(calls_of(p, "b1"), 0);
    gnomon_profile_free(p);
    CHECK_EQ(gnomon_detach(&probe, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_host_get()->attach(&probe, NULL, "nonsense", 0), GNOMON_OK);
    CHECK_EQ(gnomon_detach(&probe, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_host_get()->configure("simple", 0), GNOMON_OK);
    gnomon_spec(resolved, sizeof resolved);
    CHECK_STR(resolved, "");
    free(spec);
    free(options);
}
