/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What gnomon's marks and calls are with GNOMON_DISABLE, and by itself on a
 * compiler or system that gnomon does not know. Each public header includes its
 * own section.
 *
 * Marks leave no symbol, no data and no code, and what they are given is not
 * evaluated; it is still compiled, so that nothing is unused and nothing rots.
 * For that, those that take something are macros too. What differs:
 *
 *   GNOMON_REGION      makes a local variable, which no mark looks at
 *   gnomon_region_get  is NULL, which all marks take
 *   control calls      return GNOMON_OK where a host needs not know; those that
 *                      were to bring something (gnomon_attach, gnomon_summary,
 *                      gnomon_snapshot, gnomon_configure but with nothing)
 *                      return GNOMON_ESTATE, and gnomon_error_text says why
 *
 * Nothing needs to be linked. Modules with and without may be mixed.
 */
#include "../gnomon.h"

/* ==== gnomon.h ============================================================= */

#ifdef GNOMON__OFF_GNOMON

GNOMON_BEGIN_DECLS

GNOMON__CALL const char *gnomon_error_name(int code)
{
#define GNOMON_ERROR_NAME(name, number, text) \
    if (code == number) \
        return "GNOMON_" #name;
    GNOMON_ERRORS(GNOMON_ERROR_NAME)
#undef GNOMON_ERROR_NAME
    if (code == GNOMON_DECLINED)
        return "GNOMON_DECLINED";
    return code == 0 ? "GNOMON_OK" : "GNOMON_E?";
}

GNOMON__CALL const char *gnomon_error_text(void)
{
    return "this program was built without gnomon: with GNOMON_DISABLE, or for "
           "a system that gnomon does not know";
}

GNOMON__CALL const char *gnomon_version(void)
{
    return GNOMON_VERSION;
}

/* ---- Marks ----------------------------------------------------------------- */

/* In these, `given` is never evaluated: a constant stands before it. They are
 * calls so that a name may be qualified, as in ::gnomon_end(token). */
#define GNOMON__NOT(given) gnomon__nothing(1 ? 0 : ((given), 0))
GNOMON_INLINE void gnomon__nothing(int nothing)
{
    (void)nothing;
}

GNOMON_INLINE uint64_t gnomon__no_token(uint64_t token)
{
    return token;
}

GNOMON_INLINE gnomon_region *gnomon__no_region(gnomon_region *region)
{
    return region;
}

GNOMON__CALL gnomon_region *gnomon_region_get(const char *name,
                                              const char *category, int kind)
{
    (void)name;
    (void)category;
    (void)kind;
    return GNOMON_NULL;
}

GNOMON__CALL gnomon_region *gnomon_region_get_n(const char *name, size_t length,
                                                const char *category,
                                                size_t category_length,
                                                int kind)
{
    (void)length;
    (void)category_length;
    return gnomon_region_get(name, category, kind);
}

GNOMON_INLINE gnomon_token gnomon_begin(gnomon_region *region)
{
    (void)region;
    return 0;
}

GNOMON_INLINE void gnomon_end(gnomon_token token)
{
    (void)token;
}

GNOMON_INLINE void gnomon_end_alone(gnomon_token token)
{
    (void)token;
}

GNOMON_INLINE void gnomon_start(const char *name)
{
    (void)name;
}

GNOMON_INLINE void gnomon_stop(const char *name)
{
    (void)name;
}

GNOMON_INLINE void gnomon_start_n(const char *name, size_t length)
{
    (void)name;
    (void)length;
}

GNOMON_INLINE void gnomon_stop_n(const char *name, size_t length)
{
    (void)name;
    (void)length;
}

GNOMON_INLINE gnomon_range gnomon_range_begin(gnomon_region *region)
{
    (void)region;
    return 0;
}

GNOMON_INLINE gnomon_range gnomon_range_begin_in(gnomon_region *region,
                                                 gnomon_range around)
{
    (void)region;
    (void)around;
    return 0;
}

GNOMON_INLINE void gnomon_range_end(gnomon_range range)
{
    (void)range;
}

GNOMON_INLINE gnomon_link gnomon_link_out(void)
{
    gnomon_link none = {{0, 0, 0, 0, 0, 0, 0, 0}};
    return none;
}

GNOMON_INLINE void gnomon_link_in(const gnomon_link *from, int kind)
{
    (void)from;
    (void)kind;
}

GNOMON_INLINE void gnomon_counter(gnomon_region *region, double value)
{
    (void)region;
    (void)value;
}

GNOMON_INLINE void gnomon_mark(gnomon_region *region)
{
    (void)region;
}

GNOMON__CALL void gnomon_thread_name(const char *name)
{
    (void)name;
}

GNOMON__CALL void gnomon_thread_name_n(const char *name, size_t length)
{
    (void)name;
    (void)length;
}

GNOMON_INLINE void gnomon_step(void)
{
}

GNOMON_INLINE void gnomon_step_at(uint64_t number)
{
    (void)number;
}

GNOMON_INLINE void gnomon_step_begin(uint64_t number)
{
    (void)number;
}

#define gnomon_region_get(name, category, kind) \
    gnomon__no_region(1 ? GNOMON_NULL : gnomon_region_get(name, category, kind))
#define gnomon_region_get_n(name, length, category, category_length, kind) \
    gnomon__no_region(1 ? GNOMON_NULL \
                        : gnomon_region_get_n(name, length, category, \
                                              category_length, kind))
#define gnomon_begin(region) gnomon__no_token(1 ? 0 : gnomon_begin(region))
#define gnomon_end(token) GNOMON__NOT(gnomon_end(token))
#define gnomon_end_alone(token) GNOMON__NOT(gnomon_end_alone(token))
#define gnomon_start(name) GNOMON__NOT(gnomon_start(name))
#define gnomon_stop(name) GNOMON__NOT(gnomon_stop(name))
#define gnomon_start_n(name, length) GNOMON__NOT(gnomon_start_n(name, length))
#define gnomon_stop_n(name, length) GNOMON__NOT(gnomon_stop_n(name, length))
#define gnomon_range_begin(region) \
    gnomon__no_token(1 ? 0 : gnomon_range_begin(region))
#define gnomon_range_begin_in(region, around) \
    gnomon__no_token(1 ? 0 : gnomon_range_begin_in(region, around))
#define gnomon_range_end(range) GNOMON__NOT(gnomon_range_end(range))
#define gnomon_link_in(from, kind) GNOMON__NOT(gnomon_link_in(from, kind))
#define gnomon_counter(region, value) GNOMON__NOT(gnomon_counter(region, value))
#define gnomon_mark(region) GNOMON__NOT(gnomon_mark(region))
#define gnomon_thread_name(name) GNOMON__NOT(gnomon_thread_name(name))
#define gnomon_thread_name_n(name, length) \
    GNOMON__NOT(gnomon_thread_name_n(name, length))
#define gnomon_step_at(number) GNOMON__NOT(gnomon_step_at(number))
#define gnomon_step_begin(number) GNOMON__NOT(gnomon_step_begin(number))

/* Not looked at. Its texts are compiled, but are not in it. */
#define GNOMON_REGION_INIT(kind, name, category, function) \
    { \
        0, sizeof(gnomon_region), GNOMON_ABI, kind, 0, \
            GNOMON__UNREAD(name, category, function), GNOMON_NULL, \
            GNOMON_NULL, GNOMON_NULL, GNOMON_NULL, GNOMON_NULL \
    }
#define GNOMON__UNREAD(a, b, c) \
    (sizeof(a) + sizeof(b) + sizeof(c) > 0 ? 0u : 1u)
#define GNOMON_REGION(variable, name, category) \
    gnomon_region variable = \
        GNOMON_REGION_INIT(GNOMON_KIND_SCOPE, name, category, ""); \
    GNOMON__SCOPE(sizeof(variable) > 0, __COUNTER__)

/* Declarations, as the real ones, that declare nothing which could be unused. */
#define GNOMON__PASTE(a, b) a##b
#define GNOMON__NAME(a, b) GNOMON__PASTE(a, b)
#define GNOMON__SCOPE(given, n) \
    enum { GNOMON__NAME(gnomon__scope, n) = (given) }
#define GNOMON_SCOPE(name) GNOMON__SCOPE(sizeof(name) > 0, __COUNTER__)
#define GNOMON_SCOPE_IN(category, name) \
    GNOMON__SCOPE(sizeof(category) + sizeof(name) > 0, __COUNTER__)
#define GNOMON_FUNCTION() GNOMON__SCOPE(0, __COUNTER__)

#define GNOMON_COUNTER(name, value) \
    GNOMON__NOT(((gnomon_start)(name), (gnomon_counter)(GNOMON_NULL, value)))
#define GNOMON_MARK(name) GNOMON__NOT((gnomon_start)(name))

/* ---- Control calls --------------------------------------------------------- */

GNOMON__CALL int gnomon_setup(const gnomon_setup_options *options)
{
    (void)options;
    return GNOMON_OK;
}

GNOMON__CALL int gnomon_teardown(void)
{
    return GNOMON_OK;
}

GNOMON__CALL int gnomon_configure(const char *spec)
{
    return spec == GNOMON_NULL || *spec == 0 ? GNOMON_OK : GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_configure_n(const char *spec, size_t length)
{
    return length == 0 ? GNOMON_OK : gnomon_configure(spec);
}

GNOMON__CALL size_t gnomon_spec(char *buffer, size_t size)
{
    if (size > 0)
        *buffer = 0;
    return 0;
}

GNOMON__CALL int gnomon_stage_begin(const char *name)
{
    (void)name;
    return GNOMON_OK;
}

GNOMON__CALL int gnomon_stage_begin_n(const char *name, size_t length)
{
    (void)length;
    return gnomon_stage_begin(name);
}

GNOMON__CALL int gnomon_stage_end(void)
{
    return GNOMON_OK;
}

GNOMON__CALL int gnomon_metadata(const char *key, const char *json)
{
    (void)key;
    (void)json;
    return GNOMON_OK;
}

GNOMON__CALL int gnomon_metadata_n(const char *key, size_t length,
                                   const char *json, size_t json_length)
{
    (void)length;
    (void)json_length;
    return gnomon_metadata(key, json);
}

/* ---- Operations ------------------------------------------------------------ */

GNOMON__CALL gnomon_region *gnomon_op_region(gnomon_region *region,
                                             const gnomon_op_info *op)
{
    (void)op;
    return region;
}

GNOMON__CALL const gnomon_op_info *gnomon_region_op(const gnomon_region *region)
{
    (void)region;
    return GNOMON_NULL;
}

/* As above: arguments are compiled, but not evaluated. */
GNOMON_INLINE gnomon_token gnomon_begin_op(gnomon_region *region,
                                           const gnomon_op_info *op)
{
    (void)region;
    (void)op;
    return 0;
}

#define gnomon_op_region(region, op) \
    gnomon__no_region(1 ? GNOMON_NULL : gnomon_op_region(region, op))
#define gnomon_begin_op(region, op) \
    gnomon__no_token(1 ? 0 : gnomon_begin_op(region, op))

GNOMON_END_DECLS

#endif

/* ==== profile.h ============================================================ */

#ifdef GNOMON__OFF_PROFILE

GNOMON_BEGIN_DECLS

GNOMON__CALL int gnomon_snapshot(gnomon_profile **out, const char *profiler,
                                 int all_stages)
{
    (void)profiler;
    (void)all_stages;
    *out = GNOMON_NULL;
    return GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_snapshot_n(gnomon_profile **out, const char *profiler,
                                   size_t length, int all_stages)
{
    (void)length;
    return gnomon_snapshot(out, profiler, all_stages);
}

GNOMON__CALL void gnomon_profile_free(gnomon_profile *profile)
{
    (void)profile;
}

GNOMON__CALL size_t gnomon_entity_fields(int entity, gnomon_field_info *fields,
                                         size_t room)
{
    (void)entity;
    (void)fields;
    (void)room;
    return 0;
}

GNOMON__CALL const char *gnomon_entity_name(int entity)
{
    (void)entity;
    return GNOMON_NULL;
}

GNOMON__CALL int gnomon_profile_check(const gnomon_profile *profile)
{
    (void)profile;
    return GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_profile_write(const gnomon_profile *profile, int form,
                                      const gnomon_writer *out)
{
    (void)profile;
    (void)form;
    (void)out;
    return GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_profile_read(gnomon_profile **out, const void *bytes,
                                     size_t size)
{
    (void)bytes;
    (void)size;
    *out = GNOMON_NULL;
    return GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_profile_load(gnomon_profile **out, const char *path)
{
    (void)path;
    *out = GNOMON_NULL;
    return GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_export(const gnomon_profile *profile, int form,
                               const gnomon_writer *out)
{
    (void)profile;
    (void)form;
    (void)out;
    return GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_export_file(const gnomon_profile *profile, int form,
                                    const char *path)
{
    (void)profile;
    (void)form;
    (void)path;
    return GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_report(const gnomon_profile *profile,
                               const char *report, const gnomon_writer *out)
{
    (void)profile;
    (void)report;
    (void)out;
    return GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_report_n(const gnomon_profile *profile,
                                 const char *report, size_t length,
                                 const gnomon_writer *out)
{
    (void)length;
    return gnomon_report(profile, report, out);
}

GNOMON__CALL int gnomon_builder_create(gnomon_builder **out)
{
    *out = GNOMON_NULL;
    return GNOMON_ESTATE;
}

GNOMON__CALL uint32_t gnomon_builder_add(gnomon_builder *builder, int entity,
                                         const void *info)
{
    (void)builder;
    (void)entity;
    (void)info;
    return 0;
}

GNOMON__CALL int gnomon_builder_finish(gnomon_builder *builder,
                                       gnomon_profile **out)
{
    (void)builder;
    *out = GNOMON_NULL;
    return GNOMON_ESTATE;
}

GNOMON__CALL void gnomon_builder_free(gnomon_builder *builder)
{
    (void)builder;
}

GNOMON_END_DECLS

#endif

/* ==== tool.h =============================================================== */

#ifdef GNOMON__OFF_TOOL

GNOMON_BEGIN_DECLS

GNOMON__CALL void gnomon_health_get(gnomon_health *health)
{
    void *start = health;
    char *bytes = GNOMON_CAST(char *, start);
    uint32_t size = health->struct_size, i;
    for (i = sizeof size; i < size; i++)
        bytes[i] = 0;
}

GNOMON__CALL size_t gnomon_thread_count(void)
{
    return 0;
}

GNOMON__CALL int gnomon_thread_stack(size_t thread, gnomon_open_scope *scopes,
                                     size_t capacity)
{
    (void)thread;
    (void)scopes;
    (void)capacity;
    return GNOMON_EINVAL; /* no such thread */
}

/* As above: arguments are compiled, but not evaluated. */
GNOMON_INLINE gnomon_device_scope gnomon_begin_on(gnomon_region *region,
                                                  const gnomon_device *device,
                                                  void *stream)
{
    gnomon_device_scope none = {0, 0, 0};
    (void)region;
    (void)device;
    (void)stream;
    return none;
}

GNOMON_INLINE void gnomon_end_on(gnomon_device_scope scope)
{
    (void)scope;
}

GNOMON_INLINE gnomon_device_scope gnomon__none_or(int nothing)
{
    gnomon_device_scope none = {0, 0, 0};
    (void)nothing;
    return none;
}

GNOMON_INLINE void gnomon_stream_name(const gnomon_device *device, void *stream,
                                      const char *name)
{
    (void)device;
    (void)stream;
    (void)name;
}

GNOMON_INLINE void gnomon_stream_name_n(const gnomon_device *device,
                                        void *stream, const char *name,
                                        size_t length)
{
    (void)device;
    (void)stream;
    (void)name;
    (void)length;
}

GNOMON_INLINE int gnomon_device_wait(uint64_t patience_ns)
{
    (void)patience_ns;
    return GNOMON_ESTATE;
}

#define gnomon_stream_name(device, stream, name) \
    GNOMON__NOT(gnomon_stream_name(device, stream, name))
#define gnomon_stream_name_n(device, stream, name, length) \
    GNOMON__NOT(gnomon_stream_name_n(device, stream, name, length))
#define gnomon_begin_on(region, device, stream) \
    gnomon__none_or(1 ? 0 : (gnomon_begin_on(region, device, stream), 0))
#define gnomon_end_on(scope) GNOMON__NOT(gnomon_end_on(scope))
#define GNOMON_SCOPE_ON_DEVICE(name, device, stream) \
    GNOMON__SCOPE(sizeof(name) + sizeof(device) + sizeof(stream) > 0, \
                  __COUNTER__)

GNOMON__CALL int
gnomon_activity_source_add(const gnomon_activity_source *source)
{
    (void)source;
    return GNOMON_OK;
}

GNOMON__CALL int
gnomon_activity_source_remove(const gnomon_activity_source *source)
{
    (void)source;
    return GNOMON_OK;
}

GNOMON__CALL uint64_t gnomon_now_ns(void)
{
    return 0;
}

GNOMON__CALL void gnomon_activity_launched(uint32_t source,
                                           uint64_t correlation)
{
    (void)source;
    (void)correlation;
}

GNOMON__CALL void gnomon_activity_put(uint32_t source,
                                      const gnomon_activity *records,
                                      size_t count)
{
    (void)source;
    (void)records;
    (void)count;
}

GNOMON__CALL void gnomon_activity_lost(uint32_t source, uint64_t count)
{
    (void)source;
    (void)count;
}

GNOMON__CALL int gnomon_fail(int code, const char *text)
{
    (void)text;
    return code;
}

GNOMON__CALL int gnomon_fail_n(int code, const char *text, size_t length)
{
    (void)length;
    return gnomon_fail(code, text);
}

GNOMON__CALL void gnomon_log(const char *line)
{
    (void)line;
}

GNOMON__CALL int gnomon_attach(const gnomon_profiler *profiler, void *self,
                               const char *options)
{
    (void)profiler;
    (void)self;
    (void)options;
    return GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_attach_n(const gnomon_profiler *profiler, void *self,
                                 const char *options, size_t length)
{
    (void)length;
    return gnomon_attach(profiler, self, options);
}

GNOMON__CALL int gnomon_detach(const gnomon_profiler *profiler, void *self)
{
    (void)profiler;
    (void)self;
    return GNOMON_ENOENT; /* nothing is attached */
}

GNOMON__CALL int gnomon_register(const gnomon_profiler *profiler)
{
    (void)profiler;
    return GNOMON_OK;
}

GNOMON__CALL int gnomon_summary(const char *profiler, const gnomon_writer *out)
{
    (void)profiler;
    (void)out;
    return GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_summary_n(const char *profiler, size_t length,
                                  const gnomon_writer *out)
{
    (void)length;
    return gnomon_summary(profiler, out);
}

GNOMON_END_DECLS

#endif

/* ==== report.h ============================================================= */

#ifdef GNOMON__OFF_REPORT

GNOMON_BEGIN_DECLS

GNOMON__CALL int gnomon_rows_make(gnomon_rows **out,
                                  const gnomon_profile *profile, int by)
{
    (void)profile;
    (void)by;
    *out = GNOMON_NULL;
    return GNOMON_ESTATE;
}

GNOMON__CALL void gnomon_rows_free(gnomon_rows *rows)
{
    (void)rows;
}

GNOMON__CALL size_t gnomon_file_name(const char *pattern, char *buffer,
                                     size_t size)
{
    (void)pattern;
    if (size)
        *buffer = 0;
    return 0;
}

GNOMON_END_DECLS

#endif

/* ==== cuda.h =============================================================== */

#ifdef GNOMON__OFF_CUDA

GNOMON_BEGIN_DECLS

GNOMON_INLINE const gnomon_device *gnomon_cuda_device(void)
{
    return GNOMON_NULL;
}

GNOMON__CALL int gnomon_cuda_timer_create(gnomon_cuda_timer **out)
{
    *out = GNOMON_NULL;
    return GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_cuda_timer_start(gnomon_cuda_timer *timer,
                                         gnomon_cuda_stream stream)
{
    (void)timer;
    (void)stream;
    return GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_cuda_timer_stop(gnomon_cuda_timer *timer,
                                        gnomon_cuda_stream stream)
{
    (void)timer;
    (void)stream;
    return GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_cuda_timer_elapsed(gnomon_cuda_timer *timer, double *ms)
{
    (void)timer;
    *ms = 0;
    return GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_cuda_timer_query(gnomon_cuda_timer *timer, double *ms)
{
    (void)timer;
    *ms = 0;
    return GNOMON_ESTATE;
}

GNOMON__CALL void gnomon_cuda_timer_destroy(gnomon_cuda_timer *timer)
{
    (void)timer;
}

GNOMON_END_DECLS

#endif
