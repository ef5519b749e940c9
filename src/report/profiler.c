/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Profilers without a run: made by the same parser and tables that $GNOMON goes
 * through, never attached. */
#include "report/profiler.h"

#include <string.h>

#include "platform/error.h"
#include "profilers/table.h"
#include "spec/options.h"

static const gnomon_profiler *profiler_named(const char *name)
{
    const gnomon_profiler *const *const *p = gnomon__profilers;
    while (strcmp((**p)->name, name) != 0)
        p++;
    return **p;
}

static void profiler_log(const char *line)
{
    gnomon__log("%s", line);
}

int gnomon__cli_profiler_open(gnomon__cli_profiler *p, const char *name,
                              const char *words)
{
    gnomon__complaints complaints = {0};
    gnomon__spec spec = {0};
    gnomon__options *options = NULL;
    p->profiler = profiler_named(name);
    p->self = NULL;
    int code =
        gnomon__spec_parse_options(&spec, name, words, name, &complaints);
    if (!code)
        code = gnomon__options_create(&options, name,
                                      gnomon__options_of(p->profiler), &spec, 0,
                                      &complaints);
    if (!code && p->profiler->create) {
        options->api.log = profiler_log;
        code = p->profiler->create(&options->api, &p->self);
    }
    for (unsigned i = 0; i < complaints.count; i++)
        gnomon__log("%s", complaints.line[i]);
    if (code && !complaints.count)
        gnomon__log("%s: %s", name, gnomon_error_name(code));
    gnomon__options_destroy(options);
    gnomon__complaints_free(&complaints);
    gnomon__spec_free(&spec);
    return code;
}

void gnomon__cli_profiler_close(gnomon__cli_profiler *p)
{
    if (p->profiler && p->profiler->destroy && p->self)
        p->profiler->destroy(p->self);
    p->self = NULL;
}
