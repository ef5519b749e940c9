/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Compares each rank's clock with that of the first rank of its job and attempt. Ranks of
 * one host have one clock, so that the line of its first rank holds for all, unless their
 * barriers say that it cannot. A rank may have several lives, as where it was started again
 * by hand: steps then have the same numbers in each, so that only lives of one time are
 * compared. In memory are the barriers of the first rank's lives and of one other.
 *
 * Tapes of ranks may begin and end at different moments, so the n-th execution of a barrier
 * is counted from the begin of its step, where steps are known. */
#include "merge/align.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "merge/united.h"
#include "platform/error.h"
#include "platform/hash.h"
#include "platform/memory.h"
#include "print/events.h"
#include "print/order.h"
#include "profile/fields.h"

#define MOST_BARRIERS 16384u

typedef struct barrier_node {
    uint64_t key, last; /* the step of its last execution, and 1 */
    uint32_t n;         /* executions in that one */
    int is_barrier;
} barrier_node;

typedef struct barrier_reader {
    const gnomon_profile *p;
    const char *name;
    gnomon__barriers *out;
    gnomon_step_info *steps; /* by begin */
    size_t step_count;
    barrier_node *nodes; /* by number */
} barrier_reader;

/* ---- What a barrier is -------------------------------------------------------------- */

/* A key says the same in all ranks: regions have one number in all, and threads a name.
 * Parents come before their children. */
static void name_node(barrier_reader *r, uint32_t node)
{
    gnomon_node_info n;
    gnomon_region_info region;
    gnomon_track_info track;
    gnomon_stage_info stage = {.ordinal = 0};
    if (gnomon_profile_node(r->p, node, &n) ||
        gnomon_profile_region(r->p, n.region, &region) ||
        gnomon_profile_track(r->p, n.track, &track))
        return;
    (void)gnomon_profile_stage(r->p, n.stage, &stage);
    r->nodes[node].is_barrier = r->name ? strcmp(region.name, r->name) == 0
                                        : region.kind == GNOMON_KIND_COLLECTIVE;
    r->nodes[node].key = gnomon__mix(
        n.parent ? r->nodes[n.parent].key
                 : gnomon__mix(gnomon__mix(stage.ordinal, track.kind),
                               gnomon__hash_text(track.name)),
        n.region);
}

GNOMON__ORDER(compare_step_begins, gnomon_step_info, UP(begin_ns))

static int begin_reading(barrier_reader *r)
{
    const size_t nodes = gnomon_profile_count(r->p, GNOMON_NODES);
    const size_t steps = gnomon_profile_count(r->p, GNOMON_STEPS);
    r->steps = gnomon__alloc((steps + 1) * sizeof *r->steps);
    r->nodes = gnomon__alloc((nodes + 1) * sizeof *r->nodes);
    if (!r->steps || !r->nodes)
        return gnomon__no_memory_to_merge();
    for (uint32_t i = 1; i <= nodes; i++)
        name_node(r, i);
    for (size_t i = 1; i <= steps; i++) {
        gnomon_step_info *s = &r->steps[r->step_count];
        if (!gnomon_profile_step(r->p, i, s) && s->end_ns)
            r->step_count++;
    }
    GNOMON__SORT(r->steps, r->step_count, compare_step_begins);
    return GNOMON_OK;
}

/* ---- Which are kept ------------------------------------------------------------------ */

static int is_kept(const gnomon__barriers *b, const gnomon__barrier *one)
{
    return (one->step ? one->step : one->n) % b->stride == 0;
}

/* Keeps every second of what is there. Other ranks do the same, so what is kept is the
 * same. */
static void thin_out(gnomon__barriers *b)
{
    size_t kept = 0;
    b->stride *= 2;
    for (size_t i = 0; i < b->count; i++)
        if (is_kept(b, &b->of[i]))
            b->of[kept++] = b->of[i];
    b->count = kept;
}

static const gnomon_step_info *step_around(const barrier_reader *r, uint64_t ns)
{
    size_t low = 0, high = r->step_count;
    GNOMON__SEARCH(low, high, i, r->steps[i].begin_ns <= ns)
    return low && ns < r->steps[low - 1].end_ns ? &r->steps[low - 1] : NULL;
}

static int read_barrier(barrier_reader *r, const gnomon_event_info *e)
{
    gnomon__barriers *b = r->out;
    barrier_node *node = &r->nodes[e->node];
    if (e->kind != GNOMON_EVENT_EXECUTION || !node->is_barrier)
        return GNOMON_OK;
    const gnomon_step_info *step = step_around(r, e->begin_ns);
    const uint64_t place = step ? (uint64_t)(step - r->steps) + 1 : 0;
    if (node->last != place)
        node->n = 0;
    node->last = place;
    gnomon__barrier one = {.key = node->key,
                           .step = step ? step->number + 1 : 0,
                           .stage = step ? step->ordinal : 0,
                           .n = node->n++,
                           .begin_ns = e->begin_ns,
                           .end_ns = e->begin_ns + e->duration_ns};
    if (!is_kept(b, &one))
        return GNOMON_OK;
    if (b->count == MOST_BARRIERS)
        thin_out(b);
    if (b->count == MOST_BARRIERS || !is_kept(b, &one))
        return GNOMON_OK;
    if (!gnomon__grow(&b->of, &b->room, b->count + 1, sizeof *b->of))
        return gnomon__no_memory_to_merge();
    b->of[b->count++] = one;
    return GNOMON_OK;
}

GNOMON__ORDER(compare_barriers, gnomon__barrier, UP(stage), UP(step), UP(key),
              UP(n))

GNOMON__ORDER(barrier_order, gnomon__barrier, OF(compare_barriers(a, b)),
              UP(begin_ns))

/* Those of a run of a merge: executions of regions of this name, or, if it is NULL, of all
 * collectives. GNOMON_OK or an error. */
static int read_barriers(gnomon__barriers *out, gnomon__merge *m, size_t run,
                         const char *name)
{
    gnomon_profile *p;
    gnomon__event_walk walk;
    const gnomon_event_info *e;
    int code = gnomon__merge_run(m, run, &p);
    if (code)
        return code;
    barrier_reader r = {.p = p, .name = name, .out = out};
    *out = (gnomon__barriers){.stride = 1};
    code = begin_reading(&r);
    gnomon__walk_all(&walk, p);
    while (!code && (e = gnomon__walk_next(&walk)) != NULL)
        code = read_barrier(&r, e);
    if (!code)
        code = gnomon__profile_failed(p);
    if (!code)
        GNOMON__SORT(out->of, out->count, barrier_order);
    gnomon__free(r.steps);
    gnomon__free(r.nodes);
    gnomon_profile_free(p);
    return code;
}

/* ---- Two ranks --------------------------------------------------------------------- */

/* Whether no other of the run is like it, as on two threads of one name. */
static int is_alone(const gnomon__barriers *b, size_t i)
{
    return (!i || compare_barriers(&b->of[i - 1], &b->of[i])) &&
           (i + 1 == b->count || compare_barriers(&b->of[i + 1], &b->of[i]));
}

size_t gnomon__barriers_match(const gnomon__barriers *a,
                              const gnomon__barriers *b, double zero_b,
                              gnomon__clock_pair **out)
{
    size_t count = 0, i = 0, k = 0;
    gnomon__clock_pair *pairs = gnomon__alloc(
        ((a->count < b->count ? a->count : b->count) + 1) * sizeof *pairs);
    *out = pairs;
    while (pairs && i < a->count && k < b->count) {
        const gnomon__barrier *x = &a->of[i], *y = &b->of[k];
        const int order = compare_barriers(x, y);
        if (!order && is_alone(a, i) && is_alone(b, k)) {
            const double begin = zero_b + (double)y->begin_ns;
            const double end = zero_b + (double)y->end_ns;
            pairs[count++] =
                (gnomon__clock_pair){.at = (double)x->end_ns,
                                     .end = (double)x->end_ns - end,
                                     .least = (double)x->begin_ns - end,
                                     .most = (double)x->end_ns - begin};
        }
        i += order <= 0;
        k += order >= 0;
    }
    return count;
}

/* ---- Which runs are compared ------------------------------------------------------ */

#define ALIGN_KEY "gnomon.clock"

/* From the zero of `a` to that of `b`. */
static double between(const gnomon_run_info *a, const gnomon_run_info *b)
{
    return (double)(int64_t)(b->zero_unix_ns - a->zero_unix_ns);
}

/* How long both ran at once, by their hosts' clocks; ns. */
static double common_time(const gnomon_run_info *a, const gnomon_run_info *b)
{
    const double zero = between(a, b);
    const double begin = zero > 0 ? zero : 0;
    const double end_b = zero + (double)b->now_ns;
    const double end = end_b < (double)a->now_ns ? end_b : (double)a->now_ns;
    return end > begin ? end - begin : 0;
}

static int is_of_one_rank(const gnomon_run_info *a, const gnomon_run_info *b)
{
    return a->rank == b->rank && !gnomon__compare_texts(a->job, b->job);
}

static int is_of_one_attempt(const gnomon_run_info *a, const gnomon_run_info *b)
{
    return !gnomon__compare_texts(a->job, b->job) &&
           !gnomon__compare_texts(a->attempt, b->attempt);
}

/* The runs of a rank follow one another. */
typedef struct rank_lives {
    size_t first, end;
    int in_attempt; /* of the run's attempt there are several */
    int attempts;   /* there are several */
} rank_lives;

static rank_lives lives_of(const gnomon__merge *m, size_t run)
{
    const gnomon_run_info *r = gnomon__merge_info(m, run);
    rank_lives l = {.first = run, .end = run + 1};
    while (l.first && is_of_one_rank(gnomon__merge_info(m, l.first - 1), r))
        l.first--;
    while (l.end < gnomon__merge_count(m) &&
           is_of_one_rank(gnomon__merge_info(m, l.end), r))
        l.end++;
    for (size_t i = l.first; i < l.end; i++)
        if (i != run)
            *(is_of_one_attempt(gnomon__merge_info(m, i), r) ? &l.in_attempt
                                                             : &l.attempts) = 1;
    return l;
}

/* The first rank of the same job and attempt may have several runs: takes the one that
 * overlapped with this run for the longest time. */
static size_t reference_of(const gnomon__merge *m, size_t run)
{
    const gnomon_run_info *b = gnomon__merge_info(m, run);
    size_t best = 0;
    double longest = 0;
    while (!is_of_one_attempt(gnomon__merge_info(m, best), b))
        best++;
    if (is_of_one_rank(gnomon__merge_info(m, best), b))
        return run;
    const rank_lives l = lives_of(m, best);
    for (size_t i = best; i < l.end; i++) {
        const double time = common_time(gnomon__merge_info(m, i), b);
        if (is_of_one_attempt(gnomon__merge_info(m, i), b) && time > longest) {
            best = i;
            longest = time;
        }
    }
    return best;
}

/* Barriers of two lives of different times are not the same, whatever their numbers. */
static int are_of_one_time(const gnomon__merge *m, size_t a, size_t b)
{
    return (!lives_of(m, a).in_attempt && !lives_of(m, b).in_attempt) ||
           common_time(gnomon__merge_info(m, a), gnomon__merge_info(m, b)) > 0;
}

static int is_on_one_host(const gnomon__merge *m, size_t a, size_t b)
{
    return !gnomon__compare_texts(gnomon__merge_info(m, a)->host,
                                  gnomon__merge_info(m, b)->host) &&
           are_of_one_time(m, a, b);
}

/* Among those before `end` the nearest other run on the run's host whose line is its own,
 * or which is the one that all are compared with; the run itself: there is none. */
static size_t mate_of(const gnomon__aligned *all, const gnomon__merge *m,
                      size_t run, size_t end)
{
    const size_t to = all[run].to;
    for (size_t i = end; i-- > to;)
        if (i != run && all[i].to == to && all[i].with == i &&
            (i == to || all[i].fit.count) && is_on_one_host(m, i, run))
            return i;
    return run;
}

/* How far the clocks of two runs of one host may be apart. */
static double read_within(const gnomon__merge *m, size_t a, size_t b)
{
    return (double)gnomon__merge_info(m, a)->clock_error_ns +
           (double)gnomon__merge_info(m, b)->clock_error_ns;
}

/* Whether no barrier says that the line cannot be the run's. */
static int is_allowed(const gnomon__clock_fit *f, double error,
                      const gnomon__clock_pair *pairs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const double at = gnomon__clock_fit_at(f, pairs[i].at);
        if (at < pairs[i].least - error || at > pairs[i].most + error)
            return 0;
    }
    return 1;
}

static void take_line(gnomon__aligned *all, const gnomon__merge *m, size_t run,
                      size_t mate)
{
    const size_t count = all[run].fit.count;
    all[run].with = mate;
    all[run].fit = all[mate].fit;
    all[run].fit.count = count ? count : all[mate].fit.count;
    all[run].error = all[mate].error + read_within(m, mate, run);
}

static int fit_run(gnomon__aligned *all, const gnomon__merge *m, size_t run,
                   const gnomon__barriers *of_a, const gnomon__barriers *of_b)
{
    gnomon__aligned *to = &all[run];
    const size_t mate = mate_of(all, m, run, run);
    gnomon__clock_pair *pairs;
    const size_t count = gnomon__barriers_match(
        of_a, of_b,
        between(gnomon__merge_info(m, to->to), gnomon__merge_info(m, run)),
        &pairs);
    if (!pairs)
        return gnomon__no_memory_to_merge();
    to->fit.count = count;
    if (mate != run &&
        is_allowed(&all[mate].fit, all[mate].error + read_within(m, mate, run),
                   pairs, count))
        take_line(all, m, run, mate);
    else if (count) {
        to->fit = gnomon__clock_fit_of(pairs, count);
        to->error = to->fit.error;
    }
    gnomon__free(pairs);
    return GNOMON_OK;
}

/* `firsts`, by run: the barriers of those that others are compared with. */
static int align_run(gnomon__aligned *all, gnomon__merge *m, size_t run,
                     const char *name, gnomon__barriers *firsts)
{
    gnomon__aligned *to = &all[run];
    gnomon__barriers own = {.count = 0};
    to->to = reference_of(m, run);
    to->with = run;
    to->zero_unix_ns = gnomon__merge_info(m, run)->zero_unix_ns;
    if (to->to != run)
        to->error = read_within(m, to->to, run);
    if (name && strcmp(name, "hosts") == 0)
        return GNOMON_OK;
    if (to->to == run)
        return read_barriers(&firsts[run], m, run, name);
    if (!are_of_one_time(m, to->to, run))
        return GNOMON_OK;
    int code = read_barriers(&own, m, run, name);
    if (!code)
        code = fit_run(all, m, run, &firsts[to->to], &own);
    gnomon__free(own.of);
    return code;
}

static uint64_t moved(uint64_t zero, double by)
{
    return by < 0 ? zero - (uint64_t)(0.5 - by) : zero + (uint64_t)(by + 0.5);
}

void gnomon__align_by_fit(gnomon__aligned *a, uint64_t zero_unix_ns, double t)
{
    const gnomon__clock_fit *f = &a->fit;
    const double slow = 1 - f->drift;
    a->zero_unix_ns =
        moved(zero_unix_ns, (t + f->offset - f->drift * f->from) / slow);
    a->rate = f->drift / slow;
}

/* If the run has no barriers, it uses the line of its mate (mate_of). */
static void end_run(gnomon__aligned *all, const gnomon__merge *m, size_t run)
{
    gnomon__aligned *to = &all[run];
    const gnomon_run_info *a = gnomon__merge_info(m, to->to);
    if (to->to == run)
        return;
    if (!to->fit.count) {
        const size_t mate = mate_of(all, m, run, gnomon__merge_count(m));
        if (mate != run && mate != to->to)
            take_line(all, m, run, mate);
    }
    if (to->fit.offset != 0 || to->fit.drift != 0)
        gnomon__align_by_fit(to, a->zero_unix_ns,
                             between(a, gnomon__merge_info(m, run)));
}

int gnomon__align(gnomon__aligned **out, gnomon__merge *m, const char *name)
{
    const size_t count = gnomon__merge_count(m);
    gnomon__aligned *all = gnomon__alloc((count + 1) * sizeof *all);
    gnomon__barriers *firsts = gnomon__alloc((count + 1) * sizeof *firsts);
    int code = all && firsts ? GNOMON_OK : gnomon__no_memory_to_merge();
    for (size_t i = 0; all && firsts && !code && i < count; i++)
        code = align_run(all, m, i, name, firsts);
    for (size_t i = 0; all && !code && i < count; i++)
        end_run(all, m, i);
    for (size_t i = 0; firsts && i < count; i++)
        gnomon__free(firsts[i].of);
    gnomon__free(firsts);
    if (code)
        gnomon__free(all);
    *out = code ? NULL : all;
    return code;
}

/* ---- Applying ----------------------------------------------------------------------- */

static uint64_t aligned_moment(const gnomon__aligned *a, uint64_t ns)
{
    const double more = a->rate * (double)ns;
    return more < 0 && (uint64_t)-more > ns ? 0 : moved(ns, more);
}

void gnomon__align_event(const void *aligned, gnomon_event_info *e)
{
    const gnomon__aligned *a = aligned;
    const uint64_t end = aligned_moment(a, e->begin_ns + e->duration_ns);
    e->begin_ns = aligned_moment(a, e->begin_ns);
    e->duration_ns = end > e->begin_ns ? end - e->begin_ns : 0;
}

/* Events are moved when they are read. */
static void move_moments(const gnomon__aligned *a, gnomon__model *m)
{
    for (int k = 0; k < GNOMON__ENTITIES; k++) {
        const gnomon__struct *s = &gnomon__structs[k];
        for (const gnomon__field *f = s->fields; f < s->fields + s->field_count;
             f++)
            for (size_t i = 1;
                 f->rules & GNOMON__MOMENT && i <= m->tables[k].count; i++) {
                void *item = gnomon__model_at(m, k, i);
                const uint64_t ns = gnomon__field_bits(f, item);
                if (ns != UINT64_MAX)
                    gnomon__field_set_bits(f, item, aligned_moment(a, ns));
            }
    }
    if (m->events)
        gnomon__events_move(m->events, gnomon__align_event, a);
}

/* Anchors say what the host's clock said: by the new time they say what it should have
 * said. */
static int move_run(const gnomon__aligned *a, gnomon__model *m)
{
    gnomon_run_info *run = gnomon__model_at(m, GNOMON_RUNS, 1);
    gnomon_clock_anchor *anchors =
        gnomon__model_room(m, (run->anchor_count + 1) * sizeof *anchors);
    if (!anchors)
        return gnomon__no_memory_to_merge();
    for (size_t i = 0; i < run->anchor_count; i++) {
        gnomon__struct_take(&gnomon__structs[GNOMON__ANCHOR], &anchors[i],
                            gnomon_anchor_at(run, i),
                            gnomon_anchor_at(run, i)->struct_size);
        anchors[i].ns = aligned_moment(a, anchors[i].ns);
        anchors[i].unix_ns = a->zero_unix_ns + anchors[i].ns;
    }
    if (run->anchor_count)
        run->anchors = anchors;
    run->zero_unix_ns = a->zero_unix_ns;
    return GNOMON_OK;
}

static int note_in_metadata(const gnomon__aligned *a, int32_t to_rank,
                            gnomon__model *m)
{
    char json[320];
    gnomon_metadata_info *is = NULL;
    for (size_t i = 1; i <= gnomon__model_count(m, GNOMON_METADATA); i++) {
        gnomon_metadata_info *had = gnomon__model_at(m, GNOMON_METADATA, i);
        is = strcmp(had->key, ALIGN_KEY) == 0 ? had : is;
    }
    snprintf(json, sizeof json,
             "{\"rank\": %" PRId32 ", \"barriers\": %zu, \"offset_ns\": %.0f, "
             "\"drift_ppb\": %.3f, \"error_ns\": %.0f, \"proved\": %s}",
             to_rank, a->fit.count, a->fit.offset, a->fit.drift * 1e9, a->error,
             a->fit.count && !a->fit.is_loose ? "true" : "false");
    if (!is && !(is = gnomon__model_add(m, GNOMON_METADATA)))
        return gnomon__no_memory_to_merge();
    is->run = 1;
    is->key = ALIGN_KEY;
    is->json = gnomon__model_text(m, json);
    return is->json ? GNOMON_OK : gnomon__no_memory_to_merge();
}

int gnomon__align_profile(const gnomon__aligned *a, int32_t to_rank,
                          gnomon_profile *p)
{
    gnomon__model *m = (gnomon__model *)(void *)p;
    if (!gnomon__model_count(m, GNOMON_RUNS))
        return GNOMON_OK;
    move_moments(a, m);
    int code = move_run(a, m);
    return code ? code : note_in_metadata(a, to_rank, m);
}

/* ---- Telling ------------------------------------------------------------------------- */

typedef struct life_name {
    char text[96];
} life_name;

/* "rank 3", and of a rank with several lives which of them. */
static life_name name_of(const gnomon__merge *m, size_t run)
{
    const gnomon_run_info *r = gnomon__merge_info(m, run);
    const rank_lives l = lives_of(m, run);
    life_name name;
    char attempt[32] = "", process[32] = "";
    if (l.attempts)
        snprintf(attempt, sizeof attempt, ", attempt %.16s",
                 r->attempt ? r->attempt : "first");
    if (l.in_attempt)
        snprintf(process, sizeof process, ", process %" PRId64, r->pid);
    snprintf(name.text, sizeof name.text, "rank %" PRId32 "%s%s", r->rank,
             attempt, process);
    return name;
}

static void log_run(const gnomon__aligned *a, const gnomon__merge *m,
                    size_t run)
{
    const life_name name = name_of(m, run), to = name_of(m, a->to);
    if (a->with != run)
        gnomon__log("%s: by the clock of %s, which is on the same host, read "
                    "within %.3f us",
                    name.text, name_of(m, a->with).text,
                    read_within(m, a->with, run) / 1e3);
    else if (!a->fit.count)
        gnomon__log("%s: by the clocks of the hosts, read within %.3f us%s",
                    name.text, a->error / 1e3,
                    strcmp(gnomon__merge_info(m, run)->host,
                           gnomon__merge_info(m, a->to)->host)
                        ? "; those of two hosts may differ by more"
                        : "");
    else
        gnomon__log("%s: %+.3f us, drift %+.4f ppm, to %s by %zu barriers; "
                    "off by %s %.3f us",
                    name.text, a->fit.offset / 1e3, a->fit.drift * 1e6, to.text,
                    a->fit.count, a->fit.is_loose ? "about" : "at most",
                    a->error / 1e3);
}

/* Whether the job has a lower rank, which has no such attempt. */
static int has_lower_rank(const gnomon__merge *m, size_t run)
{
    const size_t first = lives_of(m, run).first;
    return first &&
           !gnomon__compare_texts(gnomon__merge_info(m, first - 1)->job,
                                  gnomon__merge_info(m, run)->job);
}

void gnomon__align_notes(const gnomon__aligned *all, const gnomon__merge *m)
{
    for (size_t i = 0; i < gnomon__merge_count(m); i++)
        if (all[i].to != i)
            log_run(&all[i], m, i);
        else if (has_lower_rank(m, i))
            gnomon__log("%s: by the clock of its host, as no lower rank has "
                        "this attempt",
                        name_of(m, i).text);
}
