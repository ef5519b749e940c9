/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The rules of advice. Each is a pure function of the profiles of a job, and is called for
 * each stage of each run. Where it can judge it says so by advice_looks, and where its
 * threshold is crossed it adds a finding, of the most that it found. Times of a stage are
 * those of the thread that makes its steps, unless a rule says otherwise. */
#include "advice/stage.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "command/inputs.h"
#include "platform/memory.h"
#include "print/devices.h"
#include "print/events.h"
#include "print/letters.h"
#include "profile/model.h"

/* Thresholds: per cent, times, and as their names say. */
#define WAIT_SHARE 10
#define WORKER_SHARE 80
#define SLOW_TIMES 3
#define SLOW_MS 50
#define PERIOD_SHARE 5
#define OUTSIDE_SHARE 25
#define MARK_NS 40
#define MARK_TIMES 10
#define MARK_SHARE 2
#define IDLE_SHARE 20
#define LAUNCH_US 50
#define SYNC_SHARE 5
#define GROWTH_STEPS 20
#define GROWTH_TIMES 4
#define GROWTH_SHARE 2
#define BEHIND_SHARE 5
#define LOST_SHARE 1
#define CLOCK_MS 100
#define LEAST_STEPS 10 /* fewer have no usual one */
#define LEAST_MS 10    /* to be gained, of what is about time */
#define AS_TEXT_(number) #number
#define AS_TEXT(number) AS_TEXT_(number)

/* ---- Findings ------------------------------------------------------------------------ */

static void advice_looks(advice *a)
{
    a->to->looked |= 1u << a->rule;
}

static const char *kept(advice *a, const char *text)
{
    a->code = text ? a->code : GNOMON_ENOMEM;
    return text ? text : "";
}
#define TEXT(...) kept(a, gnomon__table_keep(&a->to->texts, __VA_ARGS__))
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static const char *time_of(advice *a, double ns)
{
    char text[GNOMON__DURATION];
    return TEXT("%s", gnomon__short_duration(text, ns > 0 ? (uint64_t)ns : 0));
}

static const char *number_of(advice *a, double number)
{
    return TEXT("%.0f", number);
}

static const char *share_of(advice *a, double part, double whole)
{
    return TEXT("%.0f %%", fmin(advice_share(part, whole), 100));
}

static const char *name_of(const gnomon_profile *p, size_t region)
{
    gnomon_region_info r = {.name = ""};
    (void)gnomon_profile_region(p, region, &r);
    return *r.name ? r.name : "(no name)";
}

/* The form with the next word in the place of each "{}". */
static const char *filled(advice *a, const char *form,
                          const char *const **words)
{
    const char *text = "", *gap;
    for (; **words && (gap = strstr(form, "{}")) != NULL; form = gap + 2)
        text = TEXT("%s%.*s%s", text, (int)(gap - form), form, *(*words)++);
    return TEXT("%s%s", text, form);
}

/* In its place; of a rule's that are about the same the one with most to be gained stays. */
static void put_finding(gnomon__findings *to, const gnomon__finding *f)
{
    size_t at = 0, same = 0;
    while (same < to->count && (to->at[same].rule != f->rule ||
                                strcmp(to->at[same].about, f->about) != 0))
        same++;
    if (same < to->count && to->at[same].gain_ns >= f->gain_ns)
        return;
    while (at < same && to->at[at].gain_ns >= f->gain_ns)
        at++;
    memmove(&to->at[at + 1], &to->at[at], (same - at) * sizeof *f);
    to->at[at] = *f;
    to->count += same == to->count && same < GNOMON__FINDINGS;
}

/* The words are those of the rule's `what`, `from` and `tries`. */
static void advice_add(advice *a, const advice_stage *s, double gain_ns,
                       const char *about, const char *unsure,
                       const char *const *words)
{
    const gnomon__advice_rule *rule = &gnomon__advice_rules[a->rule];
    gnomon__finding f = {.rule = rule, .about = about, .unsure = unsure};
    if (gain_ns > 0 && gain_ns < LEAST_MS * 1e6)
        return;
    f.gain_ns = gain_ns > 0 ? (uint64_t)gain_ns : 0;
    f.what = filled(a, rule->what, &words);
    f.from = filled(a, rule->from, &words);
    f.tries = filled(a, rule->tries, &words);
    if (*s->of.name)
        f.from = TEXT("%s, stage %s", f.from, s->of.name);
    if (a->stages[0].run.rank != a->stages[a->count - 1].run.rank)
        f.from = TEXT("%s, rank %" PRId32, f.from, s->run.rank);
    put_finding(a->to, &f);
}

/* ---- Loaders ------------------------------------------------------------------------- */

/* Busy cores in all stages of this name on this host, and the workers of its rank. */
static advice_stage on_host(const advice *a, const advice_stage *of)
{
    advice_stage sum = {.workers = 0};
    for (const advice_stage *s = a->stages; s < a->stages + a->count; s++) {
        if (strcmp(s->of.name, of->of.name) != 0 ||
            strcmp(s->run.host, of->run.host) != 0)
            continue;
        sum.cores += s->cores;
        sum.workers += s->run.rank == of->run.rank ? s->workers : 0;
        sum.worker_share += s->run.rank == of->run.rank ? s->worker_share : 0;
    }
    return sum;
}

static void say_loader(advice *a, const advice_stage *s, double ns,
                       const char *name)
{
    const advice_stage all = on_host(a, s);
    const double cpus = gnomon__advice_metadata(s, "cpus"),
                 busy = all.worker_share / fmax(all.workers, 1);
    const bool has = all.workers > 0,
               is_alone = strstr(name, "SingleProcess") != NULL,
               is_unknown = !has && strstr(name, "MultiProcessing"),
               is_idle = has && busy <= WORKER_SHARE,
               is_full = !is_idle && cpus > 0 &&
                         cpus - all.cores + ns / s->recorded_ns < 1;
    const char *unsure = is_idle || is_full ? NULL
                         : !has && !is_alone
                             ? "how busy its workers are: no thread or process "
                               "of a loader was recorded"
                         : cpus <= 0 ? "whether cores are free: the run has no "
                                       "metadata cpus"
                                     : NULL;
    const char *workers =
        has ? TEXT("; its %.0f workers are busy %.0f %%", all.workers, busy)
        : is_alone ? ", which has no workers"
                   : "";
    advice_add(a, s, ns, s->of.name, unsure,
               WORDS(share_of(a, ns, s->steps_ns), name, workers,
                     is_idle   ? ": workers idle too"
                     : is_full ? ": no core is left"
                               : "",
                     name,
                     is_idle   ? "storage or the data set: larger files, a "
                                 "cache; more workers would wait too"
                     : is_full ? "cheaper transforms, or more cores"
                     : has     ? "more workers"
                     : is_unknown
                         ? "more workers if they are busy; else storage or the "
                           "data set"
                         : "workers, which load while the step computes"));
}

/* The longest times, one for each epoch: a loader is asked once more at the end of each. */
static double start_up(const advice_stage *s, const gnomon_stats *t)
{
    const double count = (double)t->count,
                 epochs = count -
                          s->steps * (double)gnomon__advice_calls(s, t->count);
    double ns = (double)t->max_ns;
    for (double i = 1; i < epochs && epochs <= s->steps / 10; i++)
        ns += gnomon_quantile(t, 1 - (i + 0.5) / count);
    return ns;
}

static void look_loader(advice *a, const advice_stage *s)
{
    gnomon__report_node n;
    double ns = 0, most = -1;
    const char *name = NULL;
    for (size_t i = 0; gnomon__advice_next(s, &i, &n);) {
        const double took =
            fmax((double)n.of.host->total_ns - start_up(s, n.of.host), 0);
        if (n.of.track != s->thread ||
            !(a->regions[n.of.region].is & ~a->nodes[i].inside & IS_LOADER))
            continue;
        ns += took;
        name = took > most ? n.region.name : name;
        most = fmax(took, most);
    }
    if (!name || s->steps < LEAST_STEPS)
        return;
    advice_looks(a);
    if (advice_share(ns, s->steps_ns) > WAIT_SHARE)
        say_loader(a, s, ns, name);
}

/* ---- Slow steps ---------------------------------------------------------------------- */

/* How likely as many slow steps as have this period would have some period by chance, as
 * a logarithm, of the steps that are at least half as much too long; 0 where fewer than
 * three have, or more than a fifth of its steps are not slow. *ns: what all of them take
 * more, but of each at most twice the least: they are of one kind. */
static double chance_of(const advice *a, const advice_stage *s, uint64_t period,
                        uint64_t first, double *ns)
{
    const advice_step *end = a->steps + a->step_count;
    double slow = 0, other = 0, all = 0, least = (double)INFINITY;
    for (const advice_step *t = a->steps; t < end; t++)
        if (t->number % period == first % period && !t->group) {
            slow += t->is_slow;
            other += !t->is_slow;
            least = t->is_slow ? fmin(least, t->ns - s->usual_ns) : least;
        }
    *ns = 0;
    for (const advice_step *t = a->steps; t < end; t++) {
        const bool is_of = t->number % period == first % period;
        all += t->is_slow && !t->group && t->ns - s->usual_ns >= least / 2;
        *ns += t->is_slow && !t->group && is_of
                   ? fmin(t->ns - s->usual_ns, 2 * least)
                   : 0;
    }
    double chance = 2 * log(all) - (slow - 1) * log((double)period);
    for (int i = 1; i <= slow; i++) /* the ways to choose them */
        chance += log((all - slow + i) / i);
    return slow < 3 || 4 * other > slow ? 0 : chance;
}

/* Of the periods that are not by chance the one by which most is to be gained; 0: there is
 * none. Marks its steps. */
static uint64_t find_period(advice *a, const advice_stage *s, unsigned group)
{
    uint64_t best = 0, first = 0;
    double most = 0, ns = 0;
    size_t met = 0;
    for (size_t i = 0; i < a->step_count && met < 64; i++) {
        const advice_step *from = &a->steps[i], *to = from;
        met += from->is_slow;
        while (from->is_slow && ++to < a->steps + a->step_count) {
            const uint64_t period = to->number - from->number;
            if (to->is_slow && period >= 2 && period <= 1u << 30 &&
                chance_of(a, s, period, from->number, &ns) < log(0.001) &&
                ns > most) {
                most = ns;
                best = period;
                first = from->number % period;
            }
        }
    }
    for (advice_step *t = a->steps; t < a->steps + a->step_count; t++)
        if (best && t->is_slow && !t->group && t->number % best == first)
            t->group = group;
    return best;
}

/* Two kinds at most, as validation and checkpoints. */
static void find_periods(advice *a, const advice_stage *s)
{
    for (size_t i = 0; i < a->step_count; i++)
        a->steps[i].group = 0;
    a->periods[1] = find_period(a, s, 1);
    a->periods[2] = a->periods[1] ? find_period(a, s, 2) : 0;
}

/* How much longer a region was than in the median step (in some steps it took no time);
 * 0: the time is not of the step. */
static double longer_by(const advice *a, const advice_stage *s,
                        const advice_step *step, const gnomon_step_time_info *t)
{
    const gnomon_stats *all = a->regions[t->region].in_steps;
    const double ns = (double)(t->calls ? t->own_ns : t->time->total_ns),
                 below = s->steps - (all ? (double)all->count : 0);
    if (t->step != step->index || !t->region ||
        !gnomon__advice_is_of(s, t->view))
        return 0;
    return !all || below >= s->steps / 2
               ? ns
               : ns - gnomon_quantile(all, (s->steps / 2 - below) /
                                               (double)all->count);
}

/* Where times of single steps were not recorded: the mark that ran as often as such steps
 * came, and took at least half of their time. */
static const char *ran_so_often(advice *a, const advice_stage *s, double often,
                                double ns)
{
    gnomon__report_node n;
    const char *text = "what took longer: GNOMON=steps records it";
    for (size_t i = 0; often > 0 && gnomon__advice_next(s, &i, &n);) {
        const gnomon_stats *t = n.of.host;
        if (n.of.track != s->thread || 2 * (double)t->total_ns < ns ||
            fabs((double)t->count - often) > 1)
            continue;
        ns = 2 * (double)t->total_ns;
        text = TEXT("what took longer: perhaps %s, which ran %" PRIu64
                    " times; GNOMON=steps records it",
                    n.region.name, t->count);
    }
    return text;
}

/* ": 300 ms more in validation": of the regions that were longer by nearly the most the
 * one that took least, which is inside of the others. */
static const char *reason_of(advice *a, const advice_stage *s,
                             const advice_step *step, const char **unsure)
{
    gnomon_step_time_info t;
    uint32_t best = 0;
    double most = 0, least = 0, excess = 0;
    *unsure = NULL;
    for (size_t i = 1; !gnomon_profile_step_time(s->p, i, &t); i++) {
        most = fmax(most, longer_by(a, s, step, &t));
        if (t.step == step->index)
            *unsure = "what took longer: nothing that is marked";
    }
    if (most < 0.4 * (step->ns - s->usual_ns))
        return "";
    for (size_t i = 1; !gnomon_profile_step_time(s->p, i, &t); i++) {
        const double more = longer_by(a, s, step, &t);
        if (more >= 0.8 * most && (!best || (double)t.time->total_ns < least)) {
            best = t.region;
            least = (double)t.time->total_ns;
            excess = more;
        }
    }
    *unsure = NULL;
    return TEXT(": %s more in %s", time_of(a, excess), name_of(s->p, best));
}

/* Looks at the slow steps of a group, or at those that are in none and cross the
 * threshold. */
static void look_steps(advice *a, const advice_stage *s, unsigned group)
{
    const bool is_periodic = group > 0;
    const double period = (double)a->periods[group];
    const advice_step *worst = NULL;
    double count = 0, ns = 0;
    for (const advice_step *t = a->steps; t < a->steps + a->step_count; t++) {
        const double more = t->ns - s->usual_ns;
        if (!t->is_slow || t->group != group ||
            (!is_periodic &&
             (t->ns <= SLOW_TIMES * s->usual_ns || more <= SLOW_MS * 1e6)))
            continue;
        count++;
        ns += more;
        worst = !worst || t->ns > worst->ns ? t : worst;
    }
    if (s->steps < LEAST_STEPS || a->step_count < 3)
        return;
    advice_looks(a);
    const double each = ns / fmax(count, 1),
                 all = is_periodic && worst ? each * s->steps / period : ns;
    if (!worst ||
        (is_periodic && advice_share(all, s->steps_ns) <= PERIOD_SHARE))
        return;
    const char *unsure, *reason = reason_of(a, s, worst, &unsure),
                        *step = number_of(a, (double)worst->number);
    if (!unsure && !*reason)
        unsure = ran_so_often(a, s, is_periodic ? s->steps / period : 0, all);
    advice_add(
        a, s, all, group < 2 ? s->of.name : TEXT("%s 2", s->of.name), unsure,
        is_periodic
            ? WORDS(number_of(a, period), time_of(a, each),
                    share_of(a, all, s->steps_ns), reason, number_of(a, count),
                    step)
            : WORDS(step, time_of(a, worst->ns), time_of(a, s->usual_ns),
                    reason,
                    count > 1 ? TEXT("; %.0f steps were as slow", count) : "",
                    step));
}

static void look_slow(advice *a, const advice_stage *s)
{
    find_periods(a, s);
    look_steps(a, s, 0);
}

static void look_period(advice *a, const advice_stage *s)
{
    find_periods(a, s);
    look_steps(a, s, 1);
    look_steps(a, s, 2);
}

/* ---- Marks --------------------------------------------------------------------------- */

/* Of a scope the part that was in steps counts, or where that is more, of what is marked
 * in it. As --as steps does, looks into scopes that are nine tenths of the steps. */
static void look_outside(advice *a, const advice_stage *s)
{
    gnomon__report_node n;
    double self = 0, most = 0;
    const char *name = "";
    if (s->steps < LEAST_STEPS || !s->thread)
        return;
    advice_looks(a);
    for (size_t i = gnomon_profile_count(s->p, GNOMON_NODES); i > 0; i--) {
        if (!gnomon__advice_node(s, i, &n) || n.of.track != s->thread)
            continue;
        const advice_region *r = &a->regions[n.of.region];
        const double ns = (double)n.of.host->self_ns,
                     all = (double)n.of.host->total_ns,
                     in = all * fmin(r->own_ns / fmax(r->total_ns, 1), 1);
        if (a->nodes[i].marked_ns > 0 && all >= 0.9 * s->steps_ns) {
            self += ns;
            a->nodes[i].marked_ns += ns;
            name = ns > most ? n.region.name : name;
            most = fmax(most, ns);
        }
        a->nodes[n.of.parent].marked_ns += fmax(in, a->nodes[i].marked_ns);
    }
    const double out = fmax(s->steps_ns - a->nodes[0].marked_ns, 0);
    if (advice_share(out + self, s->steps_ns) > OUTSIDE_SHARE)
        advice_add(a, s, out + self, s->of.name,
                   "what takes it, and whether it is needed, is not known",
                   WORDS(share_of(a, out + self, s->steps_ns), time_of(a, out),
                         time_of(a, self), *name ? ": " : "", name));
}

static void look_marks(advice *a, const advice_stage *s)
{
    gnomon__report_node n, worst = {.of.host = NULL};
    for (size_t i = 0; gnomon__advice_next(s, &i, &n);) {
        const gnomon_stats *t = n.of.host;
        advice_looks(a);
        if (t->total_ns / t->count < (uint64_t)MARK_NS * MARK_TIMES &&
            (!worst.of.host || t->count > worst.of.host->count))
            worst = n;
    }
    const gnomon_stats *t = worst.of.host;
    const double cost = t ? (double)t->count * MARK_NS : 0;
    if (t && advice_share(cost, s->recorded_ns) > MARK_SHARE)
        advice_add(a, s, cost, worst.region.name, NULL,
                   WORDS(worst.region.name, time_of(a, cost),
                         share_of(a, cost, s->recorded_ns),
                         number_of(a, (double)t->count),
                         time_of(a, (double)t->total_ns / (double)t->count),
                         worst.region.name));
}

/* ---- Devices ------------------------------------------------------------------------- */

static const gnomon__cell *cell_of(const gnomon__report_rows *r, size_t row,
                                   const char *key)
{
    size_t i = 0;
    while (strcmp(r->of->columns[i].key, key) != 0)
        i++;
    return &gnomon__cells_of(&r->table, row)[i];
}

/* Where the host was in the longest idle times of the device: the scope with most. */
static const char *idle_in(const gnomon__report_rows *gaps, const char *device)
{
    uint64_t most = 0;
    const char *name = "";
    for (size_t i = 0; i < gaps->table.row_count; i++) {
        const char *scope = cell_of(gaps, i, "scope")->text;
        uint64_t ns = 0;
        for (size_t k = 0; scope && k < gaps->table.row_count; k++)
            if (cell_of(gaps, k, "scope")->text == scope &&
                strcmp(cell_of(gaps, k, "device")->text, device) == 0 &&
                strcmp(cell_of(gaps, k, "bound")->text, "host") == 0)
                ns += cell_of(gaps, k, "gap")->count;
        name = ns > most ? scope : name;
        most = ns > most ? ns : most;
    }
    return name;
}

static void say_device(advice *a, const advice_stage *s, bool is_launch,
                       const gnomon__report_rows *r, size_t row,
                       const gnomon__report_rows *gaps)
{
    const char *device = cell_of(r, row, "device")->text;
    const double busy = (double)cell_of(r, row, "busy")->count,
                 host = (double)cell_of(r, row, "host_bound")->count,
                 own = (double)cell_of(r, row, "device_bound")->count,
                 work = (double)cell_of(r, row, "work")->count,
                 idle = is_launch ? host : host + own;
    const char *part = share_of(a, idle, busy + host + own), *in = "";
    advice_looks(a);
    if (advice_share(idle, busy + host + own) <= IDLE_SHARE ||
        (host < work * LAUNCH_US * 1000) != is_launch)
        return;
    in = is_launch ? "" : idle_in(gaps, device);
    advice_add(a, s, idle, TEXT("%s", device), NULL, /* its report goes */
               is_launch
                   ? WORDS(device, part, number_of(a, work),
                           time_of(a, busy / work), time_of(a, host / work))
                   : WORDS(device, part, time_of(a, host),
                           *in ? ", most in " : "", in));
}

/* The report gpu knows the union of streams, and whom each idle time waited for. */
static void look_devices(advice *a, const advice_stage *s, bool is_launch)
{
    static const gnomon__table_choice choice = {.limit = 200, .sort = -1};
    const gnomon__report *const reports[] = {&gnomon__gpu, &gnomon__gpu_devices,
                                             &gnomon__gpu_gaps};
    gnomon__report_rows of[3];
    size_t made = 0;
    while (s->is_first_of_profile && made < 3 && !a->code &&
           (!made || !of[0].none)) {
        a->code = gnomon__report_make(&of[made], reports[made], &choice,
                                      made ? of[0].more : NULL, s->p);
        made++;
    }
    for (size_t i = 0; !a->code && made == 3 && i < of[1].table.row_count; i++)
        if (cell_of(&of[1], i, "host_bound")->is_there)
            say_device(a, s, is_launch, &of[1], i, &of[2]);
    while (made)
        gnomon__report_free(&of[--made]);
}

static void look_launch(advice *a, const advice_stage *s)
{
    look_devices(a, s, true);
}

static void look_idle(advice *a, const advice_stage *s)
{
    look_devices(a, s, false);
}

/* If waits are inside one another, the outermost counts; the finding names the
 * scope around it. */
static void look_sync(advice *a, const advice_stage *s)
{
    gnomon__report_node n, above;
    const double whole = s->steps > 0 ? s->steps_ns : s->recorded_ns;
    const advice_region *worst = &a->regions[0];
    for (size_t i = 0; gnomon__advice_next(s, &i, &n);) {
        if (!(a->regions[n.of.region].is & ~a->nodes[i].inside & IS_WAIT))
            continue;
        advice_looks(a);
        (void)gnomon__report_node_at(s->p, n.of.parent, &above);
        advice_region *r = &a->regions[above.of.region];
        r->waits_ns += (double)n.of.host->total_ns;
        r->waits_in = n.of.region;
        worst = r->waits_ns > worst->waits_ns ? r : worst;
    }
    const char *name = worst == a->regions
                           ? "The program"
                           : name_of(s->p, (size_t)(worst - a->regions));
    if (advice_share(worst->waits_ns, whole) > SYNC_SHARE)
        advice_add(a, s, worst->waits_ns, name, NULL,
                   WORDS(name, share_of(a, worst->waits_ns, whole),
                         s->steps > 0 ? "steps" : "time",
                         name_of(s->p, worst->waits_in), name));
}

/* ---- Memory -------------------------------------------------------------------------- */

/* A line through (step, bytes) by least squares. A point may be of several steps, whose
 * mean it is. */
typedef struct advice_line {
    double points, n, x, y, xx, xy, yy;
} advice_line;

/* What was in use by steps, from the first point on. */
typedef struct advice_level {
    advice_line all, later; /* all; the later half of the stage */
    double first, base;     /* of the first point: its step, and its bytes */
} advice_level;

static void line_add(advice_line *l, double n, double x, double y)
{
    l->points++;
    l->n += n;
    l->x += n * x;
    l->y += n * y;
    l->xx += n * x * x;
    l->xy += n * x * y;
    l->yy += n * y * y;
}

static double slope_of(const advice_line *l)
{
    const double d = l->n * l->xx - l->x * l->x;
    return d > 0 ? (l->n * l->xy - l->x * l->y) / d : 0;
}

static void level_add(advice_level *l, double steps, double step, double bytes,
                      bool is_later)
{
    l->first = l->all.n > 0 ? l->first : step;
    l->base = l->all.n > 0 ? l->base : bytes;
    line_add(&l->all, steps, step - l->first, bytes - l->base);
    if (is_later)
        line_add(&l->later, steps, step - l->first, bytes - l->base);
}

/* Of all steps, however many there were. False: the stage has no such strip. */
static bool level_of_bins(const advice_stage *s, uint32_t track,
                          uint32_t region, advice_level *to)
{
    gnomon_strip_info of;
    for (size_t i = 1; !gnomon_profile_strip(s->p, i, &of); i++) {
        if (of.stage != s->number || of.track != track || of.region != region)
            continue;
        for (size_t k = of.bin_count / 5; k < of.bin_count; k++) {
            const gnomon_bin *bin = gnomon_bin_at(&of, k);
            if (bin->count)
                level_add(to, (double)of.width, (double)(k * of.width),
                          bin->sum / bin->count, k >= of.bin_count / 2);
        }
        return true;
    }
    return false;
}

/* Of the single steps: by the samples of a counter, or by what a pool had. */
static void level_of_events(advice *a, const advice_stage *s, uint32_t kind,
                            uint32_t of, advice_level *to)
{
    const uint64_t from = s->of.begin_ns + (s->of.end_ns - s->of.begin_ns) / 5;
    gnomon__event_walk w;
    const gnomon_event_info *e;
    gnomon__keyed_list list = {0};
    bool ok = true;
    gnomon__walk_all(&w, s->p);
    while (ok && (e = gnomon__walk_next(&w)) != NULL)
        if (e->kind == kind && e->region == of && fabs(e->value) < 1e15)
            ok = gnomon__keyed_add(&list, e->begin_ns,
                                   (uint64_t)(int64_t)e->value, 0);
    gnomon__keyed_sort(&list);
    for (size_t i = 1; kind == GNOMON_EVENT_MEMORY && i < list.count; i++)
        list.at[i].value += list.at[i - 1].value; /* wraps below 0 */
    for (size_t i = 0; ok && i < a->step_count; i++) {
        const advice_step *t = &a->steps[i];
        const size_t k =
            gnomon__keyed_from(&list, t->begin_ns + (uint64_t)t->ns);
        if (t->begin_ns >= from && k)
            level_add(to, 1, (double)t->number,
                      (double)(int64_t)list.at[k - 1].value,
                      i >= a->step_count / 2);
    }
    free(list.at);
    a->code = ok ? a->code : GNOMON_ENOMEM;
}

static void look_level(advice *a, const advice_stage *s, const char *name,
                       uint32_t track, uint32_t region)
{
    advice_level l = {0};
    const advice_line *all = &l.all;
    if (!level_of_bins(s, track, region, &l) && a->step_count >= GROWTH_STEPS)
        level_of_events(a, s,
                        region ? GNOMON_EVENT_COUNTER : GNOMON_EVENT_MEMORY,
                        region ? region : track, &l);
    if (all->n < GROWTH_STEPS || all->points < 3)
        return;
    advice_looks(a);
    const double slope = slope_of(all), mean = all->y / all->n,
                 rest = all->yy - all->y * mean -
                        slope * (all->xy - all->x * mean),
                 noise = sqrt(fmax(rest, 0) / (all->points - 2)),
                 rise = slope * all->n;
    if (rise > GROWTH_TIMES * noise && slope_of(&l.later) >= slope / 2 &&
        advice_share(rise, l.base + mean) > GROWTH_SHARE)
        advice_add(a, s, 0, name, NULL,
                   WORDS(name, number_of(a, slope / 1024),
                         number_of(a, (l.base + mean + rise / 2) / 1024),
                         number_of(a, all->n), number_of(a, l.first)));
}

static void look_memory(advice *a, const advice_stage *s)
{
    static const char *const words[] = {"alloc", "memory", "rss", "heap", NULL};
    static const char *const others[] = {"reserved", "total", "free", NULL};
    gnomon_track_info t;
    gnomon_counter_info c;
    for (uint32_t i = 1; !a->code && !gnomon_profile_track(s->p, i, &t); i++)
        if (t.kind == GNOMON_TRACK_POOL && t.run == s->of.run &&
            !gnomon__advice_word(t.name, others))
            look_level(a, s, t.name, i, 0);
    for (size_t i = 1; !a->code && !gnomon_profile_counter(s->p, i, &c); i++) {
        const char *name = name_of(s->p, c.region);
        if (c.stage == s->number && gnomon__advice_word(name, words) &&
            !gnomon__advice_word(name, others))
            look_level(a, s, name, c.track, c.region);
    }
}

/* ---- Ranks --------------------------------------------------------------------------- */

/* Self time in a step, by the region's name. */
static double self_in_step(const advice_stage *s, const char *name)
{
    gnomon__report_node n;
    double ns = 0;
    for (size_t i = 0; gnomon__advice_next(s, &i, &n);)
        if (n.of.track == s->thread && strcmp(n.region.name, name) == 0)
            ns += (double)n.of.host->self_ns;
    return ns / s->steps;
}

/* What the rank behind does longer than the other one; "": nothing that is marked. */
static const char *longer_in(advice *a, const advice_stage *behind,
                             const advice_stage *other, double gap)
{
    const char *name = "";
    double most = gap / 2;
    a->code = gnomon__advice_begin(a, behind);
    for (size_t i = gnomon_profile_count(behind->p, GNOMON_REGIONS);
         !a->code && i > 0; i--) {
        const double ns = a->regions[i].self_ns / behind->steps;
        if (ns <= most || a->regions[i].is & IS_COLLECTIVE)
            continue;
        const char *of = name_of(behind->p, i);
        const double more = ns - self_in_step(other, of);
        name = more > most ? of : name;
        most = fmax(most, more);
    }
    return name;
}

static int by_waits(const void *left, const void *right)
{
    const advice_stage *a = *(const advice_stage *const *)left,
                       *b = *(const advice_stage *const *)right;
    return a->waits_ns < b->waits_ns ? -1
           : a->waits_ns > b->waits_ns
               ? 1
               : (a->run.rank > b->run.rank) - (a->run.rank < b->run.rank);
}

/* All ranks end a step at once, so the one that is behind waits least for the others. */
static void look_behind(advice *a, const advice_stage *s)
{
    const advice_stage **ranks =
        gnomon__table_take(&a->memory, (a->count + 1) * sizeof *ranks);
    size_t count = 0;
    a->code = ranks ? a->code : GNOMON_ENOMEM;
    for (const advice_stage *t = a->stages;
         ranks && s->is_first_of_name && t < a->stages + a->count; t++)
        if (strcmp(t->of.name, s->of.name) == 0 && t->run.rank >= 0 &&
            t->of.ordinal == s->of.ordinal && t->waits_ns >= 0)
            ranks[count++] = t;
    if (count < 2)
        return;
    advice_looks(a);
    qsort(ranks, count, sizeof *ranks, by_waits);
    const advice_stage *behind = ranks[0], *other = ranks[count / 2];
    const double gap = other->waits_ns - behind->waits_ns;
    if (advice_share(gap, behind->usual_ns) <= BEHIND_SHARE)
        return;
    const char *name = longer_in(a, behind, other, gap);
    advice_add(a, behind, gap * behind->steps, s->of.name,
               *name ? NULL : "what takes longer: nothing that is marked",
               WORDS(TEXT("%" PRId32, behind->run.rank),
                     time_of(a, behind->waits_ns), time_of(a, other->waits_ns),
                     *name ? "; what takes longer on it: " : "", name,
                     number_of(a, (double)count)));
    a->code = a->code ? a->code : gnomon__advice_begin(a, s);
}

/* ---- The recording ------------------------------------------------------------------- */

static void look_schedule(advice *a, const advice_stage *s)
{
    gnomon_view_info v;
    gnomon_stage_info stage;
    gnomon_node_info n;
    double steps = 0;
    for (size_t i = 1; !gnomon_profile_stage(s->p, i, &stage); i++)
        steps += stage.steps ? (double)stage.steps->count : 0;
    if (!s->is_first_of_profile || steps <= 0)
        return;
    for (uint32_t i = 1; !gnomon_profile_view(s->p, i, &v); i++) {
        bool is_met = !strstr(v.words, "schedule=");
        if (is_met)
            continue;
        advice_looks(a);
        for (size_t k = 1; !is_met && !gnomon_profile_node(s->p, k, &n); k++)
            is_met = n.view == i && n.host && n.host->count;
        if (!is_met)
            advice_add(a, s, 0, v.words, NULL,
                       WORDS(v.words, number_of(a, steps)));
    }
}

static void look_losses(advice *a, const advice_stage *s)
{
    static const char *const words[] = {"lost",        "other_",   "events_",
                                        "activities_", "too_deep", NULL};
    gnomon_loss_info l;
    gnomon_node_info n;
    double all = 0;
    char text[512];
    if (!s->is_first_of_profile)
        return;
    advice_looks(a);
    for (size_t i = 1; !gnomon_profile_node(s->p, i, &n); i++)
        all += n.host ? (double)n.host->count : 0;
    for (size_t i = 1; !gnomon_profile_loss(s->p, i, &l); i++)
        if (gnomon__cli_is_damage(&l) ||
            (gnomon__advice_word(l.kind, words) &&
             100 * (double)l.count > LOST_SHARE * all))
            advice_add(a, s, 0, l.kind, NULL,
                       WORDS(strncmp(l.kind, "events_", 7) == 0
                                 ? "The timeline lacks"
                                 : "Tables are wrong by",
                             gnomon__cli_loss(text, sizeof text, &l),
                             number_of(a, all),
                             gnomon__cli_is_damage(&l)
                                 ? "an undamaged copy of the file"
                                 : "more memory for recording: mem=, or a "
                                   "filter"));
}

static void look_clock(advice *a, const advice_stage *s)
{
    gnomon_node_info n;
    double nodes = 0, most = 0;
    uint64_t before = s->run.zero_unix_ns;
    if (!s->is_first_of_run)
        return;
    advice_looks(a);
    for (size_t i = 1; !gnomon_profile_node(s->p, i, &n); i++)
        nodes += s->is_first_of_profile && n.flags & GNOMON_NODE_CLOCK;
    for (size_t i = 0; i < s->run.anchor_count; i++) {
        const gnomon_clock_anchor *to = gnomon_anchor_at(&s->run, i);
        most =
            fmax(most, fabs((double)(int64_t)(to->unix_ns - to->ns - before)));
        before = to->unix_ns - to->ns;
    }
    if (nodes > 0)
        advice_add(a, s, 0, "run", NULL,
                   WORDS("The clock stepped back while ", number_of(a, nodes),
                         " paths ran: their times do not add up",
                         "do not compare these times"));
    if (most > CLOCK_MS * 1e6)
        advice_add(a, s, 0, "system", NULL,
                   WORDS("The system's clock was set by ", time_of(a, most),
                         " meanwhile: moments of ranks cannot be compared",
                         "merge --align uses what ranks did together"));
}

/* ---- All ----------------------------------------------------------------------------- */

const gnomon__advice_rule gnomon__advice_rules[] = {
    {"loader", look_loader, "steps, marks of a loader",
     "> " AS_TEXT(WAIT_SHARE) " % of the steps; workers idle: <= " AS_TEXT(
         WORKER_SHARE) " % busy; no core left: < 1 of cpus",
     "The loop waits {} of the steps for {}{}{}",
     "action {}, without the first batch of each epoch, which is start-up",
     "{}"},
    {"slow step", look_slow, "single steps",
     "> " AS_TEXT(SLOW_TIMES) " times the median, and > " AS_TEXT(
         SLOW_MS) " ms more; not periodic",
     "Step {} took {}, usually {}{}{}", "step {}",
     "see what ran then: --as steps, or of a trace the page's timeline"},
    {"periodic step", look_period, "single steps",
     "> " AS_TEXT(PERIOD_SHARE) " % of the steps; 3 of > 1.25 times the "
                                "median, < 1 in 1000 by chance",
     "1 of {} steps takes {} more, {} of the total time{}",
     "{} of the recorded steps, such as step {}",
     "do what happens then, such as validation, a checkpoint or a loader's new "
     "workers, less often, or beside the steps"},
    {"unmarked", look_outside, "steps, marks",
     "> " AS_TEXT(OUTSIDE_SHARE) " % of the steps",
     "{} of the steps is not marked: {} outside of all marks, {} directly in "
     "scopes around the whole step{}{}",
     "steps, and self times of the thread that makes them",
     "mark what runs there, or record functions of Python"},
    {"mark", look_marks, "marks",
     "> " AS_TEXT(MARK_SHARE) " % of the time, at " AS_TEXT(
         MARK_NS) " ns a mark; executions < " AS_TEXT(MARK_TIMES) " marks",
     "The mark {} costs about {}, {} of the time, for {} executions of only "
     "{}",
     "action {}", "leave it out by exclude=, or mark what is around it"},
    {"launch", look_launch, "single work of devices",
     "> " AS_TEXT(IDLE_SHARE) " % idle by the host, < " AS_TEXT(
         LAUNCH_US) " us before each piece of work",
     "{} waits {} of the time for launches: {} pieces of work of {}, with {} "
     "before each",
     "work of all streams at once, copies too: --as gpu",
     "fewer and larger pieces: CUDA graphs, torch.compile, larger batches"},
    {"idle device", look_idle, "single work of devices",
     "> " AS_TEXT(IDLE_SHARE) " % idle",
     "{} is idle {} of the time, {} of it because the host launches "
     "nothing{}{}",
     "work of all streams at once, copies too: --as gpu",
     "launch ahead of what the host does there, or do that on another thread"},
    {"device wait", look_sync, "marks of .item(), .cpu() or a synchronization",
     "> " AS_TEXT(SYNC_SHARE) " % of the steps",
     "{} waits for the device: {} of the {} in {}", "actions below {}",
     "read the value every few steps, or keep sums on the device"},
    {"memory", look_memory, "memory in use by steps",
     ">= " AS_TEXT(GROWTH_STEPS) " steps; rise > " AS_TEXT(
         GROWTH_TIMES) " times its noise, and > " AS_TEXT(GROWTH_SHARE) " %",
     "Memory grows: {} by {} KiB in each step, to {} KiB",
     "{} steps after the first fifth, from step {}",
     "find what is kept from step to step: losses with their graph, caches "
     "without "
     "a limit"},
    {"rank behind", look_behind, "collectives of several ranks",
     "> " AS_TEXT(
         BEHIND_SHARE) " % of a step less waiting than the median rank",
     "Rank {} is behind: in a step it waits {} in collectives, and the "
     "median rank {}{}{}",
     "collectives of {} ranks",
     "compare its data, host and device with those of other ranks"},
    {"schedule", look_schedule, "a schedule", "no execution in it",
     "The schedule {} was never reached: {} steps were made",
     "views, and steps", "a shorter wait= and warmup=, or a longer run"},
    {"losses", look_losses, "losses",
     "> " AS_TEXT(LOST_SHARE) " % of the executions, or damage",
     "{} what was lost: {}", "losses, and {} executions", "{}"},
    {"clock", look_clock, "a clock",
     "a step back, or > " AS_TEXT(CLOCK_MS) " ms", "{}{}{}",
     "flags of paths, and anchors of the clock", "{}"},
    {.look = NULL},
};

int gnomon__advise(gnomon__findings *to, const gnomon_profile *const *profiles,
                   size_t count)
{
    const gnomon__advice_rule *rules = gnomon__advice_rules;
    advice a = {.to = to};
    memset(to, 0, sizeof *to);
    for (size_t i = 0; i < count && !a.code; i++)
        gnomon__advice_stages(&a, profiles[i]);
    for (size_t i = 0; i < a.count && !a.code; i++) {
        a.code = gnomon__advice_begin(&a, &a.stages[i]);
        for (a.rule = 0; !a.code && rules[a.rule].look; a.rule++)
            rules[a.rule].look(&a, &a.stages[i]);
    }
    for (size_t i = 0; i < count && !a.code; i++)
        a.code = gnomon__profile_failed(profiles[i]);
    gnomon__table_free(&a.memory);
    gnomon__free(a.stages);
    return a.code;
}

void gnomon__findings_free(void *findings)
{
    gnomon__table_free(&((gnomon__findings *)findings)->texts);
}
