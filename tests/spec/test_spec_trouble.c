/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Specs that are refused: far too many profilers, and files that would hang the
 * reader or hold secrets.
 * links: testing
 * threads: none
 * labels: guest */
#include <stdint.h>
#include <stdlib.h>

#include "child.h"
#include "gnomon/tool.h"
#include "platform/error.h"
#include "test.h"

static char messages[4096];

static void keep_line(const char *line)
{
    size_t n = strlen(messages);
    snprintf(messages + n, sizeof messages - n, "%s\n", line);
}

static int made;

static int count_made(const gnomon_options *options, void **self)
{
    (void)options, (void)self;
    made++;
    return GNOMON_OK;
}

static void see_start(void *self, const gnomon_frame *frame, uint64_t *slot)
{
    (void)self, (void)frame, (void)slot;
}

static const gnomon_profiler counted = {.struct_size = sizeof counted,
                                        .abi = GNOMON_ABI,
                                        .name = "counted",
                                        .create = count_made,
                                        .start = see_start};

/* `n` times the profiler. */
static const char *crowd_of(int n)
{
    static char text[40000];
    size_t used = 0;
    for (int i = 0; i < n; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "counted,");
    return text;
}

/* Once 32 KiB of them took 42 s, when each was tried. */
TEST(more_profilers_than_fit_are_refused_at_once)
{
    char spec[64] = "?";
    gnomon__test_log = keep_line;
    CHECK_EQ(gnomon_host_get()->add_profiler(&counted), GNOMON_OK);
    CHECK_EQ(gnomon_attach(NULL, NULL, crowd_of(4096)), GNOMON_EFULL);
    CHECK_STR(messages,
              "gnomon: gnomon_attach: 4096 profilers at once: 31 fit: "
              "none is attached\n");
    CHECK_STR(gnomon_error_text(),
              "4096 profilers at once: 31 fit: none is attached");
    CHECK_EQ(made, 0);
    CHECK_EQ(gnomon_spec(spec, sizeof spec), 0);
    CHECK_EQ(gnomon_attach(NULL, NULL, crowd_of(32)), GNOMON_EFULL);
    CHECK_EQ(made, 0);
    CHECK_EQ(gnomon_attach(NULL, NULL, crowd_of(31)), GNOMON_OK);
    CHECK_EQ(made, 31);
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
}

/* ---- Files --------------------------------------------------------------- */

/* The messages about a spec; `counted`, also in it, works. */
static const char *messages_of(const char *spec)
{
    *messages = 0;
    made = 0;
    gnomon__test_log = keep_line;
    gnomon_host_get()->add_profiler(&counted);
    CHECK(gnomon_attach(NULL, NULL, spec) != GNOMON_OK);
    CHECK(made > 0);
    CHECK(!strstr(gnomon_error_text(), "SECRET"));
    CHECK_EQ(gnomon_attach(NULL, NULL, ""), GNOMON_OK);
    return messages;
}

#define TOLD "gnomon: gnomon_attach: "

/* The pipe has no writer, and needs none. */
TEST(only_regular_files_are_read)
{
    child_folder();
    CHECK_EQ(mkfifo("fifo", 0600), 0);
    CHECK_STR(messages_of("@fifo,counted"), TOLD
              "at character 1, '@fifo,counted': it is not a regular file\n");
    CHECK_STR(messages_of("@/dev/zero,counted"),
              TOLD "at character 1, '@/dev/zero,counted': it is not a regular "
                   "file\n");
    CHECK_STR(messages_of("@.,counted"),
              TOLD "at character 1, '@.,counted': Is a directory\n");
}

/* SECRET replaces each unknown word. */
static const struct {
    const char *text, *messages; /* the first line, or its beginning */
} kept_back[] = {
    {"SECRET", "1: unknown profiler '...'. There are: passthrough, simple, "},
    {"# a token\n\nSECRET=SECRET\n",
     "3: unknown option '...': no profiler has it\n"},
    {"counted(\n  SECRET\n)",
     "2: counted: unknown option '...'. It knows: filter, "},
    {"counted(mem=SECRET)", "1: counted: 'mem' is for the whole run: "},
    {"ranks=SECRET", "1: ranks=...: say all, or ranks and spans as 0|3|8-15\n"},
    {"mem=1SECRET", "1: mem=...: no such unit: say B, KB, KiB, MB, MiB, GB or "
                    "GiB\n"},
    {"counted(schedule=SECRET)",
     "1: counted: schedule=...: a part is unknown: write wait:1/"},
    {"\nMIIE/SECRET", "2: cannot load plugin ...: cannot open shared object "
                      "file: No such file or directory\n"},
    {"@SECRET", "1: No such file or directory\n"},
    {"-----BEGIN SECRET KEY-----\nSECRET/SECRET+==\n",
     "2: unknown option '...': no profiler has it\n"},
    {"SECRET \"SECRET\n", "1: a quote inside a word: "},
    {"simpl", "1: unknown profiler '...': did you mean 'simple'?\n"},
};

TEST(what_a_file_holds_is_not_shown)
{
    child_folder();
    for (size_t i = 0; i < sizeof kept_back / sizeof *kept_back; i++) {
        char start[128];
        FILE *f = fopen("a.spec", "w");
        fputs(kept_back[i].text, f);
        fclose(f);
        messages_of("counted,@a.spec");
        CHECK(!strstr(messages, "SECRET"));
        snprintf(start, sizeof start, TOLD "a.spec:%s", kept_back[i].messages);
        if (!CHECK(strncmp(messages, start, strlen(start)) == 0))
            fprintf(stderr, "    %s, not\n    %s\n", messages, start);
    }
}
