/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program of marks, drawn by lot and run twice: by the library and by the
 * model; then every profile must say the same. Several threads take turns, so
 * that a program is one sequence. Who includes this throws the dice. */
#ifndef GNOMON_TESTS_MODEL_PROGRAM_H
#define GNOMON_TESTS_MODEL_PROGRAM_H

#include "model_world.h"

#define MOST_OPERATIONS 120

static uint32_t roll(uint32_t below); /* 0 to below - 1 */
static int rolled_out(void);          /* there are no more numbers */

/* ---- One operation ---------------------------------------------------------------- */

static model m;
static gnomon_link link_values[8];
static model_place link_places[8];
static int link_values_used;

/* With $MODEL_SEED the program is printed as it runs, and compared often. */
static int is_told;
static void tell(int thread, const char *what, int region, int exec)
{
    if (is_told)
        fprintf(stderr, "%llu w%d: %s %s #%d\n", (unsigned long long)m.now,
                thread, what, region < 0 ? "" : names[region].name, exec);
}

static int random_exec(int kind, int want_open)
{
    for (int tries = 0; tries < 8 && m.exec_count; tries++) {
        int e = (int)roll((uint32_t)m.exec_count);
        if (roll(2)) /* mostly a late one */
            e = m.exec_count - 1 - e * e / m.exec_count;
        if ((int)m.execs[e].kind == kind && m.execs[e].is_open == want_open)
            return e;
    }
    return NOWHERE;
}

/* The scope that should end now, as programs without mistakes do. */
static int last_scope(int thread)
{
    for (int i = m.exec_count; i-- > 0;)
        if (m.execs[i].kind == MODEL_SCOPE && m.execs[i].is_open &&
            m.execs[i].thread == thread)
            return i;
    return NOWHERE;
}

static void begin_scope(int thread)
{
    int region = scopes[roll(6)];
    int e = model_begin(&m, thread, region, MODEL_SCOPE);
    tell(thread, "begin", region, e);
    m.execs[e].token = gnomon_begin(regions[region]);
    CHECK_EQ(m.execs[e].token != 0, model_seen(&m, &m.execs[e]));
    m.execs[e].is_open = m.execs[e].token != 0;
}

static int hooks_see(const model_exec *e)
{
    for (int v = 0; v < MODEL_VIEWS; v++)
        if (has_hooks[v] && model_saw(&m, e, v))
            return 1;
    return 0;
}

static void end_scope(int thread, int e, int alone)
{
    if (e == NOWHERE)
        return;
    tell(thread, alone ? "end alone" : "end", m.execs[e].region, e);
    model_end(&m, e, thread, alone && !hooks_see(&m.execs[e]));
    if (alone)
        gnomon_end_alone(m.execs[e].token);
    else
        gnomon_end(m.execs[e].token);
}

static void begin_range(int thread)
{
    int region = 8 + (int)roll(2);
    int e = model_begin(&m, thread, region, MODEL_RANGE);
    tell(thread, "range begin", region, e);
    m.execs[e].token = gnomon_range_begin(regions[region]);
    CHECK_EQ(m.execs[e].token != 0, model_seen(&m, &m.execs[e]));
}

static void end_range(int thread, int e)
{
    if (e == NOWHERE)
        return;
    tell(thread, "range end", m.execs[e].region, e);
    model_range_end(&m, e, thread);
    gnomon_range_end(m.execs[e].token);
}

static void link_some(int thread)
{
    int i = (int)roll(8);
    if (roll(2)) {
        link_values[i] = gnomon_link_out();
        link_places[i] = model_link_out(&m, thread);
        link_values_used |= 1 << i;
    } else if (link_values_used >> i & 1) {
        int kind = (int)roll(2);
        gnomon_link_in(&link_values[i], kind);
        model_link_in(&m, &link_places[i], thread, kind);
    }
}

static void mark_some(int thread)
{
    int region = 10 + (int)roll(4);
    tell(thread, "mark", region, 0);
    if (region < 12) {
        model_mark(&m, thread, region);
        gnomon_mark(regions[region]);
    } else {
        double value = roll(100) - 50.0;
        model_sample(&m, thread, region, value);
        gnomon_counter(regions[region], value);
    }
}

static void by_name(int thread, int start)
{
    int region = 4 + (int)roll(4);
    char name[3]; /* one buffer, many texts */
    memcpy(name, names[region].name, 3);
    const char *text = roll(2) ? names[region].name : name;
    tell(thread, start ? "start" : "stop", region, m.exec_count);
    if (start) {
        model_start_action(&m, thread, region);
        gnomon_start(text);
    } else {
        model_stop_action(&m, thread, region);
        gnomon_stop(text);
    }
}

static int open_scopes(int thread)
{
    int n = 0;
    for (int e = 0; e < (int)m.exec_count; e++)
        n += m.execs[e].is_open && m.execs[e].kind == MODEL_SCOPE &&
             m.execs[e].thread == thread;
    return n;
}

static void operate(int thread)
{
    uint32_t what = roll(100);
    if (what < 26)
        begin_scope(thread);
    else if (what < 48)
        end_scope(thread, last_scope(thread), what == 47);
    else if (what < 52) /* crossed, or on the wrong thread */
        end_scope(thread, random_exec(MODEL_SCOPE, 1), what > 49);
    else if (what < 54) /* twice */
        end_scope(thread, random_exec(MODEL_SCOPE, 0), what > 52);
    else if (what < 64)
        by_name(thread, 1);
    else if (what < 74)
        by_name(thread, 0);
    else if (what < 79)
        begin_range(thread);
    else if (what < 84)
        end_range(thread, random_exec(MODEL_RANGE, roll(8) != 0));
    else if (what < 89)
        mark_some(thread);
    else if (what < 94)
        link_some(thread);
    /* With more open, gnomon may take them for left by longjmp and end them at
     * the step (test_odd_flow.c). */
    else if (what < 97 && open_scopes(thread) < 16) {
        model_step(&m);
        gnomon_step();
    }
}

/* ---- Control ------------------------------------------------------------------- */

static void attach(int v, uint32_t hooks)
{
    int filter = (int)roll(sizeof filters / sizeof *filters);
    gnomon_profiler *p = &profilers[v];
    *p = probe;
    p->name = view_names[v];
    has_hooks[v] = roll(100) < hooks;
    p->wants = has_hooks[v] ? roll(4) : GNOMON_WANT_TREE;
    observers[v] = (observer){.wants_times = p->wants & GNOMON_WANT_TIMES};
    if (has_hooks[v]) {
        p->start = on_start;
        p->stop = on_stop;
        p->mark = on_mark;
        p->counter = on_counter;
        p->step = on_step;
    }
    tell(v, has_hooks[v] ? "attach hook" : "attach", -1, filter);
    CHECK_EQ(gnomon_attach(p, &observers[v], filters[filter]), GNOMON_OK);
    m.views[v] = (model_view){
        ++m.serials, filter, p->wants & GNOMON_WANT_TREE, 0, 0, 0, 0, 0};
    m.config++;
}

static void compare(int v, int all_stages)
{
    if (!m.views[v].serial)
        return;
    if (m.views[v].has_tree)
        model_compare(&m, v, view_names[v], all_stages);
    if (!has_hooks[v])
        return;
    const observer *o = &observers[v];
    CHECK_EQ(o->starts, m.views[v].starts);
    CHECK_EQ(o->stops, m.views[v].stops);
    CHECK_EQ(o->marks, m.views[v].marks);
    CHECK_EQ(o->samples, m.views[v].samples);
    CHECK_EQ(o->steps, m.views[v].steps);
    CHECK_EQ(o->bad_slots, 0);
    CHECK_EQ(o->bad_times, 0);
}

static void detach(int v)
{
    if (!m.views[v].serial)
        return;
    compare(v, (int)roll(2));
    tell(v, "detach", -1, 0);
    CHECK_EQ(gnomon_detach(&profilers[v], &observers[v]), GNOMON_OK);
    m.views[v].serial = 0;
    m.config++;
}

static void control(uint32_t hooks)
{
    int v = (int)roll(MODEL_VIEWS);
    uint32_t what = roll(10);
    if (what < 6) {
        if (m.views[v].serial)
            detach(v);
        else
            attach(v, hooks);
    } else if (what < 8) {
        static const char *const stages[] = {"fit", "test", ""};
        const char *name = stages[roll(3)];
        tell(0, "stage begin", -1, m.stage_count);
        model_stage_begin(&m, name);
        CHECK_EQ(gnomon_stage_begin(name), GNOMON_OK);
    } else if (what < 9) {
        CHECK_EQ(gnomon_stage_end(), model_stage_end(&m));
    } else {
        compare(v, (int)roll(2));
    }
}

/* ---- One program ------------------------------------------------------------------ */

static void finish(gnomon_health before)
{
    for (int v = 0; v < MODEL_VIEWS; v++)
        compare(v, (int)roll(2));
    check_health(&before, &m.health, __FILE__, __LINE__);
    for (int v = 0; v < MODEL_VIEWS; v++)
        detach(v);
    for (int e = 0; e < m.exec_count; e++) /* there is room for 8192 */
        if (m.execs[e].kind == MODEL_RANGE && m.execs[e].is_open)
            gnomon_range_end(m.execs[e].token);
    CHECK_EQ(gnomon_teardown(), GNOMON_OK);
}

static int run_program(void)
{
    static const uint32_t toggles[] = {0, 2, 2, 5, 15, 40};
    gnomon_health before = health_now();
    model_start(&m);
    link_values_used = 0;
    CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    uint32_t toggle = toggles[roll(6)], threads = 1 + roll(MODEL_THREADS);
    uint32_t hooks = roll(3) * 50, count = 5 + roll(MOST_OPERATIONS);
    int thread = 0;
    attach(0, hooks);
    for (uint32_t i = 0; i < count && !test_failures && !rolled_out(); i++) {
        m.operation++;
        if (roll(3)) {
            uint64_t ns = roll(4) ? roll(50) : 1ull << roll(36);
            pass(ns);
            model_pass(&m, ns);
        }
        if (roll(6) == 0)
            thread = (int)roll(threads);
        if (roll(100) < toggle)
            control(hooks);
        else
            run_on(thread, operate);
        for (int v = 0; is_told && v < MODEL_VIEWS; v++)
            compare(v, 1);
    }
    finish(before);
    return !test_failures;
}

static void close_all(int thread)
{
    for (int r = 4; r < 8; r++)
        if (m.action[thread][r] != NOWHERE)
            gnomon_stop(names[r].name);
}

/* Threads and regions, once. */
static int world_start(void)
{
    for (int i = 0; i < MODEL_REGIONS; i++)
        regions[i] = gnomon_region_get(names[i].name, names[i].category,
                                       GNOMON_KIND_SCOPE);
    attach_probe();
    for (int i = 0; i < MODEL_THREADS; i++) {
        workers[i].number = i;
        sem_init(&workers[i].go, 0, 0);
        sem_init(&workers[i].done, 0, 0);
        if (i && !CHECK(!pthread_create(&workers[i].thread, NULL, work,
                                        &workers[i])))
            return 0;
        run_on(i, say_name);
    }
    gnomon_detach(&probe, NULL);
    return 1;
}

/* After a program. What is open stays so on its thread: closed for the next. */
static void world_tidy(void)
{
    attach_probe();
    for (int t = 0; t < MODEL_THREADS; t++)
        run_on(t, close_all);
    gnomon_detach(&probe, NULL);
}

#endif
