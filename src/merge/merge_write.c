/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A merge as a file, run after run. Of a run all but its events is in memory; these go from
 * the files that are merged to the new one. */
#include "merge/merge_write.h"

#include "profile/file_write.h"

typedef struct merge_writer {
    gnomon__file_writer w;
    const gnomon__aligned *aligned; /* of the run; NULL: it is not */
} merge_writer;

static int write_event(void *context, gnomon_event_info *e)
{
    merge_writer *to = context;
    if (to->aligned)
        gnomon__align_event(to->aligned, e);
    gnomon__file_event(&to->w, e);
    return to->w.code;
}

static int32_t rank_of_run(const gnomon__merge *m, size_t run)
{
    size_t input;
    return gnomon__merge_reading(m, run, 0, &input)->rank;
}

static int write_run(gnomon__merge *m, size_t run, merge_writer *to)
{
    gnomon_profile *p;
    int code = gnomon__merge_run(m, run, &p);
    if (code)
        return code;
    if (to->aligned)
        code = gnomon__align_profile(to->aligned,
                                     rank_of_run(m, to->aligned->to), p);
    if (!code)
        gnomon__file_runs(&to->w, p, NULL);
    if (!code && !to->w.code)
        code = gnomon__merge_run_events(m, write_event, to);
    gnomon__file_events_end(&to->w);
    gnomon_profile_free(p);
    return code;
}

static int write_rest(gnomon__merge *m, merge_writer *to)
{
    gnomon_profile *p;
    int code = gnomon__merge_rest(m, &p);
    if (code)
        return code;
    gnomon__file_runs(&to->w, p, NULL);
    gnomon_profile_free(p);
    return GNOMON_OK;
}

int gnomon__merge_write(gnomon__merge *m, const gnomon_writer *out,
                        const gnomon__aligned *aligned,
                        void (*run)(size_t number, size_t count))
{
    merge_writer to;
    const size_t runs = gnomon__merge_count(m);
    int code = GNOMON_OK;
    gnomon__merge_stream_events(m);
    gnomon__file_start(&to.w, out);
    gnomon__file_shared(&to.w, &gnomon__merge_shared(m)->m->base);
    for (size_t i = 0; !code && !to.w.code && i <= runs; i++) {
        if (run)
            run(i + 1, runs + 1);
        to.aligned = aligned && i < runs ? &aligned[i] : NULL;
        code = i < runs ? write_run(m, i, &to) : write_rest(m, &to);
    }
    int wrong = gnomon__file_finish(&to.w);
    return code ? code : wrong;
}
