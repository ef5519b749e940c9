/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The one table through which plugins and other copies of the library reach this
 * one. Fields are only ever appended. */
#include "device/activity.h"
#include "device/timers.h"
#include "gnomon/report.h"
#include "gnomon/tool.h"
#include "mark/lock.h"
#include "mark/memory.h"
#include "mark/observer.h"
#include "mark/op.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "platform/owner.h"
#include "platform/ticks.h"
#include "print/regions.h"
#include "profile/entity.h"
#include "record/activities.h"
#include "run/host.h"
#include "run/run.h"

static uint64_t host_now_ns(void)
{
    GNOMON__FORWARD(now_ns());
    gnomon__ticks_wait(); /* not earlier than another thread's last time */
    return gnomon__clock_ns(gnomon__ticks());
}

static int host_is_inside(void)
{
    return gnomon__control_is_inside() || gnomon__busy();
}

const gnomon_host gnomon__upcall_host = {
    .struct_size = sizeof gnomon__upcall_host,
    .abi = GNOMON_ABI,
    .version = GNOMON_VERSION,
    .now_ns = host_now_ns,
    .log = gnomon__log_line,
    .allocate = gnomon__alloc,
    .release = gnomon__free,
    .region_get = gnomon__region_get_n,
    .begin = gnomon_begin_slow,
    .end = gnomon_end_slow,
    .start = gnomon_start_n_slow,
    .stop = gnomon_stop_n_slow,
    .range_begin = gnomon_range_begin_slow,
    .range_end = gnomon_range_end_slow,
    .link_out = gnomon_link_out_slow,
    .link_in = gnomon_link_in_slow,
    .counter = gnomon_counter_slow,
    .mark = gnomon_mark_slow,
    .step = gnomon_step_slow,
    .thread_name = gnomon__thread_name_n,
    .stage_begin = gnomon__stage_begin_n,
    .stage_end = gnomon_stage_end,
    .metadata = gnomon__metadata_n,
    .attach = gnomon__attach_n,
    .detach = gnomon_detach,
    .snapshot = gnomon__snapshot_n,
    .profile_free = gnomon_profile_free,
    .health = gnomon_health_get,
    .error_text = gnomon_error_text,
    .touch = gnomon_touch_slow,
    .setup = gnomon_setup,
    .teardown = gnomon_teardown,
    .configure = gnomon__configure_n,
    .spec = gnomon_spec,
    .add_profiler = gnomon__register,
    .summary = gnomon__summary_n,
    .profile_check = gnomon_profile_check,
    .thread_count = gnomon_thread_count,
    .thread_stack = gnomon_thread_stack,
    .join = gnomon__copy_join,
    .begin_on = gnomon_begin_on_slow,
    .end_on = gnomon_end_on_slow,
    .stream_name = gnomon__stream_name_n,
    .end_alone = gnomon_end_alone_slow,
    .rows = gnomon__region_rows_make,
    .rows_free = gnomon__region_rows_free,
    .file_name = gnomon__own_file_name,
    .source_add = gnomon__source_add,
    .source_remove = gnomon__source_remove,
    .device_launched = gnomon__activity_launched,
    .device_put = gnomon__activities_put,
    .device_lost = gnomon__activity_lost,
    .fail = gnomon__fail_n,
    .device_wait = gnomon_device_wait,
    .op_region = gnomon_op_region,
    .region_op = gnomon__region_op,
    .range_begin_in = gnomon_range_begin_in_slow,
    .report = gnomon__report_n,
    .entity_fields = gnomon__entity_fields,
    .entity_name = gnomon__entity_name,
    .memory = gnomon__memory_mark,
    .memory_record = gnomon__memory_record,
    .is_inside = host_is_inside,
};

const gnomon_host *gnomon_host_get(void)
{
    return &gnomon__upcall_host;
}
