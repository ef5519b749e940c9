/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A profile prepared for tables of functions: nodes with their children, the row of
 * each region, and the edge of each node, from its caller's row to its own. */
#ifndef GNOMON_PRINT_CALLS_H
#define GNOMON_PRINT_CALLS_H

#include <stdbool.h>

#include "print/functions.h"

/* Numbers from 1 as in the profile; 0 is none. */
typedef struct gnomon__calls_node {
    uint32_t parent;
    uint32_t child; /* the first */
    uint32_t next;  /* sibling */
    uint32_t region;
    uint32_t edge;      /* from the parent's row to this one's */
    uint32_t next_root; /* of its action */
    uint64_t count;
    uint64_t total_ns;
    uint64_t self_ns;
} gnomon__calls_node;

typedef struct gnomon__calls_region {
    const char *file;
    const char *name;
    uint32_t line;
    uint32_t function; /* number of its row, from 0: some regions share one */
    uint32_t title;    /* number of its name, from 0 */
    uint32_t open;     /* how often it is on the walk's way down */
    uint32_t group;    /* of regions; 0: there are none */
    bool is_action;
    bool has_row;
} gnomon__calls_region;

/* One action, by name. */
typedef struct gnomon__calls_action {
    const char *name;
    uint32_t first_root; /* in the order of the walk */
    uint32_t last_root;
    uint32_t start; /* its lowest node: tables are in this order */
    uint32_t open;
} gnomon__calls_action;

/* State of a row or an edge during a walk. */
typedef struct gnomon__calls_slot {
    uint32_t open;
    uint32_t at; /* its index in the table + 1; 0: not in the table */
} gnomon__calls_slot;

struct gnomon__calls {
    gnomon__calls_node *nodes;
    gnomon__calls_region *regions;
    gnomon__calls_action *actions;
    gnomon__calls_slot *functions;
    gnomon__calls_slot *edges; /* between rows, then from outside to each */
    gnomon__caller *unsorted_callers; /* in the order of the walk */
    uint32_t
        *roots; /* by group of tracks: the first outermost node, its siblings
                        follow */
    size_t region_count, node_count, function_count, edge_count;
    size_t name_count;   /* of regions: the most actions that there can be */
    size_t action_count; /* of the group at hand */
    gnomon__functions table;
};

/* Calls `enter` and `leave` for `root` and all below it, parents first. Not recursive,
 * so any depth is safe. */
void gnomon__calls_walk(gnomon__calls *c, uint32_t root,
                        void (*enter)(gnomon__calls *c, uint32_t at, bool top),
                        void (*leave)(gnomon__calls *c, uint32_t at, bool top));

#endif
