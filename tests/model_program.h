/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program of marks, drawn at random and run twice: by the library and by
 * the model. Then every profile must be equal. Several threads take turns,
 * so that a program is one sequence. The including file supplies the random
 * numbers. */
#ifndef GNOMON_TESTS_MODEL_PROGRAM_H
#define GNOMON_TESTS_MODEL_PROGRAM_H

#include <errno.h>
#include <stdlib.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "gnomon/profile.h"
#include "gnomon/tool.h"
#include "model_world.h"
#include "sanitizer.h"

#define MOST_OPERATIONS 120

static uint32_t roll(uint32_t below);       /* 0 to below - 1 */
static int rolled_out(void);                /* no numbers are left */
static void roll_for(uint32_t operation);   /* independent random numbers */
static int is_left_out(uint32_t operation); /* for shortening a program */
static int may_fork(void); /* a fork costs as a hundred others */

/* ---- One operation ---------------------------------------------------------------- */

static model m;
static gnomon_link link_values[8];
static model_link_end link_ends[8];
static int link_values_used;

/* With $MODEL_SEED the program is printed as it runs, and compared often. */
static int is_told;
/* Cycles are told apart by moments, and what is kept begins at one, so nothing may begin
 * then. Stages and the run are no moments. */
static void leave_the_moment(void)
{
    int is_any = 0;
    for (int v = 0; v < MODEL_VIEWS; v++)
        is_any |=
            m.views[v].has_trace &&
            (model_kept_steps(m.views[v].keep) ||
             (m.views[v].has_ready && model_is_scheduled(m.views[v].schedule)));
    pass((uint64_t)is_any);
    model_pass(&m, (uint64_t)is_any);
}

static void print_operation(int thread, const char *what, int region, int exec)
{
    if (is_told)
        fprintf(stderr, "%llu w%d: %s %s #%d\n", (unsigned long long)m.now,
                thread, what, region < 0 ? "" : names[region].name, exec);
}

static void log_failure(int v, enum model_scope scope)
{
    static const char *const scopes_of[] = {"one stage", "a file",
                                            "all stages"};
    fprintf(stderr, "    %s of v%d at %llu, after operation %d\n",
            scopes_of[scope], v, (unsigned long long)m.now, m.operation);
}

static int random_exec(int kind, int want_open)
{
    for (int tries = 0; tries < 8 && m.exec_count; tries++) {
        int e = (int)roll((uint32_t)m.exec_count);
        if (roll(2)) /* mostly a recent one */
            e = m.exec_count - 1 - e * e / m.exec_count;
        if ((int)m.execs[e].kind == kind && m.execs[e].is_open == want_open)
            return e;
    }
    return NOWHERE;
}

/* The scope that a correct program would end now. */
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
    print_operation(thread, "begin", region, e);
    m.execs[e].token = gnomon_begin(regions[region]);
    if (m.execs[e].token != 0 || !model_is_inside_other(&m, &m.execs[e]))
        CHECK_EQ(m.execs[e].token != 0, model_seen(&m, &m.execs[e]));
    m.execs[e].is_open = m.execs[e].token != 0;
}

static int hooks_see(const model_exec *e)
{
    for (int v = 0; v < MODEL_VIEWS; v++)
        if (has_hooks[v] && model_saw(&m, e, v) && e->is_hooked[v])
            return 1;
    return 0;
}

/* The thread receives an end at its next mark, or when its profile is read,
 * whichever is first. */
static int told_thread = NOWHERE, is_told_wrongly;

static void mark_nothing(int thread)
{
    (void)thread;
    (void)gnomon_link_out();
}

static void may_take_told(void)
{
    int thread = told_thread, has_hooks_now = 0;
    told_thread = NOWHERE;
    if (thread == NOWHERE)
        return;
    for (int v = 0; v < MODEL_VIEWS; v++)
        has_hooks_now |=
            m.views[v].serial && (has_hooks[v] || m.views[v].has_steps);
    /* Counts may be dropped when a profiler is attached or detached. */
    if (has_hooks_now || is_told_wrongly || roll(2))
        run_on(thread, mark_nothing);
    else
        m.has_no_order = 1;
}

static void end_scope(int thread, int e, int alone)
{
    if (e == NOWHERE)
        return;
    if (m.execs[e].thread != thread)
        told_thread = m.execs[e].thread;
    is_told_wrongly = !m.execs[e].is_open || !model_seen(&m, &m.execs[e]);
    print_operation(thread, alone ? "end alone" : "end", m.execs[e].region, e);
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
    print_operation(thread, "range begin", region, e);
    m.execs[e].token = gnomon_range_begin(regions[region]);
    CHECK_EQ(m.execs[e].token != 0, model_seen(&m, &m.execs[e]));
}

static void end_range(int thread, int e)
{
    if (e == NOWHERE)
        return;
    print_operation(thread, "range end", m.execs[e].region, e);
    model_range_end(&m, e, thread);
    gnomon_range_end(m.execs[e].token);
}

static void link_some(int thread)
{
    int i = (int)roll(8), is_out = (int)roll(2);
    print_operation(thread, is_out ? "link out" : "link in", -1, i);
    if (is_out) {
        link_values[i] = gnomon_link_out();
        link_ends[i] = model_link_out(&m, thread);
        link_values_used |= 1 << i;
    } else if (link_values_used >> i & 1) {
        int kind = (int)roll(2);
        gnomon_link_in(&link_values[i], kind);
        model_link_in(&m, &link_ends[i], thread, kind);
    }
}

static void mark_some(int thread)
{
    int region = 10 + (int)roll(4);
    print_operation(thread, "mark", region, 0);
    if (region < 12) {
        model_mark(&m, thread, region);
        gnomon_mark(regions[region]);
    } else {
        double value = roll(8) ? roll(100) - 50.0 : (double)NAN;
        model_sample(&m, thread, region, value);
        gnomon_counter(regions[region], value);
    }
}

static void by_name(int thread, int start)
{
    int region = 4 + (int)roll(4);
    char name[3]; /* one buffer, whose text changes */
    memcpy(name, names[region].name, 3);
    const char *text = roll(2) ? names[region].name : name;
    print_operation(thread, start ? "start" : "stop", region, m.exec_count);
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

/* As many as a block or two of a trace holds. */
static void mark_many(int thread)
{
    int region = scopes[roll(6)];
    print_operation(thread, "many", region, m.exec_count);
    for (uint32_t n = 1 + roll(80); n && m.event_count < MODEL_EVENTS / 2;
         n--) {
        int e = model_begin(&m, thread, region, MODEL_SCOPE);
        gnomon_token token = gnomon_begin(regions[region]);
        m.execs[e].is_open = (m.execs[e].token = token) != 0;
        pass(1);
        model_pass(&m, 1);
        model_end(&m, e, thread, 0);
        gnomon_end(token);
    }
}

static void operate(int thread)
{
    if (m.is_tight && roll(5) == 0) {
        mark_many(thread);
        return;
    }
    uint32_t what = roll(100);
    if (m.most_paths < INT32_MAX && what >= 47 && what < 74)
        what = roll(
            47); /* what is inside an "(other)" is known by its depth alone */
    if (what < 26)
        begin_scope(thread);
    else if (what < 48)
        end_scope(thread, last_scope(thread), what == 47);
    else if (what < 52) /* crossed, or on the wrong thread */
        end_scope(thread, random_exec(MODEL_SCOPE, 1), what > 49);
    else if (what < 54) /* a second end */
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
    /* With more open scopes, gnomon may take them for left by longjmp and
     * end them at the step (test_control_flow.c). */
    else if (what < 97 && open_scopes(thread) < 16) {
        leave_the_moment();
        print_operation(thread, "step", -1, 0);
        model_step(&m, thread);
        gnomon_step();
    }
}

/* ---- Control ------------------------------------------------------------------- */

static uint32_t reported; /* the stage whose reports are due */

static int write_stderr(const gnomon_writer *w, const void *bytes, size_t size)
{
    (void)w;
    return fwrite(bytes, 1, size, stderr) == size ? GNOMON_OK : GNOMON_EIO;
}

static void compare_with(int v, const gnomon_profile *p, enum model_scope scope,
                         enum model_time time)
{
    gnomon_writer out = {.struct_size = sizeof out, .write = write_stderr};
    int failures = test_failures;
    if (CHECK(p != NULL) && !CHECK_EQ(gnomon_profile_check(p), GNOMON_OK))
        fprintf(stderr, "    %s\n", gnomon_error_text());
    else if (p)
        model_compare(&m, v, p, scope, time);
    if (test_failures == failures)
        return;
    log_failure(v, scope);
    if (p && is_told)
        gnomon_write(p, "json", &out);
}

static int on_summary(void *self, const gnomon_profile *p,
                      const gnomon_writer *out)
{
    gnomon_stage_info stage;
    observer *o = self;
    (void)out;
    o->reports++;
    if (!CHECK_EQ(p != NULL, m.views[o->view].has_tree) || !p)
        return GNOMON_OK;
    CHECK_EQ(gnomon_profile_stage(p, 1, &stage), GNOMON_OK);
    CHECK_EQ(stage.ordinal, reported);
    int is_over = reported < (uint32_t)m.stage_count;
    compare_with(o->view, p, MODEL_ONE, is_over ? MODEL_STAGE : MODEL_NOW);
    return GNOMON_OK;
}

/* A part of a stream, whenever its memory is full. It is read later: the model goes on
 * meanwhile. */
static int put_part(const gnomon_writer *out, const void *bytes, size_t size)
{
    return fwrite(bytes, 1, size, out->context) == size ? GNOMON_OK
                                                        : GNOMON_EIO;
}

static int keep_part(FILE *parts, const gnomon_profile *p)
{
    long begin = ftell(parts), end;
    gnomon_writer out = {
        .struct_size = sizeof out, .write = put_part, .context = parts};
    fwrite(&begin, sizeof begin, 1, parts); /* its place is for the size */
    CHECK_EQ(gnomon_write(p, "gnomon", &out), GNOMON_OK);
    end = ftell(parts);
    fseek(parts, begin, SEEK_SET);
    begin = end - begin - (long)sizeof begin;
    fwrite(&begin, sizeof begin, 1, parts);
    fseek(parts, end, SEEK_SET);
    return GNOMON_OK;
}

/* All that came, once no more come. */
static void compare_parts(int v, int is_last)
{
    FILE *parts = observers[v].parts;
    long size;
    observers[v].parts = NULL;
    if (!parts)
        return;
    rewind(parts);
    while (fread(&size, sizeof size, 1, parts) == 1) {
        gnomon_profile *p = NULL;
        char *bytes = malloc((size_t)size);
        if (CHECK(bytes && fread(bytes, (size_t)size, 1, parts) == 1) &&
            CHECK_EQ(gnomon_profile_read(&p, bytes, (size_t)size), GNOMON_OK))
            model_take_part(&m, v, p);
        gnomon_profile_free(p);
        free(bytes);
    }
    fclose(parts);
    model_check_parts(&m, v, is_last);
}

/* Of a cycle that is over, on a thread of gnomon while all others wait for it, or in the
 * call that ends the stage; or at the end of the run. */
static int on_ready(void *self, const gnomon_profile *p,
                    const gnomon_writer *out)
{
    observer *o = self;
    (void)out;
    if (o->parts)
        return keep_part(o->parts, p);
    model_x.cycle = (int)o->given + 1;
    if (model_is_scheduled(m.views[o->view].schedule))
        compare_with(o->view, p, MODEL_ONE, MODEL_CYCLE);
    else
        compare_with(o->view, p, MODEL_NAMES, MODEL_RUN);
    __atomic_add_fetch(&o->given, 1, __ATOMIC_RELEASE);
    return GNOMON_OK;
}

/* Until all cycles that are over were given. */
static void await_ready(void)
{
    for (int v = 0; v < MODEL_VIEWS; v++) {
        uint32_t tries = 0; /* half a minute at most */
        while (m.views[v].serial && tries++ < 4000 &&
               __atomic_load_n(&observers[v].given, __ATOMIC_ACQUIRE) <
                   m.views[v].given)
            usleep(tries < 1000 ? 20 : 10000);
        CHECK_EQ(observers[v].given,
                 m.views[v].serial ? m.views[v].given : observers[v].given);
    }
}

static int write_nothing(const gnomon_writer *w, const void *bytes, size_t size)
{
    (void)w, (void)bytes, (void)size;
    return GNOMON_OK;
}

static int files
    [MODEL_VIEWS]; /* the names have numbers, so that no two views share one */

static const char *folder(void)
{
    const char *told = getenv("TMPDIR");
    return told && strlen(told) < 32 ? told : "/tmp";
}

static const char *file_of(int v)
{
    static char name[96];
    snprintf(name, sizeof name, "%s/gnomon-model-%d-%d-1.gnomon", folder(),
             (int)getpid(), files[v]);
    return name;
}

/* The random options of a profiler; valid until the next call. */
static const char *options_of(int v, int filter, int schedule)
{
    static char words[256];
    const char *parts[4] = {filters[filter], schedules[schedule].words, NULL,
                            keeps[m.views[v].keep]};
    char file[96]; /* which file name has the rank in it */
    snprintf(file, sizeof file, "file=%s/gnomon-model-%d-%d.gnomon", folder(),
             (int)getpid(), files[v]);
    if (m.views[v].has_file)
        parts[2] = file;
    *words = 0;
    for (int i = 0; i < 4; i++)
        if (parts[i])
            strcat(strcat(words, *words ? "," : ""), parts[i]);
    return words;
}

static const gnomon_option_info keep_option[] = {
    {sizeof(gnomon_option_info), GNOMON_OPTION_TEXT, "keep", "last", NULL},
    {.key = NULL},
};

static void attach(int v, uint32_t hooks)
{
    int filter = (int)roll(sizeof filters / sizeof *filters);
    int schedule = (int)roll(sizeof schedules / sizeof *schedules);
    gnomon_profiler *p = &profilers[v];
    *p = probe;
    p->name = view_names[v];
    has_hooks[v] = roll(100) < hooks;
    p->wants = has_hooks[v] ? roll(4) : GNOMON_WANT_TREE;
    if (roll(2) && m.most_paths == INT32_MAX)
        p->wants |= GNOMON_WANT_STEPS; /* nothing without a tree */
    int has_trace = (p->wants & GNOMON_WANT_TREE) && roll(2);
    p->wants |= has_trace ? GNOMON_WANT_EVENTS : 0;
    p->summary = roll(2) ? on_summary : NULL;
    p->events = roll(2) ? on_ready : NULL;
    observers[v] =
        (observer){.wants_times = p->wants & GNOMON_WANT_TIMES, .view = v};
    if (has_hooks[v]) {
        p->start = on_start;
        p->stop = on_stop;
        p->mark = on_mark;
        p->counter = on_counter;
        p->step = on_step;
    }
    m.views[v] = (model_view){.serial = ++m.serials,
                              .filter = filter,
                              .schedule = schedule,
                              .since = (uint32_t)m.stage_count,
                              .has_tree = p->wants & GNOMON_WANT_TREE,
                              .has_report = p->summary != NULL,
                              .has_trace = has_trace,
                              .came_late = m.has_steps,
                              .has_ready = has_trace && p->events,
                              .came = m.now};
    m.views[v].has_steps =
        m.views[v].has_tree && (p->wants & GNOMON_WANT_STEPS);
    m.views[v].has_file = m.views[v].has_tree && roll(4) == 0;
    if (has_trace && roll(2))
        m.views[v].keep =
            (int)roll(model_is_scheduled(schedule) || !p->events ? 4 : 5);
    if (model_is_stream(m.views[v].keep))
        observers[v].parts = tmpfile();
    p->options = has_trace ? keep_option : NULL;
    static int made;
    files[v] = ++made;
    const char *words = options_of(v, filter, schedule);
    print_operation(v, has_hooks[v] ? "attach hook" : "attach", -1, v);
    if (is_told)
        fprintf(stderr, "    %s, wants %u\n", words, (unsigned)p->wants);
    CHECK_EQ(gnomon_attach(p, &observers[v], words), GNOMON_OK);
    m.config++;
    model_cycles_move(&m, 0);
}

static void compare_file(int v)
{
    gnomon_profile *p = NULL;
    if (!m.views[v].serial || !m.views[v].has_file ||
        m.views[v].since == (uint32_t)m.stage_count)
        return;
    if (!CHECK_EQ(gnomon_profile_load(&p, file_of(v)), GNOMON_OK))
        fprintf(stderr, "    %s\n", gnomon_error_text());
    else
        compare_with(v, p, MODEL_FILE, MODEL_STAGE);
    gnomon_profile_free(p);
}

static void compare(int v, int all_stages)
{
    gnomon_writer nowhere = {.struct_size = sizeof nowhere,
                             .write = write_nothing};
    if (!m.views[v].serial)
        return;
    if (m.views[v].has_report &&
        roll(4) == 0) { /* a report that the program requests */
        m.views[v].reports++;
        reported = (uint32_t)m.stage_count;
        CHECK_EQ(gnomon_summary(view_names[v], &nowhere), GNOMON_OK);
    }
    if (m.views[v].has_tree) {
        gnomon_profile *p = NULL;
        CHECK_EQ(gnomon_snapshot(&p, view_names[v], all_stages), GNOMON_OK);
        compare_with(v, p, all_stages ? MODEL_NAMES : MODEL_ONE, MODEL_NOW);
        gnomon_profile_free(p);
    }
    const observer *o = &observers[v];
    CHECK_EQ(o->reports, m.views[v].reports);
    if (!has_hooks[v])
        return;
    CHECK_EQ(o->starts, m.views[v].starts);
    CHECK_EQ(o->stops, m.views[v].stops);
    CHECK_EQ(o->marks, m.views[v].marks);
    CHECK_EQ(o->samples, m.views[v].samples);
    CHECK_EQ(o->steps, m.views[v].steps);
    CHECK_EQ(o->bad_slots, 0);
    CHECK_EQ(o->bad_times, 0);
}

/* Hooks get an event for each open scope that they will not see end. */
static void detach(int v)
{
    if (!m.views[v].serial)
        return;
    compare(v, (int)roll(2));
    print_operation(v, "detach", -1, v);
    CHECK_EQ(gnomon_detach(&profilers[v], &observers[v]), GNOMON_OK);
    compare_parts(v, 0);
    if (m.views[v].has_file && !is_told)
        unlink(file_of(v));
    m.views[v].serial = 0;
    m.config++;
    m.offs += !model_attached(&m);
}

static void begin_stage(void)
{
    static const char *const stages[] = {"fit", "test", ""};
    const char *name = stages[roll(3)];
    leave_the_moment();
    print_operation(0, "stage begin", -1, m.stage_count);
    reported = (uint32_t)m.stage_count;
    model_stage_begin(&m, name);
    int is_over = reported < (uint32_t)m.stage_count;
    CHECK_EQ(gnomon_stage_begin(name), GNOMON_OK);
    if (is_over)
        model_stage_reported(&m);
}

static void end_stage(void)
{
    leave_the_moment();
    print_operation(0, "stage end", -1, m.stage_count);
    reported = (uint32_t)m.stage_count;
    int code = model_stage_end(&m);
    CHECK_EQ(gnomon_stage_end(), code);
    if (!code)
        model_stage_reported(&m);
    for (int v = 0; !code && v < MODEL_VIEWS; v++)
        compare_file(v);
}

/* The next thread of its name follows. */
static void replace_thread(int thread)
{
    uint64_t least, most, before = health_now().left_open;
    if (!thread || !model_attached(&m))
        return;
    print_operation(thread, "ends", -1, 0);
    model_thread_over(&m, thread, &least, &most);
    end_worker(thread);
    uint64_t left = health_now().left_open - before;
    m.health.left_open += left;
    if (!CHECK(left >= least && left <= most))
        fprintf(stderr, "    %d left open, not %d to %d\n", (int)left,
                (int)least, (int)most);
    if (start_worker(thread))
        run_on(thread, say_name);
}

/* A forked child is off, and does not change the parent's data. */
static int child_of_fork(void)
{
    int failures = test_failures;
    CHECK_EQ(gnomon_begin(regions[0]), 0);
    for (int e = 0; e < m.exec_count; e++)
        if (m.execs[e].kind == MODEL_SCOPE && m.execs[e].thread == 0)
            gnomon_end(m.execs[e].token);
        else if (m.execs[e].kind == MODEL_RANGE)
            gnomon_range_end(m.execs[e].token);
    gnomon_step();
    gnomon_start("a0");
    gnomon_stop("a1");
    return test_failures - failures;
}

static void fork_some(void)
{
    int status = -1;
    if (!IS_TSAN && may_fork()) {
        print_operation(0, "fork", -1, 0);
        pid_t child = fork(), ended;
        if (!child)
            _exit(child_of_fork());
        do /* a fuzzer's timer interrupts it */
            ended = waitpid(child, &status, 0);
        while (ended < 0 && errno == EINTR);
        CHECK_EQ(ended, child);
        CHECK_EQ(status, 0);
    }
}

static void control(int thread, uint32_t hooks)
{
    int v = (int)roll(MODEL_VIEWS);
    uint32_t what = roll(100);
    if (what < 40 && m.views[v].serial)
        detach(v);
    else if (what < 40)
        attach(v, hooks);
    else if (what < 65)
        begin_stage();
    else if (what < 80)
        end_stage();
    else if (what < 85)
        replace_thread(thread);
    else if (what < 86)
        fork_some();
    else
        compare(v, (int)roll(2));
}

/* ---- One program ------------------------------------------------------------------ */

/* The run ends: reports include open scopes, and the files are complete. */
static void end_run(void)
{
    leave_the_moment();
    reported = (uint32_t)m.stage_count;
    if (model_stage_is_due(&m, reported))
        model_stage_over(&m);
    print_operation(0, "teardown", -1, 0);
    m.is_run_over = 1;
    model_reported(&m);
    for (int v = 0; v < MODEL_VIEWS; v++) {
        m.views[v].is_leaving = 1;
        m.views[v].given += m.views[v].has_ready &&
                            !model_is_scheduled(m.views[v].schedule) &&
                            !observers[v].parts;
    }
    CHECK_EQ(gnomon_teardown(), GNOMON_OK);
    for (int v = 0; v < MODEL_VIEWS; v++)
        compare_parts(v, 1);
    for (int v = 0; v < MODEL_VIEWS; v++)
        compare_file(v);
}

static void finish(gnomon_health before)
{
    for (int v = 0; v < MODEL_VIEWS; v++)
        compare(v, (int)roll(2));
    check_health(&before, &m.health, __FILE__, __LINE__);
    int is_first = (int)roll(2);
    if (is_first)
        end_run();
    for (int v = 0; v < MODEL_VIEWS; v++) {
        if (!is_first)
            detach(v);
        else if (m.views[v].serial) {
            CHECK_EQ(gnomon_detach(&profilers[v], &observers[v]), GNOMON_OK);
            if (m.views[v].has_file && !is_told)
                unlink(file_of(v));
            CHECK_EQ(observers[v].reports, m.views[v].reports);
            CHECK_EQ(observers[v].given, m.views[v].given);
        }
    }
    for (int e = 0; e < m.exec_count; e++) /* the limit is 8192 */
        if (m.execs[e].kind == MODEL_RANGE && m.execs[e].is_open)
            gnomon_range_end(m.execs[e].token);
    if (is_first) /* stages begin anew after the last profiler is detached */
        CHECK_EQ(gnomon_setup(NULL), GNOMON_OK);
    CHECK_EQ(gnomon_teardown(), GNOMON_OK);
}

static int run_program(void)
{
    static const uint32_t toggles[] = {0, 2, 5, 10, 20, 40};
    gnomon_health before = health_now();
    gnomon_setup_options quiet = {
        .struct_size = sizeof quiet, .has_rank = 1, .rank = 1, .world_size = 2};
    model_start(&m);
    m.is_tight = roll(3) == 0;
    if (roll(4) == 0) {
        m.most_depth = 1 + (int)roll(6);
        m.most_paths = 1 + (int)roll(12);
    }
    gnomon__test_depth =
        (uint32_t)m.most_depth < 1024 ? (uint32_t)m.most_depth : 1024;
    gnomon__test_paths = (uint32_t)m.most_paths;
    link_values_used = 0;
    CHECK_EQ(gnomon_setup(&quiet), GNOMON_OK);
    uint32_t toggle = toggles[roll(6)], threads = 1 + roll(MODEL_THREADS);
    uint32_t hooks = roll(3) * 50, count = 5 + roll(MOST_OPERATIONS);
    int thread = 0;
    gnomon__test_event_bytes = m.is_tight ? roll(16) * 1024 : UINT64_MAX;
    attach(0, hooks);
    for (uint32_t i = 0; i < count && !test_failures && !rolled_out(); i++) {
        m.operation++;
        roll_for(i);
        uint64_t ns = roll(3) == 0 ? 0 : roll(4) ? roll(50) : 1ull << roll(36);
        if (roll(6) == 0)
            thread = (int)roll(threads);
        if (is_left_out(i))
            continue;
        pass(ns);
        model_pass(&m, ns);
        if (roll(100) < toggle)
            control(thread, hooks);
        else
            run_on(thread, operate);
        may_take_told();
        await_ready();
        for (int v = 0; is_told && v < MODEL_VIEWS; v++)
            compare(v, 1);
    }
    roll_for(UINT32_MAX);
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
    pass(1000);
    attach_probe();
    for (int i = 0; i < MODEL_THREADS; i++) {
        workers[i].number = i;
        sem_init(&workers[i].go, 0, 0);
        sem_init(&workers[i].done, 0, 0);
        if (i && !start_worker(i))
            return 0;
        run_on(i, say_name);
    }
    gnomon_detach(&probe, NULL);
    return 1;
}

/* After a program: closes what is open on each thread, for the next program. */
static void world_tidy(void)
{
    attach_probe();
    for (int t = 0; t < MODEL_THREADS; t++)
        run_on(t, close_all);
    gnomon_detach(&probe, NULL);
}

#endif
