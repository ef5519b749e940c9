/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* step=: marks whose ends are steps, for programs that make none themselves. It is
 * a hook whose filter is the option's value, attached before all others of the spec.
 * Stops run in reverse order, so the other hooks have seen the scope's end before the
 * step is made. Scopes that it does not match cost nothing. */
#include "mark/region.h"
#include "mark/thread.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "platform/process.h"
#include "run/files.h"
#include "run/step_marks.h"

/* A step was made since the last attach. */
static uint32_t is_stepped GNOMON__OF_PROCESS;

static void step_marks_stop(void *self, const gnomon_frame *f, uint64_t *slot)
{
    (void)self, (void)slot;
    if (f->flags & GNOMON_FRAME_UNFINISHED)
        return;
    if (!load_relaxed(&is_stepped))
        store_relaxed(&is_stepped, 1);
    gnomon__step_in_mark();
}

static int step_marks_create(const gnomon_options *options, void **self)
{
    store_relaxed(&is_stepped, 0);
    *self = gnomon__strdup(options->text(options, "filter"));
    return *self ? GNOMON_OK : GNOMON_ENOMEM;
}

/* A pattern that matched nothing leaves reports without steps, and schedules in their
 * first phase: logged once, if marks were made. */
static void step_marks_destroy(void *self)
{
    const char *pattern = self;
    if (!load_relaxed(&is_stepped) && gnomon__region_count() > 1 &&
        gnomon__run_rank()->rank <= 0 && gnomon__output_is_ours())
        gnomon__log("step=%.64s: no mark of that name ended: no step was made",
                    pattern);
    gnomon__free(self);
}

static const gnomon_profiler step_marks = {.struct_size = sizeof step_marks,
                                           .abi = GNOMON_ABI,
                                           .name = "step=",
                                           .create = step_marks_create,
                                           .stop = step_marks_stop,
                                           .destroy = step_marks_destroy};

int gnomon__steps_attach(const char *pattern, gnomon__complaints *complaints)
{
    gnomon__spec spec = {.origin = step_marks.name, .complaints = complaints};
    gnomon__options *options = NULL;
    int code = gnomon__spec_add(&spec, step_marks.name);
    if (!code)
        code = gnomon__settings_add(&spec.items[0].settings, "filter", pattern);
    if (!code)
        code = gnomon__options_create(&options, &step_marks, &spec, 0);
    if (!code)
        code = gnomon__attach(&step_marks, NULL, step_marks.name, options,
                              GNOMON__BATCH_OF_STEPS);
    if (code)
        gnomon__complain(complaints, "step=%.64s: no steps: %s", pattern,
                         gnomon_error_name(code));
    gnomon__spec_free(&spec);
    return code;
}

void gnomon__steps_drop_alone(void)
{
    gnomon__attachment *a = gnomon__attachments, *mine = NULL;
    for (; a; a = a->next)
        if (a->view->batch == GNOMON__BATCH_OF_STEPS)
            mine = a;
        else if (a->word)
            return;
    if (mine)
        (void)gnomon__detach(mine);
}
