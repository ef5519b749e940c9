/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Control calls that change a run and whose work lies below: each enters, mostly reads
 * $GNOMON if that was not read, does its work, and leaves. */
#include "device/activity.h"
#include "platform/error.h"
#include "platform/owner.h"
#include "run/files.h"
#include "run/host.h"

/* ---- Attachments ---------------------------------------------------------------- */

int gnomon__attach_n(const gnomon_profiler *profiler, void *self,
                     const char *options, size_t length)
{
    GNOMON__FORWARD_CONTROL(attach(profiler, self, options, length));
    int code = gnomon__run_enter();
    if (code)
        return code;
    code = gnomon__attach_given(
        profiler, self,
        gnomon__text_of(options ? options : "", options ? length : 0));
    gnomon__end_watch();
    return gnomon__control_left(code);
}

int gnomon_attach(const gnomon_profiler *profiler, void *self,
                  const char *options)
{
    if (!profiler)
        return self || !options ? gnomon__profiler_check(NULL)
                                : gnomon__configure_n(options, GNOMON_TO_NUL);
    return gnomon__attach_n(profiler, self, options, GNOMON_TO_NUL);
}

int gnomon_detach(const gnomon_profiler *profiler, void *self)
{
    GNOMON__FORWARD_CONTROL(detach(profiler, self));
    int code = gnomon__control_enter();
    if (code)
        return code;
    gnomon__attachment *a = gnomon__attachments;
    while (a && (a->given != profiler || a->self != self))
        a = a->next;
    code = a ? gnomon__detach(a)
             : gnomon__fail(GNOMON_ENOENT,
                            "this profiler is not attached with this self");
    gnomon__end_watch();
    return gnomon__control_left(code);
}

int gnomon__source_add(const gnomon_device_source *source)
{
    GNOMON__FORWARD_CONTROL(source_add(source));
    int code = gnomon__control_enter();
    return code ? code : gnomon__control_left(gnomon__sources_add(source));
}

int gnomon__source_remove(const gnomon_device_source *source)
{
    GNOMON__FORWARD_CONTROL(source_remove(source));
    int code = gnomon__control_enter();
    return code ? code : gnomon__control_left(gnomon__sources_remove(source));
}

int gnomon__register(const gnomon_profiler *profiler)
{
    GNOMON__FORWARD_CONTROL(add_profiler(profiler));
    int code = gnomon__control_enter();
    return code ? code : gnomon__control_left(gnomon__profiler_add(profiler));
}

/* ---- What is said of the run ----------------------------------------------------- */

int gnomon__metadata_n(const char *key, size_t length, const char *json,
                       size_t json_length)
{
    GNOMON__FORWARD_CONTROL(metadata(key, length, json, json_length));
    int code = gnomon__run_enter();
    return code ? code
                : gnomon__control_left(
                      gnomon__metadata_put(gnomon__text_of(key, length),
                                           gnomon__text_of(json, json_length)));
}

int gnomon_metadata(const char *key, const char *json)
{
    return gnomon__metadata_n(key, GNOMON_TO_NUL, json, GNOMON_TO_NUL);
}

size_t gnomon_spec(char *buffer, size_t size)
{
    size = buffer ? size : 0;
    GNOMON__FORWARD_CONTROL(spec(buffer, size));
    if (size)
        *buffer = 0;
    if (gnomon__run_enter())
        return 0;
    size_t length = gnomon__spec_resolved(buffer, size);
    gnomon__control_leave();
    return length;
}

size_t gnomon__own_file_name(const char *pattern, char *buffer, size_t size)
{
    if (size)
        *buffer = 0;
    GNOMON__FORWARD_CONTROL(file_name(pattern, buffer, size));
    if (!pattern || !*pattern) {
        gnomon__fail(GNOMON_EINVAL, "file_name: no name");
        return 0;
    }
    if (gnomon__control_is_inside()) /* a callback of a control call */
        return gnomon__path_own(pattern, buffer, size);
    if (gnomon__run_enter())
        return 0;
    size_t length = gnomon__path_own(pattern, buffer, size);
    gnomon__control_leave();
    return length;
}

/* ---- Stages ---------------------------------------------------------------------- */

static int begin_stage(gnomon__text name)
{
    if (!name.at)
        return gnomon__fail(GNOMON_EINVAL, "gnomon_stage_begin: no name");
    char *copy = gnomon__clean_copy(name);
    if (!copy)
        return gnomon__fail(GNOMON_ENOMEM, "no memory for a stage");
    if (gnomon__stage.was_opened)
        gnomon__stage_over();
    uint32_t unnotified = gnomon__stage_open(copy);
    for (gnomon__attachment *a = gnomon__attachments; a; a = a->next)
        gnomon__call_setup(a);
    gnomon__windows_notify(unnotified, NULL);
    gnomon__end_watch();
    return GNOMON_OK;
}

int gnomon__stage_begin_n(const char *name, size_t length)
{
    GNOMON__FORWARD_CONTROL(stage_begin(name, length));
    int code = gnomon__run_enter();
    return code ? code
                : gnomon__control_left(
                      begin_stage(gnomon__text_of(name, length)));
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
    if (gnomon__stage.was_opened)
        gnomon__stage_over();
    else
        code = gnomon__fail(GNOMON_ESTATE, "%s: no stage is open", __func__);
    return gnomon__control_left(code);
}
