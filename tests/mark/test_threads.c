/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: static
 * Exactness with several observers: two views, three hooks and eight threads;
 * and stops in the reverse order of starts, whatever is attached and detached between
 * begin and end. */
#include "live_profile.h"
#include "recording_threads.h"

#define THREADS 8

static gnomon_region apple =
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "apple", "fruit", NULL);
static gnomon_region beet =
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "beet", "root", NULL);
static gnomon_region both =
    GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "both", NULL, NULL);

LIVE_KEEPER(apples, "apples");
LIVE_KEEPER(beets, "beets");

/* Each layer (a hook) writes its letter into the thread's text, and leaves
 * in its slot what it must find again. */
typedef struct layer {
    char letter;
    uint64_t starts, stops;
} layer;

static _Thread_local char letters[256];
static _Thread_local uint32_t letter_count;

static void put_letter(char c)
{
    if (letter_count < sizeof letters - 1)
        letters[letter_count++] = c;
    letters[letter_count] = 0;
}

static const char *take_letters(void)
{
    letter_count = 0;
    return letters;
}

static void layer_start(void *self, const gnomon_frame *f, uint64_t *slot)
{
    layer *l = self;
    CHECK_EQ(*slot, 0);
    *slot = f->token * 31 + (uint64_t)l->letter;
    put_letter(l->letter);
    add_relaxed(&l->starts, 1);
}

static void layer_stop(void *self, const gnomon_frame *f, uint64_t *slot)
{
    layer *l = self;
    CHECK(*slot == f->token * 31 + (uint64_t)l->letter);
    put_letter((char)(l->letter - 'A' + 'a'));
    add_relaxed(&l->stops, 1);
}

static const gnomon_profiler onion = {
    .struct_size = sizeof onion,
    .abi = GNOMON_ABI,
    .name = "onion",
    .start = layer_start,
    .stop = layer_stop,
};

static void attach_layer(layer *l, const char *options)
{
    CHECK_EQ(gnomon_attach(&onion, l, options), GNOMON_OK);
}

static void detach_layer(layer *l)
{
    CHECK_EQ(gnomon_detach(&onion, l), GNOMON_OK);
}

/* ---- Counts ---------------------------------------------------------------- */

typedef struct eater {
    long rounds;
    int bad_order;
} eater;

static void *eat(void *item)
{
    eater *e = item;
    for (long i = 0; i < e->rounds; i++) {
        gnomon_token a = gnomon_begin(&apple);
        gnomon_token b = gnomon_begin(&beet);
        gnomon_token c = gnomon_begin(&both);
        gnomon_end(c);
        gnomon_end(b);
        gnomon_start("both");
        gnomon_stop("both");
        gnomon_end(a);
        e->bad_order += strcmp(take_letters(), "AABABCcbabaABCcbaa") != 0 &&
                        letters[0] != 0;
    }
    return NULL;
}

static void check_pairs(const layer *l, long long pairs)
{
    if (!CHECK_EQ(l->starts, pairs) || !CHECK_EQ(l->stops, pairs))
        fprintf(stderr, "    layer %c\n", l->letter);
}

TEST(soak_each_view_and_hook_counts_its_own_exactly)
{
    pthread_t threads[THREADS];
    eater eaters[THREADS];
    layer a = {'A', 0, 0}, b = {'B', 0, 0}, c = {'C', 0, 0};
    long n = live_times(20000, 2000000);
    CHECK_EQ(gnomon_attach(&apples, NULL, "filter=apple|both"), GNOMON_OK);
    attach_layer(&a, NULL);
    CHECK_EQ(gnomon_attach(&beets, NULL, "exclude=@fruit"), GNOMON_OK);
    attach_layer(&b, "filter=b*");
    attach_layer(&c, "filter=both");
    for (int i = 0; i < THREADS; i++)
        eaters[i] = (eater){n, 0};
    live_start(threads, THREADS, eat, eaters, sizeof *eaters);
    live_join(threads, THREADS);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(eaters[i].bad_order, 0);
    n *= THREADS;
    check_pairs(&a, 4 * n);
    check_pairs(&b, 3 * n);
    check_pairs(&c, 2 * n);
    CHECK_EQ(live_count_of("apples", "apple"), n);
    CHECK_EQ(live_count_of("apples", "beet"), 0);
    CHECK_EQ(live_count_of("apples", "both"), 2 * n);
    CHECK_EQ(live_count_of("beets", "apple"), 0);
    CHECK_EQ(live_count_of("beets", "beet"), n);
    CHECK_EQ(live_count_of("beets", "both"), 2 * n);
    live_check_no_trouble();
}

/* The parent is the innermost open scope that the same view saw. */
TEST(a_view_has_its_own_parents)
{
    CHECK_EQ(gnomon_attach(&apples, NULL, "filter=apple|both"), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&beets, NULL, "filter=beet|both"), GNOMON_OK);
    eater e = {3, 0};
    eat(&e);
    const char *const views[] = {"apples", "beets"};
    for (int v = 0; v < 2; v++) {
        gnomon_profile *p = live_snapshot(views[v]);
        for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_NODES); i++) {
            gnomon_node_info n, up = {.region = 0};
            gnomon_region_info r, ur = {.name = ""};
            gnomon_profile_node(p, i, &n);
            gnomon_profile_region(p, n.region, &r);
            if (n.parent) {
                gnomon_profile_node(p, n.parent, &up);
                gnomon_profile_region(p, up.region, &ur);
            }
            if (strcmp(r.name, "both") != 0)
                CHECK_STR(ur.name, "");
            else if (r.kind == GNOMON_KIND_ACTION)
                CHECK_STR(ur.name, v ? "" : "apple");
            else
                CHECK_STR(ur.name, v ? "beet" : "apple");
        }
        gnomon_profile_free(p);
    }
}

static void *only_apples(void *rounds)
{
    for (long i = *(long *)rounds; i > 0; i--) {
        gnomon_token a = gnomon_begin(&apple);
        gnomon_token b = gnomon_begin(&beet);
        gnomon_end(b);
        gnomon_end(a);
    }
    return NULL;
}

/* One tree, no hook: the hot path alone. */
TEST(soak_the_hot_path_loses_nothing)
{
    pthread_t threads[THREADS];
    long rounds[THREADS], n = live_times(1000000, 60000000);
    CHECK_EQ(gnomon_attach(&apples, NULL, NULL), GNOMON_OK);
    for (int i = 0; i < THREADS; i++)
        rounds[i] = n + i;
    live_start(threads, THREADS, only_apples, rounds, sizeof *rounds);
    live_join(threads, THREADS);
    long long all = THREADS * (long long)n + THREADS * (THREADS - 1) / 2;
    CHECK_EQ(live_count_of("apples", "apple"), all);
    CHECK_EQ(live_count_of("apples", "beet"), all);
    live_check_no_trouble();
}

/* ---- The onion -------------------------------------------------------------- */

static void check_onion(const char *order)
{
    char want[64];
    size_t n = strlen(order);
    for (size_t i = 0; i < n; i++) {
        want[i] = order[i];
        want[2 * n - 1 - i] = (char)(order[i] - 'A' + 'a');
    }
    want[2 * n] = 0;
    gnomon_end(gnomon_begin(&both));
    CHECK_STR(take_letters(), want);
}

TEST(stops_come_in_reverse_order_of_starts)
{
    layer a = {'A', 0, 0}, b = {'B', 0, 0}, c = {'C', 0, 0};
    attach_layer(&a, NULL);
    attach_layer(&b, NULL);
    attach_layer(&c, NULL);
    check_onion("ABC");
    gnomon_token t = gnomon_begin(&apple);
    CHECK_STR(take_letters(), "ABC");
    detach_layer(&b);
    attach_layer(&b, NULL); /* the same one, but it did not see the start */
    gnomon_end(t);
    CHECK_STR(take_letters(), "bca"); /* the first as it left */
    check_onion("ACB");
    t = gnomon_begin(&apple);
    gnomon_start("beet");
    CHECK_STR(take_letters(), "ACBACB");
    detach_layer(&a);
    gnomon_token inner = gnomon_begin(&both);
    CHECK_STR(take_letters(), "aaCB");
    attach_layer(&a, NULL);
    gnomon_end(inner);
    CHECK_STR(take_letters(), "bc");
    gnomon_stop("beet");
    gnomon_end(t);
    CHECK_STR(take_letters(), "bcbc");
    check_onion("CBA");
    live_check_no_trouble();
}

/* Bits run out after 31 attachments and are used again: the order must not. */
TEST(the_order_is_that_of_attaching_for_ever)
{
    layer l[3] = {{'A', 0, 0}, {'B', 0, 0}, {'C', 0, 0}};
    char order[4] = "ABC";
    for (int i = 0; i < 3; i++)
        attach_layer(&l[i], NULL);
    for (uint32_t round = 0; round < 200; round++) {
        uint32_t out = round * 7 / 5 % 3;
        char gone = order[out];
        check_onion(order);
        gnomon_token t = gnomon_begin(&apple);
        take_letters();
        detach_layer(&l[gone - 'A']);
        memmove(order + out, order + out + 1, 2 - out);
        order[2] = gone;
        attach_layer(&l[gone - 'A'], NULL);
        gnomon_end(t);
        char want[4] = {(char)(gone + 32), (char)(order[1] + 32),
                        (char)(order[0] + 32), 0};
        CHECK_STR(take_letters(), want);
    }
    live_check_no_trouble();
}

/* A second tree that is attached or detached costs the first one no open
 * scope and no action. */
TEST(open_scopes_outlive_other_attachments)
{
    long long n = 0;
    CHECK_EQ(gnomon_attach(&apples, NULL, NULL), GNOMON_OK);
    for (int i = 0; i < 100; i++, n++) {
        gnomon_token a = gnomon_begin(&apple);
        gnomon_start("action");
        CHECK_EQ(gnomon_attach(&beets, NULL, NULL), GNOMON_OK);
        gnomon_token b = gnomon_begin(&beet);
        gnomon_start("other");
        gnomon_stop("action");
        if (i & 1)
            CHECK_EQ(gnomon_detach(&beets, NULL), GNOMON_OK);
        gnomon_end(b);
        gnomon_stop("other");
        gnomon_end(a);
        if (!(i & 1))
            CHECK_EQ(gnomon_detach(&beets, NULL), GNOMON_OK);
    }
    CHECK_EQ(live_count_of("apples", "apple"), n);
    CHECK_EQ(live_count_of("apples", "action"), n);
    CHECK_EQ(live_count_of("apples", "beet"), n);
    CHECK_EQ(live_count_of("apples", "other"), n);
    live_check_no_trouble();
}

/* The first tree goes, the second takes its place on the hot path. */
TEST(a_second_tree_keeps_its_open_scopes_when_the_first_goes)
{
    for (int i = 0; i < 100; i++) {
        CHECK_EQ(gnomon_attach(&apples, NULL, NULL), GNOMON_OK);
        gnomon_token a = gnomon_begin(&apple);
        CHECK_EQ(gnomon_attach(&beets, NULL, NULL), GNOMON_OK);
        gnomon_token b = gnomon_begin(&beet);
        CHECK_EQ(gnomon_detach(&apples, NULL), GNOMON_OK);
        gnomon_token c = gnomon_begin(&both);
        gnomon_end(c);
        gnomon_end(b);
        gnomon_end(a); /* no observer that saw it is left */
        CHECK_EQ(live_count_of("beets", "apple"), 0);
        CHECK_EQ(live_count_of("beets", "beet"), 1);
        CHECK_EQ(live_count_of("beets", "both"), 1);
        CHECK_EQ(gnomon_detach(&beets, NULL), GNOMON_OK);
    }
    live_check_no_trouble();
}

/* A scope whose observers are all detached ends silently, also where a
 * tree's bit is now a hook's. */
TEST(ends_after_a_detach_are_no_mistakes)
{
    layer a = {'A', 0, 0};
    CHECK_EQ(gnomon_attach(&apples, NULL, NULL), GNOMON_OK);
    gnomon_token t = gnomon_begin(&apple);
    gnomon_start("action");
    CHECK_EQ(gnomon_detach(&apples, NULL), GNOMON_OK);
    attach_layer(&a, NULL);
    gnomon_stop("action");
    gnomon_end(t);
    CHECK_STR(take_letters(), "");
    check_onion("A");
    detach_layer(&a);
    t = gnomon_begin(&apple);
    CHECK_EQ(gnomon_attach(&apples, NULL, NULL), GNOMON_OK);
    gnomon_end(t);
    live_check_no_trouble();
}

/* Two actions that always overlap: neither frames nor paths may run out. */
TEST(actions_that_always_overlap)
{
    layer a = {'A', 0, 0};
    long long n = 20000;
    CHECK_EQ(gnomon_attach(&apples, NULL, NULL), GNOMON_OK);
    attach_layer(&a, NULL);
    gnomon_start("even");
    for (int i = 0; i < n; i++) {
        gnomon_start(i & 1 ? "even" : "odd");
        gnomon_stop(i & 1 ? "odd" : "even");
        take_letters();
    }
    gnomon_stop("even");
    check_pairs(&a, n + 1);
    gnomon_health h = live_health();
    CHECK_EQ(h.lost_frames, 0);
    /* Each starts inside the other: past the depth limit they are counted. */
    CHECK_EQ(live_count_of("apples", "even") + live_count_of("apples", "odd") +
                 (long long)h.too_deep,
             n + 1);
}

/* ---- Scopes that are left open ------------------------------------------------ */

static void *leave_the_last_open(void *unused)
{
    for (int i = 0; i < 1000; i++) {
        gnomon_token outer = gnomon_begin(&apple);
        gnomon_end(gnomon_begin(&both));
        gnomon_end(outer);
    }
    (void)gnomon_begin(&apple);
    return unused;
}

/* The children of earlier executions took longer than the one that was left. */
TEST(a_scope_left_open_takes_no_self_time_of_others)
{
    pthread_t thread;
    CHECK_EQ(gnomon_attach(&apples, NULL, NULL), GNOMON_OK);
    live_start(&thread, 1, leave_the_last_open, &thread, 0);
    live_join(&thread, 1);
    gnomon_profile *p = live_snapshot("apples");
    gnomon_stage_info stage = {.struct_size = sizeof stage};
    gnomon_node_info n = {.struct_size = sizeof n};
    CHECK_EQ(gnomon_profile_stage(p, 1, &stage), GNOMON_OK);
    for (size_t i = 1; !gnomon_profile_node(p, i, &n); i++)
        CHECK(n.host->self_ns <= stage.end_ns - stage.begin_ns);
    gnomon_profile_free(p);
}
