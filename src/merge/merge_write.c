/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Writes a merge as a file, run after run. All of a run but its events is in memory; events
 * are copied from the merged files to the new one. */
#include "merge/align.h"

#include "profile/file_write.h"

/* `aligned`: of all runs. */
static int write_run(gnomon__merge *m, size_t run, gnomon__file_writer *to,
                     const gnomon__aligned *aligned)
{
    gnomon_profile *p;
    int code = gnomon__merge_run(m, run, &p);
    if (code)
        return code;
    if (aligned)
        code = gnomon__align_profile(
            &aligned[run], gnomon__merge_info(m, aligned[run].to)->rank, p);
    if (!code)
        gnomon__file_runs(to, p, NULL);
    gnomon_profile_free(p);
    return code;
}

static int write_rest(gnomon__merge *m, gnomon__file_writer *to)
{
    gnomon_profile *p;
    int code = gnomon__merge_rest(m, &p);
    if (code)
        return code;
    gnomon__file_runs(to, p, NULL);
    gnomon_profile_free(p);
    return GNOMON_OK;
}

int gnomon__merge_write(gnomon__merge *m, const gnomon_writer *out,
                        const gnomon__aligned *aligned,
                        void (*run)(size_t number, size_t count))
{
    gnomon__file_writer to;
    const size_t runs = gnomon__merge_count(m);
    int code = GNOMON_OK;
    gnomon__file_start(&to, out);
    gnomon__file_shared(&to, &gnomon__merge_shared(m)->m->base);
    for (size_t i = 0; !code && !to.code && i <= runs; i++) {
        if (run && i < runs)
            run(i + 1, runs);
        code = i < runs ? write_run(m, i, &to, aligned) : write_rest(m, &to);
    }
    int wrong = gnomon__file_finish(&to);
    return code ? code : wrong;
}
