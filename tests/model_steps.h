/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Compares a profile's steps with every step that the model recorded. A part
 * of model_compare.h. */
#ifndef GNOMON_TESTS_MODEL_STEPS_H
#define GNOMON_TESTS_MODEL_STEPS_H

static int model_slower(const void *left, const void *right)
{
    const model_step_of *a = *(const model_step_of *const *)left;
    const model_step_of *b = *(const model_step_of *const *)right;
    if (a->ns != b->ns)
        return a->ns > b->ns ? -1 : 1;
    if (a->stage != b->stage)
        return a->stage < b->stage ? -1 : 1;
    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

/* The time of a region, by its name; NULL: the steps themselves. */
static int model_is_time_of(const gnomon_profile *p,
                            const gnomon_step_time_info *t, const char *name)
{
    gnomon_region_info r;
    if (!name || !t->region)
        return !name && !t->region;
    return !gnomon_profile_region(p, t->region, &r) && !strcmp(r.name, name);
}

/* The time of `name` in a stage; in `step` alone, unless that is NULL. Without statistics
 * where there is none. */
static gnomon_step_time_info model_time_at(const gnomon_profile *p,
                                           size_t stage,
                                           const model_step_of *step,
                                           const char *name)
{
    gnomon_step_time_info t;
    gnomon_step_info s;
    for (size_t i = 1; !gnomon_profile_step_time(p, i, &t); i++) {
        if (t.stage != stage || !t.step != !step ||
            !model_is_time_of(p, &t, name))
            continue;
        if (!step ||
            (!gnomon_profile_step(p, t.step, &s) && s.ordinal == step->stage &&
             s.number == step->number && s.begin_ns == step->begin))
            return t;
    }
    return (gnomon_step_time_info){.time = NULL};
}

typedef struct model_times {
    uint64_t count, total, most, own, calls;
} model_times;

static int model_same_time(const gnomon_step_time_info t, model_times wanted)
{
    if (!t.time || !wanted.count)
        return CHECK_EQ(t.time != NULL, wanted.count != 0);
    return CHECK_EQ(t.time->count, wanted.count) &
           CHECK_EQ(t.time->total_ns, wanted.total) &
           CHECK_EQ(t.time->max_ns, wanted.most) &
           CHECK_EQ(t.own_ns, wanted.own) & CHECK_EQ(t.calls, wanted.calls);
}

/* Of a region; MODEL_REGIONS: the steps themselves. */
static model_times model_step_times(const model_step_of *s, int region)
{
    if (region == MODEL_REGIONS)
        return (model_times){1, s->ns, s->ns, s->ns, 1};
    const model_step_time *t = &s->region[region];
    return (model_times){t->calls != 0, t->ns, t->ns, t->of_thread[s->thread],
                         t->calls};
}

static int model_same_steps_of(const model_match *x, size_t number)
{
    static const model_step_of *step[MODEL_STEPS];
    size_t n = 0;
    int ok = 1;
    for (int i = 0; i < x->m->step_count; i++)
        if (x->m->steps[i].view == x->view &&
            model_is_in(x, number, x->m->steps[i].stage))
            step[n++] = &x->m->steps[i];
    qsort(step, n, sizeof *step, model_slower);
    for (int r = 0; ok && r <= MODEL_REGIONS; r++) {
        const char *name = r < MODEL_REGIONS ? model_region_name(r) : NULL;
        model_times all = {0};
        if (r < MODEL_REGIONS && (!name || x->m->has_no_order))
            continue; /* a late time: in another step, or in none */
        for (size_t i = 0; i < n; i++) {
            const model_times one = model_step_times(step[i], r);
            all.count += one.count;
            all.total += one.total;
            all.most = one.most > all.most ? one.most : all.most;
            all.own += one.own;
            all.calls += one.calls;
            if (i < 10)
                ok &= model_same_time(
                    model_time_at(x->p, number, step[i], name), one);
        }
        ok &= model_same_time(model_time_at(x->p, number, NULL, name), all);
        if (!ok)
            fprintf(stderr, "    times in steps of stage %zu: %s\n", number,
                    name ? name : "all");
    }
    return ok;
}

/* Each stage has min(steps, 10) slow steps. */
static int model_same_steps(const model_match *x)
{
    int ok = 1;
    for (size_t s = 1; ok && s <= x->stage_count; s++)
        ok = model_same_steps_of(x, s);
    return ok;
}

#endif
