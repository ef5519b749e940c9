/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads the links of a profile and gives each linked node a new parent. A node that
 * several nodes submitted belongs to the one that submitted it most often. */
#include "print/links.h"

#include <stdlib.h>

#include "gnomon.h"
#include "print/order.h"

GNOMON__ORDER(compare_submissions, gnomon__submission, UP(to), UP(from))

/* A pair of nodes may have many links, as those between single executions have one
 * each. */
static gnomon__submission *read_submissions(size_t *count,
                                            const unsigned char *has,
                                            const gnomon_profile *p)
{
    const size_t nodes = gnomon_profile_count(p, GNOMON_NODES);
    const size_t links = gnomon_profile_count(p, GNOMON_LINKS);
    gnomon__submission *of = calloc(links + 1, sizeof *of);
    gnomon_link_info link;
    size_t used = 0;
    *count = 0;
    for (size_t i = 1; of && i <= links; i++)
        if (gnomon_profile_link(p, i, &link) == GNOMON_OK &&
            link.kind == GNOMON_LINK_SUBMIT && link.from &&
            link.from <= nodes && link.to && link.to <= nodes &&
            (!has || (has[link.from] && has[link.to])))
            of[used++] = (gnomon__submission){link.to, link.from, link.count};
    GNOMON__SORT(of, used, compare_submissions);
    for (size_t i = 0; i < used; i++)
        if (*count && !compare_submissions(&of[*count - 1], &of[i]))
            of[*count - 1].count += of[i].count;
        else
            of[(*count)++] = of[i];
    return of;
}

gnomon__submission *gnomon__submissions(size_t *count, const gnomon_profile *p)
{
    return read_submissions(count, NULL, p);
}

/* Whether so many submissions are those of all executions of a node. */
static bool is_all(uint64_t submissions, uint32_t node,
                   const unsigned char *has, const gnomon_profile *p)
{
    gnomon_node_info n;
    return (has && has[node] == 1) ||
           gnomon_profile_node(p, node, &n) != GNOMON_OK || !n.host ||
           submissions >= n.host->count;
}

/* Writes to submitters[node] which node submitted it most often (if equal, the first),
 * and to in_part how often. If some executions were not submitted, submitters[node] is 0,
 * and in_part is how many were, by all nodes. */
static bool find_submitters(uint32_t *submitters, gnomon__linked *to,
                            const unsigned char *has, const gnomon_profile *p)
{
    size_t count;
    gnomon__submission *of = read_submissions(&count, has, p);
    uint64_t most = 0, all = 0;
    for (size_t i = 0; of && i < count; i++) {
        const uint32_t node = of[i].to;
        if (!i || of[i - 1].to != node)
            most = all = 0;
        all += of[i].count;
        if (of[i].count > most) {
            most = of[i].count;
            submitters[node] = of[i].from;
        }
        if (i + 1 < count && of[i + 1].to == node)
            continue;
        const bool is_whole = is_all(all, node, has, p);
        to[node].in_part = is_whole ? most : all;
        if (!is_whole)
            submitters[node] = 0;
    }
    free(of);
    return of != NULL;
}

/* Whether `at` is `node` or below it. The parents contain no circle so far. */
static bool is_within(const gnomon__linked *of, uint32_t at, uint32_t node)
{
    while (at && at != node)
        at = of[at].parent;
    return at != 0;
}

gnomon__linked *gnomon__linked_parents(const unsigned char *has,
                                       const gnomon_profile *p)
{
    const size_t nodes = gnomon_profile_count(p, GNOMON_NODES);
    uint32_t *submitters = calloc(nodes + 1, sizeof *submitters);
    gnomon__linked *to = calloc(nodes + 1, sizeof *to);
    gnomon_node_info n;
    if (!submitters || !to || !find_submitters(submitters, to, has, p)) {
        free(submitters);
        free(to);
        return NULL;
    }
    for (size_t i = 1; i <= nodes; i++)
        if (!gnomon_profile_node(p, i, &n) && n.parent < i)
            to[i].parent = n.parent;
    for (uint32_t i = 1; i <= nodes; i++)
        if (submitters[i] && !is_within(to, submitters[i], i)) {
            to[i].parent = submitters[i];
            to[i].is_linked = true;
        }
    free(submitters);
    return to;
}
