/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Writes a merge as a file, run after run. All of a run but its events is in memory; events
 * are copied from the merged files to the new one. */
#include "merge/align.h"

#include "profile/file_write.h"

/* `aligned`: of all runs. After the last one comes what is of none. */
static int write_run(gnomon__merge *m, size_t run, gnomon__file_writer *to,
                     const gnomon__aligned *aligned)
{
    gnomon_profile *p;
    const int is_run = run < gnomon__merge_count(m);
    int code =
        is_run ? gnomon__merge_run(m, run, &p) : gnomon__merge_rest(m, &p);
    if (!code && aligned && is_run)
        code = gnomon__align_profile(
            &aligned[run], gnomon__merge_info(m, aligned[run].to)->rank, p);
    if (!code)
        gnomon__file_runs(to, p, NULL);
    gnomon_profile_free(p);
    return code;
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
        if (i < runs)
            run(i + 1, runs);
        code = write_run(m, i, &to, aligned);
    }
    int wrong = gnomon__file_finish(&to);
    return code ? code : wrong;
}
