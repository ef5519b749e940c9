/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "command/command.h"
#include "command/output.h"
#include "page/page.h"
#include "platform/error.h"
#include "platform/memory.h"

/* What could be read. Invariant: `paths` lie as `profiles` do. */
typedef struct page_files {
    const gnomon_profile **profiles;
    const char **paths;
    size_t count;
} page_files;

static int make_page(void *context, int form, const gnomon_writer *out)
{
    const page_files *f = context;
    (void)form;
    return gnomon__page_write(f->profiles, f->paths, f->count, out);
}

static int load_pages(page_files *f, const gnomon__cli_inputs *in)
{
    int status = GNOMON__EXIT_OK;
    for (size_t i = 0; i < in->count; i++) {
        gnomon_profile *p;
        if (gnomon__cli_load(in->paths[i], &p)) {
            status = GNOMON__EXIT_UNREADABLE;
            continue;
        }
        status =
            gnomon__cli_worse(status, gnomon__cli_log_damage(in->paths[i], p));
        f->paths[f->count] = in->paths[i];
        f->profiles[f->count++] = p;
    }
    return status;
}

int gnomon__page_make(const gnomon__cli_inputs *in, const char *path)
{
    page_files f = {gnomon__alloc((in->count + 1) * sizeof *f.profiles),
                    gnomon__alloc((in->count + 1) * sizeof *f.paths), 0};
    int status = GNOMON__EXIT_UNREADABLE;
    if (!f.profiles || !f.paths) {
        gnomon__log("no memory for a page");
    } else {
        status = load_pages(&f, in);
        if (f.count)
            status = gnomon__cli_worse(status,
                                       gnomon__cli_make(path, make_page, &f));
    }
    while (f.count)
        gnomon_profile_free((gnomon_profile *)(size_t)f.profiles[--f.count]);
    gnomon__free(f.profiles);
    gnomon__free(f.paths);
    return status;
}
