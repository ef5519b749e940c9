/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gnomon_stage_begin and gnomon_stage_end, and the profilers' callback `setup`, which the
 * first one makes. */
#include "platform/error.h"
#include "platform/owner.h"
#include "run/host.h"
#include "run/run.h"

static void setup_all(void)
{
    for (gnomon__attachment *a = gnomon__attachments; a; a = a->next)
        gnomon__call_setup(a);
}

static int begin_stage(gnomon__text name)
{
    if (!name.at)
        return gnomon__fail(GNOMON_EINVAL, "gnomon_stage_begin: no name");
    char *copy = gnomon__clean_copy(name);
    if (!copy)
        return gnomon__fail(GNOMON_ENOMEM, "no memory for a stage");
    if (gnomon__stage_was_opened())
        gnomon__stage_over();
    uint32_t unnotified = gnomon__stage_open(copy);
    setup_all();
    gnomon__windows_notify(unnotified, NULL);
    gnomon__end_watch();
    return GNOMON_OK;
}

int gnomon__stage_begin_n(const char *name, size_t length)
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
    return gnomon__stage_begin_n(name, GNOMON_TO_NUL);
}

int gnomon_stage_end(void)
{
    GNOMON__FORWARD_CONTROL(stage_end());
    int code = gnomon__control_enter();
    if (code)
        return code;
    if (gnomon__stage_was_opened())
        gnomon__stage_over();
    else
        code = gnomon__fail(GNOMON_ESTATE, "%s: no stage is open", __func__);
    gnomon__control_leave();
    return code;
}
