/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The call tree as formats of stacks have it: of each node its path and its self
 * time.
 *
 * Several views of a run measured the same time several times. So of each run one view
 * is exported, that with the most self time, and nodes that are of no view. */
#ifndef GNOMON_EXPORT_TREE_H
#define GNOMON_EXPORT_TREE_H

#include "export/export.h"
#include "export/text.h"

/* A node, by its number. */
typedef struct gnomon__export_node {
    uint32_t parent, region, stage, depth; /* depth: from 1 */
} gnomon__export_node;

typedef struct gnomon__export_tree {
    const gnomon_profile *p;
    size_t count;
    gnomon__export_node *nodes;
    uint32_t *path;  /* room for the longest */
    uint32_t *views; /* by run: the one that is exported; 0: there is none */
    uint64_t *flops; /* gnomon__own_flops, where they are asked for; or NULL */
    int is_of_bytes; /* what was allocated is asked for */
} gnomon__export_tree;

/* O(nodes + runs * views) memory. False: there is none; end it in any case. */
bool gnomon__export_tree_begin(gnomon__export_tree *t, const gnomon_profile *p);
void gnomon__export_tree_end(gnomon__export_tree *t);

/* The regions from the outermost node to this one, nodes[node].depth of them. Valid
 * until the next call. */
const uint32_t *gnomon__export_path(gnomon__export_tree *t, uint32_t node);

/* The self time of a node, on the host or, of what ran on a device, there, or what is asked
 * for instead; 0 of what is not exported. Sets *track. */
uint64_t gnomon__export_self(const gnomon__export_tree *t, uint32_t node,
                             uint32_t *track);

/* How many runs there are in all profiles. Where there are several, names of tracks
 * begin with that of their run. */
size_t gnomon__export_runs(const gnomon__export *what);
/* "rank 3", or "run 2" where the rank is not known; `number` counts the runs of all
 * profiles. Returns `text`. */
const char *gnomon__export_run_name(char text[32], const gnomon_run_info *run,
                                    size_t number);

#endif
