/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* State of a thread that makes NVTX's marks: its open pushes by domain, and the regions
 * of the inline texts it used last. Only the thread itself uses it. It is freed when the
 * thread ends; a destructor that runs later and still marks makes a new one. */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "inject/nvtx.h"
#include "platform/memory.h"

#define FIRST_ROOM 16ul
#define MAX_ROOM (1u << 20) /* 24 MiB: a limit for pushes without pops */

__thread gnomon__inject_thread *gnomon__inject_this_thread;
uint32_t gnomon__inject_any_thread;

static pthread_key_t inject_key;
static int has_inject_key;

static void inject_thread_ended(void *memory)
{
    gnomon__inject_thread *t = memory;
    gnomon__inject_this_thread = NULL;
    for (uint32_t i = 0; i < t->stack_count; i++)
        gnomon__free(t->stacks[i].levels);
    gnomon__free(t->stacks);
    gnomon__free(t);
}

static void make_inject_key(void)
{
    has_inject_key = pthread_key_create(&inject_key, inject_thread_ended) == 0;
}

gnomon__inject_thread *gnomon__inject_thread_make(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int kept_errno = errno;
    gnomon__inject_thread *t = gnomon__alloc(sizeof *t);
    pthread_once(&once, make_inject_key);
    /* Without a key, only the memory of ended threads is lost. */
    if (t && has_inject_key)
        pthread_setspecific(inject_key, t);
    gnomon__inject_this_thread = t;
    store_relaxed(&gnomon__inject_any_thread, 1);
    errno = kept_errno;
    return t;
}

gnomon__inject_stack *gnomon__inject_stack_grow(gnomon__inject_thread *t,
                                                uint32_t index)
{
    int kept_errno = errno;
    gnomon__inject_stack *s = NULL;
    if (gnomon__grow_zeroed(&t->stacks, &t->stack_count, index + 1ul,
                            sizeof *t->stacks))
        s = &t->stacks[index];
    if (s && s->depth < MAX_ROOM)
        (void)gnomon__grow_zeroed(&s->levels, &s->room, s->depth + FIRST_ROOM,
                                  sizeof *s->levels);
    errno = kept_errno;
    return s;
}

static int is_titled(const gnomon__inject_name *name,
                     const gnomon__inject_text *title)
{
    return strncmp(name->text, title->text, title->length) == 0 &&
           !name->text[title->length];
}

/* `known`, the cached regions, if their name is the text's title; else the regions of
 * that title. */
static __attribute__((noinline)) gnomon__inject_regions *
titled_regions(gnomon__inject_regions *known, gnomon__inject_domain *domain,
               uint32_t category, const char *text)
{
    gnomon__inject_text title;
    gnomon__inject_title_of(
        &title, text, (int)load_relaxed(&gnomon__inject_replaces_numbers));
    gnomon__inject_regions *p = known;
    if (!known || !is_titled(known->name, &title))
        p = gnomon__inject_regions_of(
            gnomon__inject_name_titled(domain, &title), category);
    gnomon__inject_text_free(&title);
    return p;
}

/* The cache is by pointer. The text is compared too, as a buffer's text may change. */
gnomon__inject_regions *gnomon__inject_inline(gnomon__inject_thread *t,
                                              gnomon__inject_domain *domain,
                                              uint32_t category,
                                              const char *text)
{
    if (!text)
        text = "(null)";
    uintptr_t at = (uintptr_t)text;
    gnomon__inject_cached_text *cached =
        t ? &t->cached[(at ^ at >> 9 ^ category) % GNOMON__INJECT_CACHED_TEXTS]
          : NULL;
    gnomon__inject_regions *p = cached ? cached->regions : NULL;
    if (p && (cached->pointer != text || p->name->domain != domain ||
              !gnomon__inject_fits(p, domain, category)))
        p = NULL;
    if (p && strcmp(p->name->text, text) == 0)
        return p;
    p = titled_regions(p, domain, category, text);
    if (cached)
        *cached = (gnomon__inject_cached_text){text, p};
    return p;
}
