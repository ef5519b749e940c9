/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The Perfetto export: the file, profile by profile. */
#include "export/perfetto.h"

#include <stdlib.h>

/* Of all runs of all profiles; each profile has one more, for what has no run. */
static int perfetto_find_pids(gnomon__perfetto *f)
{
    gnomon_run_info run;
    size_t count = 0, owner = 0;
    for (size_t i = 0; i < f->what->count; i++)
        count += gnomon_profile_count(f->what->profiles[i], GNOMON_RUNS);
    f->pids = calloc(count + 1, sizeof *f->pids);
    if (!f->pids)
        return 0;
    for (size_t i = 0; i < f->what->count; i++, owner++)
        for (size_t k = 1; !gnomon_profile_run(f->what->profiles[i], k, &run);
             k++)
            f->pids[f->pid_count++] =
                (gnomon__perfetto_id){0, run.pid, ++owner};
    gnomon__perfetto_sort_ids(f->pids, f->pid_count);
    return 1;
}

/* Run 0 has a process only where there is no run at all. */
static void perfetto_put_processes(gnomon__perfetto *f)
{
    for (uint32_t i = f->run_count ? 1 : 0; i <= f->run_count; i++)
        gnomon__perfetto_process(f, i);
}

static int perfetto_put_all(gnomon__perfetto *f)
{
    gnomon__perfetto_look(f);
    if (!gnomon__perfetto_links_join(f))
        return 0;
    perfetto_put_processes(f);
    if (!gnomon__perfetto_steps(f) || !gnomon__perfetto_events(f))
        return 0;
    for (size_t i = 1; i <= f->row_count; i++)
        gnomon__perfetto_ends(f, i, GNOMON__PERFETTO_NEVER);
    if (!gnomon__perfetto_pools(f))
        return 0;
    gnomon__perfetto_about(f);
    return !f->has_no_memory;
}

static int perfetto_put_profile(gnomon__perfetto *f, size_t which)
{
    const gnomon_profile *p = f->p = f->what->profiles[which];
    int ok = gnomon__timeline_begin(&f->line, f->what, which) &&
             gnomon__perfetto_rows_begin(f) &&
             gnomon__crossed_begin(&f->crossed, p) &&
             gnomon__perfetto_links_begin(f) &&
             gnomon__perfetto_names_begin(f) && perfetto_put_all(f);
    gnomon__perfetto_names_end(f);
    gnomon__perfetto_places_end(f);
    gnomon__perfetto_links_end(f);
    gnomon__crossed_end(&f->crossed);
    gnomon__perfetto_rows_end(f);
    gnomon__timeline_end(&f->line);
    f->runs_before += f->run_count + 1;
    return ok;
}

static int write_perfetto(const gnomon__export *what, const gnomon_writer *out)
{
    gnomon__perfetto f = {.what = what};
    f.t = gnomon__export_text_begin(out);
    int ok = f.t && perfetto_find_pids(&f);
    for (size_t i = 0; ok && i < what->count && !f.t->code; i++)
        ok = perfetto_put_profile(&f, i);
    ok = ok && !f.has_no_memory;
    free(f.pids);
    gnomon__wire_free(&f.wire);
    int code = gnomon__export_text_end(f.t);
    return ok ? code : GNOMON_ENOMEM;
}

const gnomon__exporter gnomon__export_perfetto = {
    .name = "perfetto",
    .extension = ".pftrace",
    .about = "Perfetto's own format, for large traces",
    .write = write_perfetto,
};
