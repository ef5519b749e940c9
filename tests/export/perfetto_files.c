/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Writes traces into the current folder, and beside each the profile as JSON, from
 * which check_perfetto.py knows what must be in it.
 * links: static
 * needs: cli */
#include "traced_profile.h"

#include "export/export.h"

static int put(const gnomon_writer *w, const void *bytes, size_t size)
{
    return fwrite(bytes, 1, size, w->context) == size ? GNOMON_OK : GNOMON_EIO;
}

static void save(const char *name, const gnomon_profile *p,
                 const gnomon__export *what)
{
    char path[64];
    snprintf(path, sizeof path, "%s.pftrace", name);
    gnomon_writer out = {.struct_size = sizeof out, .write = put};
    out.context = fopen(path, "wb");
    CHECK_EQ(gnomon__export_perfetto.write(what, &out), GNOMON_OK);
    CHECK_EQ(fclose(out.context), 0);
    snprintf(path, sizeof path, "%s.json", name);
    out.context = fopen(path, "wb");
    CHECK_EQ(gnomon_write(p, "json", &out), GNOMON_OK);
    CHECK_EQ(fclose(out.context), 0);
}

static void save_one(const char *name, const gnomon_profile *p)
{
    save(name, p, &(gnomon__export){.profiles = &p, .count = 1});
}

static void save_ranks(void)
{
    gnomon_builder *b;
    gnomon_builder_create(&b);
    traced_rank(b, 0, NULL, 4711);
    traced_rank(b, 1, NULL, 4711); /* on another machine */
    traced_rank(b, 1, "2", 4712);  /* a number that a thread of rank 0 has */
    save_one("ranks", traced_finish(b));
}

static void save_limits(void)
{
    gnomon_builder *b;
    gnomon_builder_create(&b);
    const uint32_t run = gnomon_add_run(
        b, &(gnomon_run_info){.rank = 0, .zero_unix_ns = TRACED_ZERO});
    const uint32_t track =
        gnomon_add_track(b, &(gnomon_track_info){.run = run, .device = -1});
    const uint32_t node = gnomon_add_node(
        b, &(gnomon_node_info){
               .track = track,
               .region = traced_region(b, GNOMON_KIND_SCOPE, "forward")});
    traced_execution(b, track, node, 10, 20, 0);
    traced_execution(b, track, node, UINT64_MAX - 2, UINT64_MAX, 0);
    const gnomon_profile *p = traced_finish(b);
    save_one("limits", p);
}

TEST(files)
{
    static const char *const names[] = {
        "a", "\xc3\xa9 \xf0\x9f\x94\xa5", "", "\"q\"", "<b>&", "%n", "\t\n",
        "z"};
    static const char *const wrong[] = {"", "\xff\xfe", "a\x01\x7f\"\\",
                                        "\xed\xa0\x80"};
    const gnomon_profile *p = traced_sample();
    char name[32];
    save_one("sample", p);
    save("window", p,
         &(gnomon__export){.profiles = &p,
                           .count = 1,
                           .from_unix_ns = TRACED_ZERO + 200,
                           .until_unix_ns = TRACED_ZERO + 715});
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const renamed r = {{&renamed_api}, p, wrong[i]};
        const gnomon_profile *one = &r.base;
        snprintf(name, sizeof name, "wrong-%u", i);
        save(name, p, &(gnomon__export){.profiles = &one, .count = 1});
    }
    save_ranks();
    save_limits();
    for (unsigned i = 1; i < 6; i++) {
        snprintf(name, sizeof name, "random-%u", i);
        save_one(name, traced_random(i, i, i < 5 ? 300 : 5000, names));
    }
}
