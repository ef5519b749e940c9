/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* --as steps: how long steps took, and the last ones. */
#include "report/steps.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "command/text.h"
#include "gnomon/profiler.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "spec/suggest.h"

/* "FIT Threads, 2 stages added up"; as the titles of the classical reports. */
static void put_steps_title(const gnomon_profile *p, const char *what,
                            const gnomon_writer *out)
{
    gnomon_stage_info stage;
    const char *c = "";
    uint32_t count = 0;
    if (gnomon_profile_count(p, GNOMON_STAGES) == 1 &&
        gnomon_profile_stage(p, 1, &stage) == GNOMON_OK) {
        c = stage.name;
        count = stage.count;
    }
    int has_name = *c != 0;
    for (; *c; c++) {
        char capital = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
        out->write(out, &capital, 1);
    }
    out->print(out, "%s%s", has_name ? " " : "", what);
    if (count > 1)
        out->print(out, ", %" PRIu32 " stages added up", count);
    out->write(out, "\n", 1);
}

enum { STEP_NUMBER, STEP_DURATION, STEP_PHASE };

typedef struct steps_choice {
    int key; /* STEP_* */
    size_t limit;
} steps_choice;

static const char *phase_name(int phase)
{
    static const char *const names[] = {[GNOMON_PHASE_NONE] = "none",
                                        [GNOMON_PHASE_WARMUP] = "warmup",
                                        [GNOMON_PHASE_RECORD] = "record",
                                        [GNOMON_PHASE_RECORD_AND_SAVE] =
                                            "record and save"};
    return phase < 0 || phase > GNOMON_PHASE_RECORD_AND_SAVE ? "?"
                                                             : names[phase];
}

/* Of one that is not over: none. */
static uint64_t step_ns(const gnomon_step_info *s)
{
    return s->end_ns ? s->end_ns - s->begin_ns : 0;
}

static int by_step_key(const void *left, const void *right, void *context)
{
    const gnomon_step_info *a = left, *b = right;
    const int key = *(const int *)context;
    if (key == STEP_DURATION && step_ns(a) != step_ns(b))
        return step_ns(a) > step_ns(b) ? -1 : 1;
    if (key == STEP_PHASE && a->phase != b->phase)
        return a->phase > b->phase ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

static void put_step_rows(gnomon_step_info *steps, size_t count,
                          const steps_choice *request, const gnomon_writer *out)
{
    int key = request->key;
    /* The last ones, or the first in the order that was asked for. */
    size_t most = count < request->limit ? count : request->limit;
    size_t from = key == STEP_NUMBER ? count - most : 0;
    qsort_r(steps, count, sizeof *steps, by_step_key, &key);
    out->print(out, "\n%10s  %10s  %s\n", "Step", "Duration", "Phase");
    for (size_t i = from; i < from + most; i++) {
        char text[24];
        const gnomon_step_info *s = &steps[i];
        out->print(out, "%10" PRIu64 "  %10s  %s\n", s->number,
                   s->end_ns ? gnomon__cli_duration(text, step_ns(s)) : "open",
                   phase_name(s->phase));
    }
}

static void put_step_stats(const gnomon_stats *s, const gnomon_writer *out)
{
    char text[6][24];
    const uint64_t ns[] = {
        s->total_ns / s->count,      s->min_ns,
        gnomon_quantile_ns(s, 0.5),  gnomon_quantile_ns(s, 0.9),
        gnomon_quantile_ns(s, 0.99), s->max_ns};
    out->print(out, "\n%10s  %10s  %10s  %10s  %10s  %10s  %10s\n", "Steps",
               "Mean", "Min", "p50", "p90", "p99", "Max");
    out->print(out, "%10" PRIu64, s->count);
    for (int i = 0; i < 6; i++)
        out->print(out, "  %10s", gnomon__cli_duration(text[i], ns[i]));
    out->write(out, "\n", 1);
}

static int steps_create(const gnomon_options *options, void **self)
{
    static const char *const keys[] = {"number", "duration", "phase", NULL};
    const char *sort = options->text(options, "sort");
    steps_choice *c = gnomon__alloc(sizeof *c);
    if (!c)
        return GNOMON_ENOMEM;
    while (sort && c->key < 3 && !gnomon__same_word(sort, keys[c->key]))
        c->key++;
    if (c->key == 3) {
        c->key = STEP_NUMBER;
        options->log("steps: sort=: say number, duration or phase");
    }
    c->limit = options->number(options, "limit") > 0
                   ? (size_t)options->number(options, "limit")
                   : SIZE_MAX;
    *self = c;
    return GNOMON_OK;
}

static int steps_summary(void *self, const gnomon_profile *p,
                         const gnomon_writer *out)
{
    size_t count = gnomon_profile_count(p, GNOMON_STEPS);
    gnomon_step_info *steps = gnomon__alloc((count + 1) * sizeof *steps);
    gnomon_stage_info stage;
    if (!steps)
        return gnomon__fail(GNOMON_ENOMEM, "no memory for the steps");
    for (size_t i = 0; i < count; i++)
        gnomon_profile_step(p, i + 1, &steps[i]);
    put_steps_title(p, "Steps", out);
    if (gnomon_profile_stage(p, 1, &stage) == GNOMON_OK && stage.steps &&
        stage.steps->count)
        put_step_stats(stage.steps, out);
    if (count)
        put_step_rows(steps, count, self, out);
    gnomon__free(steps);
    return out->write(out, "", 0);
}

static const gnomon_option_info steps_options[] = {
    {.struct_size = sizeof(gnomon_option_info),
     .key = "sort",
     .type = GNOMON_OPTION_TEXT,
     .help = "number, duration or phase"},
    {.struct_size = sizeof(gnomon_option_info),
     .key = "limit",
     .type = GNOMON_OPTION_INTEGER,
     .help = "the most steps; by number the last ones"},
    {.key = NULL}};

const gnomon_profiler gnomon__steps_report = {
    .struct_size = sizeof gnomon__steps_report,
    .abi = GNOMON_ABI,
    .wants = GNOMON_WANT_TREE,
    .name = "steps",
    .help = "how long steps took, and the last ones",
    .options = steps_options,
    .create = steps_create,
    .summary = steps_summary,
    .destroy = gnomon__free,
};
