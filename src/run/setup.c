/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The nesting of setup and teardown: libraries and their host may all call them; the
 * outermost pair is the run. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mark/upcall.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "platform/os.h"
#include "platform/owner.h"
#include "platform/process.h"
#include "run/files.h"
#include "run/host.h"
#include "run/run.h"

static int setup_depth;
/* gnomon__forks then: in a child the depth is its parent's. */
static uint32_t setup_forks;
/* READ_NOTHING: $GNOMON was read, and nothing stood for it yet, so that a setup's spec still
 * counts. */
enum { UNREAD, READ_NOTHING, CONFIGURED };
static uint32_t is_configured GNOMON__OF_PROCESS;

/* Reads $GNOMON, or takes `fallback`; nothing in secure processes. */
static int read_environment(const char *fallback)
{
    const char *spec = gnomon__follows(), *origin = "fork=follow";
    int code = GNOMON_OK;
    if (is_configured == CONFIGURED || (is_configured && !fallback))
        return GNOMON_OK;
    gnomon__run_find_rank();
    if (!spec && !gnomon__os_is_secure()) {
        spec = getenv("GNOMON");
        origin = "$GNOMON";
    }
    if (!spec) {
        spec = fallback;
        origin = "setup";
    }
    if (spec) {
        code = gnomon__configure(spec, origin, 0);
        gnomon__end_watch();
    }
    if (code && spec != fallback) {
        /* It is the user's mistake, and a line on stderr has said so. A program that
         * ends when gnomon_setup fails must not end because of it. */
        gnomon__fail_clear();
        code = GNOMON_OK;
    }
    store_release(&is_configured, spec ? CONFIGURED : READ_NOTHING);
    return code;
}

int gnomon__run_is_ready(void)
{
    return load_acquire(&is_configured) != UNREAD;
}

/* In a child, what was under way at the fork wrote on, in words that were emptied. */
static void begin_start(void)
{
    if (gnomon__control_start() && gnomon__fork_parent())
        gnomon__stages_restart();
}

static void start(void)
{
    begin_start();
    read_environment(NULL);
    gnomon__control_started();
}

int gnomon__upcall_start(void)
{
    int kept = errno, is_done = gnomon__control_first();
    if (is_done == GNOMON__MAKES_START) {
        start();
        gnomon__control_leave();
    }
    errno = kept;
    return is_done;
}

void gnomon__run_ready(void)
{
    start();
    gnomon__fail_clear();
}

int gnomon__run_enter(void)
{
    int code = gnomon__control_enter();
    if (!code)
        gnomon__run_ready();
    return code;
}

/* A copy of the options as this version has them. */
static int copy_options(gnomon_setup_options *to,
                        const gnomon_setup_options *given)
{
    memset(to, 0, sizeof *to);
    if (!given)
        return GNOMON_OK;
    if (given->struct_size < sizeof given->struct_size)
        return gnomon__fail(GNOMON_EINVAL,
                            "gnomon_setup: set options.struct_size to "
                            "sizeof options");
    memcpy(to, given,
           given->struct_size < sizeof *to ? given->struct_size : sizeof *to);
    return GNOMON_OK;
}

/* A wrong rank is not taken. */
static int take_rank(const gnomon_setup_options *o)
{
    if (!o->has_rank)
        return GNOMON_OK;
    if (o->world_size <= 0 || o->rank < 0 || o->rank >= o->world_size)
        return GNOMON_EINVAL;
    gnomon__run_give_rank(o->rank, o->local_rank, o->world_size);
    gnomon__views_rank(o->rank); /* of marks that came before */
    return GNOMON_OK;
}

static int take_others(const gnomon_setup_options *o)
{
    if (o->dir)
        gnomon__run_give_dir(o->dir);
    int code = read_environment(o->spec);
    if (o->dir && !gnomon__run_dir())
        code = gnomon__fail(GNOMON_ENOMEM,
                            "gnomon_setup: no memory for the name of dir");
    return code;
}

/* Returns the first that cannot be known by its name; NULL: all are. */
static const gnomon_profiler *take_profilers(const gnomon_setup_options *o)
{
    const gnomon_profiler *refused = NULL;
    for (const gnomon_profiler *const *p = o->profilers; p && *p; p++)
        if (gnomon__profiler_add(*p) && !refused)
            refused = *p;
    return refused;
}

/* All of the outermost setup, and of inner ones the profilers, and the rank where none
 * was given. What is right is taken, whatever else is wrong. */
static int take_options(const gnomon_setup_options *o)
{
    int is_outermost = setup_depth == 0, rank_code = GNOMON_OK,
        code = GNOMON_OK;
    gnomon__run_find_rank();
    const gnomon_profiler *refused = take_profilers(o); /* $GNOMON names them */
    if (is_outermost || !gnomon__run_rank_is_given())
        rank_code = take_rank(o);
    if (is_outermost)
        code = take_others(o);
    if (refused)
        code = gnomon__profiler_add(refused); /* for its text */
    if (rank_code)
        code = gnomon__fail(rank_code,
                            "gnomon_setup: rank %d is not below world size %d",
                            (int)o->rank, (int)o->world_size);
    return code;
}

int gnomon_setup(const gnomon_setup_options *options)
{
    GNOMON__FORWARD_CONTROL(setup(options));
    gnomon__fork_ask();
    int code = gnomon__control_enter();
    if (code)
        return code;
    begin_start();
    if (setup_forks != gnomon__forks)
        setup_depth = 0;
    setup_forks = gnomon__forks;
    gnomon_setup_options o;
    code = copy_options(&o, options);
    if (!code)
        code = take_options(&o);
    gnomon__control_started();
    setup_depth++;
    gnomon__end_watch();
    return gnomon__control_left(code);
}

int gnomon_teardown(void)
{
    GNOMON__FORWARD_CONTROL(teardown());
    int code = gnomon__control_enter();
    if (code)
        return code;
    if (setup_depth == 0) {
        code = gnomon__fail(GNOMON_ESTATE,
                            "gnomon_teardown: there was no setup to undo");
    } else if (--setup_depth == 0) {
        gnomon__run_over();
        gnomon__configure_leave(NULL);
        gnomon__configure_clear();
        gnomon__end_watch();
        store_relaxed(&is_configured, UNREAD);
        if (!gnomon__attachments)
            gnomon__stages_restart();
    }
    return gnomon__control_left(code);
}

/* "+ITEMS" adds, "-NAME" takes one away, and other specs replace all. */
static int configure(const char *spec)
{
    int adds = *spec == '+', drops = *spec == '-', code = GNOMON_OK;
    if (!adds)
        code = gnomon__configure_leave(drops ? spec + 1 : NULL);
    if (!adds && !code) {
        gnomon__stage_report_leaving();
        gnomon__configure_clear();
    }
    if (!code)
        code = gnomon__configure(drops ? "" : spec + adds, "gnomon_attach",
                                 adds || drops);
    gnomon__end_watch();
    return code;
}

int gnomon__configure_n(const char *spec, size_t length)
{
    GNOMON__FORWARD_CONTROL(configure(spec, length));
    int code = gnomon__control_enter();
    if (code)
        return code;
    gnomon__text text = gnomon__text_of(spec, length);
    char *copy = NULL; /* nothing needs no memory */
    int is_nothing = !spec || !text.length;
    if (!is_nothing)
        copy = gnomon__strndup(spec, text.length);
    begin_start();
    gnomon__run_find_rank();
    store_release(&is_configured, CONFIGURED);
    int has_nul = !is_nothing && memchr(spec, 0, text.length);
    code = configure(copy && !has_nul ? copy : "");
    if (has_nul)
        code = gnomon__fail(GNOMON_EINVAL, "gnomon_attach: a NUL is inside "
                                           "the length of the spec");
    else if (!copy && !is_nothing)
        code = gnomon__fail(GNOMON_ENOMEM, "no memory for a spec");
    gnomon__free(copy);
    gnomon__control_started();
    return gnomon__control_left(code);
}
