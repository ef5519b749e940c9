/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Labels: which are open on each track, and how long those which launched work are on
 * streams, as Kineto writes it: for each label and stream a row from the begin of the
 * first to the end of the last work that was launched under it. Kineto's rows are 2 ns
 * longer and so overlap their neighbours', which viewers drop; these are exact. A scope
 * that events timed on the stream has a row of its own there, and needs none of these. */
#include "export/chrome.h"

#include <stdlib.h>

typedef struct gnomon__chrome_label {
    uint64_t id;
    uint32_t node, around;
    uint32_t first; /* of its spans, from 1; 0: none */
} gnomon__chrome_label;

typedef struct gnomon__chrome_span {
    uint64_t begin, end;
    uint32_t track, label;
    uint32_t next;  /* of the same label */
    uint32_t timed; /* its scope on the track, where events timed it; 0: not */
} gnomon__chrome_span;

/* ---- Labels that launch ------------------------------------------------------------ */

/* Adds the label that is around (outermost: 0) to those which launch. 0: no memory. */
static uint32_t add_label(gnomon__chrome_spans *s, uint64_t id, uint32_t node,
                          uint32_t around)
{
    const size_t count = s->label_count + 1;
    gnomon__chrome_label *of =
        count < UINT32_MAX
            ? gnomon__export_grown(s->labels, &s->label_room, count, sizeof *of)
            : NULL;
    if (!of)
        return 0;
    s->labels = of;
    of[s->label_count = count] = (gnomon__chrome_label){id, node, around, 0};
    return (uint32_t)count;
}

/* ---- Labels that are open ---------------------------------------------------------- */

static void drop_ended(gnomon__chrome_labels *l, uint64_t begin)
{
    while (l->open && l->of[l->open - 1].end <= begin)
        l->open--;
}

/* Executions that overlap may end below one that is open: these too, before more room is
 * taken. */
static void drop_all_ended(gnomon__chrome_labels *l, uint64_t begin)
{
    size_t kept = 0;
    for (size_t i = 0; i < l->open; i++)
        if (l->of[i].end > begin)
            l->of[kept++] = l->of[i];
    l->open = kept;
}

int gnomon__chrome_label_put(gnomon__chrome *c, size_t track,
                             const gnomon_event_info *e, uint64_t id)
{
    gnomon__chrome_labels *l = &c->around[track];
    const uint64_t begin = e->begin_ns;
    drop_ended(l, begin);
    const int is_full = l->open == l->room;
    if (is_full)
        drop_all_ended(l, begin);
    if (is_full && 2 * l->open >= l->room) { /* so that this is rare */
        void *of =
            gnomon__export_grown(l->of, &l->room, l->room, sizeof *l->of);
        if (!of)
            return 0;
        l->of = of;
    }
    l->of[l->open].end = begin + e->duration_ns;
    l->of[l->open].node = e->node;
    l->of[l->open].label = 0;
    l->of[l->open++].id = id;
    return 1;
}

uint64_t gnomon__chrome_label_at(gnomon__chrome *c, size_t track,
                                 uint64_t begin)
{
    gnomon__chrome_labels *l = &c->around[track];
    drop_ended(l, begin);
    return l->open ? l->of[l->open - 1].id : 0;
}

int gnomon__chrome_label_launches(gnomon__chrome *c, size_t track,
                                  uint64_t begin, uint32_t *label)
{
    gnomon__chrome_labels *l = &c->around[track];
    drop_ended(l, begin);
    *label = 0;
    for (size_t i = 0; i < l->open; i++) {
        if (!l->of[i].label)
            l->of[i].label =
                add_label(&c->spans, l->of[i].id, l->of[i].node, *label);
        *label = l->of[i].label;
        if (!*label)
            return 0;
    }
    return 1;
}

/* ---- Timed scopes ------------------------------------------------------------------- */

static uint32_t span_depth(const gnomon_profile *p, uint32_t node)
{
    gnomon_node_info n;
    uint32_t depth = 0;
    for (; node && !gnomon_profile_node(p, node, &n); node = n.parent)
        depth++;
    return depth;
}

/* The path to a label is also on the track of its work. Its node there, if events timed
 * it; 0: they did not. */
static uint32_t span_timed(const gnomon_profile *p, uint32_t work,
                           uint32_t label)
{
    gnomon_node_info n, of;
    uint32_t depth = span_depth(p, work), wanted = span_depth(p, label);
    uint32_t at = work;
    for (; depth > wanted && !gnomon_profile_node(p, at, &n); depth--)
        at = n.parent;
    return at && !gnomon_profile_node(p, at, &n) &&
                   !gnomon_profile_node(p, label, &of) &&
                   n.flags & GNOMON_NODE_PART && n.region == of.region
               ? at
               : 0;
}

/* ---- Spans -------------------------------------------------------------------------- */

static int extend_span(gnomon__chrome_spans *s, const gnomon_profile *p,
                       uint32_t label, const gnomon_event_info *e)
{
    const uint64_t end = e->begin_ns + e->duration_ns;
    uint32_t at = s->labels[label].first;
    while (at && s->of[at].track != e->track)
        at = s->of[at].next;
    if (at) { /* events of a track come in the order of their begins */
        if (s->of[at].end < end)
            s->of[at].end = end;
        return 1;
    }
    gnomon__chrome_span *of =
        s->count + 1 < UINT32_MAX
            ? gnomon__export_grown(s->of, &s->room, s->count + 1, sizeof *of)
            : NULL;
    if (!of)
        return 0;
    s->of = of;
    s->of[++s->count] = (gnomon__chrome_span){
        .begin = e->begin_ns,
        .end = end,
        .track = e->track,
        .label = label,
        .next = s->labels[label].first,
        .timed = span_timed(p, e->node, s->labels[label].node)};
    s->labels[label].first = (uint32_t)s->count;
    return 1;
}

/* Work counts for the label around its launch, and for all around that. */
static int extend_spans(gnomon__chrome *c, const gnomon_event_info *e)
{
    size_t count = 0;
    const gnomon__link_end *ends =
        gnomon__links_at(&c->links, &c->line, e, &count);
    const gnomon__link_end *launch = gnomon__chrome_launch(ends, count);
    uint32_t label =
        launch && launch->is_effect ? c->flows[launch->flow].label : 0;
    for (; label; label = c->spans.labels[label].around) {
        const gnomon__chrome_node *n =
            gnomon__chrome_node_at(c, c->spans.labels[label].node);
        if (!n ||
            (n->is_annotation && !extend_span(&c->spans, c->line.p, label, e)))
            return 0;
    }
    return 1;
}

/* The longer one first, and of equal ones the outer one, which came first. */
static int compare_spans(const void *left, const void *right)
{
    const gnomon__chrome_span *a = left, *b = right;
    int by = gnomon__export_order(a->track, b->track);
    by = by ? by : gnomon__export_order(a->begin, b->begin);
    by = by ? by : gnomon__export_order(b->end, a->end);
    return by ? by : gnomon__export_order(a->label, b->label);
}

/* By track and begin, from 0 on, without those of scopes that have rows. */
static int order_spans(gnomon__chrome_spans *s,
                       const gnomon__chrome_node *nodes, size_t tracks)
{
    size_t used = 0;
    s->next = calloc(tracks + 2, sizeof *s->next);
    if (!s->next)
        return 0;
    for (size_t i = 1; i <= s->count; i++)
        if (!s->of[i].timed || !nodes[s->of[i].timed].has_rows)
            s->of[used++] = s->of[i];
    s->count = used;
    if (s->count)
        qsort(s->of, s->count, sizeof *s->of, compare_spans);
    for (size_t i = s->count; i > 0; i--)
        s->next[s->of[i - 1].track] = i - 1;
    return 1;
}

/* A profile that has such rows itself, as one that was made of a trace, keeps them. Scopes
 * that events timed are others: waits are included. */
static int meet_work(gnomon__chrome *c, const gnomon_event_info *e)
{
    const gnomon__chrome_node *n = gnomon__chrome_node_at(c, e->node);
    if (n && n->is_timed)
        c->nodes[e->node].has_rows = 1;
    if (n && n->is_span)
        c->spans.count = c->spans.label_count = 0;
    return n && (n->is_wait || n->is_timed || !c->spans.label_count ||
                 extend_spans(c, e));
}

int gnomon__chrome_spans_find(gnomon__chrome *c)
{
    gnomon__event_cursor at;
    const gnomon_event_info *e;
    int ok = 1;
    gnomon__event_cursor_all(&at, c->what, c->line.p);
    while (ok && (c->spans.label_count || c->crossed.is_timed) &&
           (e = gnomon__event_cursor_next(&at)) != NULL)
        if (e->kind == GNOMON_EVENT_EXECUTION &&
            gnomon__timeline_on_device(&c->line, e->track))
            ok = gnomon__crossed_meet(&c->crossed, e, at.walk.number) &&
                 meet_work(c, e);
    gnomon__crossed_ready(&c->crossed);
    return ok && order_spans(&c->spans, c->nodes, c->line.track_count);
}

void gnomon__chrome_labels_end(gnomon__chrome *c)
{
    for (size_t i = 0; c->around && i <= c->line.track_count; i++)
        free(c->around[i].of);
    free(c->around);
    free(c->spans.labels);
    free(c->spans.of);
    free(c->spans.next);
    c->around = NULL;
    c->spans = (gnomon__chrome_spans){0};
}

/* ---- Rows ------------------------------------------------------------------------------ */

static int put_span(gnomon__chrome *c, const gnomon__chrome_span *s)
{
    const gnomon__chrome_label *label = &c->spans.labels[s->label];
    const uint64_t zero = gnomon__chrome_zero(c, s->track);
    uint32_t lane = gnomon__lanes_put(&c->lanes, s->track, 0, zero + s->begin,
                                      zero + s->end);
    gnomon_node_info n = {.region = 0};
    gnomon_region_info region = {.name = ""};
    const char *category = "gpu_user_annotation";
    if (lane == GNOMON__NO_LANE)
        return 0;
    (void)gnomon_profile_node(c->line.p, label->node, &n);
    (void)gnomon_profile_region(c->line.p, n.region, &region);
    if (c->what->for_tensorboard &&
        gnomon__chrome_hides_collective(category, region.name))
        category = "gpu_label";
    gnomon__chrome_row(c);
    gnomon__export_form(
        c->t,
        "{'ph':'X','cat':'%s','name':'%s','pid':%jd,'tid':%jd,'ts':%jx,"
        "'dur':%jx,'args':{'External id':%ju}}",
        category, region.name, c->line.tracks[s->track].pid,
        gnomon__chrome_tid(c, s->track, lane), zero + s->begin,
        s->end - s->begin, label->id);
    return 1;
}

int gnomon__chrome_spans_put(gnomon__chrome *c, size_t track, uint64_t ns)
{
    gnomon__chrome_spans *s = &c->spans;
    size_t *i = &s->next[track];
    int ok = 1;
    for (; ok && *i < s->count && s->of[*i].track == track &&
           s->of[*i].begin <= ns;
         ++*i)
        ok = put_span(c, &s->of[*i]);
    return ok;
}
