/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The memory of commands does not grow with the events of files.
 * links: testing
 * threads: none
 * needs: cli
 * timeout: 300 */
#include "program.h"

#include <unistd.h>

#include "advice/findings.h"
#include "many_events.h"
#include "export/export.h"
#include "profile/file_write.h"
#include "profile/model.h"
#include "report/stages.h"
#include "sanitizer.h"

static int write_to(const gnomon_writer *w, const void *at, size_t size)
{
    return fwrite(at, 1, size, w->context) == size ? GNOMON_OK : GNOMON_EIO;
}

/* A process's file with `count` scopes, each a few us after the last, which overlap; those
 * of readings are the same. */
static void save_scopes(const char *path, const char *uuid, uint64_t now,
                        uint32_t count)
{
    gnomon_builder *b;
    gnomon_profile *p = NULL;
    CHECK_EQ(gnomon_builder_create(&b), GNOMON_OK);
    gnomon_add_run(
        b, &(gnomon_run_info){.rank = atoi(uuid), .uuid = uuid, .now_ns = now});
    gnomon_add_region(b, &(gnomon_region_info){.name = "forward"});
    for (uint32_t t = 1; t <= 2; t++) {
        gnomon_add_track(
            b, &(gnomon_track_info){.run = 1, .index = t, .device = -1});
        gnomon_add_node(b, &(gnomon_node_info){.track = t, .region = 1});
    }
    CHECK_EQ(gnomon_builder_finish(b, &p), GNOMON_OK);
    FILE *f = fopen(path, "wb");
    const gnomon_writer out = {
        .struct_size = sizeof out, .write = write_to, .context = f};
    gnomon__file_writer w;
    gnomon__file_start(&w, &out);
    gnomon__file_shared(&w, p);
    gnomon__file_runs(&w, p, NULL);
    for (uint32_t i = 0; i < count; i++) {
        gnomon_event_info e = {.struct_size = sizeof e,
                               .track = 1 + i / (count / 2 + 1),
                               .begin_ns = 3000ull * i,
                               .duration_ns = 1000 + i * 7919u % 50000};
        e.node = e.track;
        gnomon__file_event(&w, &e);
    }
    gnomon__file_events_end(&w);
    CHECK_EQ(gnomon__file_finish(&w), GNOMON_OK);
    fclose(f);
    gnomon_profile_free(p);
}

#define NEEDS_MEASURE() \
    do { \
        NEEDS_PROGRAM; \
        if (IS_SANITIZED) \
            SKIP("sanitizers take memory of their own"); \
    } while (0)

enum { FEW = 100000, MANY = 500000 };

static int forget(const gnomon_writer *w, const void *more, size_t size)
{
    (void)w, (void)more, (void)size;
    return GNOMON_OK;
}

/* Exporters of a file that was cut: no crash, whatever they write. */
TEST(exports_of_a_file_that_is_cut_do_not_crash)
{
    static const gnomon__exporter *const exporters[] = {
        &gnomon__export_chrome,     &gnomon__export_perfetto,
        &gnomon__export_speedscope, &gnomon__export_stacks,
        &gnomon__export_csv,        &gnomon__export_to_json,
        &gnomon__export_prof};
    const gnomon_writer w = {.struct_size = sizeof w, .write = forget};
    NEEDS_PROGRAM;
    for (size_t i = 0; i < sizeof exporters / sizeof *exporters; i++) {
        gnomon_event_info e;
        gnomon_profile *p = NULL;
        save_scopes("cut.gnomon", "0", 1, FEW);
        CHECK_EQ(gnomon_profile_load(&p, "cut.gnomon"), GNOMON_OK);
        const gnomon__export what = {
            .profiles = (const gnomon_profile *const[]){p}, .count = 1};
        CHECK_EQ(truncate("cut.gnomon", 300000), 0);
        (void)exporters[i]->write(&what, &w);
        (void)gnomon_profile_event(p, FEW, &e);
        CHECK(gnomon__profile_failed(p));
        gnomon__findings found;
        CHECK_EQ(gnomon__advise(&found, what.profiles, 1), GNOMON_EIO);
        gnomon__findings_free(&found);
        gnomon_profile_free(p);
    }
}

/* What gnomon report makes its reports of. */
static int stages_of(gnomon__gather *g)
{
    const gnomon_profiler any = {.wants = GNOMON_WANT_TREE};
    const gnomon__cli_profiler of = {.profiler = &any};
    const gnomon__stages_choice all = {.each = 1, .of = &of};
    gnomon__cli_groups groups = {0};
    gnomon__cli_stages stages;
    CHECK_EQ(gnomon__cli_groups_find(&groups, g, 1), GNOMON_OK);
    CHECK_EQ(groups.count, 1);
    int code = gnomon__cli_stages_read(&stages, g, &groups.at[0], &all);
    for (size_t i = 0; !code && i < stages.count; i++) {
        gnomon_profile *p;
        code = gnomon__cli_stage_take(&stages.at[i], &p);
        gnomon_profile_free(p);
    }
    gnomon__cli_stages_free(&stages);
    gnomon__cli_groups_free(&groups);
    return code;
}

/* The file is cut after its run was read, and before its events are. */
TEST(a_report_of_a_file_that_is_cut_is_an_error)
{
    char path[] = "cut.gnomon", *paths[] = {path};
    const gnomon__cli_inputs in = {.paths = paths, .count = 1};
    child_folder();
    for (int is_cut = 0; is_cut < 2; is_cut++) {
        const gnomon_profile *p;
        gnomon__gather g;
        save_scopes(path, "0", 1, FEW);
        CHECK_EQ(gnomon__gather_begin(&g, &in, GNOMON__EVERY_KIND, 1), 0);
        CHECK_EQ(gnomon__merge_run_read(g.merge, 0, &p), GNOMON_OK);
        CHECK_EQ(gnomon_profile_count(p, GNOMON_EVENTS), FEW);
        if (is_cut)
            CHECK_EQ(truncate(path, 300000), 0);
        CHECK_EQ(stages_of(&g), is_cut ? GNOMON_EIO : GNOMON_OK);
        gnomon__gather_end(&g);
    }
}

/* A million events that are held take 64 MB. */
TEST(exports_take_the_same_memory_for_any_number_of_events)
{
    static const char *const formats[] = {"chrome", "perfetto", "csv",
                                          "json",   "stacks",   "speedscope"};
    NEEDS_MEASURE();
    save_scopes("few.gnomon", "0", 1, FEW);
    save_scopes("many.gnomon", "0", 1, MANY);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        char command[80];
        snprintf(command, sizeof command, "export few.gnomon --to %s -o few.x",
                 formats[i]);
        double few = program_kib(command);
        snprintf(command, sizeof command,
                 "export many.gnomon --to %s -o many.x", formats[i]);
        double many = program_kib(command);
        CHECK(few > 0 && many > 0 && many < few + 2048);
    }
}

TEST(a_merge_takes_less_than_32_MiB_for_any_number_of_events)
{
    NEEDS_MEASURE();
    save_scopes("0.gnomon", "0", 1, MANY);
    save_scopes("again.gnomon", "0", 2, MANY); /* of the same process */
    save_scopes("1.gnomon", "1", 1, MANY);
    double kib =
        program_kib("merge 0.gnomon again.gnomon 1.gnomon -o all.gnomon");
    CHECK(kib > 0 && kib < 32 * 1024);
    child_result r = shell("$G info all.gnomon");
    if (!CHECK(strstr(r.out, "1000000") != NULL))
        fprintf(stderr, "%s", r.out);
}

/* Of one reading, and of two of one process. No scope of a tree has ended: status 3. */
TEST(a_report_takes_less_than_16_MiB_for_any_number_of_events)
{
    static const char *const of[] = {"0.gnomon", "0.gnomon again.gnomon"};
    NEEDS_MEASURE();
    save_scopes("0.gnomon", "0", 1, MANY);
    save_scopes("again.gnomon", "0", 2, MANY);
    for (int i = 0; i < 2; i++) {
        child_result r = shell(PROGRAM_PEAK "report --as gaps %s", of[i]);
        CHECK_EQ(r.status, 3);
        CHECK(strstr(r.out, "250001") != NULL);
        CHECK(program_peak(&r) > 0 && program_peak(&r) < 16 * 1024);
    }
}
