/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: testing
 * threads: none */
#include "test.h"

#include <unistd.h>

#include "gnomon.h"
#include "spec/rank.h"

#define FIND(...) found((const char *[]){__VA_ARGS__, NULL})

/* In an environment: "NAME=value" one after the other, NULL at the end. */
static const gnomon__rank *found(const char **list)
{
    static gnomon__rank r;
    char **before = environ;
    environ = (char **)(void *)list;
    gnomon__rank_find(&r);
    environ = before;
    return &r;
}

static void expect(const gnomon__rank *r, const char *source, int rank,
                   int local_rank, int world_size)
{
    CHECK_STR(r->source, source);
    CHECK_EQ(r->rank, rank);
    CHECK_EQ(r->local_rank, local_rank);
    CHECK_EQ(r->world_size, world_size);
}

#define OURS "GNOMON_RANK=1", "GNOMON_LOCAL_RANK=0", "GNOMON_WORLD_SIZE=2"
#define TORCHRUN "RANK=3", "LOCAL_RANK=1", "WORLD_SIZE=4"
#define OPENMPI \
    "OMPI_COMM_WORLD_RANK=5", "OMPI_COMM_WORLD_LOCAL_RANK=2", \
        "OMPI_COMM_WORLD_SIZE=6"
#define PMI "PMI_RANK=7", "MPI_LOCALRANKID=3", "PMI_SIZE=8"
#define SLURM "SLURM_PROCID=9", "SLURM_LOCALID=4", "SLURM_NTASKS=10"
#define SRUN SLURM, "SLURM_STEP_ID=0"

#define MVAPICH2 \
    "MV2_COMM_WORLD_RANK=6", "MV2_COMM_WORLD_LOCAL_RANK=0", \
        "MV2_COMM_WORLD_SIZE=7"
#define FLUX "FLUX_TASK_RANK=8", "FLUX_TASK_LOCAL_ID=1", "FLUX_JOB_SIZE=9"
#define LSF \
    "JSM_NAMESPACE_RANK=2", "JSM_NAMESPACE_LOCAL_RANK=1", "JSM_NAMESPACE_SIZE=3"
#define PALS "PALS_RANKID=11", "PALS_LOCAL_RANKID=5"

TEST(launchers_of_clusters_are_known)
{
    expect(FIND(MVAPICH2, PMI, SRUN), "MVAPICH2", 6, 0, 7);
    expect(FIND(FLUX, SRUN), "Flux", 8, 1, 9);
    expect(FIND(LSF, "PMIX_RANK=2"), "LSF", 2, 1, 3);
    expect(FIND(PALS, "PMIX_RANK=11"), "PALS", 11, 5, -1);
    expect(FIND(PALS, "PMI_RANK=11", "PMI_SIZE=12"), "PMI", 11, -1, 12);
    expect(FIND(SRUN, "PMIX_RANK=9"), "Slurm", 9, 4, 10);
    expect(FIND("PMIX_RANK=4"), "PMIx", 4, -1, -1);
    expect(FIND("PMIX_RANK=4294967294"), NULL, -1, -1, -1);
    /* Of a job that is no task's. */
    expect(FIND("FLUX_JOB_SIZE=9"), NULL, -1, -1, -1);
    CHECK_STR(FIND("FLUX_JOB_ID=f3", "SLURM_JOB_ID=7")->job, "f3");
}

TEST(launchers_in_order)
{
    expect(FIND(SRUN, PMI, OPENMPI, TORCHRUN, OURS), "GNOMON_RANK", 1, 0, 2);
    expect(FIND(SRUN, PMI, OPENMPI, TORCHRUN), "torchrun", 3, 1, 4);
    expect(FIND(SRUN, PMI, OPENMPI), "Open MPI", 5, 2, 6);
    expect(FIND(SRUN, PMI), "PMI", 7, 3, 8);
    expect(FIND(SRUN), "Slurm", 9, 4, 10);
    expect(FIND("HOME=/"), NULL, -1, -1, -1);
    CHECK_STR(FIND("HOME=/")->passed_over, "");
    CHECK_STR(FIND(SRUN, TORCHRUN)->passed_over, "");
}

TEST(local_rank_may_be_missing)
{
    expect(FIND("RANK=3", "WORLD_SIZE=4"), "torchrun", 3, -1, 4);
    expect(FIND("PMI_RANK=0", "PMI_SIZE=1"), "PMI", 0, -1, 1);
}

TEST(half_a_set_is_passed_over)
{
    const gnomon__rank *r = FIND("GNOMON_RANK=1", TORCHRUN);
    expect(r, "torchrun", 3, 1, 4);
    CHECK_STR(r->passed_over, "GNOMON_RANK is set without GNOMON_WORLD_SIZE");
    expect(FIND("RANK=1", "WORLD_SIZE="), NULL, -1, -1, -1);
    expect(FIND("WORLD_SIZE=4", "LOCAL_RANK=0", OPENMPI), "Open MPI", 5, 2, 6);
    expect(FIND("RANK=", "WORLD_SIZE=4", PMI), "PMI", 7, 3, 8);
}

TEST(contradictions_are_passed_over)
{
    const gnomon__rank *r = FIND("RANK=4", "WORLD_SIZE=4", PMI);
    expect(r, "PMI", 7, 3, 8);
    CHECK_STR(r->passed_over, "RANK=4 does not go with WORLD_SIZE=4");
    expect(FIND("RANK=-1", "WORLD_SIZE=4"), NULL, -1, -1, -1);
    expect(FIND("RANK=0", "WORLD_SIZE=0"), NULL, -1, -1, -1);
    expect(FIND("RANK=0x1", "WORLD_SIZE=4"), NULL, -1, -1, -1);
    expect(FIND("RANK=1", "WORLD_SIZE=four"), NULL, -1, -1, -1);
    expect(FIND("RANK=1", "WORLD_SIZE=4", "LOCAL_RANK=4"), NULL, -1, -1, -1);
    expect(FIND("RANK=1", "WORLD_SIZE=4", "LOCAL_RANK=-2"), NULL, -1, -1, -1);
    expect(FIND("RANK=4294967296", "WORLD_SIZE=4294967297"), NULL, -1, -1, -1);
    expect(FIND("RANK= 1", "WORLD_SIZE=4"), NULL, -1, -1, -1);
    CHECK_STR(FIND("RANK=colonel\n", "WORLD_SIZE=4")->passed_over,
              "RANK='colonel\n' is not a number");
}

/* sbatch and salloc leave task variables in the shell, where no task is. */
TEST(a_batch_script_is_no_task)
{
    const gnomon__rank *r =
        FIND("SLURM_PROCID=0", "SLURM_LOCALID=0", "SLURM_NTASKS=8");
    expect(r, NULL, -1, -1, -1);
    CHECK_STR(r->passed_over,
              "SLURM_PROCID=0 is the batch script's, not a task's");
    expect(FIND(SLURM, "SLURM_STEP_ID=4294967291"), NULL, -1, -1, -1);
    expect(FIND(SLURM, "SLURM_STEP_ID=4294967290"), NULL, -1, -1, -1);
    expect(FIND(SLURM, "SLURM_STEP_ID=batch"), NULL, -1, -1, -1);
    expect(FIND(SLURM, "SLURM_STEP_ID="), NULL, -1, -1, -1);
    expect(FIND("SLURM_PROCID=0", "SLURM_NTASKS=1"), "Slurm", 0, -1, 1);
    expect(FIND("SLURM_NTASKS=8", "SLURM_STEP_ID=1"), NULL, -1, -1, -1);
    expect(FIND(SLURM, "SLURM_STEP_ID=17"), "Slurm", 9, 4, 10);
}

TEST(attempts)
{
    CHECK_EQ(FIND(TORCHRUN)->attempt, -1);
    CHECK_EQ(FIND(TORCHRUN, "TORCHELASTIC_RESTART_COUNT=2")->attempt, 2);
    CHECK_EQ(FIND("SLURM_RESTART_COUNT=1")->attempt, 1);
    CHECK_EQ(
        FIND("TORCHELASTIC_RESTART_COUNT=0", "SLURM_RESTART_COUNT=1")->attempt,
        0);
    CHECK_EQ(FIND("TORCHELASTIC_RESTART_COUNT=many")->attempt, -1);
}

TEST(jobs)
{
    CHECK_STR(FIND(TORCHRUN)->job, "");
    CHECK_STR(FIND("GNOMON_JOB=ours", "SLURM_JOB_ID=7")->job, "ours");
    CHECK_STR(FIND("TORCHELASTIC_RUN_ID=a", "SLURM_JOB_ID=7")->job, "a");
    /* What torchrun sets where the job has no name. */
    CHECK_STR(FIND("TORCHELASTIC_RUN_ID=none", "SLURM_JOB_ID=7")->job, "7");
    CHECK_STR(FIND("PBS_JOBID=", "LSB_JOBID=8")->job, "8");
}

static int listed(const char *text, int32_t rank)
{
    char why[128];
    CHECK_EQ(gnomon__ranks_check(text, why, sizeof why), GNOMON_OK);
    return gnomon__ranks_hold(text, rank);
}

TEST(lists_of_ranks)
{
    static const char *const wrong[] = {
        "",    "|",    "0||1",
        "|0",  "a",    "1-",
        "-1",  "3-2",  "1-2-3",
        "0,1", "ALLE", "2147483648",
        "0|x", "1 2",  "00000000000000000000000000000001"};
    size_t i;
    int rank;
    for (i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char why[128] = "";
        CHECK_EQ(gnomon__ranks_check(wrong[i], why, sizeof why), GNOMON_EINVAL);
        CHECK_STR(why, "say all, or ranks and spans as 0|3|8-15");
    }
    for (rank = 0; rank < 20; rank++)
        CHECK_EQ(listed("0|3|8-15", rank),
                 rank == 0 || rank == 3 || (rank >= 8 && rank <= 15));
    CHECK(listed("all", 5));
    CHECK(listed("ALL", -1));
    CHECK(gnomon__ranks_hold(NULL, 5));
    CHECK(listed("0-2147483647", 2147483647));
    CHECK(listed("0", -1)); /* an unknown rank is 0 */
    CHECK(!listed("1", -1));
}
