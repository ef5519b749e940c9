/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a profile has for a report, and what it lacks: for the lines beside reports. */
#include "report/content.h"

#include <stdio.h>
#include <string.h>

#include "platform/error.h"

int gnomon__report_has_rows(const char *report, const gnomon_profile *p)
{
    gnomon_node_info n;
    gnomon_stage_info stage;
    if (strcmp(report, "steps") == 0)
        return gnomon_profile_count(p, GNOMON_STEPS) > 0 ||
               (gnomon_profile_stage(p, 1, &stage) == GNOMON_OK &&
                stage.steps && stage.steps->count > 0);
    if (strcmp(report, "counters") == 0 &&
        gnomon_profile_count(p, GNOMON_COUNTERS))
        return 1;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_NODES); i++)
        if (!gnomon_profile_node(p, i, &n) &&
            (n.device || (n.host && n.host->count)))
            return 1;
    return 0;
}

/* Without step times a profile has the last steps, and a sum of ranks has none. */
void gnomon__report_log_steps(const char *path, const gnomon_profile *p)
{
    gnomon_stage_info s;
    size_t kept = gnomon_profile_count(p, GNOMON_STEPS);
    if (gnomon_profile_count(p, GNOMON_STEP_TIMES) ||
        gnomon_profile_stage(p, 1, &s) != GNOMON_OK || !s.steps ||
        s.steps->count <= kept)
        return;
    char kept_text[64] = "which of its steps were slow is not in it";
    if (kept)
        snprintf(kept_text, sizeof kept_text,
                 "only its last %zu steps are in it", kept);
    gnomon__log("%s: %s: GNOMON=steps keeps the slowest", path, kept_text);
}
