/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gnomon_write and gnomon_report: a profile that the program holds, in other forms and
 * as text.
 *
 * links: testing */
#include <stdlib.h>
#include <sys/stat.h>

#include "each_allocation.h"
#include "marks.h"
#include "platform/memory.h"
#include "probe_profile.h"
#include "program.h"
#include "sanitizer.h"
#include "taping.h"

typedef struct held_text {
    char *at;
    size_t length;
    int calls, fails_with;
} held_text;

static int held_write(const gnomon_writer *w, const void *bytes, size_t size)
{
    held_text *t = w->context;
    t->calls++;
    if (t->fails_with)
        return t->fails_with;
    t->at = realloc(t->at, t->length + size + 1);
    memcpy(t->at + t->length, bytes, size);
    t->length += size;
    t->at[t->length] = 0;
    return GNOMON_OK;
}

static gnomon_writer writer_to(held_text *t)
{
    return (gnomon_writer){.struct_size = sizeof(gnomon_writer),
                           .write = held_write,
                           .context = t};
}

/* Scopes of three names in two levels, with events. */
static void some_marks(void)
{
    for (int i = 0; i < 3; i++) {
        GNOMON_SCOPE("train_step");
        for (int k = 0; k < 2; k++) {
            GNOMON_SCOPE_IN("io", "load");
            pass(1000);
        }
        GNOMON_SCOPE("forward \"x\"");
        pass(5000);
        gnomon_step();
    }
}

static gnomon_profile *held_profile(void)
{
    gnomon__test_set(1000);
    CHECK_EQ(gnomon_attach(&taper, NULL, NULL), GNOMON_OK);
    some_marks();
    gnomon_profile *p = profile_of("taper", 0);
    CHECK_EQ(gnomon_detach(&taper, NULL), GNOMON_OK);
    return p;
}

static held_text report_of(const gnomon_profile *p, const char *report)
{
    held_text t = {0};
    gnomon_writer w = writer_to(&t);
    if (!CHECK_EQ(gnomon_report(p, report, &w), GNOMON_OK))
        fprintf(stderr, "    %s: %s\n", report, gnomon_error_text());
    CHECK_EQ(t.calls, 1);
    return t;
}

static void refused(const gnomon_profile *p, const char *report, int code,
                    const char *text)
{
    held_text t = {0};
    gnomon_writer w = writer_to(&t);
    CHECK_EQ(gnomon_report(p, report, &w), code);
    if (!CHECK(strstr(gnomon_error_text(), text) != NULL))
        fprintf(stderr, "    %s: %s\n", report, gnomon_error_text());
    CHECK_EQ(t.calls, 0);
}

/* ---- Reports ------------------------------------------------------------------------ */

TEST(a_report_is_that_of_the_profiler)
{
    static const char *const names[] = {"simple", "tree", "regions", "advanced",
                                        "steps"};
    gnomon__test_set(1000);
    CHECK_EQ(gnomon_attach(NULL, NULL,
                           "simple,tree,regions,advanced,steps,file=/dev/null"),
             GNOMON_OK);
    some_marks();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        held_text live = {0};
        gnomon_writer w = writer_to(&live);
        gnomon_profile *p = profile_of(names[i], 0);
        CHECK_EQ(gnomon_summary(names[i], &w), GNOMON_OK);
        held_text held = report_of(p, names[i]);
        CHECK_STR(held.at, live.at);
        free(held.at);
        free(live.at);
        gnomon_profile_free(p);
    }
    gnomon_attach(NULL, NULL, "");
}

TEST(a_report_takes_the_options_of_its_own)
{
    gnomon_profile *p = held_profile();
    held_text all = report_of(p, "tree"), one = report_of(p, "tree(limit=1)");
    CHECK(strstr(all.at, "load") != NULL);
    CHECK(strstr(one.at, "load") == NULL);
    CHECK(strstr(one.at, "train_step") != NULL);
    free(all.at);
    free(one.at);
    held_text by_length = {0};
    gnomon_writer w = writer_to(&by_length);
    CHECK_EQ(gnomon_host_get()->report(p, "treetop", 4, &w), GNOMON_OK);
    free(by_length.at);
    gnomon_profile_free(p);
}

TEST(a_wrong_report_says_what_to_do)
{
    gnomon_profile *p = held_profile();
    held_text t = {0};
    gnomon_writer w = writer_to(&t), none = {.struct_size = sizeof none};
    refused(p, "treee", GNOMON_ENOENT, "did you mean 'tree'?");
    refused(p, "trace", GNOMON_ENOENT, "no report 'trace'");
    refused(p, "./libmine.so", GNOMON_ENOENT, "no report");
    refused(p, "tree(limit=many)", GNOMON_EINVAL, "limit");
    refused(p, "tree(limmit=1)", GNOMON_EINVAL, "did you mean 'limit'?");
    refused(p, "tree(filter=a*)", GNOMON_EINVAL, "no option 'filter'");
    refused(p, "tree(columns=totl)", GNOMON_EINVAL, "columns=totl: say name");
    refused(p, "tree(format=xml)", GNOMON_EINVAL, "format=xml: say text");
    refused(p, "simple(sort=size)", GNOMON_EINVAL, "sort=size: say total");
    refused(p, "tree(", GNOMON_EINVAL, "");
    refused(p, "tree,simple", GNOMON_EINVAL, "one report");
    refused(p, "", GNOMON_EINVAL, "one report");
    CHECK_EQ(gnomon_report(NULL, "tree", &w), GNOMON_EINVAL);
    CHECK_EQ(gnomon_report(p, NULL, &w), GNOMON_EINVAL);
    CHECK_EQ(gnomon_report(p, "tree", NULL), GNOMON_EINVAL);
    CHECK_EQ(gnomon_report(p, "tree", &none), GNOMON_EINVAL);
    t.fails_with = GNOMON_EPLUGIN;
    CHECK_EQ(gnomon_report(p, "tree", &w), GNOMON_EPLUGIN);
    gnomon_profile_free(p);
}

TEST(stages_are_not_mixed_into_one_report)
{
    gnomon__test_set(1000);
    attach_probe();
    for (int i = 0; i < 2; i++) {
        gnomon_stage_begin(i ? "test" : "fit");
        some_marks();
        gnomon_stage_end();
    }
    gnomon_profile *p = profile_of("probe", 1);
    refused(p, "tree", GNOMON_ESTATE, "several runs, stages or views");
    gnomon_profile_free(p);
}

/* ---- Exports ------------------------------------------------------------------------ */

static held_text export_of(const gnomon_profile *p, const char *form)
{
    held_text t = {0};
    gnomon_writer w = writer_to(&t);
    CHECK_EQ(gnomon_write(p, form, &w), GNOMON_OK);
    return t;
}

static void holds(const char *path, const held_text *t)
{
    FILE *file = fopen(path, "rb");
    char *bytes = malloc(t->length + 2);
    if (!CHECK(file != NULL) || !bytes)
        return;
    CHECK_EQ(fread(bytes, 1, t->length + 2, file), t->length);
    CHECK(memcmp(bytes, t->at, t->length) == 0);
    fclose(file);
    free(bytes);
}

static const char *const formats[] = {"gnomon", "json", "chrome"};

TEST(an_export_is_the_same_each_time_and_in_a_file)
{
    child_folder();
    gnomon_profile *p = held_profile();
    for (int i = 0; i < 3; i++) {
        const char *form = formats[i];
        held_text one = export_of(p, form), two = export_of(p, form);
        CHECK_EQ(one.length, two.length);
        CHECK(memcmp(one.at, two.at, one.length) == 0);
        CHECK_EQ(gnomon_write_file(p, form, "new/folder/file"), GNOMON_OK);
        holds("new/folder/file", &one);
        CHECK_EQ(gnomon_write_file(p, form, "new/folder/file"), GNOMON_OK);
        holds("new/folder/file", &one);
        if (strcmp(form, "chrome") == 0) {
            CHECK_EQ(times_in(one.at, "\"name\":\"load\""), 6);
            CHECK_EQ(times_in(one.at, "ProfilerStep#"), 3);
            CHECK_EQ(times_in(one.at, "forward \\\"x\\\""), 3);
        } else {
            held_text same = {0};
            gnomon_writer w = writer_to(&same);
            CHECK_EQ(gnomon_write(p, form, &w), GNOMON_OK);
            CHECK_EQ(same.length, one.length);
            CHECK(memcmp(same.at, one.at, one.length) == 0);
            free(same.at);
        }
        free(one.at);
        free(two.at);
    }
    gnomon_profile_free(p);
}

static void not_written(const gnomon_profile *p, const char *path,
                        const char *form, int code, const char *text)
{
    CHECK_EQ(gnomon_write_file(p, form, path), code);
    if (!CHECK(strstr(gnomon_error_text(), text) != NULL))
        fprintf(stderr, "    %s: %s\n", path, gnomon_error_text());
}

TEST(a_file_that_cannot_be_written_is_an_error_and_leaves_nothing)
{
    child_folder();
    gnomon_profile *p = held_profile();
    struct stat about;
    program_put("old", "kept");
    for (int i = 0; i < 3; i++) {
        const char *form = formats[i];
        not_written(p, "/dev/full", form, GNOMON_EIO,
                    "cannot write /dev/full: ");
        not_written(p, "old/file", form, GNOMON_EIO, "cannot write old/file: ");
        not_written(p, ".", form, GNOMON_EIO, "cannot write .: ");
    }
    not_written(p, "old", "chromes", GNOMON_EINVAL, "form");
    not_written(p, "old", NULL, GNOMON_EINVAL, "form");
    not_written(p, "", "chrome", GNOMON_EINVAL, "no path");
    not_written(p, NULL, "chrome", GNOMON_EINVAL, "no path");
    not_written(NULL, "old", "chrome", GNOMON_EINVAL, "no profile");
    CHECK_STR(child_read("old"), "kept");
    CHECK_STR(shell("ls -A | grep -v '^\\.[eo]'").out, "old\n");
    CHECK_EQ(stat("/dev/full", &about), 0);
    CHECK(S_ISCHR(about.st_mode));
    gnomon_profile_free(p);
}

TEST(an_export_returns_what_its_writer_returned)
{
    gnomon_profile *p = held_profile();
    gnomon_writer none = {.struct_size = sizeof none};
    for (int i = 0; i < 3; i++) {
        const char *form = formats[i];
        held_text t = {.fails_with = GNOMON_EPLUGIN};
        gnomon_writer w = writer_to(&t);
        CHECK_EQ(gnomon_write(p, form, &w), GNOMON_EPLUGIN);
        CHECK_EQ(gnomon_write(NULL, form, &w), GNOMON_EINVAL);
        CHECK_EQ(gnomon_write(p, form, NULL), GNOMON_EINVAL);
        CHECK_EQ(gnomon_write(p, form, &none), GNOMON_EINVAL);
    }
    gnomon_profile_free(p);
}

/* ---- Without memory ----------------------------------------------------------------- */

static gnomon_profile *shared_profile;

/* Either all was made, or `code` says why not. */
static int is_right(uint64_t failing, int code, int is_whole)
{
    int came = gnomon__test_allocations() >= failing;
    gnomon__test_fail_allocation(0);
    if (code == GNOMON_OK ? !is_whole
                          : code != GNOMON_ENOMEM || !*gnomon_error_text())
        return ALLOCATION_HARMED;
    return came ? ALLOCATION_CAME : ALLOCATION_NEVER_CAME;
}

static held_text shared_report, shared_trace;

static int report_failing(uint64_t failing)
{
    held_text t = {0};
    gnomon_writer w = writer_to(&t);
    gnomon__test_fail_allocation(failing);
    int code = gnomon_report(shared_profile, "regions(limit=2)", &w);
    int is_whole = t.at && strcmp(t.at, shared_report.at) == 0;
    free(t.at);
    if (code && t.calls)
        return ALLOCATION_HARMED;
    return is_right(failing, code, is_whole);
}

/* Each is a process that removes the test's folder when it ends. */
static int export_failing(uint64_t failing)
{
    static const char path[] = TEST_BINARY_DIR "/held_without_memory.json";
    gnomon__test_fail_allocation(failing);
    int code = gnomon_write_file(shared_profile, "chrome", path);
    if (code && access(path, F_OK) == 0)
        return ALLOCATION_HARMED;
    if (!code)
        holds(path, &shared_trace);
    unlink(path);
    return is_right(failing, code, !test_failures);
}

TEST(without_memory_both_say_so)
{
    shared_profile = held_profile();
    shared_report = report_of(shared_profile, "regions(limit=2)");
    shared_trace = export_of(shared_profile, "chrome");
    CHECK(fail_each_allocation(report_failing) > 5);
    CHECK(fail_each_allocation(export_failing) > 5);
    free(shared_report.at);
    free(shared_trace.at);
    gnomon_profile_free(shared_profile);
}

/* ---- Threads ------------------------------------------------------------------------ */

static const char *const shared_words[] = {"tree", "simple", "advanced",
                                           "regions(by=thread)", "steps"};
static held_text shared_texts[5];

/* Each into a file of its own and into one that all write. */
static void *use_profile(void *number)
{
    char own[32];
    snprintf(own, sizeof own, "own%d", *(int *)number);
    for (int i = 0; i < (IS_SLOW ? 5 : 50); i++) {
        held_text t = report_of(shared_profile, shared_words[i % 5]);
        CHECK_STR(t.at, shared_texts[i % 5].at);
        free(t.at);
        CHECK_EQ(gnomon_write_file(shared_profile, "chrome", own), GNOMON_OK);
        holds(own, &shared_trace);
        CHECK_EQ(gnomon_write_file(shared_profile, "chrome", "one"), GNOMON_OK);
        holds("one", &shared_trace);
    }
    return NULL;
}

TEST(threads_use_one_profile_at_once)
{
    pthread_t threads[3];
    int numbers[3];
    child_folder();
    shared_profile = held_profile();
    for (int i = 0; i < 5; i++)
        shared_texts[i] = report_of(shared_profile, shared_words[i]);
    shared_trace = export_of(shared_profile, "chrome");
    for (int i = 0; i < 3; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, use_profile, &numbers[i]);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 5; i++)
        free(shared_texts[i].at);
    free(shared_trace.at);
    gnomon_profile_free(shared_profile);
}
