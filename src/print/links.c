/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads the links of a profile and gives each linked node a new parent. A node that
 * several nodes submitted belongs to the one that submitted it most often. */
#include "print/links.h"

#include <stdlib.h>

#include "gnomon.h"
#include "gnomon/profile.h"

/* How often one node submitted another. */
typedef struct submission {
    uint32_t to, from;
    uint64_t count;
} submission;

static int compare_submissions(const void *a, const void *b)
{
    const submission *x = a, *y = b;
    if (x->to != y->to)
        return x->to > y->to ? 1 : -1;
    return (x->from > y->from) - (x->from < y->from);
}

/* Puts the submissions of the profile into `of`, by `to`, then `from`. A pair of nodes
 * may have many links, as those between single executions have one each: links of a
 * pair that follow one another are one element, others are several. Returns how many
 * elements there are. */
static size_t read_submissions(submission *of, size_t nodes,
                               const unsigned char *has,
                               const gnomon_profile *p)
{
    gnomon_link_info link;
    size_t count = 0;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_LINKS); i++) {
        if (gnomon_profile_link(p, i, &link) != GNOMON_OK ||
            link.kind != GNOMON_LINK_SUBMIT || !link.from ||
            link.from > nodes || !link.to || link.to > nodes ||
            (has && (!has[link.from] || !has[link.to])))
            continue;
        submission *last = count ? &of[count - 1] : NULL;
        if (last && last->to == link.to && last->from == link.from)
            last->count += link.count;
        else
            of[count++] = (submission){link.to, link.from, link.count};
    }
    qsort(of, count, sizeof *of, compare_submissions);
    return count;
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
    size_t links = gnomon_profile_count(p, GNOMON_LINKS);
    submission *of = calloc(links + 1, sizeof *of);
    if (!of)
        return false;
    size_t count = read_submissions(of, nodes, has, p);
    uint64_t most = 0, all = 0;
    for (size_t i = 0; i < count;) {
        submission sum = of[i];
        if (!i || of[i - 1].to != sum.to)
            most = all = 0;
        for (i++; i < count && !compare_submissions(&of[i], &sum); i++)
            sum.count += of[i].count;
        all += sum.count;
        if (sum.count > most) {
            most = sum.count;
            submitters[sum.to] = sum.from;
        }
        if (i < count && of[i].to == sum.to)
            continue;
        const bool is_whole = is_all(all, sum.to, has, p);
        in_part[sum.to] = is_whole ? most : all;
        if (!is_whole)
            submitters[sum.to] = 0;
    }
    free(of);
    return true;
}

/* Whether `at` is `node` or below it. The parents contain no circle so far. */
static bool is_within(const uint32_t *parents, uint32_t at, uint32_t node)
{
    while (at && at != node)
        at = parents[at];
    return at != 0;
}

/* Where it is not asked for, and on an error, it is not the caller's. */
static void give_or_free(void *made, void **out, int code)
{
    if (out)
        *out = code ? NULL : made;
    if (!out || code)
        free(made);
}

static int find_linked_parents(uint32_t **parents, bool **is_linked,
                               uint64_t **in_part, const unsigned char *has,
                               const gnomon_profile *p)
{
    size_t nodes = gnomon_profile_count(p, GNOMON_NODES);
    uint32_t *submitters = calloc(nodes + 1, sizeof *submitters);
    uint32_t *to = *parents = calloc(nodes + 1, sizeof *to);
    bool *linked = calloc(nodes + 1, sizeof *linked);
    uint64_t *part = calloc(nodes + 1, sizeof *part);
    int code = submitters && to && linked && part &&
                       find_submitters(submitters, part, nodes, has, p)
                   ? GNOMON_OK
                   : GNOMON_ENOMEM;
    for (size_t i = 1; !code && i <= nodes; i++) {
        gnomon_node_info node;
        (void)gnomon_profile_node(p, i, &node);
        to[i] = node.parent < i ? node.parent : 0;
    }
    for (uint32_t i = 1; !code && i <= nodes; i++) {
        if (!submitters[i] || is_within(to, submitters[i], i))
            continue;
        to[i] = submitters[i];
        linked[i] = true;
    }
    free(submitters);
    give_or_free(linked, (void **)is_linked, code);
    give_or_free(part, (void **)in_part, code);
    if (code) {
        free(to);
        *parents = NULL;
    }
    return code;
}

int gnomon__linked_parents(uint32_t **parents, bool **is_linked,
                           uint64_t **in_part, const gnomon_profile *p)
{
    return find_linked_parents(parents, is_linked, in_part, NULL, p);
}

int gnomon__linked_parents_in(uint32_t **parents, bool **is_linked,
                              const unsigned char *has, const gnomon_profile *p)
{
    return find_linked_parents(parents, is_linked, NULL, has, p);
}
