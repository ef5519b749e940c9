/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A merge as a file, run after run. Of a run all but its events is in memory; these go from
 * the files that are merged to the new one. */
#include "merge/merge.h"
#include "profile/file_write.h"

static int write_event(void *context, gnomon_event_info *e)
{
    gnomon__file_writer *w = context;
    gnomon__file_event(w, e);
    return w->code;
}

static int write_run(gnomon__merge *m, size_t run, gnomon__file_writer *w)
{
    gnomon_profile *p;
    const int is_run = run < gnomon__merge_count(m);
    int code =
        is_run ? gnomon__merge_run(m, run, &p) : gnomon__merge_rest(m, &p);
    if (code)
        return code;
    gnomon__file_runs(w, p, NULL);
    if (is_run && !w->code)
        code = gnomon__merge_run_events(m, write_event, w);
    gnomon__file_events_end(w);
    gnomon_profile_free(p);
    return code;
}

int gnomon__merge_write(gnomon__merge *m, const gnomon_writer *out,
                        void (*run)(size_t number, size_t count))
{
    gnomon__file_writer w;
    const size_t runs = gnomon__merge_count(m);
    int code = GNOMON_OK;
    gnomon__merge_stream_events(m);
    gnomon__file_start(&w, out);
    gnomon__file_shared(&w, &gnomon__merge_shared(m)->m->base);
    for (size_t i = 0; !code && !w.code && i <= runs; i++) {
        if (run)
            run(i + 1, runs + 1);
        code = write_run(m, i, &w);
    }
    int wrong = gnomon__file_finish(&w);
    return code ? code : wrong;
}
