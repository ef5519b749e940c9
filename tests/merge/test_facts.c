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
#include "random_rounds.h"

enum { MOST_INPUTS = 4 };

typedef struct round_inputs {
    gnomon_profile *of[MOST_INPUTS];
    int count;
} round_inputs;

/* Each of one of these sets of ranks, which differ and have holes. */
static round_inputs make_inputs(uint32_t most, int count, int are_parts)
{
    static const char *const ranks[] = {"0", "02", "3", "012"};
    round_inputs in = {.count = most > 10000 && count > 2 ? 2 : count};
    const uint32_t sets = most > 10000 ? 1 : 4;
    const char *all = ranks[random_below(sets)];
    random_size(most);
    random_is_part = are_parts;
    for (int i = 0; i < in.count; i++)
        in.of[i] =
            random_profile(are_parts ? all : ranks[random_below(sets)], 0);
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

/* ---- Parts of a file ------------------------------------------------------------- */

/* The first `count` of them. */
static bytes file_of_parts(const round_inputs *in, int count)
{
    bytes file = {NULL, 0, 0};
    const gnomon_writer out = {
        .struct_size = sizeof out, .write = bytes_write, .context = &file};
    gnomon__file_counts so_far = {0};
    for (int i = 0; i < count; i++)
        CHECK_EQ(gnomon__file_add_part(in->of[i], &out, &so_far), GNOMON_OK);
    return file;
}

static void check_parts(uint32_t most)
{
    round_inputs in = make_inputs(most, 1 + (int)random_below(MOST_INPUTS), 1);
    check_facts(&in, FACTS_OF_PARTS, file_of_parts(&in, in.count));
    free_inputs(&in);
}

TEST(soak_parts_of_a_file_are_joined)
{
    each_size("parts", 100000, check_parts);
}

/* ---- Damage ---------------------------------------------------------------------- */

/* Whether what a damaged file lacks of a kind is what it reports as lost. One that could
 * not be read may count a second time, as one that described only lost ones. */
static int is_reported(const gnomon_profile *p, int kind, size_t sound)
{
    const char *many = gnomon__structs[kind].many;
    const size_t count = gnomon_profile_count(p, kind);
    char text[64];
    snprintf(text, sizeof text, "unreadable: %s", many);
    const uint64_t unread = loss_of(p, text);
    snprintf(text, sizeof text, "of lost ones alone: %s", many);
    const uint64_t left_out = loss_of(p, text);
    return CHECK(count <= sound && sound - count <= unread + left_out &&
                 sound - count >= unread && sound - count >= left_out) ||
           (fprintf(stderr,
                    "    %zu of %zu %s, unreadable %llu, left out %llu\n",
                    count, sound, many, (unsigned long long)unread,
                    (unsigned long long)left_out),
            0);
}

static uint64_t calls_in(const gnomon_profile *p)
{
    uint64_t calls = 0;
    gnomon_node_info n;
    for (size_t i = 1; !gnomon_profile_node(p, i, &n); i++)
        calls += n.host ? n.host->count : 0;
    return calls;
}

/* Of one wrong bit, past the header. What others name stays, as a stand-in. */
static void check_damage(uint32_t most)
{
    static const int kinds[] = {
        GNOMON_OPENS,  GNOMON_LINKS,      GNOMON_COUNTERS,   GNOMON_METADATA,
        GNOMON_EVENTS, GNOMON_STEP_TIMES, GNOMON_VIEW_TIMES, GNOMON_STRIPS};
    round_inputs in = make_inputs(most, 1, 0);
    bytes file = bytes_of(in.of[0], "gnomon");
    for (int i = 0; i < 8; i++) {
        const size_t at =
            GNOMON__FILE_HEADER +
            random_below((uint32_t)(file.size - GNOMON__FILE_HEADER));
        const char bit = (char)(1 << random_below(8));
        file.at[at] ^= bit;
        gnomon_profile *p = read_back(&file);
        file.at[at] ^= bit;
        if (!CHECK(p != NULL))
            break;
        CHECK_EQ(gnomon_profile_check(p), GNOMON_OK);
        CHECK(calls_in(p) <= calls_in(in.of[0]));
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            is_reported(p, kinds[k], gnomon_profile_count(in.of[0], kinds[k]));
        gnomon_profile_free(p);
    }
    free(file.at);
    free_inputs(&in);
}

TEST(soak_what_is_lost_is_reported)
{
    each_size("damage", 10000, check_damage);
}

/* ---- Merges ---------------------------------------------------------------------- */

static void files_of(const round_inputs *in, bytes files[MOST_INPUTS])
{
    for (int i = 0; i < in->count; i++)
        files[i] = bytes_of(in->of[i], "gnomon");
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
    each_size("merge", 10000, check_merge);
}

/* What only grows while a process runs. */
static void keep_growing(facts *f)
{
    facts_of_kinds(f, "|node|link|counter|", 0);
    facts_but_fields(f, "|open|");
}

/* The first parts of a file are an earlier reading of its run, which has an identity: the
 * later one holds, whichever is first. */
static void check_readings(uint32_t most)
{
    round_inputs in = {.count = 2 + (int)random_below(MOST_INPUTS - 1)};
    random_size(most);
    random_is_part = 1;
    for (int i = 0; i < in.count; i++)
        in.of[i] = random_profile_of(most > 10000 ? "0" : "02", 0, 1);
    bytes readings[2], turned[2];
    readings[0] =
        file_of_parts(&in, 2 + (int)random_below((uint32_t)in.count - 1));
    readings[1] = file_of_parts(&in, in.count);
    turned[0] = readings[1];
    turned[1] = readings[0];
    bytes whole = merged(readings, 2), other = merged(turned, 2);
    CHECK(bytes_equal(&whole, &other));
    gnomon_profile *p = read_back(&whole), *q = read_back(&readings[1]);
    facts is = {.way = FACTS_OF_PARTS}, must = is;
    facts_add(&is, p);
    facts_add(&must, q);
    keep_growing(&is);
    keep_growing(&must);
    facts_equal(&is, &must);
    facts_free(&is);
    facts_free(&must);
    gnomon_profile_free(p);
    gnomon_profile_free(q);
    free(whole.at);
    free(other.at);
    free(readings[0].at);
    free(readings[1].at);
    free_inputs(&in);
}

TEST(soak_of_readings_the_later_holds)
{
    each_size("readings", 2000, check_readings);
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
    each_size("sum", 10000, check_sum);
}

/* ---- One stage and view ------------------------------------------------------------ */

static uint32_t view_number(bytes *files, int count, const char *words)
{
    gnomon__merge *m = merge_of(files, (size_t)count);
    const gnomon_profile *shared = &gnomon__merge_shared(m)->m->base;
    gnomon_view_info v;
    uint32_t i = 1;
    while (!gnomon_profile_view(shared, i, &v) && strcmp(v.words, words) != 0)
        i++;
    gnomon__merge_free(m);
    return i;
}

/* As reports have it: with the paths around what is of the stage, but not their times. Of
 * the merged profile, as a view may have its times in another file than its paths. */
static void check_stage(uint32_t most)
{
    static const char *const views[] = {NULL, "", "filter=p"};
    static const char *const around = "|is|open|first|flags|";
    const char *view = views[random_below(3)];
    const char *kinds = view ? "|node|counter|" : "|node|counter|stage|";
    round_inputs in = make_inputs(most, 1 + (int)random_below(MOST_INPUTS), 0);
    bytes files[MOST_INPUTS];
    files_of(&in, files);
    const gnomon__stage_filter fit = {1, "fit",
                                      view ? view_number(files, in.count, view)
                                           : GNOMON__ALL_VIEWS};
    bytes sum = summed(files, (size_t)in.count, &fit);
    bytes file = merged_in_memory(files, (size_t)in.count);
    gnomon_profile *p = read_back(&sum), *whole = read_back(&file);
    facts is = {.way = FACTS_OF_RANKS}, must = is;
    facts_add(&is, p);
    must.stage = "fit";
    must.view = view;
    facts_add(&must, whole);
    facts_of_kinds(&is, kinds, 0);
    facts_of_kinds(&must, kinds, 0);
    facts_but_fields(&is, around);
    facts_but_fields(&must, around);
    facts_equal(&is, &must);
    facts_free(&is);
    facts_free(&must);
    gnomon_profile_free(p);
    gnomon_profile_free(whole);
    free(sum.at);
    free(file.at);
    free_files(&in, files);
    free_inputs(&in);
}

TEST(soak_a_stage_of_a_view_is_summed)
{
    each_size("stage", 5000, check_stage);
}
