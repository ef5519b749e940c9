/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The end of another thread's scope shuts that thread's short paths by several stores, and
 * takes no lock. The thread marks, and settles, between any two instructions of it.
 *
 * links: testing */
#include "mark/foreign.h"
#include "marks.h"
#include "stepping.h"
#include "turns.h"

static gnomon_token open_scopes[2];
static uint32_t asked, answered;

static void wait_for(const uint32_t *word, uint32_t value)
{
    for (uint32_t tries = 0; load_acquire(word) != value;)
        give_turn(&tries);
}

static void mark(void)
{
    GNOMON_SCOPE("mark");
}

#define DONE UINT32_MAX

/* Makes a mark each time it is asked. */
static void *mark_when_asked(void *unused)
{
    static gnomon_region region =
        GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, "open", NULL, NULL);
    for (int i = 0; i < 2; i++)
        open_scopes[i] = gnomon_begin(&region);
    for (uint32_t tries = 0, last = 0; last != DONE;) {
        uint32_t now = load_acquire(&asked);
        if (now == last) {
            give_turn(&tries);
            continue;
        }
        mark();
        last = now;
        store_release(&answered, now);
    }
    return unused;
}

static void let_it_mark(uint32_t number)
{
    store_release(&asked, number);
    wait_for(&answered, number);
}

static uint32_t steps;

static void at_step(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    if (stepping_is_in_program(context))
        let_it_mark(++steps);
}

static void end_foreign(void)
{
    gnomon_end(open_scopes[0]);
}

static int shut_threads(void)
{
    int n = 0;
    gnomon__each_thread(t)
        n += load_relaxed(&t->shut) || load_relaxed(&t->fast) == GNOMON__NEVER;
    return n;
}

TEST(the_short_paths_open_again)
{
    pthread_t owner;
    alarm(200);
    attach_probe();
    CHECK_EQ(pthread_create(&owner, NULL, mark_when_asked, NULL), 0);
    let_it_mark(++steps);
    gnomon_end(open_scopes[1]); /* the next one takes no memory, and no lock */
    let_it_mark(++steps);
    CHECK_EQ(shut_threads(), 0);
    step_through(end_foreign, at_step);
    let_it_mark(++steps);
    CHECK(steps > 20 || !CAN_STEP);
    CHECK_EQ(shut_threads(), 0);
    let_it_mark(DONE);
    pthread_join(owner, NULL);
}
