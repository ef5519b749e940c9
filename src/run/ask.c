/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gnomon_summary, gnomon_snapshot and gnomon_device_wait. A summary runs a profiler's
 * callback, so it is a control call. A snapshot runs only our code: any thread may take
 * one at any time, even while a control call waits for that thread. */
#include "device/activity.h"
#include "device/timers.h"
#include "platform/error.h"
#include "platform/os.h"
#include "platform/owner.h"
#include "profile/model.h"
#include "run/files.h"
#include "run/host.h"
#include "run/run.h"
#include "run/snapshots.h"

static int not_attached(gnomon__text name)
{
    if (!name.at)
        name = gnomon__text_of("(null)", GNOMON_TO_NUL);
    return gnomon__fail(GNOMON_ENOENT, "no profiler '%.*s' is attached",
                        (int)(name.length < 256 ? name.length : 256), name.at);
}

/* GNOMON_OK and NULL: the profiler records no tree. */
static int snapshot_live(gnomon__model **out, const gnomon__attachment *a,
                         int by_name)
{
    gnomon__event_range room;
    *out = NULL;
    return gnomon__attachment_has_tree(a)
               ? gnomon__snapshot_live(
                     out, a->view, by_name,
                     gnomon__events_of(a, GNOMON__TAPE_ALL, &room))
               : GNOMON_OK;
}

static int print_summary(gnomon__text name, const gnomon_writer *out)
{
    int code = gnomon__run_enter();
    if (code)
        return code;
    gnomon__devices_read(0);
    gnomon__model *m = NULL;
    gnomon__buffer b;
    gnomon__attachment *a = gnomon__attachment_named(name);
    gnomon__buffer_init(&b, a);
    b.writer.shown = NULL; /* the caller gets names as they are */
    b.writer.columns = out ? out->columns : 0;
    b.writer.shows_bold = out ? out->shows_bold : 0;
    if (!a) {
        code = not_attached(name);
    } else if (!out || !out->write) {
        code = gnomon__fail(GNOMON_EINVAL, "gnomon_summary: no writer");
    } else {
        gnomon__readers_lock();
        code = snapshot_live(&m, a, (a->profiler.wants & GNOMON_WANT_RUN) != 0);
        gnomon__readers_unlock();
    }
    if (!code && a && a->profiler.summary)
        code = gnomon__summarize(a, m ? &m->base : NULL, &b);
    if (m)
        gnomon_profile_free(&m->base);
    gnomon__control_leave();
    /* After the control call: the caller's write may call gnomon. */
    if (!code && b.length && out && out->write)
        code = out->write(out, b.text, b.length);
    gnomon__buffer_free(&b);
    return code;
}

/* Cancellation is off during the caller's write, too: it would leak our text. */
int gnomon__summary_n(const char *profiler, size_t length,
                      const gnomon_writer *out)
{
    GNOMON__FORWARD_CONTROL(summary(profiler, length, out));
    int cancel = gnomon__os_cancel_off();
    int code = print_summary(gnomon__text_of(profiler, length), out);
    gnomon__os_cancel_back(cancel);
    return code;
}

int gnomon_summary(const char *profiler, const gnomon_writer *out)
{
    return gnomon__summary_n(profiler, GNOMON_TO_NUL, out);
}

int gnomon_device_wait(uint64_t patience_ns)
{
    GNOMON__FORWARD_CONTROL(device_wait(patience_ns));
    int code = gnomon__control_enter();
    if (code)
        return code;
    gnomon__timers_read(patience_ns, 0);
    gnomon__sources_flush(patience_ns);
    return gnomon__control_left(GNOMON_OK);
}

/* The first call reads $GNOMON. Finished device times are read unless another thread
 * is in a control call. */
static int make_ready(void)
{
    int code = gnomon__control_check();
    if (code || gnomon__control_is_inside())
        return code;
    if (!gnomon__run_is_ready()) {
        code = gnomon__control_enter();
        if (code)
            return code;
    } else if (!gnomon__control_try()) {
        return GNOMON_OK;
    }
    gnomon__run_ready();
    gnomon__devices_read(0);
    return gnomon__control_left(GNOMON_OK);
}

static int take_snapshot(gnomon_profile **out, gnomon__text name,
                         int all_stages)
{
    int code = make_ready();
    if (code)
        return code;
    gnomon__model *m = NULL;
    gnomon__heap_start(); /* not first under a lock */
    gnomon__readers_lock();
    const gnomon__attachment *a = gnomon__attachment_named(name);
    code = a ? snapshot_live(&m, a, all_stages) : not_attached(name);
    if (a && !code && !m)
        code = gnomon__fail(GNOMON_ESTATE, "%s records no profile",
                            a->profiler.name);
    gnomon__readers_unlock();
    if (m)
        *out = &m->base;
    return code;
}

int gnomon__snapshot_n(gnomon_profile **out, const char *profiler,
                       size_t length, int all_stages)
{
    GNOMON__FORWARD_CONTROL(snapshot(out, profiler, length, all_stages));
    if (!out)
        return gnomon__fail(GNOMON_EINVAL,
                            "gnomon_snapshot: nowhere to put a profile");
    *out = NULL;
    int cancel = gnomon__os_cancel_off(); /* it holds the lock of readers */
    int code =
        take_snapshot(out, gnomon__text_of(profiler, length), all_stages);
    gnomon__os_cancel_back(cancel);
    return code;
}

int gnomon_snapshot(gnomon_profile **out, const char *profiler, int all_stages)
{
    return gnomon__snapshot_n(out, profiler, GNOMON_TO_NUL, all_stages);
}
