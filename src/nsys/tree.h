/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The sum of kernels as a profile: a track for each stream, on it a node for each path of
 * layers, ranges and operations, and below it the kernels with their times, flops and
 * bytes. Memory of the paths. */
#ifndef GNOMON_NSYS_TREE_H
#define GNOMON_NSYS_TREE_H

#include "nsys/work.h"
#include "profile/fold.h"

typedef struct gnomon__nsys_tree {
    gnomon__fold fold;        /* fold.m is the profile, once it has ended */
    gnomon__text_table texts; /* each once, in fold.m */
    int64_t *processes;       /* in the order in which they came */
    size_t process_count, process_room;
    int64_t from_ns, until_ns; /* of all kernels */
} gnomon__nsys_tree;

/* False: no memory. Free in any case, which frees the profile too. */
bool gnomon__nsys_tree_begin(gnomon__nsys_tree *t);
/* A kernel and what it computes. Likewise. */
bool gnomon__nsys_tree_add(gnomon__nsys_tree *t, const gnomon__nsys_record *r,
                           const gnomon__work *w);
const gnomon_profile *gnomon__nsys_tree_end(gnomon__nsys_tree *t);
void gnomon__nsys_tree_free(gnomon__nsys_tree *t);

#endif
