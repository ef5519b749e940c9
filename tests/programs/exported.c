/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Writes profiles in each format to the folder $EXPORTED, for readers in Python: world,
 * of two ranks with events; one, of one rank; tree, of two ranks without events;
 * hostile0, hostile1, ..., with names of all kinds; two, which is world and hostile0;
 * nothing, which is no profile at all, and no .prof, as pstats reads no empty one. The
 * JSON form, which the library writes, says what must be in the others.
 * links: static
 * needs: cli */
#include <sys/stat.h>

#include "export_world.h"

static FILE *file;

static int put(const gnomon_writer *writer, const void *bytes, size_t size)
{
    (void)writer;
    return fwrite(bytes, 1, size, file) == size ? GNOMON_OK : GNOMON_EIO;
}

static void export_all(const char *folder, const char *name,
                       const gnomon_profile *const *profiles, size_t count)
{
    static const gnomon__exporter *const formats[] = {
        &gnomon__export_csv, &gnomon__export_to_json, &gnomon__export_stacks,
        &gnomon__export_speedscope, &gnomon__export_prof};
    const gnomon__export what = {.profiles = profiles, .count = count};
    const gnomon_writer out = {.struct_size = sizeof out, .write = put};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        char path[4096];
        if (formats[i] == &gnomon__export_prof && !count)
            continue;
        snprintf(path, sizeof path, "%s/%s%s", folder, name,
                 formats[i]->extension);
        file = fopen(path, "wb");
        if (!CHECK(file != NULL))
            continue;
        CHECK_EQ(formats[i]->write(&what, &out), GNOMON_OK);
        CHECK_EQ(fclose(file), 0);
    }
}

static gnomon_profile *make(int ranks, int steps, int has_events)
{
    const world_choice choice = {ranks, steps, has_events};
    return world_make(&choice);
}

static void export_worlds(const char *folder)
{
    gnomon_profile *world = make(2, 40, 1), *one = make(1, 5, 1);
    gnomon_profile *tree = make(2, 10, 0), *small = make(1, 2, 1);
    const gnomon_profile *each[] = {world, one, tree};
    static const char *const names[] = {"world", "one", "tree"};
    const gnomon_profile *two[2] = {world, NULL};
    world_hostile h;
    for (size_t i = 0; i < 3; i++)
        export_all(folder, names[i], &each[i], 1);
    for (size_t shift = 0; shift < 34; shift++) {
        char name[32];
        const gnomon_profile *base = &h.base;
        h = world_with_names(small, shift);
        snprintf(name, sizeof name, "hostile%zu", shift);
        export_all(folder, name, &base, 1);
    }
    h = world_with_names(small, 0);
    two[1] = &h.base;
    export_all(folder, "two", two, 2);
    export_all(folder, "nothing", two, 0);
    gnomon_profile_free(world);
    gnomon_profile_free(one);
    gnomon_profile_free(tree);
    gnomon_profile_free(small);
}

TEST(all)
{
    const char *folder = getenv("EXPORTED");
    if (!folder)
        SKIP("EXPORTED names no folder");
    (void)mkdir(folder, 0777);
    export_worlds(folder);
}
