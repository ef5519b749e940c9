/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* stacks: folded stacks for flamegraph.pl, inferno and others: a line for each path with
 * self time, its frames from the outermost on, and ns. It is made of the tree, so of a
 * profile without events too. */
#include "export/tree.h"

/* A viewer ends the stack at the last blank and a frame at `;`. As torch's
 * export_stacks has it, both become `_`, and so does what would move a terminal's
 * cursor. */
static void stacks_frame(gnomon__export_text *t, const char *name)
{
    const char *from = name;
    if (!*name)
        gnomon__export_literal(t, "_");
    while (*name) {
        size_t size = gnomon__print_character(name);
        if (size && (unsigned char)*name > ' ' && *name != ';' &&
            *name != 0x7f) {
            name += size;
            continue;
        }
        gnomon__export_put(t, from, (size_t)(name - from));
        if (size)
            gnomon__export_literal(t, "_");
        else
            gnomon__export_literal(t, GNOMON__NO_CHARACTER);
        from = ++name;
    }
    gnomon__export_put(t, from, (size_t)(name - from));
}

/* The first frames: the run, where there are several, and the track. `before`: how
 * many runs earlier profiles have. */
static void stacks_track(gnomon__export_text *t, const gnomon_profile *p,
                         uint32_t number, size_t before, int has_runs)
{
    gnomon_track_info track;
    gnomon_run_info run;
    char name[32], text[48];
    (void)gnomon_profile_track(p, number, &track);
    if (has_runs && gnomon_profile_run(p, track.run, &run) == GNOMON_OK) {
        stacks_frame(t,
                     gnomon__export_run_name(name, &run, before + track.run));
        gnomon__export_literal(t, ";");
    }
    stacks_frame(t, gnomon__export_track_name(text, &track));
}

static void stacks_put(gnomon__export_text *t, gnomon__export_tree *tree,
                       uint32_t node, uint64_t self)
{
    const uint32_t depth = tree->nodes[node].depth;
    const uint32_t *path = gnomon__export_path(tree, node);
    for (uint32_t i = 0; i < depth; i++) {
        gnomon_region_info region;
        gnomon__export_literal(t, ";");
        if (gnomon_profile_region(tree->p, path[i], &region))
            region.name = "";
        stacks_frame(t, region.name);
    }
    gnomon__export_form(t, " %ju\n", self);
}

static int stacks_profile(gnomon__export_text *t, const gnomon_profile *p,
                          size_t before, int has_runs)
{
    gnomon__export_tree tree;
    int code = gnomon__export_tree_begin(&tree, p);
    for (uint32_t i = 1; !code && !t->code && i <= tree.count; i++) {
        uint32_t track;
        const uint64_t self = gnomon__export_self(&tree, i, &track);
        if (!self)
            continue;
        stacks_track(t, p, track, before, has_runs);
        stacks_put(t, &tree, i, self);
    }
    gnomon__export_tree_end(&tree);
    return code;
}

static int stacks_write(const gnomon__export *what, const gnomon_writer *out)
{
    gnomon__export_text *t = gnomon__export_text_begin(out);
    const int has_runs = gnomon__export_runs(what) > 1;
    size_t before = 0;
    int code = GNOMON_OK;
    if (!t)
        return GNOMON_ENOMEM;
    for (size_t i = 0; !code && i < what->count; i++) {
        code = stacks_profile(t, what->profiles[i], before, has_runs);
        before += gnomon_profile_count(what->profiles[i], GNOMON_RUNS);
    }
    int written = gnomon__export_text_end(t);
    return code ? code : written;
}

const gnomon__exporter gnomon__export_stacks = {
    .name = "stacks",
    .extension = ".txt",
    .about = "folded stacks and their self time, for flamegraph.pl",
    .write = stacks_write};
