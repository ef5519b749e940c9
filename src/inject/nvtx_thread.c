/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What is kept of a thread that makes NVTX's marks: what it pushed, by domain,
 * and the inline texts it used last. Only the thread itself looks at it; it goes
 * with the thread, and one whose destructors still mark gets another. */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "inject/nvtx.h"
#include "platform/memory.h"

#define FIRST_ROOM 16ul
#define MAX_ROOM (1u << 20) /* 24 MiB: of pushes that nobody pops */

__thread gnomon__in_thread *gnomon__in_this_thread;
uint32_t gnomon__in_any_thread;

static pthread_key_t in_key;
static int has_in_key;

static void in_thread_ended(void *memory)
{
    gnomon__in_thread *t = memory;
    gnomon__in_this_thread = NULL;
    for (uint32_t i = 0; i < t->stack_count; i++)
        gnomon__free(t->stacks[i].levels);
    gnomon__free(t->stacks);
    gnomon__free(t);
}

static void make_in_key(void)
{
    has_in_key = pthread_key_create(&in_key, in_thread_ended) == 0;
}

gnomon__in_thread *gnomon__in_thread_make(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int kept_errno = errno;
    gnomon__in_thread *t = gnomon__alloc(sizeof *t);
    pthread_once(&once, make_in_key);
    /* Without a key, memory of threads that end is lost; nothing else is. */
    if (t && has_in_key)
        pthread_setspecific(in_key, t);
    gnomon__in_this_thread = t;
    store_relaxed(&gnomon__in_any_thread, 1);
    errno = kept_errno;
    return t;
}

gnomon__in_stack *gnomon__in_stack_grow(gnomon__in_thread *t, uint32_t index)
{
    int kept_errno = errno;
    gnomon__in_stack *s = NULL;
    if (gnomon__grow_zeroed(&t->stacks, &t->stack_count, index + 1ul,
                            sizeof *t->stacks))
        s = &t->stacks[index];
    if (s && s->depth < MAX_ROOM)
        (void)gnomon__grow_zeroed(&s->levels, &s->room, s->depth + FIRST_ROOM,
                                  sizeof *s->levels);
    errno = kept_errno;
    return s;
}

static int is_titled(const gnomon__in_name *name, const gnomon__in_title *title)
{
    return strncmp(name->text, title->text, title->length) == 0 &&
           !name->text[title->length];
}

/* Of what the slot has, which is not named as the text is, but perhaps as its title;
 * or a name that is looked for. */
static __attribute__((noinline)) gnomon__in_regions *
titled_regions(gnomon__in_regions *known, gnomon__in_domain *domain,
               uint32_t category, const char *text)
{
    gnomon__in_title title;
    gnomon__in_title_of(&title, text,
                        (int)load_relaxed(&gnomon__in_replaces_numbers));
    gnomon__in_regions *p = known;
    if (!known || !is_titled(known->name, &title))
        p = gnomon__in_regions_of(gnomon__in_name_titled(domain, &title),
                                  category);
    gnomon__free(title.kept);
    return p;
}

/* By pointer, checked by content, since a buffer's text may change. */
gnomon__in_regions *gnomon__in_inline(gnomon__in_thread *t,
                                      gnomon__in_domain *domain,
                                      uint32_t category, const char *text)
{
    if (!text)
        text = "(null)";
    uintptr_t at = (uintptr_t)text;
    gnomon__in_cached_text *cached =
        t ? &t->cached[(at ^ at >> 9 ^ category) % GNOMON__IN_CACHED_TEXTS]
          : NULL;
    gnomon__in_regions *p = cached ? cached->regions : NULL;
    if (p && (cached->pointer != text || p->name->domain != domain ||
              !gnomon__in_fits(p, domain, category)))
        p = NULL;
    if (p && strcmp(p->name->text, text) == 0)
        return p;
    p = titled_regions(p, domain, category, text);
    if (cached)
        *cached = (gnomon__in_cached_text){text, p};
    return p;
}
