/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The public rows of gnomon/report.h: those of print/rows.c, in structs with a
 * struct_size. */
#include <stdlib.h>

#include "gnomon/report.h"
#include "print/rows.h"

_Static_assert(GNOMON_ROWS_BY_THREAD == (int)GNOMON__BY_THREAD &&
                   GNOMON_ROWS_BY_FILE == (int)GNOMON__BY_FILE,
               "one order");

typedef struct public_rows {
    gnomon_rows base; /* first */
    gnomon__region_rows region_rows;
    gnomon__groups groups;
    gnomon__report_table texts; /* of groups */
    gnomon_row *rows;
} public_rows;

void gnomon_rows_free(gnomon_rows *rows)
{
    public_rows *r = (public_rows *)(void *)rows;
    if (!r)
        return;
    gnomon__region_rows_free(&r->region_rows);
    gnomon__groups_free(&r->groups);
    gnomon__table_free(&r->texts);
    free(r->rows);
    free(r);
}

static bool make_public_rows(public_rows *r)
{
    size_t count = r->region_rows.count;
    r->rows = calloc(count + 1, sizeof *r->rows);
    if (!r->rows)
        return false;
    for (size_t i = 0; i < count; i++) {
        gnomon__region_row *from = &r->region_rows.rows[i];
        from->host.struct_size = from->device.struct_size =
            sizeof from->host; /* also where it is empty */
        r->rows[i] = (gnomon_row){
            .struct_size = sizeof *r->rows,
            .name = from->name,
            .category = from->category,
            .group = r->groups.texts ? r->groups.texts[from->group] : "",
            .host = &from->host,
            .device = from->device.count ? &from->device : NULL};
    }
    r->base = (gnomon_rows){
        .struct_size = sizeof r->base, .count = count, .rows = r->rows};
    return true;
}

int gnomon_rows_make(gnomon_rows **out, const gnomon_profile *profile, int by)
{
    if (!out)
        return GNOMON_EINVAL;
    *out = NULL;
    if (!profile || by < GNOMON_ROWS_ALL || by > GNOMON_ROWS_BY_FILE)
        return GNOMON_EINVAL;
    public_rows *r = calloc(1, sizeof *r);
    if (!r)
        return GNOMON_ENOMEM;
    if (gnomon__groups_make(&r->groups, by, profile, &r->texts) ||
        gnomon__region_rows_make(&r->region_rows, &r->groups, profile) ||
        !make_public_rows(r)) {
        gnomon_rows_free(&r->base);
        return GNOMON_ENOMEM;
    }
    *out = &r->base;
    return GNOMON_OK;
}
