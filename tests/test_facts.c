/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Random profiles against a model (facts.h): what is read from a file of several parts,
 * merged and summed is what went in. $GNOMON_SEED runs one round again.
 *
 * links: testing
 * threads: none
 * needs: cli
 * timeout: 600 */
#include "facts.h"
#include "merging.h"
#include "random_profile.h"
#include "sanitizer.h"

enum { MOST_INPUTS = 4 };

typedef struct round_inputs {
    gnomon_profile *of[MOST_INPUTS];
    int count;
} round_inputs;

/* Profiles of few paths are most of them: a fault is seen where keys are equal. */
static void set_size(uint32_t most)
{
    random_nodes_most = most;
    random_regions = 3 + most / 16;
    random_leaves = 1 + most / 1000;
    random_is_odd = (int)random_below(2);
}

/* Each of one of these sets of ranks, which differ and have holes. */
static round_inputs make_inputs(uint32_t most, int count, int are_parts)
{
    static const char *const ranks[] = {"0", "02", "3", "012"};
    round_inputs in = {.count = count};
    const char *all = ranks[random_below(4)];
    set_size(most);
    random_is_part = are_parts;
    for (int i = 0; i < count; i++)
        in.of[i] = random_profile(are_parts ? all : ranks[random_below(4)], 0);
    return in;
}

static void free_inputs(round_inputs *in)
{
    for (int i = 0; i < in->count; i++)
        gnomon_profile_free(in->of[i]);
}

/* What the model says of them together. */
static facts facts_of_inputs(const round_inputs *in, int way)
{
    facts f = {.way = way};
    for (int i = 0; i < in->count; i++) {
        f.is_before = way == FACTS_OF_PARTS && i + 1 < in->count;
        facts_add(&f, in->of[i]);
    }
    return f;
}

static void check_facts(const round_inputs *in, int way, bytes file)
{
    gnomon_profile *p = read_back(&file);
    facts is = {.way = way}, must = facts_of_inputs(in, way);
    free(file.at);
    if (!CHECK(p != NULL))
        return;
    CHECK_EQ(gnomon_profile_check(p), GNOMON_OK);
    facts_add(&is, p);
    facts_equal(&is, &must);
    gnomon_profile_free(p);
    facts_free(&is);
    facts_free(&must);
}

/* ---- Rounds -------------------------------------------------------------------- */

/* A seed that fails is said, and can be tried alone. */
static void each_round(const char *what, int rounds, uint32_t most,
                       void (*check)(uint32_t most))
{
    const char *alone = getenv("GNOMON_SEED");
    const int first = alone ? atoi(alone) : 0;
    for (int i = first; i < (alone ? first + 1 : rounds); i++) {
        random_word = ((uint64_t)i + most) * 0x9E3779B97F4A7C15u + 1;
        check(most);
        if (test_failures) {
            fprintf(stderr, "    %s: GNOMON_SEED=%d, of %u nodes\n", what, i,
                    (unsigned)most);
            return;
        }
    }
}

/* Small ones, some larger, and one of 10^5 paths where that is asked for. */
static void each_size(const char *what, void (*check)(uint32_t most))
{
    const int is_soak = getenv("GNOMON_SOAK") != NULL;
    each_round(what, is_soak ? 20000 : 200 / SHARE, 12, check);
    each_round(what, is_soak ? 2000 : 20 / SHARE, 300, check);
    each_round(what, is_soak ? 20 : 1, is_soak ? 100000 : 10000, check);
}

/* ---- Parts of a file ------------------------------------------------------------- */

static void check_parts(uint32_t most)
{
    round_inputs in = make_inputs(most, 1 + (int)random_below(MOST_INPUTS), 1);
    bytes file = {NULL, 0, 0};
    const gnomon_writer out = {
        .struct_size = sizeof out, .write = bytes_write, .context = &file};
    gnomon__file_counts so_far = {0};
    for (int i = 0; i < in.count; i++)
        CHECK_EQ(gnomon__file_add_part(in.of[i], &out, &so_far), GNOMON_OK);
    check_facts(&in, FACTS_OF_PARTS, file);
    free_inputs(&in);
}

TEST(soak_parts_of_a_file_are_joined)
{
    each_size("parts", check_parts);
}

/* ---- Merges ---------------------------------------------------------------------- */

static void files_of(const round_inputs *in, bytes files[MOST_INPUTS])
{
    for (int i = 0; i < in->count; i++)
        files[i] = bytes_of(in->of[i], GNOMON_FORM_FILE);
}

static void free_files(const round_inputs *in, bytes files[MOST_INPUTS])
{
    for (int i = 0; i < in->count; i++)
        free(files[i].at);
}

static void check_merge(uint32_t most)
{
    round_inputs in = make_inputs(most, 1 + (int)random_below(MOST_INPUTS), 0);
    bytes files[MOST_INPUTS];
    files_of(&in, files);
    check_facts(&in, FACTS_OF_RUNS, merged(files, (size_t)in.count));
    free_files(&in, files);
    free_inputs(&in);
}

TEST(soak_runs_are_merged)
{
    each_size("merge", check_merge);
}

static void check_sum(uint32_t most)
{
    round_inputs in = make_inputs(most, 1 + (int)random_below(MOST_INPUTS), 0);
    bytes files[MOST_INPUTS];
    files_of(&in, files);
    check_facts(&in, FACTS_OF_RANKS, summed(files, (size_t)in.count, NULL));
    free_files(&in, files);
    free_inputs(&in);
}

TEST(soak_ranks_are_summed)
{
    each_size("sum", check_sum);
}
