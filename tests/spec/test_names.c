/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: testing
 * threads: none */
#include "test.h"

#include "platform/memory.h"
#include "platform/utf8.h"
#include "spec/names.h"

#define GOLDEN TEST_SOURCE_DIR "/data/golden/lightning/45-filenames.txt"

/* The cases of 45-filenames.json. */
static const struct {
    const char *filename, *stage;
    int rank;
    const char *action, *extension;
} golden[] = {
    {NULL, NULL, -1, NULL, ".txt"},
    {"perf", NULL, -1, NULL, ".txt"},
    {"perf", "fit", -1, NULL, ".txt"},
    {"perf", "fit", 3, NULL, ".txt"},
    {NULL, "fit", 3, NULL, ".txt"},
    {NULL, "validate", -1, NULL, ".txt"},
    {"a/b:c**d  ", "fit", -1, NULL, ".txt"},
    {"perf", "fit", 1, "[Callback]ModelCheckpoint{'monitor': 'val/loss'}.setup",
     ".prof"},
    {"///", NULL, -1, NULL, ".txt"},
    {"perf", "test", 0, "run_training_epoch", ".prof"},
    {"perf", "predict", -1, "a<b>c|d?e\"f\\g*h", ".prof"},
    {"my__under___scores", "fit", -1, NULL, ".txt"},
};

TEST(golden_45)
{
    FILE *f = fopen(GOLDEN, "r");
    char line[512];
    size_t i = 0, count = sizeof golden / sizeof golden[0];
    if (!CHECK(f != NULL))
        return;
    while (fgets(line, sizeof line, f) && CHECK(i < count)) {
        char *name = gnomon__file_name(golden[i].stage, golden[i].filename,
                                       golden[i].rank, golden[i].action,
                                       golden[i].extension);
        line[strcspn(line, "\n")] = '\0';
        CHECK_STR(name, line);
        gnomon__free(name);
        i++;
    }
    CHECK_EQ(i, count);
    fclose(f);
}

static void named(const char *expected, const char *stage, const char *filename,
                  int rank, const char *action)
{
    char *name = gnomon__file_name(stage, filename, rank, action, ".x");
    CHECK_STR(name, expected);
    gnomon__free(name);
}

TEST(lightnings_other_rules)
{
    named("fit-perf-0-.x", "fit", "perf", 0, ""); /* an empty action stays */
    named("profile.x", "", "", -1, NULL);
    named("profile.x", NULL, " \x0B\xC2\xA0\xE3\x80\x80", -1, NULL);
    named("a b.x", NULL, "\xE2\x80\xA9 a b\xE2\x80\x87", -1, NULL);
    named("_a_.x", NULL, "\ta\n\r", -1, NULL);
    named("a_b.x", NULL, "a_/_\\_b", -1, NULL);
    named("\xC3\xA9.x", NULL, "\xC3\xA9", -1, NULL);
}

static const gnomon__file_values eight = {3,     1,           8, 4242, "node7",
                                          "fit", 1700000000u, 0, 0};

static void expanded(const char *expected, const char *pattern,
                     const gnomon__file_values *v)
{
    gnomon__complaints none = {{NULL}, 0, 0};
    char *name = gnomon__file_expand(pattern, v, "simple", &none);
    CHECK_STR(name, expected);
    CHECK_EQ(none.count + none.dropped, 0);
    gnomon__free(name);
    gnomon__complaints_free(&none);
}

TEST(percents)
{
    expanded("out/3-1-node7-4242-fit-1700000000-%.txt",
             "out/%r-%l-%h-%p-%s-%t-%%.txt", &eight);
    expanded("node7/3", "%h/%r", &eight);
    expanded("%r-3", "%%r", &eight); /* is the same for all ranks */
}

TEST(names_of_other_things_are_reported)
{
    static const char *const names[][2] = {
        {"run.json", "the profile as JSON write file=run.gnomon.json"},
        {"out/%s-%r.json",
         "the profile as JSON write file=out/%s-%r.gnomon.json"},
        {"run.prof", ".prof files write advanced(dump_stats=run,file=run.txt)"},
        {"a.pstats", ".prof files write advanced(dump_stats=run,file=a.txt)"},
        {"x.trace", "the profile write file=x.gnomon"},
        {"run.gnomon.gz", "the profile write file=run.gnomon"},
        {"run.json.gz", "the profile write file=run.json.gnomon"}};
    static const char *const fine[] = {"run.txt",       "run",  "run.gnomon",
                                       "a.gnomon.json", "json", "a.log",
                                       "report.md",     "a.csv"};
    char line[256], wanted[256];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(wanted, sizeof wanted,
                 "its report goes there, which is text: for %s", names[i][1]);
        CHECK_EQ(gnomon__file_misnamed(line, sizeof line, names[i][0], 0), 1);
        CHECK_STR(line, wanted);
    }
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++)
        CHECK_EQ(gnomon__file_misnamed(line, sizeof line, fine[i], 0), 0);
}

TEST(ranks_never_share)
{
    gnomon__file_values v = eight;
    expanded("out-3.txt", "out.txt", &v);
    expanded("dir.d/out-3", "dir.d/out", &v);
    expanded("out-3.tar.gz", "out.tar.gz", &v);
    expanded("out-3.gnomon", "out.gnomon", &v);
    expanded("out-3.gnomon.json", "out.gnomon.json", &v);
    expanded(".hidden-3", ".hidden", &v);
    expanded("out-4242-3.txt", "out-%p.txt", &v); /* pids repeat on nodes */
    expanded("out-node7-3.txt", "out-%h.txt", &v);
    expanded("out-1-3.txt", "out-%l.txt", &v);
    expanded("out-node7-4242.txt", "out-%h-%p.txt", &v);
    expanded("node7/1.txt", "%h/%l.txt", &v);
    expanded("3/out.txt", "%r/out.txt", &v);
    expanded("/dev/stdout", "/dev/stdout", &v);
    expanded("/dev/shm/out-3.txt", "/dev/shm/out.txt", &v);
    v.world_size = 1;
    expanded("out.txt", "out.txt", &v);
    v.world_size = v.rank = v.local_rank = -1;
    expanded("out-0-0.txt", "out-%r-%l.txt", &v);
    expanded("", "", &v);
}

TEST(values_stay_in_their_directory)
{
    gnomon__file_values v = eight;
    v.stage = "../../etc/x\n";
    v.host = "..";
    expanded("out/_._.__etc_x_-3", "out/%s-%r", &v);
    expanded("_./3", "%h/%r", &v);
    expanded("./_./3", "./%h/%r", &v);
    expanded("._./3", ".%h/%r", &v);
    v.stage = "";
    v.host = NULL;
    expanded("run-host-3", "%s-%h-%r", &v);
}

TEST(unknown_percents_are_reported)
{
    gnomon__complaints c = {{NULL}, 0, 0};
    char *name = gnomon__file_expand("a%d-%r%", &eight, "simple", &c);
    CHECK_STR(name, "a%d-3%");
    CHECK_EQ(c.count, 2);
    CHECK_STR(c.line[0], "simple: file=a%d-%r%: '%d' is not known and stays: "
                         "there are %r %l %h %p %s %t and %%");
    gnomon__free(name);
    gnomon__complaints_free(&c);
}

TEST(long_names_stay_different)
{
    char a[1001], b[1001], *x, *y, *dot;
    memset(a, 'a', 1000);
    memcpy(a, "[Callback]\xE2\x82\xAC", 13);
    a[1000] = '\0';
    memcpy(b, a, sizeof b);
    b[999] = 'b';
    x = gnomon__file_name("fit", "perf", 0, a, ".prof");
    y = gnomon__file_name("fit", "perf", 0, b, ".prof");
    CHECK_EQ(strlen(x), 255);
    CHECK_EQ(strlen(y), 255);
    CHECK(strcmp(x, y) != 0);
    dot = strrchr(x, '.');
    CHECK_STR(dot, ".prof");
    CHECK(strncmp(x,
                  "fit-perf-0-[Callback]\xE2\x82\xAC"
                  "aaa",
                  27) == 0);
    gnomon__free(x);
    gnomon__free(y);
}

/* Cut anywhere, a name stays valid UTF-8 and short; each part by itself. */
TEST(long_paths_are_cut_by_part)
{
    size_t n;
    for (n = 240; n < 270; n++) {
        char pattern[2048] = "/tmp/";
        size_t i;
        gnomon__complaints none = {{NULL}, 0, 0};
        char *name, *last;
        for (i = 0; i < n / 3; i++)
            strcat(pattern, "\xE2\x82\xAC");
        for (i = 0; i < n % 3; i++)
            strcat(pattern, "x");
        strcat(pattern, "/%r-");
        for (i = 0; i < n; i++)
            strcat(pattern, "z");
        strcat(pattern, ".gnomon.json");
        name = gnomon__file_expand(pattern, &eight, "simple", &none);
        last = strrchr(name, '/') + 1;
        CHECK(gnomon__utf8_valid(name, strlen(name)));
        CHECK(strncmp(name, "/tmp/\xE2\x82\xAC", 8) == 0);
        CHECK_EQ(strlen(last), n + 14 > 255 ? 255 : n + 14);
        CHECK_STR(strstr(last, ".gnomon"), ".gnomon.json");
        CHECK((size_t)(last - 1 - (name + 5)) <= 255);
        CHECK((size_t)(last - 1 - (name + 5)) >= (n > 255 ? 253 : n));
        gnomon__free(name);
    }
}

TEST(survives_lack_of_memory)
{
    uint64_t n, before = gnomon__heap_bytes();
    for (n = 1; n < 20; n++) {
        gnomon__complaints c = {{NULL}, 0, 0};
        char *a, *b;
        gnomon__test_fail_allocation(n);
        a = gnomon__file_name("fit", "perf", 1, "action", ".txt");
        b = gnomon__file_expand("%d/%h.txt", &eight, "simple", &c);
        if (a)
            CHECK_STR(a, "fit-perf-1-action.txt");
        if (b)
            CHECK_STR(b, "%d/node7-3.txt");
        CHECK_EQ(c.count + c.dropped, 1);
        CHECK_EQ((a != NULL) + (b != NULL) + (c.count != 0),
                 n <= gnomon__test_allocations() ? 2 : 3);
        gnomon__free(a);
        gnomon__free(b);
        gnomon__complaints_free(&c);
        CHECK_EQ(gnomon__heap_bytes(), before);
    }
    gnomon__test_fail_allocation(0);
}
