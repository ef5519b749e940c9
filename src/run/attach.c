/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Attachments: a profiler, its options, and the view it records under (view.c).
 * Inside control calls. */
#include <string.h>

#include "device/timers.h"
#include "mark/observer.h"
#include "mark/op.h"
#include "mark/tape.h"
#include "platform/error.h"
#include "platform/os.h"
#include "spec/names.h"
#include "run/files.h"
#include "run/host.h"
#include "run/run.h"

static uint32_t batches;

uint32_t gnomon__batch(void)
{
    return ++batches;
}

/* ---- Attachments ---------------------------------------------------------------- */

static int wants_hook(const gnomon_profiler *p)
{
    return p->start || p->stop || p->step || p->counter || p->mark ||
           p->thread || p->window || p->stream || p->link;
}

static void free_attachment(gnomon__attachment *a)
{
    gnomon__options_destroy(a->options);
    gnomon__free(a->word);
    gnomon__free(a->folder);
    gnomon__free(a);
}

static int make_self(gnomon__attachment *a)
{
    if (!a->word || !a->options || !a->profiler.create)
        return GNOMON_OK;
    a->options->api.log = gnomon__log_line;
    a->options->api.region_op = gnomon__region_op;
    gnomon__fail_reason_clear();
    gnomon__control_loads(1); /* as setup */
    int code = a->profiler.create(&a->options->api, &a->self);
    gnomon__control_loads(-1);
    if (!code || code == GNOMON_DECLINED)
        return code;
    return gnomon__fail(GNOMON_EPLUGIN, "%s: create failed (%s)",
                        a->profiler.name, gnomon__fail_reason(code));
}

void gnomon__call_setup(gnomon__attachment *a)
{
    gnomon_run_info run;
    gnomon__run_describe(&run);
    if (!a->profiler.setup)
        return;
    gnomon__fail_reason_clear();
    gnomon__control_loads(1); /* it may load a library, or join a thread */
    int code = a->profiler.setup(a->self, &run, gnomon__stage_text());
    gnomon__control_loads(-1);
    if (code < 0)
        gnomon__log("%s: setup failed (%s); it goes on", a->profiler.name,
                    gnomon__fail_reason(code));
}

/* Both views of the attachment, and its references. */
static int find_views(gnomon__attachment *a, uint32_t batch)
{
    int code = gnomon__view_find(&a->window, a->options, batch, 0);
    if (code)
        return code;
    a->view = a->window;
    if (a->window->scheduled && (a->profiler.wants & GNOMON_WANT_EVENTS))
        code = gnomon__view_find(&a->view, a->options, batch, 1);
    else
        a->view->refs++;
    if (code)
        gnomon__view_drop(a->window);
    return code;
}

/* The window first: its tape names nodes of the other's tree. */
static void leave_views(const gnomon__attachment *a)
{
    gnomon__view_drop(a->window);
    gnomon__view_drop(a->view);
}

static void drop_devices(gnomon__attachment *a)
{
    if (a->is_timed)
        gnomon__times_drop(a->view);
    a->is_timed = 0;
    gnomon__work_drop(a);
}

/* If no source reports work, scopes on streams are timed instead. */
static int need_devices(gnomon__attachment *a)
{
    int is_missing = 0, code = GNOMON_OK;
    if (a->profiler.wants & GNOMON_WANT_DEVICE_WORK)
        code = gnomon__work_need(a, &is_missing);
    if (!code && (a->profiler.wants & GNOMON_WANT_DEVICE || is_missing))
        a->is_timed = !(code = gnomon__times_need(a->view));
    if (code)
        drop_devices(a);
    return code;
}

static void watch(gnomon__attachment *a, int comes)
{
    gnomon__step_lock();
    gnomon__windows_watch(a->window, a->hook_bit, comes);
    gnomon__step_unlock();
}

static int take_bits(gnomon__attachment *a)
{
    int code = gnomon__view_need(a->view, a->profiler.wants);
    if (!code && (a->profiler.wants & GNOMON_WANT_EVENTS))
        code = gnomon__view_need_tape(a->window, a->view, a->options->keep);
    if (!code)
        code = need_devices(a);
    if (code || !wants_hook(&a->profiler))
        return code;
    code = gnomon__observer_attach(NULL, &a->profiler, a->self, &a->hook_bit);
    if (!code) {
        gnomon__view_add_bit(a->window, a->hook_bit);
        if (a->profiler.window)
            watch(a, 1);
        return code;
    }
    a->hook_bit = GNOMON__BITS;
    drop_devices(a);
    return code;
}

int gnomon__attach(const gnomon_profiler *profiler, void *self,
                   const char *word, gnomon__options *options, uint32_t batch)
{
    gnomon__fork_watch();
    gnomon__copies_wake();
    gnomon__attachment *a = gnomon__alloc(sizeof *a);
    if (!a || (word && !(a->word = gnomon__strdup(word)))) {
        gnomon__free(a);
        gnomon__options_destroy(options);
        return gnomon__fail(GNOMON_ENOMEM, "no memory to attach");
    }
    memcpy(&a->profiler, profiler,
           profiler->struct_size < sizeof a->profiler ? profiler->struct_size
                                                      : sizeof a->profiler);
    if (!(a->profiler.wants & GNOMON_WANT_TREE)) /* these are of a tree */
        a->profiler.wants &=
            ~(uint32_t)(GNOMON_WANT_EVENTS | GNOMON_WANT_DEVICE |
                        GNOMON_WANT_DEVICE_WORK);
    (void)gnomon__os_stderr(); /* find it before the host redirects it */
    a->given = profiler;
    a->self = self;
    a->options = options;
    a->folder = gnomon__path_folder(word);
    a->hook_bit = GNOMON__BITS;
    int code = find_views(a, batch);
    if (!code) {
        code = make_self(a);
        int made = !code;
        if (made)
            gnomon__call_setup(a);
        if (!code)
            code = take_bits(a);
        if (code) {
            if (made && word && a->profiler.destroy)
                a->profiler.destroy(a->self);
            leave_views(a);
        }
    }
    if (code) {
        free_attachment(a);
        return code == GNOMON_DECLINED ? GNOMON_OK : code;
    }
    gnomon__readers_lock();
    gnomon__attachment **end = &gnomon__attachments;
    while (*end)
        end = &(*end)->next;
    *end = a;
    gnomon__readers_unlock();
    gnomon__work_tapes();
    gnomon__windows_refresh(1);
    return GNOMON_OK;
}

int gnomon__detach(gnomon__attachment *a)
{
    if (a->hook_bit < GNOMON__BITS) {
        watch(a, 0);
        int code = gnomon__observer_detach(a->hook_bit);
        if (code)
            return code;
        gnomon__step_lock();
        gnomon__lock();
        a->window->bits &= ~(1u << a->hook_bit);
        gnomon__unlock();
        gnomon__step_unlock();
    }
    gnomon__readers_lock();
    gnomon__attachment **at = &gnomon__attachments;
    while (*at != a)
        at = &(*at)->next;
    *at = a->next;
    gnomon__readers_unlock();
    if (a->word && a->profiler.destroy)
        a->profiler.destroy(a->self);
    drop_devices(a);
    leave_views(a);
    gnomon__work_tapes();
    gnomon__windows_refresh(0);
    free_attachment(a);
    return GNOMON_OK;
}

void gnomon__attachments_finish(void)
{
    for (gnomon__attachment *a = gnomon__attachments; a; a = a->next)
        if (a->hook_bit < GNOMON__BITS && gnomon__observer_finish(a->hook_bit))
            gnomon__log("%s: %s", a->profiler.name, gnomon_error_text());
}

gnomon__attachment *gnomon__attachment_named(gnomon__text name)
{
    gnomon__attachment *a = name.at ? gnomon__attachments : NULL;
    for (const char *as; a; a = a->next) {
        as = gnomon__options_text(a->options, "as");
        if (gnomon__is_word(name, a->profiler.name) ||
            (as && gnomon__is_word(name, as)))
            break;
    }
    return a;
}

/* ---- From the program ------------------------------------------------------------ */

static int attach_given(const gnomon_profiler *profiler, void *self,
                        const char *text)
{
    gnomon__spec spec = {0};
    gnomon__options *options = NULL;
    gnomon__complaints complaints = {0};
    int code = gnomon__profiler_check(profiler);
    if (!code)
        code = gnomon__spec_parse(&spec, profiler->name, text, "gnomon_attach",
                                  &complaints);
    if (!code)
        code = gnomon__options_create(&options, profiler, &spec, 0);
    if (code == GNOMON_ENOMEM)
        gnomon__fail(code, "no memory for the options of %s", profiler->name);
    else if (complaints.count)
        code = gnomon__fail(GNOMON_EINVAL, "%s", complaints.line[0]);
    const char *file = code ? NULL : gnomon__options_text(options, "file");
    if (file && gnomon__file_form(file) >= 0 &&
        !(profiler->wants & GNOMON_WANT_TREE))
        code =
            gnomon__fail(GNOMON_EINVAL, "%s: file=%.64s: it records no profile",
                         profiler->name, file);
    if (!code && gnomon__marks_map(GNOMON__DEFAULT_BUDGET))
        code = gnomon__fail(GNOMON_ENOMEM, "no address space to record in");
    if (code)
        gnomon__options_destroy(options);
    else
        code = gnomon__attach(profiler, self, NULL, options, gnomon__batch());
    gnomon__spec_free(&spec);
    gnomon__complaints_free(&complaints);
    return code;
}

int gnomon__attach_given(const gnomon_profiler *profiler, void *self,
                         gnomon__text options)
{
    if (memchr(options.at, 0, options.length))
        return gnomon__fail(GNOMON_EINVAL, "gnomon_attach: a NUL is inside the "
                                           "length of the options");
    char *copy = gnomon__strndup(options.at, options.length);
    int code = copy ? attach_given(profiler, self, copy)
                    : gnomon__fail(GNOMON_ENOMEM, "no memory to attach");
    gnomon__free(copy);
    return code;
}
