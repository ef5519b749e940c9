/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What gnomon.h's marks and calls are with GNOMON_DISABLE, and by itself on a
 * compiler or system that gnomon does not know (gnomon/base.h). Included by it.
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
#ifndef GNOMON_DISABLED_H
#define GNOMON_DISABLED_H

#include "../gnomon.h"

#ifdef GNOMON_DISABLE

GNOMON_BEGIN_DECLS

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

GNOMON_END_DECLS

#endif

#endif
