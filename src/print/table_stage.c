/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The stage that a table is of, for its title and for programs. */
#include <string.h>

#include "gnomon/profile.h"
#include "print/table.h"

bool gnomon__table_stage(const gnomon_profile *p, gnomon_stage_info *out)
{
    size_t count = gnomon_profile_count(p, GNOMON_STAGES);
    gnomon_stage_info other;
    if ((count > 1 && count != gnomon_profile_count(p, GNOMON_RUNS)) ||
        gnomon_profile_stage(p, 1, out) != GNOMON_OK)
        return false;
    for (size_t i = 2; i <= count; i++)
        if (gnomon_profile_stage(p, i, &other) != GNOMON_OK ||
            strcmp(other.name, out->name) != 0)
            return false;
    return true;
}

const char *gnomon__only_stage(const gnomon_profile *p)
{
    gnomon_stage_info stage;
    return gnomon_profile_count(p, GNOMON_STAGES) == 1 &&
                   gnomon_profile_stage(p, 1, &stage) == GNOMON_OK && stage.name
               ? stage.name
               : "";
}
