/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* This release and the next, in which every struct that may grow has one field
 * more (tests/abi): programs and plugins of each work with libraries of each;
 * profiles of each are read, checked, written and merged by the other.
 * links: testing
 * threads: none
 * needs: cli */
#include <dlfcn.h>

#include "abi/release.h"
#include "child.h"
#include "json_form.h"
#include "merging.h"

static const release_library this_library = {
    gnomon_builder_create, gnomon_builder_add, gnomon_builder_finish,
    gnomon_profile_check,  gnomon_write,       gnomon_profile_read,
    gnomon__json_read,     gnomon_error_text};

/* This release, and the next. */
static const release_program *programs[2];
static const release_library *libraries[2] = {&this_library};

static void *entry_of(const char *module, const char *name)
{
    void *handle = dlopen(module, RTLD_NOW | RTLD_LOCAL);
    void *entry = handle ? dlsym(handle, name) : NULL;
    if (!CHECK(entry != NULL))
        fprintf(stderr, "    %s\n", dlerror());
    return entry;
}

static const release_program *program_at(const char *module)
{
    release_program_get *get;
    void *entry = entry_of(module, "program_of_release");
    memcpy(&get, &entry, sizeof get);
    return entry ? get() : NULL;
}

static int load_releases(void)
{
    release_library_get *get;
    void *entry =
        entry_of(TEST_BINARY_DIR "/abi/next_profiles.so", "library_of_release");
    memcpy(&get, &entry, sizeof get);
    libraries[1] = entry ? get() : NULL;
    programs[0] = program_at(TEST_BINARY_DIR "/abi/program.so");
    programs[1] = program_at(TEST_BINARY_DIR "/abi/next_program.so");
    return CHECK(libraries[1] && programs[0] && programs[1]);
}

/* A profile built by a program and a library, and read by a program, is
 * equal to its own; the new field is there where all of `releases` (bits)
 * are the next. */
static void check_seen(const gnomon_profile *p, int by, unsigned releases,
                       const char *where)
{
    gnomon_profile *own = programs[by]->build(libraries[by]);
    size_t structs, news = programs[by]->news(p, &structs);
    int all_next = by && releases == 2;
    if (!CHECK_EQ(programs[by]->differ(own, p), 0) ||
        !CHECK_EQ(news, all_next ? structs : 0) || !CHECK(structs > 50))
        fprintf(stderr, "    %s, seen by program %d: %zu of %zu\n", where, by,
                news, structs);
    gnomon_profile_free(own);
}

/* Bit 0: one of this release, bit 1: of the next. */
#define BY(a, b) ((1u << (a)) | (1u << (b)))

TEST(programs_of_each_release_with_each_library)
{
    if (!load_releases())
        return;
    for (int i = 0; i < 4; i++) {
        int program = i & 1, by = i >> 1;
        gnomon_profile *p = programs[program]->build(libraries[by]);
        if (!CHECK(p != NULL))
            continue;
        for (int reader = 0; reader < 2; reader++) {
            check_seen(p, reader, BY(program, by), "in memory");
            CHECK_EQ(libraries[reader]->check(p), GNOMON_OK);
        }
        gnomon_profile_free(p);
    }
}

static bytes written_by(const gnomon_profile *p, int by, const char *form)
{
    bytes b = {NULL, 0, 0};
    const gnomon_writer w = {
        .struct_size = sizeof w, .write = bytes_write, .context = &b};
    CHECK_EQ(libraries[by]->write(p, form, &w), GNOMON_OK);
    return b;
}

static void check_read(const bytes *file, const char *form, unsigned releases)
{
    int is_binary = strcmp(form, "gnomon") == 0;
    for (int by = 0; by < 2; by++) {
        gnomon_profile *p = NULL;
        int code = is_binary
                       ? libraries[by]->read(&p, file->at, file->size)
                       : libraries[by]->read_json(&p, file->at, file->size);
        if (!CHECK_EQ(code, GNOMON_OK)) {
            fprintf(stderr, "    %s\n", libraries[by]->error());
            continue;
        }
        for (int reader = 0; reader < 2; reader++)
            check_seen(p, reader, releases | BY(by, by),
                       is_binary ? "file" : "JSON");
        gnomon_profile_free(p);
    }
}

/* Profiles of any library, written by each and read by each. */
static void check_form(const char *form)
{
    if (!load_releases())
        return;
    for (int i = 0; i < 8; i++) {
        int program = i & 1, by = i >> 1 & 1, writer = i >> 2;
        gnomon_profile *p = programs[program]->build(libraries[by]);
        if (!CHECK(p != NULL))
            continue;
        bytes b = written_by(p, writer, form);
        check_read(&b, form, BY(program, by) | BY(writer, writer));
        gnomon_profile_free(p);
        free(b.at);
    }
}

TEST(files_of_each_release_are_read_by_each)
{
    check_form("gnomon");
}

TEST(json_of_each_release_is_read_by_each)
{
    NEEDS_JANSSON();
    check_form("json");
}

/* This release's fields are there once, whoever wrote them. */
TEST(runs_of_both_releases_are_merged)
{
    if (!load_releases())
        return;
    gnomon_profile *p = programs[0]->build(libraries[0]);
    gnomon_profile *next = programs[1]->build(libraries[1]);
    bytes files[] = {written_by(p, 0, "gnomon"), written_by(next, 1, "gnomon")};
    bytes once = merged(files, 1), both = merged(files, 2);
    CHECK(bytes_equal(&once, &both));
    gnomon_profile_free(p);
    gnomon_profile_free(next);
    free(files[0].at);
    free(files[1].at);
    free(once.at);
    free(both.at);
}

/* ---- Structs of no profile --------------------------------------------------- */

/* What tests/abi/every.c prints before the names. */
#define EVERY_REPORT \
    "row inner 1 -1\n" \
    "row on 1 1\n" \
    "row outer 1 -1\n" \
    "row range 1 -1\n" \
    "on a device outer\n" \
    "on a device on\n" \
    "on a device one kernel\n" \
    "on a device two kernels\n" \
    "on a device outer\n" \
    "on a device on\n"
#define EVERY_RESULT \
    "options 7 ii\n" \
    "rank 0 2 5\n" \
    "open 2 outer inner\n" EVERY_REPORT "a summary\n" EVERY_REPORT

/* A program with a library, and the plugin whose file begins with `plugin`. */
static child_result every(const char *program, const char *library,
                          const char *plugin, int is_known)
{
    char path[512], environment[1024];
    snprintf(path, sizeof path, TEST_BINARY_DIR "/abi/every_%s_%s", program,
             library);
    snprintf(environment, sizeof environment,
             "%s%s\nGNOMON=every(first=7,second=ii)," TEST_BINARY_DIR
             "/abi/%severy_plugin.so",
             is_known ? "LIBRARY=" : "", is_known ? library : "", plugin);
    return child_run(path, environment,
                     (const char *const[]){is_known ? library : NULL, NULL});
}

/* Every struct that may grow, of those in no profile, crosses the border. */
static void check_names(const char *out)
{
    const char *names = child_read(TEST_BINARY_DIR "/abi/next/structs.txt");
    char line[80];
    int count = 0;
    for (; CHECK(names != NULL) && *names; names += strcspn(names, "\n") + 1) {
        snprintf(line, sizeof line, "\n%.*s\n", (int)strcspn(names, "\n"),
                 names);
        count++;
        if (!CHECK(times_in(out, line) > 0))
            fprintf(stderr, "    every.c has no%s", line);
    }
    CHECK(count > 20);
}

static void check_every(const char *program, const char *library,
                        const char *plugin, int is_known)
{
    const child_result r = every(program, library, plugin, is_known);
    CHECK_EQ(r.status, 0);
    if (!CHECK(strncmp(r.out, EVERY_RESULT, strlen(EVERY_RESULT)) == 0) ||
        !CHECK_EQ(times_in(r.out, "\ncode 0, threads 1, unmatched 0, lost 0\n"),
                  1) ||
        !CHECK_EQ(times_in(r.out, "bytes and not"), 0) ||
        !CHECK_EQ(times_in(r.err, "plugin: 4 stops, 0 unmatched\n"), 1))
        fprintf(stderr, "    every_%s_%s with %severy_plugin.so: %s%s\n",
                program, library, plugin, r.out, r.err);
    if (is_known)
        check_names(r.out);
}

TEST(programs_and_plugins_of_each_release_with_each_library)
{
    for (int i = 0; i < 8; i++)
        check_every(i & 1 ? "1" : "0", i & 2 ? "1" : "0", i & 4 ? "next_" : "",
                    1);

    /* Those that are tagged. */
    char *names = child_read(TEST_BINARY_DIR "/abi/releases.txt"), plugin[64];
    if (!CHECK(names != NULL))
        return;
    for (char *name = strtok(names, "\n"); name; name = strtok(NULL, "\n")) {
        snprintf(plugin, sizeof plugin, "%s_", name);
        check_every(name, "0", plugin, 0);
        check_every(name, "1", plugin, 0);
    }
}
