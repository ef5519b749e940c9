/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "command/command.h"
#include "command/output.h"
#include "page/page.h"

static int make_page(void *context, int form, const gnomon_writer *out)
{
    const gnomon__cli_loaded *f = context;
    (void)form;
    return gnomon__page_write(f->profiles, f->paths, f->count, out);
}

int gnomon__page_make(const gnomon__cli_inputs *in, const char *path)
{
    gnomon__cli_loaded all;
    int status = gnomon__cli_load_all(&all, in);
    if (all.count)
        status =
            gnomon__cli_worse(status, gnomon__cli_make(path, make_page, &all));
    gnomon__cli_loaded_free(&all);
    return status;
}
