/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* golden [-p PROFILER] -o DIR CASE.json...
 *
 * links: testing
 *
 * Plays each case on the test clock through the public marks, as a host would,
 * and writes CASE.txt into DIR, of a table of functions CASE.prof too. Cases of
 * kinds it does not know are passed over with a line. PROFILER is what stands for `simple`: a plugin built from the
 * same source must write the same bytes. Each case is a run of its own, from
 * setup to teardown, in one process. Exit status: 0; 1: a case could not be
 * played; 2: usage. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gnomon.h"
#include "gnomon/tool.h"
#include "platform/ticks.h"
#include "platform/memory.h"
#include "spec/names.h"
#include "averages.h"
#include "tables.h"

/* Every case begins at this time, so that no time stamp is 0. */
#define GOLDEN_ZERO_NS 1000u

static const char *golden_profiler = "simple";

int golden_fail(const char *path, const char *format, ...)
{
    va_list arguments;
    fprintf(stderr, "golden: %s: ", path);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return 1;
}

/* ---- simple ---------------------------------------------------------------- */

static int golden_play(const char *path, const json_t *script)
{
    size_t index;
    json_t *op;
    json_array_foreach(script, index, op)
    {
        const char *word = json_string_value(json_array_get(op, 0));
        const json_t *first = json_array_get(op, 1);
        json_int_t number = json_integer_value(first);
        if (word && strcmp(word, "advance") == 0 && number >= 0) {
            gnomon__test_pass((uint64_t)number);
        } else if (word && strcmp(word, "start") == 0 &&
                   json_is_string(first)) {
            gnomon_start(json_string_value(first));
        } else if (word && strcmp(word, "stop") == 0 && json_is_string(first)) {
            gnomon_stop(json_string_value(first));
        } else if (word && strcmp(word, "repeat") == 0) {
            for (; number > 0; number--)
                if (golden_play(path, json_array_get(op, 2)) != 0)
                    return 1;
        } else {
            return golden_fail(path, "unknown operation %s", word ? word : "");
        }
    }
    return 0;
}

static int golden_write(const gnomon_writer *writer, const void *bytes,
                        size_t size)
{
    return fwrite(bytes, 1, size, writer->context) == size ? GNOMON_OK
                                                           : GNOMON_EIO;
}

/* The report that is due at the end goes to stderr, and nobody needs it. */
int golden_quiet_teardown(void)
{
    int code, kept = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY);
    if (kept < 0 || null < 0)
        return GNOMON_EIO;
    dup2(null, STDERR_FILENO);
    code = gnomon_teardown();
    dup2(kept, STDERR_FILENO);
    close(kept);
    close(null);
    return code;
}

static int golden_simple(const char *path, const json_t *root, FILE *out)
{
    const json_t *stage = json_object_get(root, "stage");
    json_int_t wall = json_integer_value(json_object_get(root, "wall_ns"));
    gnomon_writer writer = {
        .struct_size = sizeof writer, .write = golden_write, .context = out};
    char spec[4096];
    int failed;
    snprintf(spec, sizeof spec, "%s(extended=%s)", golden_profiler,
             json_is_true(json_object_get(root, "extended")) ? "true"
                                                             : "false");
    gnomon__test_set(GOLDEN_ZERO_NS);
    if (gnomon_setup(NULL) != GNOMON_OK ||
        gnomon_attach(NULL, NULL, spec) != GNOMON_OK)
        return golden_fail(path, "%s: %s", spec, gnomon_error_text());
    if (json_is_string(stage))
        gnomon_stage_begin(json_string_value(stage));
    failed = golden_play(path, json_object_get(root, "script"));
    gnomon__test_set(GOLDEN_ZERO_NS + (uint64_t)wall);
    if (gnomon_summary("simple", &writer) != GNOMON_OK)
        failed = golden_fail(path, "summary: %s", gnomon_error_text());
    if (golden_quiet_teardown() != GNOMON_OK)
        failed = golden_fail(path, "teardown: %s", gnomon_error_text());
    return failed;
}

/* ---- filenames -------------------------------------------------------------- */

static int golden_filenames(const char *path, const json_t *root, FILE *out)
{
    const json_t *cases = json_object_get(root, "cases");
    size_t index;
    json_t *one;
    json_array_foreach(cases, index, one)
    {
        const json_t *rank = json_object_get(one, "rank");
        char *name = gnomon__file_name(
            json_string_value(json_object_get(one, "stage")),
            json_string_value(json_object_get(one, "filename")),
            json_is_integer(rank) ? (int32_t)json_integer_value(rank) : -1,
            json_string_value(json_object_get(one, "action")),
            json_string_value(json_object_get(one, "extension")));
        if (!name)
            return golden_fail(path, "out of memory");
        fprintf(out, "%s\n", name);
        gnomon__free(name);
    }
    return 0;
}

/* ---- Cases ------------------------------------------------------------------ */

/* The case's .prof is in the same folder as its text. */
static const char *golden_prof;

static int golden_pstats_case(const char *path, const json_t *root, FILE *out)
{
    FILE *prof = fopen(golden_prof, "wb");
    if (!prof)
        return golden_fail(golden_prof, "%s", strerror(errno));
    int failed = golden_pstats(path, root, out, prof);
    if (fclose(prof) != 0)
        failed = golden_fail(golden_prof, "%s", strerror(errno));
    return failed;
}

static const struct golden_kind {
    const char *name;
    int (*play)(const char *path, const json_t *root, FILE *out);
} golden_kinds[] = {
    {"simple", golden_simple},       {"pstats", golden_pstats_case},
    {"advanced", golden_advanced},   {"cprofile", golden_cprofile},
    {"filenames", golden_filenames}, {"averages", golden_averages}};

static int golden_case(const char *path, const char *directory)
{
    const char *slash = strrchr(path, '/'), *stem = slash ? slash + 1 : path;
    const char *dot = strrchr(stem, '.');
    int length = dot ? (int)(dot - stem) : (int)strlen(stem), failed = 0;
    const struct golden_kind *kind = golden_kinds;
    const size_t kinds = sizeof golden_kinds / sizeof golden_kinds[0];
    char name[4096], prof[4096];
    json_error_t error;
    json_t *root = json_load_file(path, 0, &error);
    const char *wanted = json_string_value(json_object_get(root, "profiler"));
    if (!wanted &&
        (json_object_get(root, "rows") || json_object_get(root, "events")))
        wanted = "averages"; /* torch's have no word */
    FILE *out = NULL;
    if (!root)
        return golden_fail(path, "line %d: %s", error.line, error.text);
    while (kind < golden_kinds + kinds &&
           strcmp(kind->name, wanted ? wanted : "") != 0)
        kind++;
    if (kind == golden_kinds + kinds) {
        printf("golden: %s: passed over: of kind \"%s\"\n", path,
               wanted ? wanted : "");
    } else {
        snprintf(name, sizeof name, "%s/%.*s.txt", directory, length, stem);
        snprintf(prof, sizeof prof, "%s/%.*s.prof", directory, length, stem);
        golden_prof = prof;
        out = fopen(name, "wb");
        failed = out ? kind->play(path, root, out)
                     : golden_fail(name, "%s", strerror(errno));
    }
    if (out && fclose(out) != 0)
        failed = golden_fail(name, "%s", strerror(errno));
    json_decref(root);
    return failed;
}

int main(int argc, char **argv)
{
    const char *directory = NULL;
    int option, failed = 0;
    while ((option = getopt(argc, argv, "o:p:")) != -1) {
        if (option == 'o')
            directory = optarg;
        else if (option == 'p')
            golden_profiler = optarg;
        else
            break;
    }
    if (option != -1 || !directory || optind == argc) {
        fputs("usage: golden [-p PROFILER] -o DIR CASE.json...\n", stderr);
        return 2;
    }
    unsetenv("GNOMON");
    for (; optind < argc; optind++)
        failed |= golden_case(argv[optind], directory);
    return failed;
}
