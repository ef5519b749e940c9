/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The names that calls had before, for one release: include it, or compile with
 * `-include gnomon/compat.h`, and a source that uses them compiles as it is, with a
 * warning at each that says what to call now. The next release has no such header.
 *
 * Most of these calls took lengths, or were for profilers, sources of work and bindings
 * alone. They are in the host table now, gnomon_host_get(), which is `host` below.
 */
#ifndef GNOMON_COMPAT_H
#define GNOMON_COMPAT_H

#include "cuda.h"
#include "report.h"

GNOMON_BEGIN_DECLS

#ifdef __GNUC__
#define GNOMON__OLD(now) \
    static inline __attribute__((__unused__, __deprecated__("now " now)))
#else
#define GNOMON__OLD(now) static inline
#endif

/* `off` is the value with GNOMON_DISABLE. */
#define GNOMON__OLD_CALL(type, name, parameters, call, off) \
    GNOMON__OLD("host->" #call) type name parameters \
    { \
        const gnomon_host *host = gnomon_host_get(); \
        return host ? host->call : off; \
    }
#define GNOMON__OLD_VOID(name, parameters, call) \
    GNOMON__OLD("host->" #call) void name parameters \
    { \
        const gnomon_host *host = gnomon_host_get(); \
        if (host) \
            host->call; \
    }

/* ---- gnomon.h ---------------------------------------------------------------- */

GNOMON__OLD("gnomon_attach(NULL, NULL, spec)")
int gnomon_configure(const char *spec)
{
    return gnomon_attach(GNOMON_NULL, GNOMON_NULL, spec ? spec : "");
}

GNOMON__OLD_CALL(int, gnomon_configure_n, (const char *spec, size_t length),
                 configure(spec, length), length ? GNOMON_ESTATE : GNOMON_OK)
GNOMON__OLD_CALL(int, gnomon_stage_begin_n, (const char *name, size_t length),
                 stage_begin(name, length), GNOMON_OK)
GNOMON__OLD_CALL(int, gnomon_metadata_n,
                 (const char *key, size_t length, const char *json,
                  size_t json_length),
                 metadata(key, length, json, json_length), GNOMON_OK)
GNOMON__OLD_CALL(gnomon_region *, gnomon_region_get_n,
                 (const char *name, size_t length, const char *category,
                  size_t category_length, int kind),
                 region_get(name, length, category, category_length, kind),
                 GNOMON_NULL)
GNOMON__OLD_VOID(gnomon_thread_name_n, (const char *name, size_t length),
                 thread_name(name, length))
GNOMON__OLD_CALL(const gnomon_op_info *, gnomon_region_op,
                 (const gnomon_region *region), region_op(region), GNOMON_NULL)

/* ---- gnomon/tool.h ----------------------------------------------------------- */

#define gnomon_activity gnomon_device_work
#define gnomon_activity_kind gnomon_device_work_kind
#define gnomon_activity_flags gnomon_device_work_flags
#define gnomon_activity_source gnomon_device_source
#define GNOMON_ACTIVITY_KERNEL GNOMON_DEVICE_KERNEL
#define GNOMON_ACTIVITY_COPY GNOMON_DEVICE_COPY
#define GNOMON_ACTIVITY_SET GNOMON_DEVICE_SET
#define GNOMON_ACTIVITY_CALL GNOMON_DEVICE_CALL
#define GNOMON_ACTIVITY_SYNC GNOMON_DEVICE_SYNC
#define GNOMON_ACTIVITY_OVERHEAD GNOMON_DEVICE_OVERHEAD
#define GNOMON_ACTIVITY_GRAPH GNOMON_DEVICE_GRAPH
#define GNOMON_ACTIVITY_COLLECTIVE GNOMON_DEVICE_COLLECTIVE
#define GNOMON_ACTIVITY_LOW_LEVEL GNOMON_DEVICE_LOW_LEVEL
#define GNOMON_WANT_ACTIVITIES GNOMON_WANT_DEVICE_WORK

GNOMON__OLD_CALL(int, gnomon_register, (const gnomon_profiler *profiler),
                 add_profiler(profiler), GNOMON_OK)
GNOMON__OLD_CALL(int, gnomon_attach_n,
                 (const gnomon_profiler *profiler, void *self,
                  const char *options, size_t length),
                 attach(profiler, self, options, length), GNOMON_ESTATE)
GNOMON__OLD_CALL(int, gnomon_summary_n,
                 (const char *profiler, size_t length,
                  const gnomon_writer *out),
                 summary(profiler, length, out), GNOMON_ESTATE)
GNOMON__OLD_CALL(int, gnomon_fail, (int code, const char *text),
                 fail(code, text, GNOMON_TO_NUL), code)
GNOMON__OLD_CALL(int, gnomon_fail_n,
                 (int code, const char *text, size_t length),
                 fail(code, text, length), code)
GNOMON__OLD_VOID(gnomon_log, (const char *line), log(line))
GNOMON__OLD_VOID(gnomon_stream_name_n,
                 (const gnomon_device *device, void *stream, const char *name,
                  size_t length),
                 stream_name(device, stream, name, length))
GNOMON__OLD_CALL(uint64_t, gnomon_now_ns, (void), now_ns(), 0)
GNOMON__OLD_CALL(int, gnomon_activity_source_add,
                 (const gnomon_device_source *source), source_add(source),
                 GNOMON_OK)
GNOMON__OLD_CALL(int, gnomon_activity_source_remove,
                 (const gnomon_device_source *source), source_remove(source),
                 GNOMON_OK)
GNOMON__OLD_VOID(gnomon_activity_launched,
                 (uint32_t source, uint64_t correlation),
                 device_launched(source, correlation))
GNOMON__OLD_VOID(gnomon_activity_put,
                 (uint32_t source, const gnomon_device_work *records,
                  size_t count),
                 device_put(source, records, count))
GNOMON__OLD_VOID(gnomon_activity_lost, (uint32_t source, uint64_t count),
                 device_lost(source, count))

/* ---- gnomon/profile.h and gnomon/report.h ------------------------------------ */

GNOMON__OLD_CALL(int, gnomon_snapshot_n,
                 (gnomon_profile * *out, const char *profiler, size_t length,
                  int all_stages),
                 snapshot(out, profiler, length, all_stages), GNOMON_ESTATE)
GNOMON__OLD_CALL(int, gnomon_report_n,
                 (const gnomon_profile *profile, const char *report,
                  size_t length, const gnomon_writer *out),
                 report(profile, report, length, out), GNOMON_ESTATE)
enum gnomon_form {
    GNOMON_FORM_FILE = 0,
    GNOMON_FORM_JSON = 1,
    GNOMON_FORM_CHROME = 2
};

GNOMON_INLINE const char *gnomon__old_form(int form)
{
    return form == GNOMON_FORM_FILE     ? "gnomon"
           : form == GNOMON_FORM_JSON   ? "json"
           : form == GNOMON_FORM_CHROME ? "chrome"
                                        : "";
}

GNOMON__OLD("gnomon_write(profile, \"gnomon\", out)")
int gnomon_profile_write(const gnomon_profile *profile, int form,
                         const gnomon_writer *out)
{
    return gnomon_write(profile, gnomon__old_form(form), out);
}

GNOMON__OLD("gnomon_write(profile, \"chrome\", out)")
int gnomon_export(const gnomon_profile *profile, int form,
                  const gnomon_writer *out)
{
    return gnomon_write(profile, gnomon__old_form(form), out);
}

GNOMON__OLD("gnomon_write_file(profile, \"chrome\", path)")
int gnomon_export_file(const gnomon_profile *profile, int form,
                       const char *path)
{
    return gnomon_write_file(profile, gnomon__old_form(form), path);
}

GNOMON__OLD_CALL(size_t, gnomon_entity_fields,
                 (int entity, gnomon_field_info *fields, size_t room),
                 entity_fields(entity, fields, room), 0)
GNOMON__OLD_CALL(const char *, gnomon_entity_name, (int entity),
                 entity_name(entity), GNOMON_NULL)
GNOMON__OLD_CALL(int, gnomon_rows_make,
                 (gnomon_rows * *out, const gnomon_profile *profile, int by),
                 rows(out, profile, by), GNOMON_ESTATE)
GNOMON__OLD_VOID(gnomon_rows_free, (gnomon_rows * rows), rows_free(rows))
GNOMON__OLD_CALL(size_t, gnomon_file_name,
                 (const char *pattern, char *buffer, size_t size),
                 file_name(pattern, buffer, size), 0)

#undef GNOMON__OLD_CALL
#undef GNOMON__OLD_VOID
#undef GNOMON__OLD

GNOMON_END_DECLS

#endif
