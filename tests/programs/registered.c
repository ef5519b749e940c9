/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program that registers profilers, twice under one name. Each argument is
 * a name; "simple" may be one. */
#include <stdio.h>

#include <gnomon/tool.h>

static int say(void *self, const gnomon_run_info *run, const char *stage)
{
    (void)self, (void)run, (void)stage;
    return puts("first") < 0 ? GNOMON_EIO : GNOMON_OK;
}

static int say_again(void *self, const gnomon_run_info *run, const char *stage)
{
    (void)self, (void)run, (void)stage;
    return puts("second") < 0 ? GNOMON_EIO : GNOMON_OK;
}

static gnomon_profiler tables[16];

int main(int argc, char **argv)
{
    for (int i = 1; i < argc && i <= 16; i++) {
        gnomon_profiler *p = &tables[i - 1];
        p->struct_size = sizeof *p;
        p->abi = GNOMON_ABI;
        p->name = argv[i];
        p->help = i == 1 ? "the first" : "the second";
        p->setup = i == 1 ? say : say_again;
        if (gnomon_host_get()->add_profiler(p))
            puts(gnomon_error_text());
    }
    gnomon_start("one");
    gnomon_stop("one");
    return 0;
}
