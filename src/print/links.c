/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads the links of a profile and gives each linked node a new parent. A node that
 * several nodes submitted belongs to the one that submitted it most often. */
#include "print/links.h"

#include <stdlib.h>

#include "gnomon.h"

typedef struct submitter {
    uint64_t count;
    uint32_t node; /* 0: none */
    uint32_t reserved;
} submitter;

static void read_links(submitter *of, size_t nodes, const gnomon_profile *p)
{
    gnomon_link_info link;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_LINKS); i++) {
        if (gnomon_profile_link(p, i, &link) != GNOMON_OK ||
            link.kind != GNOMON_LINK_SUBMIT || link.from_instance ||
            link.to_instance || !link.from || link.from > nodes || !link.to ||
            link.to > nodes)
            continue;
        submitter *s = &of[link.to];
        if (link.count > s->count ||
            (link.count == s->count && s->node && link.from < s->node)) {
            s->count = link.count;
            s->node = link.from;
        }
    }
}

/* Whether `at` is `node` or below it. The parents contain no circle so far. */
static bool is_within(const uint32_t *parents, uint32_t at, uint32_t node)
{
    while (at && at != node)
        at = parents[at];
    return at != 0;
}

int gnomon__linked_parents(uint32_t **parents, bool **is_linked,
                           const gnomon_profile *p)
{
    size_t nodes = gnomon_profile_count(p, GNOMON_NODES);
    submitter *of = calloc(nodes + 1, sizeof *of);
    uint32_t *to = *parents = calloc(nodes + 1, sizeof *to);
    bool *linked = calloc(nodes + 1, sizeof *linked);
    if (is_linked)
        *is_linked = linked;
    if (!of || !to || !linked) {
        free(of);
        free(to);
        free(linked);
        *parents = NULL;
        if (is_linked)
            *is_linked = NULL;
        return GNOMON_ENOMEM;
    }
    for (size_t i = 1; i <= nodes; i++) {
        gnomon_node_info node;
        (void)gnomon_profile_node(p, i, &node);
        to[i] = node.parent < i ? node.parent : 0;
    }
    read_links(of, nodes, p);
    for (uint32_t i = 1; i <= nodes; i++) {
        if (!of[i].node || is_within(to, of[i].node, i))
            continue;
        to[i] = of[i].node;
        linked[i] = true;
    }
    free(of);
    if (!is_linked)
        free(linked);
    return GNOMON_OK;
}
