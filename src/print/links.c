/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads the links of a profile and gives each linked node a new parent. A node that
 * several nodes submitted belongs to the one that submitted it most often. */
#include "print/links.h"

#include <stdlib.h>

#include "gnomon.h"
#include "print/events.h"

/* How often nodes submitted others, by `to << 32 | from`. A pair may have many links, as
 * those between single executions have one each: those that follow one another are one
 * value, others are several. */
static bool read_submissions(gnomon__keyed_list *of, size_t nodes,
                             const unsigned char *has, const gnomon_profile *p)
{
    gnomon_link_info link;
    bool ok = true;
    for (size_t i = 1; ok && !gnomon_profile_link(p, i, &link); i++) {
        const uint64_t pair = (uint64_t)link.to << 32 | link.from;
        if (link.kind != GNOMON_LINK_SUBMIT || !link.from ||
            link.from > nodes || !link.to || link.to > nodes ||
            (has && (!has[link.from] || !has[link.to])))
            continue;
        if (of->count && of->at[of->count - 1].key == pair)
            of->at[of->count - 1].value += link.count;
        else
            ok = gnomon__keyed_add(of, pair, link.count, 0);
    }
    gnomon__keyed_sort(of);
    return ok;
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

/* Writes to submitters[node] which node submitted it most often, of equal ones the
 * first; 0: none. in_part[node] is how often. Where some executions were not submitted
 * there is none either, and in_part[node] is how many were, by whomever. */
static bool find_submitters(uint32_t *submitters, uint64_t *in_part,
                            size_t nodes, const unsigned char *has,
                            const gnomon_profile *p)
{
    gnomon__keyed_list of = {0};
    const bool ok = read_submissions(&of, nodes, has, p);
    for (size_t i = 0; ok && i < of.count;) {
        const uint32_t to = (uint32_t)(of.at[i].key >> 32);
        uint64_t most = 0, all = 0;
        while (i < of.count && of.at[i].key >> 32 == to) {
            const uint64_t pair = of.at[i].key;
            uint64_t sum = 0;
            for (; i < of.count && of.at[i].key == pair; i++)
                sum += of.at[i].value;
            all += sum;
            if (sum > most)
                submitters[to] = (uint32_t)pair;
            most = sum > most ? sum : most;
        }
        const bool is_whole = is_all(all, to, has, p);
        in_part[to] = is_whole ? most : all;
        if (!is_whole)
            submitters[to] = 0;
    }
    free(of.at);
    return ok;
}

/* Whether `at` is `node` or below it. The parents contain no circle so far. */
static bool is_within(const uint32_t *parents, uint32_t at, uint32_t node)
{
    while (at && at != node)
        at = parents[at];
    return at != 0;
}

int gnomon__linked_parents(uint32_t **parents, bool **is_linked,
                           uint64_t **in_part, const unsigned char *has,
                           const gnomon_profile *p)
{
    const size_t nodes = gnomon_profile_count(p, GNOMON_NODES);
    uint32_t *submitters = calloc(nodes + 1, sizeof *submitters);
    uint32_t *to = *parents = calloc(nodes + 1, sizeof *to);
    bool *linked = *is_linked = calloc(nodes + 1, sizeof *linked);
    uint64_t *part = *in_part = calloc(nodes + 1, sizeof *part);
    gnomon_node_info n;
    const bool ok = submitters && to && linked && part &&
                    find_submitters(submitters, part, nodes, has, p);
    for (size_t i = 1; ok && i <= nodes; i++)
        to[i] = !gnomon_profile_node(p, i, &n) && n.parent < i ? n.parent : 0;
    for (uint32_t i = 1; ok && i <= nodes; i++) {
        if (!submitters[i] || is_within(to, submitters[i], i))
            continue;
        to[i] = submitters[i];
        linked[i] = true;
    }
    free(submitters);
    return ok ? GNOMON_OK : GNOMON_ENOMEM;
}
