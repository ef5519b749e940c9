/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What gnomon's marks and calls are with GNOMON_DISABLE, and by itself on a compiler or
 * system that gnomon does not know. Each public header includes its own section.
 * Made of these headers by tests/headers/off.py, which has what is not by rule.
 *
 * Marks leave no symbol, no data and no code, and what they are given is not
 * evaluated; it is still compiled, so that nothing is unused and nothing rots.
 * For that, those that take something are macros too. Of the others,
 *
 *   pointers       are NULL, also regions, which all marks take, and the host table
 *   numbers        are 0
 *   control calls  return GNOMON_OK where a host needs not know; those that were to
 *                  bring something return GNOMON_ESTATE, and gnomon_error_text says
 *                  why
 *   GNOMON_REGION  makes a local variable, which no mark looks at
 *
 * Nothing needs to be linked. Modules with and without may be mixed.
 */
#include "../gnomon.h"

/* ==== gnomon.h ============================================================ */

#ifdef GNOMON__OFF_GNOMON

GNOMON_BEGIN_DECLS

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

GNOMON_INLINE gnomon_region *gnomon_region_get(const char *name,
                                               const char *category, int kind)
{
    (void)name, (void)category, (void)kind;
    return GNOMON_NULL;
}
#define gnomon_region_get(name, category, kind) \
    gnomon__no_region(1 ? GNOMON_NULL : gnomon_region_get(name, category, kind))

GNOMON_INLINE gnomon_token gnomon_begin(gnomon_region *region)
{
    (void)region;
    return 0;
}
#define gnomon_begin(region) gnomon__no_token(1 ? 0 : gnomon_begin(region))

GNOMON_INLINE void gnomon_end(gnomon_token token)
{
    (void)token;
}
#define gnomon_end(token) GNOMON__NOT(gnomon_end(token))

GNOMON_INLINE void gnomon_end_alone(gnomon_token token)
{
    (void)token;
}
#define gnomon_end_alone(token) GNOMON__NOT(gnomon_end_alone(token))

GNOMON_INLINE void gnomon_start(const char *name)
{
    (void)name;
}
#define gnomon_start(name) GNOMON__NOT(gnomon_start(name))

GNOMON_INLINE void gnomon_stop(const char *name)
{
    (void)name;
}
#define gnomon_stop(name) GNOMON__NOT(gnomon_stop(name))

GNOMON_INLINE void gnomon_start_n(const char *name, size_t length)
{
    (void)name, (void)length;
}
#define gnomon_start_n(name, length) GNOMON__NOT(gnomon_start_n(name, length))

GNOMON_INLINE void gnomon_stop_n(const char *name, size_t length)
{
    (void)name, (void)length;
}
#define gnomon_stop_n(name, length) GNOMON__NOT(gnomon_stop_n(name, length))

GNOMON_INLINE gnomon_range gnomon_range_begin(gnomon_region *region)
{
    (void)region;
    return 0;
}
#define gnomon_range_begin(region) \
    gnomon__no_token(1 ? 0 : gnomon_range_begin(region))

GNOMON_INLINE gnomon_range gnomon_range_begin_in(gnomon_region *region,
                                                 gnomon_range around)
{
    (void)region, (void)around;
    return 0;
}
#define gnomon_range_begin_in(region, around) \
    gnomon__no_token(1 ? 0 : gnomon_range_begin_in(region, around))

GNOMON_INLINE void gnomon_range_end(gnomon_range range)
{
    (void)range;
}
#define gnomon_range_end(range) GNOMON__NOT(gnomon_range_end(range))

GNOMON_INLINE void gnomon_counter(gnomon_region *region, double value)
{
    (void)region, (void)value;
}
#define gnomon_counter(region, value) GNOMON__NOT(gnomon_counter(region, value))

GNOMON_INLINE void gnomon_mark(gnomon_region *region)
{
    (void)region;
}
#define gnomon_mark(region) GNOMON__NOT(gnomon_mark(region))

GNOMON_INLINE void gnomon_thread_name(const char *name)
{
    (void)name;
}
#define gnomon_thread_name(name) GNOMON__NOT(gnomon_thread_name(name))

GNOMON_INLINE void gnomon_step(void)
{
}

GNOMON_INLINE void gnomon_step_at(uint64_t number)
{
    (void)number;
}
#define gnomon_step_at(number) GNOMON__NOT(gnomon_step_at(number))

GNOMON_INLINE void gnomon_step_begin(uint64_t number)
{
    (void)number;
}
#define gnomon_step_begin(number) GNOMON__NOT(gnomon_step_begin(number))

GNOMON_INLINE gnomon_link gnomon_link_out(void)
{
    gnomon_link none = {{0, 0, 0, 0, 0, 0, 0, 0}};
    return none;
}

GNOMON_INLINE void gnomon_link_in(const gnomon_link *from, int kind)
{
    (void)from, (void)kind;
}
#define gnomon_link_in(from, kind) GNOMON__NOT(gnomon_link_in(from, kind))

GNOMON_INLINE gnomon_region *gnomon_op_region(gnomon_region *region,
                                              const gnomon_op_info *op)
{
    (void)region, (void)op;
    return GNOMON_NULL;
}
#define gnomon_op_region(region, op) \
    gnomon__no_region(1 ? GNOMON_NULL : gnomon_op_region(region, op))

GNOMON_INLINE gnomon_token gnomon_begin_op(gnomon_region *region,
                                           const gnomon_op_info *op)
{
    (void)region, (void)op;
    return 0;
}
#define gnomon_begin_op(region, op) \
    gnomon__no_token(1 ? 0 : gnomon_begin_op(region, op))

GNOMON__CALL int gnomon_setup(const gnomon_setup_options *options)
{
    (void)options;
    return GNOMON_OK;
}

GNOMON__CALL int gnomon_teardown(void)
{
    return GNOMON_OK;
}

GNOMON__CALL int gnomon_attach(const gnomon_profiler *profiler, void *self,
                               const char *words)
{

    return profiler == GNOMON_NULL && self == GNOMON_NULL &&
                   words != GNOMON_NULL && *words == 0
               ? GNOMON_OK
               : GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_detach(const gnomon_profiler *profiler, void *self)
{
    (void)profiler, (void)self;
    return GNOMON_ENOENT;
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

GNOMON__CALL int gnomon_stage_end(void)
{
    return GNOMON_OK;
}

GNOMON__CALL int gnomon_metadata(const char *key, const char *json)
{
    (void)key, (void)json;
    return GNOMON_OK;
}

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
#ifndef __cplusplus
/* clang takes an enum for a place outside of functions, where sizes are constants. */
#define GNOMON__OP_SCOPE(given, n) \
    void GNOMON__NAME(gnomon__scope, n)(const char of[given])
#define GNOMON_OP_SCOPE(name, ...) \
    GNOMON__OP_SCOPE(sizeof(name) + sizeof((gnomon_op_info){__VA_ARGS__}), \
                     __COUNTER__)
#endif

#define GNOMON_COUNTER(name, value) \
    GNOMON__NOT(((gnomon_start)(name), (gnomon_counter)(GNOMON_NULL, value)))
#define GNOMON_MARK(name) GNOMON__NOT((gnomon_start)(name))

GNOMON_END_DECLS

#endif

/* ==== gnomon/profile.h ==================================================== */

#ifdef GNOMON__OFF_PROFILE

GNOMON_BEGIN_DECLS

GNOMON__CALL int gnomon_snapshot(gnomon_profile **out, const char *profiler,
                                 int all_stages)
{
    *out = GNOMON_NULL;
    (void)profiler, (void)all_stages;
    return GNOMON_ESTATE;
}

GNOMON__CALL void gnomon_profile_free(gnomon_profile *profile)
{
    (void)profile;
}

GNOMON__CALL int gnomon_profile_check(const gnomon_profile *profile)
{
    (void)profile;
    return GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_write(const gnomon_profile *profile, const char *format,
                              const gnomon_writer *out)
{
    (void)profile, (void)format, (void)out;
    return GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_write_file(const gnomon_profile *profile,
                                   const char *format, const char *path)
{
    (void)profile, (void)format, (void)path;
    return GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_profile_read(gnomon_profile **out, const void *bytes,
                                     size_t size)
{
    *out = GNOMON_NULL;
    (void)bytes, (void)size;
    return GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_profile_load(gnomon_profile **out, const char *path)
{
    *out = GNOMON_NULL;
    (void)path;
    return GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_report(const gnomon_profile *profile,
                               const char *report, const gnomon_writer *out)
{
    (void)profile, (void)report, (void)out;
    return GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_builder_create(gnomon_builder **out)
{
    *out = GNOMON_NULL;
    return GNOMON_ESTATE;
}

GNOMON__CALL uint32_t gnomon_builder_add(gnomon_builder *builder, int entity,
                                         const void *info)
{
    (void)builder, (void)entity, (void)info;
    return 0;
}

GNOMON__CALL int gnomon_builder_finish(gnomon_builder *builder,
                                       gnomon_profile **out)
{
    *out = GNOMON_NULL;
    (void)builder;
    return GNOMON_ESTATE;
}

GNOMON__CALL void gnomon_builder_free(gnomon_builder *builder)
{
    (void)builder;
}

GNOMON_END_DECLS

#endif

/* ==== gnomon/tool.h ======================================================= */

#ifdef GNOMON__OFF_TOOL

GNOMON_BEGIN_DECLS

GNOMON_INLINE gnomon_device_scope gnomon__no_scope_on_or(int nothing)
{
    gnomon_device_scope none = {0, 0, 0};
    (void)nothing;
    return none;
}

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
    (void)thread, (void)scopes, (void)capacity;
    return GNOMON_EINVAL;
}

GNOMON_INLINE gnomon_device_scope gnomon_begin_on(gnomon_region *region,
                                                  const gnomon_device *device,
                                                  void *stream)
{
    gnomon_device_scope none = {0, 0, 0};
    (void)region, (void)device, (void)stream;
    return none;
}
#define gnomon_begin_on(region, device, stream) \
    gnomon__no_scope_on_or(1 ? 0 : (gnomon_begin_on(region, device, stream), 0))

GNOMON_INLINE void gnomon_end_on(gnomon_device_scope scope)
{
    (void)scope;
}
#define gnomon_end_on(scope) GNOMON__NOT(gnomon_end_on(scope))

GNOMON_INLINE void gnomon_stream_name(const gnomon_device *device, void *stream,
                                      const char *name)
{
    (void)device, (void)stream, (void)name;
}
#define gnomon_stream_name(device, stream, name) \
    GNOMON__NOT(gnomon_stream_name(device, stream, name))

GNOMON__CALL int gnomon_device_wait(uint64_t patience_ns)
{
    (void)patience_ns;
    return GNOMON_ESTATE;
}

GNOMON_INLINE void gnomon_pool_allocated(gnomon_region *pool,
                                         const void *pointer, uint64_t bytes)
{
    (void)pool, (void)pointer, (void)bytes;
}
#define gnomon_pool_allocated(pool, pointer, bytes) \
    GNOMON__NOT(gnomon_pool_allocated(pool, pointer, bytes))

GNOMON_INLINE void gnomon_pool_freed(gnomon_region *pool, const void *pointer)
{
    (void)pool, (void)pointer;
}
#define gnomon_pool_freed(pool, pointer) \
    GNOMON__NOT(gnomon_pool_freed(pool, pointer))

GNOMON_INLINE void gnomon_pool_reserved(gnomon_region *pool, uint64_t bytes)
{
    (void)pool, (void)bytes;
}
#define gnomon_pool_reserved(pool, bytes) \
    GNOMON__NOT(gnomon_pool_reserved(pool, bytes))

GNOMON_INLINE void gnomon_pool_exhausted(gnomon_region *pool, uint64_t bytes)
{
    (void)pool, (void)bytes;
}
#define gnomon_pool_exhausted(pool, bytes) \
    GNOMON__NOT(gnomon_pool_exhausted(pool, bytes))

GNOMON__CALL int gnomon_summary(const char *profiler, const gnomon_writer *out)
{
    (void)profiler, (void)out;
    return GNOMON_ESTATE;
}

GNOMON__CALL const gnomon_host *gnomon_host_get(void)
{
    return GNOMON_NULL;
}

#define GNOMON_POOL(variable, name) GNOMON_REGION(variable, name, GNOMON_NULL)
#define GNOMON_SCOPE_ON_DEVICE(name, device, stream) \
    GNOMON__SCOPE(sizeof(name) + sizeof(device) + sizeof(stream) > 0, \
                  __COUNTER__)

GNOMON_END_DECLS

#endif

/* ==== gnomon/cuda.h ======================================================= */

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
    (void)timer, (void)stream;
    return GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_cuda_timer_stop(gnomon_cuda_timer *timer,
                                        gnomon_cuda_stream stream)
{
    (void)timer, (void)stream;
    return GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_cuda_timer_elapsed(gnomon_cuda_timer *timer, double *ms)
{
    *ms = 0;
    (void)timer;
    return GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_cuda_timer_query(gnomon_cuda_timer *timer, double *ms)
{
    *ms = 0;
    (void)timer;
    return GNOMON_ESTATE;
}

GNOMON__CALL void gnomon_cuda_timer_destroy(gnomon_cuda_timer *timer)
{
    (void)timer;
}

GNOMON_END_DECLS

#endif
