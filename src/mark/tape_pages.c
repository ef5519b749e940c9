/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Memory for tapes, ahead of need. A new page costs the mark that touches it first about
 * as much as 60 marks, and a tape comes to one every 256 scopes until its ring comes
 * round. So our own thread (run/end.c) asks the system for pages beyond those in use: for
 * as much again, and at most MOST_AHEAD. Where it has not come so far, or the system
 * cannot (Linux before 5.14), marks touch new pages as before. */
#include "mark/observer.h"
#include "mark/tape.h"
#include "platform/os.h"
#include "platform/process.h"

#define PAGE 4096u
#define MOST_AHEAD (1u << 20)
/* In one call, during which the host can map no memory: 70 us. */
#define AT_ONCE 65536u

/* Under the lock: the end of the arena's pages that were asked for, an offset; whether our
 * thread was woken, and is not done; whether the system refused. */
static uint32_t pages_end GNOMON__OF_PROCESS;
static int pages_are_wanted GNOMON__OF_PROCESS;
static int pages_are_refused;

static uint32_t most_ahead(uint32_t used)
{
    return used < MOST_AHEAD ? used : MOST_AHEAD;
}

int gnomon__tape_wants_pages(void)
{
    uint32_t used = load_relaxed(&gnomon__marks_arena.used);
    uint32_t left = pages_end > used ? pages_end - used : 0;
    if (pages_are_wanted || pages_are_refused || left >= most_ahead(used) / 2 ||
        pages_end >= gnomon__marks_arena.size / PAGE * PAGE)
        return 0;
    pages_are_wanted = 1;
    return 1;
}

/* Under no lock. 0: the system refuses. */
static int ask_for(uint32_t from, uint32_t to)
{
    for (uint32_t at = from; at < to; at += AT_ONCE) {
        uint32_t bytes = to - at < AT_ONCE ? to - at : AT_ONCE;
        if (!gnomon__os_populate(gnomon__marks_arena.base + at, bytes))
            return 0;
    }
    return 1;
}

void gnomon__tape_take_pages(void)
{
    gnomon__lock();
    int is_wanted = pages_are_wanted;
    uint64_t size = gnomon__marks_arena.size;
    uint32_t used = load_relaxed(&gnomon__marks_arena.used);
    uint64_t end = (uint64_t)used + most_ahead(used);
    uint32_t from = used > pages_end ? used / PAGE * PAGE : pages_end;
    gnomon__unlock();
    if (!is_wanted)
        return;
    uint32_t to = (uint32_t)((end < size ? end : size) / PAGE * PAGE);
    int is_done = ask_for(from, to);
    gnomon__lock();
    pages_end = to;
    pages_are_refused = !is_done;
    pages_are_wanted = 0;
    gnomon__unlock();
}
