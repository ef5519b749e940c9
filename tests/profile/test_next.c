/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* This release and the next, in which every struct of a profile has one field
 * more (tests/abi): programs of each work with libraries of each; profiles of
 * each are read, checked, written and merged by the other.
 * links: testing
 * needs: cli */
#include <dlfcn.h>

#include "abi/release.h"
#include "json_form.h"
#include "merging.h"

static const release_library this_library = {
    gnomon_builder_create, gnomon_builder_add,   gnomon_builder_finish,
    gnomon_profile_check,  gnomon_profile_write, gnomon_profile_read,
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
        entry_of(TEST_BINARY_DIR "/abi/next_library.so", "library_of_release");
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

static bytes written_by(const gnomon_profile *p, int by, int form)
{
    bytes b = {NULL, 0, 0};
    const gnomon_writer w = {
        .struct_size = sizeof w, .write = bytes_write, .context = &b};
    CHECK_EQ(libraries[by]->write(p, form, &w), GNOMON_OK);
    return b;
}

static void check_read(const bytes *file, int form, unsigned releases)
{
    for (int by = 0; by < 2; by++) {
        gnomon_profile *p = NULL;
        int code = form == GNOMON_FORM_FILE
                       ? libraries[by]->read(&p, file->at, file->size)
                       : libraries[by]->read_json(&p, file->at, file->size);
        if (!CHECK_EQ(code, GNOMON_OK)) {
            fprintf(stderr, "    %s\n", libraries[by]->error());
            continue;
        }
        for (int reader = 0; reader < 2; reader++)
            check_seen(p, reader, releases | BY(by, by),
                       form == GNOMON_FORM_FILE ? "file" : "JSON");
        gnomon_profile_free(p);
    }
}

/* Profiles of any library, written by each and read by each. */
static void check_form(int form)
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
    check_form(GNOMON_FORM_FILE);
}

TEST(json_of_each_release_is_read_by_each)
{
    NEEDS_JANSSON();
    check_form(GNOMON_FORM_JSON);
}

/* This release's fields are there once, whoever wrote them. */
TEST(runs_of_both_releases_are_merged)
{
    if (!load_releases())
        return;
    gnomon_profile *p = programs[0]->build(libraries[0]);
    gnomon_profile *next = programs[1]->build(libraries[1]);
    bytes files[] = {written_by(p, 0, GNOMON_FORM_FILE),
                     written_by(next, 1, GNOMON_FORM_FILE)};
    bytes once = merged(files, 1), both = merged(files, 2);
    CHECK(bytes_equal(&once, &both));
    gnomon_profile_free(p);
    gnomon_profile_free(next);
    free(files[0].at);
    free(files[1].at);
    free(once.at);
    free(both.at);
}
