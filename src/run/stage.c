/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Stages and steps, and what a profile says of the run. A stage's ordinal moves
 * when it ends: all that is marked up to the next end belongs to the next stage,
 * named at its opening.
 *
 * Stages change in control calls, under the lock of steps too; steps under that
 * lock alone, which is held for some dozens of nanoseconds. */
#include <string.h>

#include "device/timers.h"
#include "mark/frame.h"
#include "mark/sink.h"
#include "mark/tree.h"
#include "mark/upcall.h"
#include "platform/clock.h"
#include "platform/error.h"
#include "platform/owner.h"
#include "run/run.h"

#define LAST_STEPS 64

static gnomon__stage_fact first_stage = {.ordinal = 1, .name = ""};
static gnomon__stage_fact *stages = &first_stage; /* the last one is open */
static size_t stage_count = 1, stage_room = 1;
static uint32_t ordinals = 1;

static gnomon__step_fact last_steps[LAST_STEPS]; /* a ring */
static uint64_t steps_made;  /* in the ring's count, all stages */
static uint64_t stage_steps; /* in the open stage */
static uint64_t step_number; /* of the open step */
static uint64_t step_begin;
static uint64_t step_cells[GNOMON__STEP_CELLS]; /* of the open stage */

static void begin_step(uint64_t number, uint64_t ticks)
{
    step_number = number;
    step_begin = ticks;
    store_relaxed(&gnomon__step_under_way, number);
}

static gnomon__stage_fact *open_stage(void)
{
    return &stages[stage_count - 1];
}

const char *gnomon__stage_name(void)
{
    return open_stage()->was_opened && *open_stage()->name ? open_stage()->name
                                                           : NULL;
}

uint64_t gnomon__stage_steps(void)
{
    return load_relaxed(&stage_steps);
}

int gnomon__stage_is_due(void)
{
    uint64_t first;
    const gnomon__stage_fact *s = open_stage();
    return s->was_opened || s->ordinal == 1 ||
           gnomon__stage_first(s->ordinal, &first);
}

/* ---- Stages ------------------------------------------------------------------- */

/* The cells of a stage that is over, kept for profiles of all stages: takes
 * *room, where they need any. 0: there is none. */
static int keep_cells(gnomon__stage_fact *s, uint64_t **room)
{
    s->step_cells = NULL;
    if (!s->step_count)
        return 1;
    if (!*room) {
        s->step_count = s->step_total = s->step_min = s->step_max = 0;
        return 0;
    }
    s->step_cells = memcpy(*room, step_cells, sizeof step_cells);
    *room = NULL;
    return 1;
}

static int grow_stages(void)
{
    if (stage_count < stage_room)
        return 1;
    size_t room = 2 * stage_room;
    gnomon__stage_fact *more = gnomon__alloc(room * sizeof *more);
    if (!more)
        return 0;
    memcpy(more, stages, stage_count * sizeof *more);
    if (stages != &first_stage)
        gnomon__free(stages);
    stages = more;
    stage_room = room;
    return 1;
}

void gnomon__stage_over(void)
{
    if (!gnomon__stage_is_due())
        return;
    /* It may wait, so only where a profile may ask for it. */
    uint64_t mult = gnomon__tree_bits ? gnomon__clock_read().mult : 0;
    gnomon__step_lock();
    open_stage()->is_over = 1;
    open_stage()->ended = gnomon__ticks();
    open_stage()->mult = mult;
    uint32_t untold = gnomon__windows_move(stage_steps, 1);
    gnomon__step_unlock();
    gnomon__windows_tell(untold, NULL);
    gnomon__report_stage(0);
    uint64_t *cells = gnomon__alloc(sizeof step_cells);
    int kept = 1;
    gnomon__step_lock();
    if (ordinals < GNOMON__MAX_STAGES && grow_stages()) {
        kept = keep_cells(open_stage(), &cells);
        memset(step_cells, 0, sizeof step_cells);
        stages[stage_count++] =
            (gnomon__stage_fact){.ordinal = ++ordinals, .name = ""};
        gnomon__sink_stage(ordinals);
    } else {
        /* Past the limit, or without memory, the last one goes on. */
        gnomon__trouble(&gnomon__nobody, bad_stages);
        open_stage()->is_over = open_stage()->was_opened = 0;
    }
    store_relaxed(&stage_steps, 0);
    begin_step(0, 0);
    for (gnomon__view *v = gnomon__views; v; v = v->next)
        store_relaxed(&v->was_active, 0);
    untold = gnomon__windows_move(0, 1);
    gnomon__step_unlock();
    gnomon__windows_tell(untold, NULL);
    gnomon__free(cells);
    if (!kept)
        gnomon__log("no memory for the steps of a stage: profiles of the whole "
                    "run lack them");
}

void gnomon__stages_restart(void)
{
    for (size_t i = 0; i < stage_count; i++) {
        gnomon__free((void *)(uintptr_t)stages[i].step_cells);
        if (*stages[i].name)
            gnomon__free((void *)(uintptr_t)stages[i].name);
    }
    gnomon__step_lock();
    ordinals = 1;
    stage_count = 1;
    stages[0] = (gnomon__stage_fact){.ordinal = 1, .name = ""};
    store_relaxed(&stage_steps, 0);
    steps_made = 0;
    begin_step(0, 0);
    memset(step_cells, 0, sizeof step_cells);
    gnomon__stage_forget();
    gnomon__sink_stage(1);
    gnomon__step_unlock();
    gnomon__metadata_clear();
}

void gnomon__stages_forget(void)
{
    gnomon__inherited(stages == &first_stage ? stages->name : (void *)stages);
    first_stage = (gnomon__stage_fact){.ordinal = 1, .name = ""};
    stages = &first_stage;
    stage_count = stage_room = ordinals = 1;
    steps_made = stage_steps = 0;
    begin_step(0, 0);
    memset(step_cells, 0, sizeof step_cells);
    gnomon__metadata_forget();
}

static void name_stage(gnomon__stage_fact *s, char *name)
{
    if (*s->name)
        gnomon__free((void *)(uintptr_t)s->name);
    s->name = *name ? name : "";
    if (!*name)
        gnomon__free(name);
}

static void setup_all(void)
{
    gnomon_run_info run;
    gnomon__run_describe(&run);
    for (gnomon__attachment *a = gnomon__attachments; a; a = a->next) {
        int code = a->profiler.setup
                       ? a->profiler.setup(a->self, &run, gnomon__stage_name())
                       : 0;
        if (code < 0)
            gnomon__log("%s: setup failed (%s); it goes on", a->profiler.name,
                        gnomon_error_name(code));
    }
}

static int begin_stage(gnomon__text name)
{
    if (!name.at)
        return gnomon__fail(GNOMON_EINVAL, "gnomon_stage_begin: no name");
    char *copy = gnomon__clean_copy(name);
    if (!copy)
        return gnomon__fail(GNOMON_ENOMEM, "no memory for a stage");
    if (open_stage()->was_opened)
        gnomon__stage_over();
    gnomon__step_lock();
    gnomon__stage_fact *s = open_stage();
    s->was_opened = 1;
    s->opened = gnomon__ticks();
    name_stage(s, copy);
    step_begin = s->opened;
    uint32_t untold = gnomon__windows_move(stage_steps, 0);
    gnomon__step_unlock();
    setup_all();
    gnomon__windows_tell(untold, NULL);
    gnomon__end_watch();
    return GNOMON_OK;
}

int gnomon_stage_begin_n(const char *name, size_t length)
{
    GNOMON__FORWARD_CONTROL(stage_begin(name, length));
    int code = gnomon__control_enter();
    if (code)
        return code;
    gnomon__run_ready();
    code = begin_stage(gnomon__text_of(name, length));
    gnomon__control_leave();
    return code;
}

int gnomon_stage_begin(const char *name)
{
    return gnomon_stage_begin_n(name, GNOMON_TO_NUL);
}

int gnomon_stage_end(void)
{
    GNOMON__FORWARD_CONTROL(stage_end());
    int code = gnomon__control_enter();
    if (code)
        return code;
    if (!open_stage()->was_opened)
        code =
            gnomon__fail(GNOMON_ESTATE, "gnomon_stage_end: no stage is open");
    else
        gnomon__stage_over();
    gnomon__control_leave();
    return code;
}

/* ---- Steps --------------------------------------------------------------------- */

/* Under the lock. Statistics of the finished one, the ring, the next one. Returns
 * the finished one. */
static gnomon__step_fact count_step(uint64_t now, uint64_t number, int given)
{
    gnomon__stage_fact *s = open_stage();
    uint64_t first;
    if (!s->step_count && gnomon__stage_first(s->ordinal, &first) &&
        (!s->was_opened || first < step_begin))
        step_begin = first;
    if (now < step_begin) /* another thread's step, later, came first */
        now = step_begin;
    uint64_t d = step_begin ? now - step_begin : 0;
    if (!s->step_count || d < s->step_min)
        s->step_min = d;
    if (!s->step_count || d > s->step_max)
        s->step_max = d;
    s->step_count++;
    s->step_total += d;
    step_cells[gnomon__cell_of_ticks(d)]++;
    int32_t phase = GNOMON_PHASE_RECORD;
    for (const gnomon__view *v = gnomon__views; v; v = v->next)
        if (v->scheduled)
            phase = v->phase;
    gnomon__step_fact done = {s->ordinal, phase, step_number,
                              step_begin, now,   1};
    last_steps[steps_made++ % LAST_STEPS] = done;
    store_relaxed(&stage_steps, stage_steps + 1);
    begin_step(given ? number : step_number + 1, now);
    return done;
}

void gnomon_step_slow(uint64_t number, int given)
{
    if (gnomon__busy()) {
        gnomon__trouble(gnomon__here.thread, reentered);
        return;
    }
    if ((load_relaxed(&gnomon_gate) & GNOMON_MASK_UNSEEN) &&
        !gnomon__upcall_start()) {
        gnomon__trouble(&gnomon__nobody, reentered);
        return;
    }
    GNOMON__FORWARD_VOID(step(number, given));
    if (!load_relaxed(&gnomon_gate))
        return;
    gnomon__thread *t = gnomon__enter();
    if (!t)
        return;
    gnomon__repair(t, (uintptr_t)__builtin_frame_address(0));
    uint64_t now = gnomon__ticks();
    gnomon__step_lock();
    gnomon__step_fact done = count_step(now, number, given);
    uint32_t untold = gnomon__windows_move(stage_steps, 0);
    gnomon__step_unlock();
    gnomon__timers_step();
    uint32_t hooks = load_relaxed(&t->attached) & ~t->tree_bits;
    if (hooks) {
        gnomon_step_event event = {sizeof event, t->number, done.number,
                                   gnomon__frame_ns(done.begin),
                                   gnomon__frame_ns(done.end)};
        GNOMON__HOOKS_TELL(t, &t->attached, hooks, step, &event);
        gnomon__hooks_enter(t, &t->attached, hooks);
        gnomon__windows_tell(untold, &t->attached);
        gnomon__hooks_leave(t);
    }
    gnomon__leave(t);
}

/* ---- What a profile says of the run ------------------------------------------------ */

int gnomon__facts_take(gnomon__run_facts *facts)
{
    memset(facts, 0, sizeof *facts);
    gnomon__run_describe(&facts->run);
    size_t length = gnomon__spec_resolved(NULL, 0);
    char *spec = gnomon__alloc(length + 1);
    gnomon__step_fact *steps = gnomon__alloc(sizeof last_steps);
    gnomon__stage_fact *copy = gnomon__alloc(stage_count * sizeof *copy);
    uint64_t *cells = gnomon__alloc(sizeof step_cells);
    facts->run.spec = spec;
    facts->steps = steps;
    facts->stages = copy;
    facts->open_cells = cells;
    if (!spec || !steps || !copy || !cells) {
        gnomon__facts_free(facts);
        return gnomon__fail(GNOMON_ENOMEM, "no memory for a profile");
    }
    gnomon__spec_resolved(spec, length + 1);
    gnomon__step_lock();
    uint64_t oldest = steps_made < LAST_STEPS ? 0 : steps_made - LAST_STEPS;
    for (uint64_t i = oldest; i < steps_made; i++)
        steps[facts->step_count++] = last_steps[i % LAST_STEPS];
    memcpy(copy, stages, stage_count * sizeof *copy);
    memcpy(cells, step_cells, sizeof step_cells);
    copy[stage_count - 1].step_cells = cells;
    facts->stage_count = stage_count;
    gnomon__step_unlock();
    facts->metadata = gnomon__metadata_all(&facts->metadata_count);
    return GNOMON_OK;
}

void gnomon__facts_free(gnomon__run_facts *facts)
{
    gnomon__free((void *)(uintptr_t)facts->run.spec);
    gnomon__free((void *)(uintptr_t)facts->steps);
    gnomon__free((void *)(uintptr_t)facts->stages);
    gnomon__free((void *)(uintptr_t)facts->open_cells);
    memset(facts, 0, sizeof *facts);
}
