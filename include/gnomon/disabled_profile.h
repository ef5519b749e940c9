/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Profiles with GNOMON_DISABLE: calls that do nothing. Included by
 * gnomon/profile.h; gnomon/disabled.h says what such calls return. */
#ifndef GNOMON_DISABLED_PROFILE_H
#define GNOMON_DISABLED_PROFILE_H

#include "profile.h"

#ifdef GNOMON_DISABLE

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

GNOMON_END_DECLS

#endif

#endif
