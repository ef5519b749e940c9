/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
/* The list of sources, and the public calls that sources make. */
#include "device/activity.h"

#include <string.h>

#include "mark/thread.h"
#include "platform/error.h"
#include "platform/os.h"
#include "platform/owner.h"
#include "platform/process.h"
#include "record/activities.h"

/* Each has its number for good, as its correlations do. */
typedef struct work_source {
    const gnomon_device_source *given; /* NULL: free */
    gnomon_device_source s;            /* up to what both know */
    const char *why;                   /* it is not open; or NULL */
} work_source;

static work_source sources[GNOMON__ACTIVITY_SOURCES];
static uint32_t open_sources GNOMON__OF_PROCESS; /* by index */

#define EACH_SOURCE(w) \
    for (work_source *w = sources; w < sources + GNOMON__ACTIVITY_SOURCES; w++)

static uint32_t source_bit(const work_source *w)
{
    return 1u << (w - sources);
}

static int is_source_open(const work_source *w)
{
    return (open_sources & source_bit(w)) != 0;
}

#define ALL_KINDS ((2u << GNOMON_DEVICE_COLLECTIVE) - 1)

static uint32_t kinds_wanted = ALL_KINDS;
/* How many views want work; others want times of scopes alone. */
static uint32_t work_views GNOMON__OF_PROCESS;

/* ---- Opening and closing ------------------------------------------------------------ */

static void open_source(work_source *w)
{
    if (!w->given || is_source_open(w))
        return;
    uint32_t number = (uint32_t)(w - sources) + 1;
    w->why = NULL;
    if (!w->s.open || !w->s.open(w->s.self, number, kinds_wanted, &w->why))
        open_sources |= source_bit(w);
    if (!is_source_open(w) && !w->why)
        w->why = "it does not say why";
}

/* What it cannot change while it is open stays as it was. */
void gnomon__sources_want(uint32_t kinds)
{
    const char *why;
    if (kinds == kinds_wanted)
        return;
    kinds_wanted = kinds;
    EACH_SOURCE(w)
    if (is_source_open(w) && w->s.open)
        (void)w->s.open(w->s.self, (uint32_t)(w - sources) + 1, kinds, &why);
}

static void close_source(work_source *w)
{
    if (is_source_open(w) && w->s.close)
        w->s.close(w->s.self);
    open_sources &= ~source_bit(w);
}

uint32_t gnomon__sources_open(const char **name, const char **why)
{
    uint32_t count = 0;
    *name = *why = NULL;
    EACH_SOURCE(w)
    {
        count += (uint32_t)is_source_open(w);
        if (w->given && !is_source_open(w) && !*why) {
            *name = w->s.name;
            *why = w->why;
        }
    }
    return count;
}

int gnomon__sources_watch(uint32_t bit, uint32_t generation)
{
    if (!gnomon__activity_notes_make())
        return gnomon__fail(GNOMON_ENOMEM, "no memory for work of devices");
    int code = gnomon__activities_watch(bit, generation);
    if (code)
        return code;
    work_views++;
    EACH_SOURCE(w)
    open_source(w);
    return code;
}

/* What sources tell while they close is of views that are still there. */
void gnomon__sources_unwatch(void)
{
    if (--work_views)
        return;
    EACH_SOURCE(w)
    close_source(w);
}

void gnomon__sources_flush(uint64_t patience_ns)
{
    EACH_SOURCE(w)
    if (is_source_open(w) && w->s.flush)
        w->s.flush(w->s.self, patience_ns);
}

/* ---- The list ------------------------------------------------------------------------- */

#define FIRST_SOURCE \
    (offsetof(gnomon_device_source, flush) + sizeof(void (*)(void)))

int gnomon__sources_add(const gnomon_device_source *source)
{
    work_source *free_one = NULL;
    if (!source || !source->name || !*source->name)
        return gnomon__fail(GNOMON_EINVAL, "source_add: a source has no name");
    if (source->abi != GNOMON_ABI || source->struct_size < FIRST_SOURCE)
        return gnomon__fail(GNOMON_EABI,
                            "source_add: %.64s is of another generation",
                            source->name);
    EACH_SOURCE(w)
    {
        if (w->given == source)
            return gnomon__fail(GNOMON_EINVAL,
                                "source_add: %.64s is there already",
                                source->name);
        if (!w->given && !free_one)
            free_one = w;
    }
    if (!free_one)
        return gnomon__fail(GNOMON_ENOMEM,
                            "source_add: no more than %u can be added",
                            GNOMON__ACTIVITY_SOURCES);
    *free_one = (work_source){.given = source};
    memcpy(&free_one->s, source,
           source->struct_size < sizeof free_one->s ? source->struct_size
                                                    : sizeof free_one->s);
    if (work_views)
        open_source(free_one);
    return GNOMON_OK;
}

int gnomon__sources_remove(const gnomon_device_source *source)
{
    EACH_SOURCE(w)
    if (source && w->given == source) {
        close_source(w);
        *w = (work_source){0};
        return GNOMON_OK;
    }
    return gnomon__fail(GNOMON_ENOENT, "source_remove: it was not added");
}

/* ---- What sources call ------------------------------------------------------------------ */

void gnomon__activity_launched(uint32_t source, uint64_t correlation)
{
    GNOMON__FORWARD_VOID(device_launched(source, correlation));
    gnomon__activity_note_launch(source, correlation, 0);
}

void gnomon__activity_lost(uint32_t source, uint64_t count)
{
    GNOMON__FORWARD_VOID(device_lost(source, count));
    gnomon__work_trouble(activities_lost, count);
}
