/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Plugins: profilers in shared libraries of their own, as GNOMON=./mine.so loads
 * them. Included by gnomon/profiler.h.
 *
 * A plugin exports gnomon_plugin_v1, by GNOMON_PLUGIN, and links to nothing: all
 * that it calls comes with the host table below, with the profile, or with the
 * writer. So one plugin fits every program that is marked, whether that has gnomon
 * as a shared library or inside it.
 */
#ifndef GNOMON_PLUGIN_H
#define GNOMON_PLUGIN_H

#include "../gnomon.h"
#include "device.h"

GNOMON_BEGIN_DECLS

struct gnomon__copy;
struct gnomon_op_info;
struct gnomon_profile;
struct gnomon_profiler;
struct gnomon_rows;
struct gnomon_writer;
struct gnomon_activity;
struct gnomon_activity_source;

/* What the process's gnomon offers to a plugin: the calls of gnomon's headers, by
 * pointer. Each does what the call of its name does, with the same threads and
 * errors; those that take names take lengths too. The table lives as long as the
 * process. Look at struct_size before a field that is newer than the first
 * release.
 * Masks: begin, range_begin, counter, mark, begin_on and touch are the slow
 * halves of marks. They take the mask that the caller read from the region, and
 * are called where that is not 0. */
typedef struct gnomon_host {
    uint32_t struct_size;
    uint32_t abi;
    /* gnomon_version() of the library. */
    const char *version;
    /* The time, in ns since the run's zero. */
    uint64_t (*now_ns)(void);
    /* Writes one line to stderr, "gnomon: " before it. */
    void (*log)(const char *line);
    /* Zeroed memory of gnomon's own heap, never the host's malloc; NULL: there is
     * none. Freed by release. */
    void *(*allocate)(size_t bytes);
    void (*release)(void *memory);

    /* Regions and marks: gnomon.h. */
    /* gnomon_region_get_n. */
    gnomon_region *(*region_get)(const char *name, size_t length,
                                 const char *category, size_t category_length,
                                 int kind);
    /* gnomon_begin and gnomon_end. */
    gnomon_token (*begin)(gnomon_region *region, uint32_t mask);
    void (*end)(gnomon_token token);
    /* gnomon_start_n and gnomon_stop_n. */
    void (*start)(const char *name, size_t length);
    void (*stop)(const char *name, size_t length);
    /* gnomon_range_begin and gnomon_range_end. */
    gnomon_range (*range_begin)(gnomon_region *region, uint32_t mask);
    void (*range_end)(gnomon_range range);
    /* gnomon_link_out and gnomon_link_in. */
    gnomon_link (*link_out)(void);
    void (*link_in)(const gnomon_link *from, int kind);
    void (*counter)(gnomon_region *region, uint32_t mask, double value);
    void (*mark)(gnomon_region *region, uint32_t mask);
    /* gnomon_step; with a `given` of 1 gnomon_step_at, of 2 gnomon_step_begin. */
    void (*step)(uint64_t number, int given);
    void (*thread_name)(const char *name, size_t length);

    /* Control calls: gnomon/run.h. */
    int (*stage_begin)(const char *name, size_t length);
    int (*stage_end)(void);
    int (*metadata)(const char *key, size_t length, const char *json,
                    size_t json_length);

    /* gnomon/profiler.h and gnomon/profile.h. */
    int (*attach)(const struct gnomon_profiler *profiler, void *self,
                  const char *options, size_t length);
    int (*detach)(const struct gnomon_profiler *profiler, void *self);
    int (*snapshot)(struct gnomon_profile **out, const char *profiler,
                    size_t length, int all_stages);
    void (*profile_free)(struct gnomon_profile *profile);
    void (*health)(gnomon_health *health);
    /* gnomon_error_text: of the calling thread. */
    const char *(*error_text)(void);
    /* Makes a region known, and returns the mask that its marks go by. */
    uint32_t (*touch)(gnomon_region *region, uint32_t mask);
    int (*setup)(const gnomon_setup_options *options);
    int (*teardown)(void);
    int (*configure)(const char *spec, size_t length);
    size_t (*spec)(char *buffer, size_t size);
    /* gnomon_register. */
    int (*add_profiler)(const struct gnomon_profiler *profiler);
    int (*summary)(const char *profiler, size_t length,
                   const struct gnomon_writer *out);
    int (*profile_check)(const struct gnomon_profile *profile);
    size_t (*thread_count)(void);
    int (*thread_stack)(size_t thread, gnomon_open_scope *scopes,
                        size_t capacity);
    /* Takes another copy of the library in; for such copies only. */
    int (*join)(struct gnomon__copy *copy);

    /* Scopes on streams: gnomon/device.h. */
    void (*begin_on)(gnomon_region *region, uint32_t mask,
                     const gnomon_device *device, void *stream,
                     gnomon_device_scope *scope);
    void (*end_on)(const gnomon_device_scope *scope);
    void (*stream_name)(const gnomon_device *device, void *stream,
                        const char *name, size_t length);
    /* gnomon_end_alone, of gnomon.h. */
    void (*end_alone)(gnomon_token token);

    /* gnomon/report.h: gnomon_rows_make, gnomon_rows_free, gnomon_file_name. */
    int (*rows)(struct gnomon_rows **out, const struct gnomon_profile *profile,
                int by);
    void (*rows_free)(struct gnomon_rows *rows);
    size_t (*file_name)(const char *pattern, char *buffer, size_t size);

    /* gnomon/activity.h. */
    int (*source_add)(const struct gnomon_activity_source *source);
    int (*source_remove)(const struct gnomon_activity_source *source);
    void (*activity_launched)(uint32_t source, uint64_t correlation);
    void (*activity_put)(uint32_t source, const struct gnomon_activity *records,
                         size_t count);
    void (*activity_lost)(uint32_t source, uint64_t count);

    /* gnomon_fail_n, of gnomon/profiler.h. */
    int (*fail)(int code, const char *text, size_t length);
    /* gnomon_device_wait, of gnomon/device.h. */
    int (*device_wait)(uint64_t patience_ns);

    /* gnomon/op.h. */
    gnomon_region *(*op_region)(gnomon_region *region,
                                const struct gnomon_op_info *op);
    const struct gnomon_op_info *(*region_op)(const gnomon_region *region);

    /* gnomon_range_begin_in, of gnomon.h. */
    gnomon_range (*range_begin_in)(gnomon_region *region, uint32_t mask,
                                   gnomon_range around);
} gnomon_host;

/* The one function that a plugin exports, named GNOMON_PLUGIN_ENTRY. It is called
 * once, when the plugin is loaded. It returns the profiler, which lives as long as
 * the process, as plugins are never unloaded; NULL: it does not want to run with
 * this host. It may keep `host`. */
typedef const struct gnomon_profiler *
gnomon_plugin_entry(const gnomon_host *host);
#define GNOMON_PLUGIN_ENTRY "gnomon_plugin_v1"

/* Defines that function: it returns `profiler`, a gnomon_profiler, to a host of
 * this generation. Write the function by hand where the host table is needed.
 * In the library's own build it makes the profiler a built-in one instead. */
#ifdef GNOMON_BUILTIN
#define GNOMON_PLUGIN(profiler) GNOMON__NO_PLUGIN(profiler)
#define GNOMON__NO_PLUGIN(profiler) \
    extern const gnomon_profiler *const gnomon__builtin_##profiler; \
    const gnomon_profiler *const gnomon__builtin_##profiler = &profiler
#else
#ifdef __cplusplus
#define GNOMON__PLUGIN_LINKAGE extern "C"
#else
#define GNOMON__PLUGIN_LINKAGE
#endif
#define GNOMON_PLUGIN(profiler) \
    GNOMON__PLUGIN_LINKAGE GNOMON_API const gnomon_profiler *gnomon_plugin_v1( \
        const gnomon_host *host); \
    GNOMON__PLUGIN_LINKAGE const gnomon_profiler *gnomon_plugin_v1( \
        const gnomon_host *host) \
    { \
        return host->abi == GNOMON_ABI ? &(profiler) : GNOMON_NULL; \
    } \
    GNOMON__PLUGIN_LINKAGE gnomon_plugin_entry gnomon_plugin_v1
#endif

GNOMON_END_DECLS

#endif
