/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Ranks. One table lists the variables that each launcher sets. A set is valid only if
 * rank and size are both numbers and the rank is below the size; two launchers set no
 * size. An incomplete set is
 * left over from another or an outer launcher: it is ignored, and passed_over says so.
 * Pure but for the environment. */
#include "spec/rank.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gnomon.h"
#include "spec/suggest.h"

/* Arrays, as in print/table.h; "": it sets none. */
typedef struct rank_set {
    char name[12];
    char rank[22];
    char local_rank[27];
    char world_size[22];
    char step[14]; /* only in processes that the launcher started */
} rank_set;

static const rank_set rank_sets[] = {
    {"GNOMON_RANK", "GNOMON_RANK", "GNOMON_LOCAL_RANK", "GNOMON_WORLD_SIZE",
     ""},
    {"torchrun", "RANK", "LOCAL_RANK", "WORLD_SIZE", ""},
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_SIZE", ""},
    {"MVAPICH2", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_LOCAL_RANK",
     "MV2_COMM_WORLD_SIZE", ""},
    {"PMI", "PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE", ""},
    {"Flux", "FLUX_TASK_RANK", "FLUX_TASK_LOCAL_ID", "FLUX_JOB_SIZE", ""},
    {"LSF", "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_LOCAL_RANK",
     "JSM_NAMESPACE_SIZE", ""},
    {"PALS", "PALS_RANKID", "PALS_LOCAL_RANKID", "", ""},
    {"Slurm", "SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS", "SLURM_STEP_ID"},
    {"PMIx", "PMIX_RANK", "", "", ""},
};

static const char *const rank_attempts[] = {"TORCHELASTIC_RESTART_COUNT",
                                            "SLURM_RESTART_COUNT"};

static const char *const rank_jobs[] = {"GNOMON_JOB",  "TORCHELASTIC_RUN_ID",
                                        "FLUX_JOB_ID", "SLURM_JOB_ID",
                                        "PBS_JOBID",   "LSB_JOBID"};

/* From here on Slurm's step numbers are not srun's: batch script, interactive
 * shell, external processes. */
#define RANK_SLURM_SPECIAL 0xFFFFFFF0u

/* All of `text` as a number; -1: it is none, or larger than `most`. */
static int64_t rank_number(const char *text, int64_t most)
{
    const char *at = text;
    int64_t value = gnomon__digits(&at);
    return at == text || *at || value > most ? -1 : value;
}

/* Reads one variable; "": none. 1: it is a number; 0: not set; -1: it is something
 * else, and out->passed_over says so. */
static int rank_read(gnomon__rank *out, int32_t *number, const char *name)
{
    const char *text = *name ? getenv(name) : NULL;
    *number = -1;
    if (!text || *text == '\0')
        return 0;
    *number = (int32_t)rank_number(text, INT32_MAX);
    if (*number >= 0)
        return 1;
    snprintf(out->passed_over, sizeof out->passed_over,
             "%s='%.24s' is not a number", name, text);
    return -1;
}

/* Whether the set is valid. If not, out->passed_over says why; "": it is not set. */
static int rank_take(gnomon__rank *out, const rank_set *set)
{
    int rank = rank_read(out, &out->rank, set->rank);
    int size, local;
    const char *step;

    if (rank < 0)
        return 0;
    size = rank_read(out, &out->world_size, set->world_size);
    if (size < 0)
        return 0;
    local = rank_read(out, &out->local_rank, set->local_rank);
    if (local < 0)
        return 0;
    if (!rank) /* ignore a size alone: Slurm sets it in any shell */
        return 0;
    if (!*set->world_size)
        return 1;
    if (!size) {
        snprintf(out->passed_over, sizeof out->passed_over,
                 "%s is set without %s", set->rank, set->world_size);
        return 0;
    }
    if (out->rank >= out->world_size || out->local_rank >= out->world_size) {
        snprintf(out->passed_over, sizeof out->passed_over,
                 "%s=%d does not go with %s=%d",
                 out->rank >= out->world_size ? set->rank : set->local_rank,
                 out->rank >= out->world_size ? out->rank : out->local_rank,
                 set->world_size, out->world_size);
        return 0;
    }
    if (!*set->step || out->world_size == 1)
        return 1;
    step = getenv(set->step);
    if (step && rank_number(step, RANK_SLURM_SPECIAL) >= 0)
        return 1;
    snprintf(out->passed_over, sizeof out->passed_over,
             "%s=%d is the batch script's, not a task's", set->rank, out->rank);
    return 0;
}

void gnomon__rank_find(gnomon__rank *out)
{
    char passed_over[sizeof out->passed_over] = "";
    size_t i;

    memset(out, 0, sizeof *out);
    for (i = 0; i < sizeof rank_sets / sizeof rank_sets[0]; i++) {
        if (rank_take(out, &rank_sets[i])) {
            out->source = rank_sets[i].name;
            break;
        }
        out->rank = out->local_rank = out->world_size = -1;
        if (passed_over[0] == '\0')
            memcpy(passed_over, out->passed_over, sizeof passed_over);
    }
    memcpy(out->passed_over, passed_over, sizeof passed_over);
    out->attempt = -1;
    for (i = 0; i < 2 && out->attempt < 0; i++) {
        const char *text = getenv(rank_attempts[i]);
        if (text)
            out->attempt = (int32_t)rank_number(text, INT32_MAX);
    }
    for (i = 0; i < sizeof rank_jobs / sizeof *rank_jobs && !*out->job; i++) {
        const char *text = getenv(rank_jobs[i]);
        if (text && strcmp(text, "none") != 0) /* torchrun's, when not given */
            snprintf(out->job, sizeof out->job, "%s", text);
    }
}

/* ---- Lists of ranks ----------------------------------------------------- */

/* Takes one rank or span off a list. 1, 0: there is none left, -1: it is
 * wrong. A span is never empty. */
static int rank_span(const char **list, int64_t *low, int64_t *high)
{
    size_t n = strcspn(*list, "|");
    char word[24], *dash;

    if (**list == '\0')
        return 0;
    if (n >= sizeof word)
        return -1;
    memcpy(word, *list, n);
    word[n] = '\0';
    *list += n + ((*list)[n] == '|');
    dash = strchr(word, '-');
    if (dash)
        *dash++ = '\0';
    *low = rank_number(word, INT32_MAX);
    *high = dash ? rank_number(dash, INT32_MAX) : *low;
    return *low < 0 || *high < *low ? -1 : 1;
}

int gnomon__ranks_check(const char *text, char *why, size_t size)
{
    int64_t low, high;
    int more = -1;

    if (gnomon__same_word(text, "all"))
        return GNOMON_OK;
    if (*text)
        while ((more = rank_span(&text, &low, &high)) > 0)
            ;
    if (more == 0)
        return GNOMON_OK;
    snprintf(why, size, "say all, or ranks and spans as 0|3|8-15");
    return GNOMON_EINVAL;
}

int gnomon__ranks_hold(const char *text, int32_t rank)
{
    int64_t low, high;

    if (!text || gnomon__same_word(text, "all"))
        return 1;
    if (rank < 0)
        rank = 0;
    while (rank_span(&text, &low, &high) > 0)
        if (rank >= low && rank <= high)
            return 1;
    return 0;
}
