/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reports of a real run, with real clocks and threads, are equal to those made of its
 * files, for each stage and for the whole run.
 * links: static
 * timeout: 300 */
#include "program.h"

#include <pthread.h>

#include "gnomon/tool.h"
#include "profilers/table.h"
#include "saved_profile.h"

static const gnomon_profiler *find(const char *name)
{
    for (size_t i = 0; gnomon__profilers[i]; i++)
        if (strcmp((*gnomon__profilers[i])->name, name) == 0)
            return *gnomon__profilers[i];
    return NULL;
}

/* Each stage's file, and what the built-in profilers say of it. */
static int stages_seen;

static int write_all(void *self, const gnomon_profile *p,
                     const gnomon_writer *out)
{
    static const char *const names[] = {"simple", "advanced", "steps"};
    char path[64];
    (void)self;
    snprintf(path, sizeof path, "%d.gnomon", ++stages_seen);
    program_save(p, "gnomon", path);
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%d-%s.txt", stages_seen, names[i]);
        FILE *to = fopen(path, "wb");
        gnomon_writer w = {.struct_size = sizeof w,
                           .write = program_write,
                           .print = program_print,
                           .context = to};
        CHECK_EQ(find(names[i])->summary(NULL, p, &w), GNOMON_OK);
        CHECK_EQ(fclose(to), 0);
    }
    return out->write(out, "", 0);
}

static const gnomon_profiler both = {.struct_size = sizeof both,
                                     .abi = GNOMON_ABI,
                                     .wants =
                                         GNOMON_WANT_TREE | GNOMON_WANT_STEPS,
                                     .name = "both",
                                     .summary = write_all};

static void inner(int depth)
{
    GNOMON_FUNCTION();
    if (depth)
        inner(depth - 1);
}

static void *work(void *unused)
{
    for (int i = 0; i < 200; i++) {
        GNOMON_SCOPE("batch");
        gnomon_start("optimizer_step");
        inner(i % 4);
        gnomon_stop("optimizer_step");
        gnomon_start("zip"); /* the scopes cross */
        gnomon_start("crossing");
        gnomon_stop("zip");
        inner(1);
        gnomon_stop("crossing");
    }
    return unused;
}

static void stage(const char *name)
{
    pthread_t threads[3];
    CHECK_EQ(gnomon_stage_begin(name), GNOMON_OK);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, work, NULL), 0);
    for (int i = 0; i < 5; i++) {
        gnomon_start("training_step");
        work(NULL);
        gnomon_stop("training_step");
        gnomon_step();
    }
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
}

TEST(a_real_run_reports_as_its_file)
{
    gnomon_profile *p = NULL;
    int at_end;
    NEEDS_PROGRAM;
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&both, NULL, "file=/dev/null"), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&both, &at_end, "file=/dev/null,at=end"), GNOMON_OK);
    stage("fit");
    stage("validate");
    stage("fit");
    CHECK_EQ(stages_seen, 3);
    for (int i = 1; i <= 3; i++) {
        child_result r = shell("for as in simple advanced steps; do $G report "
                               "--as $as %d.gnomon | diff - %d-$as.txt || "
                               "exit; done; wc -l < %d-simple.txt",
                               i, i, i);
        CHECK_EQ(r.status, 0);
        CHECK_STR(r.err, "");
        CHECK_STR(r.out, "14\n");
        r = shell("$G merge -o alone.gnomon %d.gnomon && "
                  "for as in simple advanced steps; do $G report --as $as "
                  "alone.gnomon | diff - %d-$as.txt || exit; done",
                  i, i);
        CHECK_EQ(r.status, 0);
        CHECK_STR(r.out, "");
    }
    CHECK_EQ(gnomon_snapshot(&p, "both", 1), GNOMON_OK);
    program_save(p, "gnomon", "run.gnomon");
    program_save(p, "json", "run.gnomon.json");
    gnomon_profile_free(p);
    CHECK_EQ(gnomon_teardown(), GNOMON_OK);
    CHECK_EQ(stages_seen, 5); /* fit and validate, at the end */
    child_result r = shell(
        "$G merge -o all.gnomon 3.gnomon 1.gnomon 2.gnomon; "
        "for as in simple advanced steps; do "
        "$G report --each --as $as all.gnomon > all.txt; "
        "cat [123]-$as.txt | diff all.txt - || exit; "
        /* Views do not record a step at the same instant while threads mark. */
        "[ $as = steps ] || for f in all.gnomon run.gnomon run.gnomon.json; do "
        "$G report --as $as $f 2>err > all.txt; cat [45]-$as.txt | "
        "diff all.txt - || exit; cat err; done; done");
    CHECK_EQ(r.status, 0);
    CHECK_STR(r.err, "");
    CHECK_EQ(times_in(r.out, "gnomon: all.gnomon: fit is 2 stages added up\n"),
             2);
    CHECK_EQ(times_in(r.out, ": fit is 2 stages added up\n"), 6);
    CHECK_EQ(times_in(r.out, "\n"), 6); /* no difference, to the last digit */
    r = shell("$G report --as threads --stage validate run.gnomon");
    CHECK(times_in(r.out, "\nThread ") >= 2);
    CHECK_EQ(times_in(r.out, "  training_step "), 1);
    r = shell("$G report --as steps run.gnomon");
    CHECK_EQ(times_in(r.out, "\n         5  "), 1);
    CHECK_EQ(times_in(r.out, "\n        10 "), 1);
    CHECK_EQ(times_in(r.out, "step 4 of stage 1 "), 1);
    CHECK_EQ(times_in(r.out, "step 4 of stage "), 2); /* of fit */
    r = shell("$G report --each --as steps all.gnomon");
    CHECK_EQ(times_in(r.out, "\n         5  "), 3);
    CHECK_EQ(times_in(r.out, "FIT Steps\n"), 2);
    CHECK_EQ(gnomon_detach(&both, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_detach(&both, &at_end), GNOMON_OK);
}
