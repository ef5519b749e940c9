/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names of threads. If the state was an earlier thread's, its name is not
 * changed, as what that thread did keeps its name: the thread takes a state
 * of the new name, or, while a scope is open, keeps the old one. */
#include <string.h>

#include "gnomon/tool.h"
#include "mark/frame.h"
#include "mark/region.h"
#include "mark/position.h"
#include "mark/tls.h"
#include "platform/owner.h"

/* Whether a scope, action or frame of the thread is open. */
static int has_open(gnomon__thread *t)
{
    for (uint32_t at = t->actions.list; at;) {
        const gnomon__action *a = gnomon__at(t, at);
        if (a->token)
            return 1;
        at = a->next;
    }
    gnomon__each_bit(bit, t->tree_bits) {
        if (gnomon__cursor_of(t, bit)->current != gnomon__tree_of(t, bit)->root)
            return 1;
    }
    return t->frame_last != 0;
}

/* Names the calling thread, entered: returns its state, another one where others
 * had this one before, or NULL, refused. `name` is kept. */
static gnomon__thread *thread_rename(gnomon__thread *t, const char *name)
{
    int is_same = t->named && strcmp(t->name, name) == 0;
    if (is_same || t->name == gnomon__ended_threads)
        return t;
    if (t->lives > 1) {
        /* What threads before it did under this name stays under it. */
        if (has_open(t))
            return t;
        gnomon__lock();
        gnomon__thread_give_up(t);
        gnomon__unlock();
        t = gnomon__thread_enter(name);
        if (!t || t->name == gnomon__ended_threads)
            return t;
    }
    store_release(&t->name, name);
    t->named = 1;
    return t;
}

void gnomon__thread_name_n(const char *name, size_t length)
{
    if (gnomon__is_refused())
        return;
    GNOMON__FORWARD_VOID(thread_name(name, length));
    if (!load_relaxed(&gnomon_enabled))
        return; /* off: nothing is kept of threads */
    const char *clean = gnomon__region_name(gnomon__region_named(
        gnomon__text_of(name, length),
        gnomon__text_of("thread name", GNOMON_TO_NUL), GNOMON_KIND_MARK));
    int known = gnomon__tls_now()->thread != &gnomon__no_thread;
    gnomon__thread *t = known ? gnomon__enter() : gnomon__thread_enter(clean);
    if (t)
        t = thread_rename(t, clean);
    if (!t)
        return;
    uint32_t hooks = load_relaxed(&t->attached) & ~t->recorder_bits;
    if (hooks) {
        gnomon_thread_event event = {sizeof event, t->number, clean, t->os_id};
        GNOMON__HOOKS_CALL(t, &t->attached, hooks, thread, &event);
    }
    gnomon__leave(t);
}

void gnomon_thread_name(const char *name)
{
    gnomon__thread_name_n(name, GNOMON_TO_NUL);
}
