/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Text that stands after a profiler's own report, so that the report keeps its
 * bytes. run/ calls it once for each report, after summary. A pure function of
 * its arguments; numbers are formatted from integers, as the decimal point of
 * printf is the host's locale's.
 */
#include "report/footer.h"

#include <inttypes.h>
#include <stdio.h>

/* Three digits after the point; units are always the same, for whoever greps. */
static const char *footer_decimal(char text[32], double value)
{
    uint64_t thousandths = (uint64_t)(value * 1000 + 0.5);
    snprintf(text, 32, "%" PRIu64 ".%03" PRIu64, thousandths / 1000,
             thousandths % 1000);
    return text;
}

static const char *footer_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* The reasons in the order in which each makes the next one moot. */
static void footer_no_rows(const gnomon_profile *profile,
                           const gnomon__footer_facts *facts,
                           const gnomon_writer *out)
{
    uint64_t open = gnomon_profile_count(profile, GNOMON_OPENS);
    uint64_t excluded = facts->regions_excluded;
    if (facts->rank_excluded) {
        out->print(out, "gnomon: no rows: this rank is not in ranks=\n");
        return;
    }
    if (facts->regions_seen == 0) {
        out->print(out, "gnomon: no rows: no marks were made\n");
        return;
    }
    if (excluded)
        out->print(out,
                   "gnomon: no rows: the filter excluded %" PRIu64
                   " of %" PRIu64 " region%s\n",
                   excluded, facts->regions_seen,
                   footer_plural(facts->regions_seen));
    if (facts->scheduled && facts->first_active_step == UINT64_MAX)
        out->print(out, "gnomon: no rows: the schedule is never active\n");
    else if (facts->scheduled && facts->steps_made < facts->first_active_step)
        out->print(
            out,
            "gnomon: no rows: the schedule was never active: %" PRIu64
            " step%s made, the first active one would be step %" PRIu64 "\n",
            facts->steps_made, facts->steps_made == 1 ? " was" : "s were",
            facts->first_active_step);
    else if (open)
        out->print(out,
                   "gnomon: no rows: of %" PRIu64 " open scope%s none ended\n",
                   open, footer_plural(open));
    else if (!excluded)
        out->print(out, "gnomon: no rows: no scope ended in this stage\n");
}

static void footer_cost(const gnomon_profile *profile, uint64_t marks,
                        double pair_ns, const gnomon_writer *out)
{
    size_t stages = gnomon_profile_count(profile, GNOMON_STAGES);
    gnomon_stage_info first, last;
    char cost[32], wall[32], share[32];
    double cost_ns = (double)marks * pair_ns, wall_ns;
    if (gnomon_profile_stage(profile, 1, &first) != GNOMON_OK ||
        gnomon_profile_stage(profile, stages, &last) != GNOMON_OK ||
        last.end_ns <= first.begin_ns)
        return;
    wall_ns = (double)(last.end_ns - first.begin_ns);
    out->print(out,
               "gnomon: about %s ms of %s s (%s %%) went into %" PRIu64
               " mark%s at %" PRIu64 " ns each\n",
               footer_decimal(cost, cost_ns / 1e6),
               footer_decimal(wall, wall_ns / 1e9),
               footer_decimal(share, 100.0 * cost_ns / wall_ns), marks,
               footer_plural(marks), (uint64_t)(pair_ns + 0.5));
}

static void footer_health(const gnomon__footer_facts *facts,
                          const gnomon_writer *out)
{
#define FOOTER_HEALTH(field, text) \
    if (facts->after.field > facts->before.field) \
        out->print(out, "gnomon: %" PRIu64 " %s\n", \
                   facts->after.field - facts->before.field, text);
    GNOMON_HEALTH(FOOTER_HEALTH)
#undef FOOTER_HEALTH
}

int gnomon__footer(const gnomon_profile *profile,
                   const gnomon__footer_facts *facts, const gnomon_writer *out)
{
    size_t nodes = profile ? gnomon_profile_count(profile, GNOMON_NODES) : 0;
    uint64_t marks = 0;
    for (size_t i = 1; i <= nodes; i++) {
        gnomon_node_info node;
        if (gnomon_profile_node(profile, i, &node) == GNOMON_OK && node.host)
            marks += node.host->count;
    }
    if (facts->forked_from)
        out->print(out,
                   "gnomon: process %" PRId64 ", forked from %" PRId64 "\n",
                   facts->pid, facts->forked_from);
    if (profile && marks == 0)
        footer_no_rows(profile, facts, out);
    if (marks && facts->pair_ns > 0)
        footer_cost(profile, marks, facts->pair_ns, out);
    footer_health(facts, out);
    return out->write(out, "", 0);
}
