/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a real Lightning Trainer called on its profiler, replayed by name: fit,
 * validate, test and predict, each with its setup after the first pair.
 * links: testing */
#include "fake_profile.h"
#include "gnomon.h"
#include "gnomon/tool.h"
#include "platform/ticks.h"
#include "test.h"

#define CALLS TEST_SOURCE_DIR "/data/trainer-calls.tsv"
#define STEP_NS 1000u

/* One line of the file. */
typedef struct call {
    char op[8];
    char stage[16];
    char action[256];
} call;

static int read_call(FILE *file, call *out)
{
    return fscanf(file, "%7[^\t]\t%15[^\t]\t%255[^\n]\n", out->op, out->stage,
                  out->action) == 3;
}

/* What one stage called. */
typedef struct tally {
    size_t pairs;
    size_t names;
    struct {
        char action[256];
        unsigned long long pairs;
    } name[160];
} tally;

static void count(tally *t, const char *action)
{
    size_t i = 0;
    while (i < t->names && strcmp(t->name[i].action, action) != 0)
        i++;
    if (i == t->names) {
        snprintf(t->name[i].action, sizeof t->name[i].action, "%s", action);
        t->names++;
    }
    t->name[i].pairs++;
    t->pairs++;
}

/* Reads the calls of every row of `text` back from it. */
static void check_report(const char *text, const char *stage, const tally *want,
                         uint64_t wall_ns)
{
    char line[1024], action[256];
    unsigned long long calls, sum = 0;
    double mean, total, percent;
    size_t rows = 0, length;
    CHECK(strncasecmp(text, stage, strlen(stage)) == 0);
    for (; *text; text += length) {
        size_t i = 0;
        length = strcspn(text, "\n");
        length += text[length] == '\n';
        snprintf(line, sizeof line, "%.*s", (int)length, text);
        if (strncmp(line, "|  Total ", 9) == 0) {
            CHECK_EQ(
                sscanf(strchr(line, '\t'), " | - | %llu | %lf", &calls, &total),
                2);
            CHECK_EQ(calls, want->pairs);
            CHECK_EQ(total * 1e9 + 0.5, wall_ns);
        }
        if (sscanf(line, "|  %255[^\t]\t| %lf | %llu | %lf | %lf", action,
                   &mean, &calls, &total, &percent) != 5)
            continue;
        for (size_t end = strlen(action); end && action[end - 1] == ' '; end--)
            action[end - 1] = 0;
        while (i < want->names && strcmp(want->name[i].action, action) != 0)
            i++;
        CHECK(i < want->names && want->name[i].pairs == calls);
        sum += calls;
        rows++;
    }
    CHECK_EQ(sum, want->pairs);
    CHECK_EQ(rows, want->names);
}

/* The stage's report begins with the expected bytes; gnomon's footer
 * follows. */
static void check_file(const char *directory, const char *stage,
                       const fake_writer *want)
{
    char path[256], *text = calloc(1, want->size + 1);
    FILE *file;
    snprintf(path, sizeof path, "%s/%s-simple.txt", directory, stage);
    file = fopen(path, "r");
    if (CHECK(file != NULL)) {
        CHECK_EQ(fread(text, 1, want->size, file), want->size);
        CHECK_STR(text, want->text);
        while (fgets(path, sizeof path, file))
            CHECK(strncmp(path, "gnomon: about ", 14) == 0);
        fclose(file);
    }
    snprintf(path, sizeof path, "%s/%s-simple.txt", directory, stage);
    CHECK_EQ(unlink(path), 0);
    free(text);
}

/* Replays the lines of one stage from `next` on; then `next` is the first
 * line of the next stage, or empty. */
static void replay_stage(FILE *file, call *next, tally *out,
                         const char *directory)
{
    char stage[16];
    uint64_t begin = gnomon__test_ticks, calls = 0;
    fake_writer w;
    snprintf(stage, sizeof stage, "%s", next->stage);
    memset(out, 0, sizeof *out);
    while (strcmp(stage, next->stage) == 0) {
        if (strcmp(next->op, "start") == 0) {
            gnomon_start(next->action);
        } else {
            gnomon_stop(next->action);
            count(out, next->action);
        }
        if (++calls == 2)
            CHECK_EQ(gnomon_stage_begin(stage), GNOMON_OK);
        gnomon__test_pass(STEP_NS);
        if (!read_call(file, next))
            next->stage[0] = 0;
    }
    fake_open(&w);
    CHECK_EQ(gnomon_summary("simple", &w.base), GNOMON_OK);
    check_report(w.text, stage, out, gnomon__test_ticks - begin);
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    check_file(directory, stage, &w);
    free(w.text);
    gnomon__test_pass(50 * STEP_NS); /* between stages */
}

TEST(four_reports)
{
    static const char *const stages[] = {"fit", "validate", "test", "predict"};
    static const size_t pairs[] = {435, 35, 35, 35};
    gnomon_health health = {.struct_size = sizeof health};
    char directory[] = "/tmp/gnomon-trainer-XXXXXX", spec[64];
    FILE *file = fopen(CALLS, "r");
    static tally t;
    call next;
    if (!CHECK(file != NULL) || !CHECK(mkdtemp(directory) != NULL))
        return;
    CHECK(fscanf(file, "op\tstage\taction%*[\n]") == 0);
    CHECK(read_call(file, &next));
    gnomon__test_set(1000000);
    snprintf(spec, sizeof spec, "simple(dir=%s)", directory);
    CHECK_EQ(gnomon_attach(NULL, NULL, spec), GNOMON_OK);
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    for (size_t i = 0; i < 4; i++) {
        CHECK_STR(next.stage, stages[i]);
        replay_stage(file, &next, &t, directory);
        CHECK_EQ(t.pairs, pairs[i]);
    }
    CHECK(feof(file));
    CHECK_EQ(gnomon_teardown(), GNOMON_OK);
    gnomon_health_get(&health);
#define NONE(field, text) CHECK_EQ(health.field, 0);
    GNOMON_HEALTH(NONE)
#undef NONE
    fclose(file);
    CHECK_EQ(rmdir(directory), 0); /* four files and no other */
}
