/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Actions off the hot path: a thread's table of the names that it started.
 *
 * A pointer seen before leads to its slot, and the text is compared. Any
 * other pointer goes through the table of regions, and from the region's id
 * to the action. A thread takes the memory at its first start by name: 16
 * KiB for the slots and the list of pages, 4 KiB for each page of ids, and
 * 32 bytes for each name. */
#include <string.h>

#include "mark/region.h"
#include "mark/slow_open.h"
#include "platform/owner.h"

#define PAGE_IDS 1024u
#define PAGES (GNOMON__MAX_REGIONS / PAGE_IDS)
#define SLOTS_BYTES (GNOMON__SLOTS * (uint32_t)sizeof(gnomon__slot))
#define ACTIONS_CHUNK 1024u

/* The page of an id; NULL: no memory. */
static uint32_t *page_of(gnomon__thread *t, uint32_t id)
{
    if (!t->actions.pages) {
        uint32_t at =
            gnomon__chunk_take(SLOTS_BYTES + PAGES * (uint32_t)sizeof(uint32_t),
                               GNOMON__FOR_PATHS);
        if (!at)
            return NULL;
        gnomon__slot *slots = gnomon__at(t, at);
        gnomon__slots_clear(slots);
        t->actions.slots = slots;
        t->actions.pages = at + SLOTS_BYTES;
    }
    return (uint32_t *)gnomon__at(t, t->actions.pages) + id / PAGE_IDS;
}

/* The thread's action of this region; NULL: no memory, counted. */
static gnomon__action *action_by_id(gnomon__thread *t, gnomon_region *region)
{
    uint32_t id = load_relaxed(&region->id);
    uint32_t *page = page_of(t, id);
    if (page && !*page)
        *page = gnomon__chunk_take(4 * PAGE_IDS, GNOMON__FOR_PATHS);
    if (!page || !*page)
        return NULL;
    uint32_t *at = (uint32_t *)gnomon__at(t, *page) + id % PAGE_IDS;
    if (!*at) {
        uint32_t fresh =
            t->actions.room
                ? t->actions.list + (uint32_t)sizeof(gnomon__action)
                : gnomon__chunk_take(ACTIONS_CHUNK, GNOMON__FOR_PATHS);
        if (!fresh)
            return NULL;
        if (!t->actions.room)
            t->actions.room = ACTIONS_CHUNK / sizeof(gnomon__action);
        t->actions.room--;
        gnomon__action *a = gnomon__at(t, fresh);
        a->region = region;
        a->next = t->actions.list;
        *at = t->actions.list = fresh;
    }
    return gnomon__at(t, *at);
}

/* The action of a text, through the table of regions. NULL: no memory. */
static gnomon__action *action_by_text(gnomon__thread *t, gnomon__text name)
{
    return action_by_id(t, gnomon__region_intern(name, gnomon__text_of("", 0),
                                                 GNOMON_KIND_ACTION));
}

/* The action that followed the last one of these before, if this is its name, else NULL.
 * The text of a reused buffer mostly changes in the same order each time. */
static gnomon__action *action_that_follows(gnomon__thread *t, const char *name)
{
    const gnomon__action *last = gnomon__at(t, t->actions.last);
    gnomon__action *a = gnomon__at(t, last->follows);
    return t->actions.last && last->follows &&
                   strcmp(a->region->name, name) == 0
               ? a
               : NULL;
}

/* Notes that this pointer is the name of the action. A pointer may be in either of two
 * slots: with one, two names that share it would replace each other at every call. */
static void lead_to(gnomon__thread *t, const char *name, gnomon__action *a)
{
    uint32_t home = gnomon__slot_of(name);
    /* The thread has an action, so it has slots of its own too. */
    gnomon__slot *s = &t->actions.slots[home],
                 *second = &t->actions.slots[home ^ 1];
    if (s->action && s->pointer != name &&
        (!second->action || second->pointer == name))
        s = second;
    s->pointer = name;
    s->text = a->region->name;
    s->action = (uint32_t)((char *)a - t->ground);
}

/* For a name that is not found in its first slot. */
static gnomon__action *action_elsewhere(gnomon__thread *t, const char *name)
{
    const gnomon__slot *s = &t->actions.slots[gnomon__slot_of(name) ^ 1];
    if (s->pointer == name && strcmp(s->text, name) == 0)
        return gnomon__at(t, s->action);
    gnomon__action *a = action_that_follows(t, name);
    if (!a) {
        a = action_by_text(t, gnomon__text_of(name, GNOMON_TO_NUL));
        /* Not for a name that was cut or became "(other)": the text in the slot
         * would be another than that of the pointer. */
        if (!a || load_relaxed(&a->region->id) == GNOMON__OTHER_ID ||
            strcmp(a->region->name, name) != 0)
            return a;
    }
    uint32_t at = (uint32_t)((char *)a - t->ground);
    if (t->actions.last)
        ((gnomon__action *)gnomon__at(t, t->actions.last))->follows = at;
    t->actions.last = at;
    lead_to(t, name, a);
    return a;
}

static gnomon__action *action_by_pointer(gnomon__thread *t, const char *name)
{
    const gnomon__slot *s = &t->actions.slots[gnomon__slot_of(name)];
    return s->pointer == name && strcmp(s->text, name) == 0
               ? gnomon__at(t, s->action)
               : action_elsewhere(t, name);
}

gnomon__action *gnomon__action_find(gnomon__thread *t, const char *name)
{
    gnomon__action *a = name ? action_elsewhere(t, name) : NULL;
    return a && a->region != &gnomon__other_region ? a : NULL;
}

static gnomon__action *action_named(gnomon__thread *t, const char *name,
                                    size_t length)
{
    if (name && length == GNOMON_TO_NUL)
        return action_by_pointer(t, name);
    return action_by_text(t, gnomon__text_of(name, length));
}

/* Whether the action was started before a time in which nothing was
 * attached, so that its stop was not seen, and no observer that saw its
 * start is left. */
static int is_forgotten(gnomon__thread *t, const gnomon__action *a)
{
    uint32_t bits;
    uint64_t token = a->token & ~GNOMON__TOKEN_FLAGS;
    return a->offs != load_relaxed(&gnomon__observer_offs) &&
           !gnomon__frame_is_seen(t, token) &&
           !gnomon__trees_find(t, &bits, token);
}

/* A name past the limit starts inside another one past the limit. All of
 * them share one action, so its end cannot be told from the other's: it is
 * counted, without time. */
static void start_inside_other(gnomon__thread *t, gnomon__action *a)
{
    uint32_t m = load_relaxed(&a->region->mask) & load_relaxed(&t->open_bits);
    const gnomon__finished f = {.token = load_relaxed(&t->seq),
                                .begin = gnomon__ticks(),
                                .key = GNOMON__OTHER_ID};
    a->depth++;
    gnomon__each_bit(bit, m & t->tree_bits) {
        gnomon__recorder_of(t, bit)->mark(t, bit, &f);
    }
}

static void start_entered(gnomon__thread *t, gnomon__action *a)
{
    if (!a) {
        gnomon__trouble(t, lost_scopes);
        return;
    }
    if (a->region == &gnomon__other_region)
        gnomon__trouble(t, other_names);
    if (a->token && !is_forgotten(t, a)) {
        if (load_relaxed(&a->region->id) == GNOMON__OTHER_ID)
            start_inside_other(t, a);
        else
            gnomon__trouble(t, twice);
        return;
    }
    uint32_t m = gnomon__who_takes(t, load_relaxed(&a->region->mask));
    uint64_t token = load_relaxed(&t->seq);
    /* Also where nothing records it: its stop is then no mistake. */
    gnomon__action_open(a, token | GNOMON__TOKEN_BELOW_OTHER);
    a->depth = 0;
    if (gnomon__slow_open(t, a->region, m, token, GNOMON_FRAME_ACTION) > 0)
        a->token = token | GNOMON__TOKEN_ACTION;
}

static void end_token(gnomon__thread *t, uint64_t token)
{
    if (!gnomon__frame_end(t, token, GNOMON__END_ACTION))
        gnomon__close_in_trees(t, token, gnomon__ticks());
}

void gnomon__slow_stop_token(gnomon__thread *t, uint64_t token)
{
    gnomon__thread_settle(t);
    end_token(t, token);
    gnomon__leave(t);
}

static void stop_entered(gnomon__thread *t, gnomon__action *a)
{
    if (!a)
        return;
    if (!a->token) {
        gnomon__trouble(t, never_started);
        return;
    }
    if (a->depth) {
        a->depth--;
        return;
    }
    uint64_t token = a->token;
    a->token = 0;
    if (!(token & GNOMON__TOKEN_BELOW_OTHER))
        end_token(t, token & ~GNOMON__TOKEN_FLAGS);
}

/* ---- Marks: start and stop ------------------------------------------------------ */

void gnomon__slow_start(gnomon__thread *t, const char *name)
{
    gnomon__thread_settle(t);
    start_entered(t, action_named(t, name, GNOMON_TO_NUL));
    gnomon__leave(t);
}

void gnomon__slow_start_of(gnomon__thread *t, gnomon_region *region)
{
    gnomon__action *a = action_by_id(t, region);
    a->token = 0;
    gnomon__thread_settle(t);
    start_entered(t, a);
    gnomon__leave(t);
}

void gnomon__end_slowly(gnomon_token token, gnomon__thread *t,
                        gnomon__action *a)
{
    if (!a) {
        gnomon__slow_end(token, t);
        return;
    }
    gnomon__thread_settle(t);
    stop_entered(t, a);
    gnomon__leave(t);
}

void gnomon__slow_stop(gnomon__thread *t, const char *name)
{
    gnomon__thread_settle(t);
    stop_entered(t, action_named(t, name, GNOMON_TO_NUL));
    gnomon__leave(t);
}

/* Enters for a mark that the hot path does not serve: with a length, the
 * first of a thread, or one made inside gnomon. NULL: refused, off, or
 * passed on to another copy. */
static gnomon__thread *enter_action(void)
{
    if (gnomon__is_refused() || load_relaxed(&gnomon__owner) ||
        !load_relaxed(&gnomon_enabled))
        return NULL;
    return gnomon__enter();
}

void gnomon_start_n_slow(const char *name, size_t length)
{
    gnomon__thread *t = enter_action();
    GNOMON__FORWARD_VOID(start(name, length));
    if (!t)
        return;
    start_entered(t, action_named(t, name, length));
    gnomon__leave(t);
}

/* Whether the thread has no state because there was no memory: its start was counted as
 * lost, which is once for both. */
static int is_start_lost(void)
{
    return gnomon__tls_now()->thread == &gnomon__no_thread &&
           load_relaxed(&gnomon__no_thread.health.lost_scopes);
}

void gnomon_stop_n_slow(const char *name, size_t length)
{
    gnomon__thread *t = is_start_lost() ? NULL : enter_action();
    GNOMON__FORWARD_VOID(stop(name, length));
    if (!t)
        return;
    stop_entered(t, action_named(t, name, length));
    gnomon__leave(t);
}
