/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gnomon_profile_write: a profile in one of its two forms. */
#include "gnomon/profile.h"
#include "platform/error.h"
#include "platform/os.h"
#include "profile/file_write.h"
#include "profile/json_write.h"

/* ---- A .gnomon file ----------------------------------------------------------- */

/* The run of an entity; 0: none, as of shared ones. */
static size_t run_of_entity(const gnomon_profile *p, int entity, size_t i)
{
    while (entity != GNOMON_RUNS && i) {
        const gnomon__field *first =
            gnomon__first_number(&gnomon__structs[entity]);
        gnomon__any any;
        any.struct_size = sizeof any;
        p->api->get(p, entity, i, &any);
        i = gnomon__field_32(first, &any);
        entity = first->of;
    }
    return i;
}

/* Entities of no run sort last. */
static size_t run_or_last(const gnomon_profile *p, int entity, size_t i)
{
    size_t run = run_of_entity(p, entity, i);
    return run ? run : gnomon_profile_count(p, GNOMON_RUNS) + 1;
}

static int is_sorted_by_run(const gnomon_profile *p)
{
    for (int i = GNOMON__SHARED; i < GNOMON__ENTITIES; i++) {
        int entity = gnomon__file_order[i];
        size_t last = 0;
        for (size_t k = 1; k <= gnomon_profile_count(p, entity); k++) {
            size_t run_number = run_or_last(p, entity, k);
            if (run_number < last)
                return 0;
            last = run_number;
        }
    }
    return 1;
}

/* Run after run, if the entities are sorted by run, as those of merged profiles are;
 * else as one part. */
static int write_file(const gnomon_profile *p, const gnomon_writer *out)
{
    gnomon__file_writer w;
    gnomon__file_range ranges[GNOMON__ENTITIES];
    size_t runs = gnomon_profile_count(p, GNOMON_RUNS);
    gnomon__file_start(&w, out);
    gnomon__file_shared(&w, p);
    if (runs < 2 || !is_sorted_by_run(p)) {
        gnomon__file_runs(&w, p, NULL);
        return gnomon__file_finish(&w);
    }
    for (int k = 0; k < GNOMON__ENTITIES; k++)
        ranges[k] = (gnomon__file_range){1, 0};
    for (size_t run = 1; run <= runs + 1; run++) {
        for (int i = GNOMON__SHARED; i < GNOMON__ENTITIES; i++) {
            int entity = gnomon__file_order[i];
            gnomon__file_range *r = &ranges[entity];
            size_t end = r->first += r->count;
            while (end <= gnomon_profile_count(p, entity) &&
                   run_or_last(p, entity, end) == run)
                end++;
            r->count = end - r->first;
        }
        gnomon__file_runs(&w, p, ranges);
    }
    return gnomon__file_finish(&w);
}

/* ---- In either form ------------------------------------------------------------ */

static int write_as(int form, const gnomon_profile *p, const gnomon_writer *out)
{
    switch (form) {
    case GNOMON_FORM_FILE:
        return write_file(p, out);
    case GNOMON_FORM_JSON:
        return gnomon__write_json(p, out);
    }
    return gnomon__fail(GNOMON_EINVAL, "no such form: %d", form);
}

/* The writer, the caller's, is called while memory of ours is held. */
int gnomon_profile_write(const gnomon_profile *p, int form,
                         const gnomon_writer *out)
{
    gnomon__fail_clear();
    if (!p || !out || !out->write)
        return gnomon__fail(GNOMON_EINVAL, "no profile, or no writer");
    int cancel = gnomon__os_cancel_off();
    int code = write_as(form, p, out);
    gnomon__os_cancel_back(cancel);
    return code;
}
