/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints the lines after a profiler's report, whose own bytes do not change. run/
 * calls it once for each report, after summary. A pure function. Numbers are
 * formatted from integers, as printf's decimal point depends on the host's locale.
 */
#include "print/footer.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "gnomon/profile.h"
#include "gnomon/tool.h"

#define FOOTER_NAMES 5u /* the most names of scopes in a line */

/* With three digits after the point. The unit is fixed, so that scripts can read the
 * lines. */
static const char *footer_decimal(char text[32], double value)
{
    uint64_t thousandths = (uint64_t)(value * 1000 + 0.5);
    snprintf(text, 32, "%" PRIu64 ".%03" PRIu64, thousandths / 1000,
             thousandths % 1000);
    return text;
}

static const char *footer_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* ---- Losses --------------------------------------------------------------- */

/* Texts for one are made of those for several, which programs have in GNOMON_HEALTH: a
 * second text for each would be 6 KB of the library. */
static const char loss_nouns[][2][10] = {
    {"were", "was"},       {"their", "its"},         {"them", "it"},
    {"scopes", "a scope"}, {"actions", "an action"}, {"begins", "begin"},
    {"parts", "a part"}};

/* A word of the text for one; *is_said: the noun that is counted came before. */
static const char *loss_word(const char *word, size_t *length, int *is_said)
{
    for (size_t i = 0; *is_said && i < sizeof loss_nouns / sizeof *loss_nouns;
         i++)
        if (strlen(loss_nouns[i][0]) == *length &&
            memcmp(loss_nouns[i][0], word, *length) == 0) {
            *length = strlen(loss_nouns[i][1]);
            return loss_nouns[i][1];
        }
    if (!*is_said && *length && word[*length - 1] == 's') {
        *is_said = 1;
        --*length;
    }
    return word;
}

/* What follows a colon says why, and stays as it is. */
const char *gnomon__loss_words(char room[GNOMON__LOSS_WORDS],
                               const char *several, uint64_t count)
{
    size_t used = 0;
    int is_said = 0;
    if (count != 1)
        return several;
    while (*several && *several != ':') {
        size_t length = strcspn(several, " ,:"), took = length;
        const char *word = loss_word(several, &length, &is_said);
        if (used + length + 1 >= GNOMON__LOSS_WORDS)
            break;
        memcpy(room + used, word, length);
        used += length;
        several += took;
        while ((*several == ' ' || *several == ',') &&
               used + 1 < GNOMON__LOSS_WORDS)
            room[used++] = *several++;
    }
    size_t rest = strlen(several), left = GNOMON__LOSS_WORDS - 1 - used;
    rest = rest < left ? rest : left;
    memcpy(room + used, several, rest);
    room[used + rest] = '\0';
    return room;
}

const char *gnomon__event_loss(const char *kind)
{
    if (strcmp(kind, "events_lost") == 0)
        return "events lost: no memory, or no path of their own (raise mem=)";
    if (strcmp(kind, "events_overwritten") == 0)
        return "events overwritten by later ones (raise mem=)";
    if (strcmp(kind, "activities_overwritten") == 0)
        return "events of device work overwritten by later ones (raise mem=)";
    return NULL;
}

/* ---- Open scopes --------------------------------------------------------- */

/* Whether open scope `i` is listed. With own_opens, only scopes that began in the
 * report's own stage are: other reports list theirs. */
static int footer_is_open(const gnomon_profile *profile,
                          const gnomon__footer_input *input, size_t i,
                          gnomon_open_info *open, gnomon_node_info *node)
{
    return !gnomon_profile_open(profile, i, open) &&
           !gnomon_profile_node(profile, open->node, node) &&
           (node->stage || !input->own_opens);
}

static uint64_t footer_open_count(const gnomon_profile *profile,
                                  const gnomon__footer_input *input)
{
    gnomon_open_info open;
    gnomon_node_info node;
    uint64_t count = 0;
    for (size_t i = 1; i <= gnomon_profile_count(profile, GNOMON_OPENS); i++)
        count += footer_is_open(profile, input, i, &open, &node) != 0;
    return count;
}

static void footer_opens(const gnomon_profile *profile,
                         const gnomon__footer_input *input,
                         const gnomon_writer *out, const char *head)
{
    uint64_t all = footer_open_count(profile, input), count = 0;
    gnomon_run_info run;
    if (!all || gnomon_profile_run(profile, 1, &run))
        return;
    out->print(out, "gnomon: %s%" PRIu64 " scope%s open:", head, all,
               all == 1 ? " is" : "s are");
    for (size_t i = 1; i <= gnomon_profile_count(profile, GNOMON_OPENS); i++) {
        char since[32];
        gnomon_open_info open;
        gnomon_node_info node;
        gnomon_region_info region;
        gnomon_track_info track;
        if (!footer_is_open(profile, input, i, &open, &node) ||
            gnomon_profile_region(profile, node.region, &region) ||
            gnomon_profile_track(profile, open.track, &track) ||
            ++count > FOOTER_NAMES)
            continue;
        uint64_t ns =
            run.now_ns > open.begin_ns ? run.now_ns - open.begin_ns : 0;
        out->print(out, "%s %s (%s, %s s)", count > 1 ? "," : "",
                   gnomon_shown(out, region.name),
                   gnomon_shown(out, track.name),
                   footer_decimal(since, (double)ns / 1e9));
    }
    if (count > FOOTER_NAMES)
        out->print(out, " and %" PRIu64 " more", count - FOOTER_NAMES);
    out->print(out, "\n");
}

/* ---- Why there are no rows, and the cost ----------------------------------- */

/* Why there are no rows. A reason hides those after it. */
static void footer_no_rows(const gnomon_profile *profile,
                           const gnomon__footer_input *input,
                           const gnomon_writer *out)
{
    uint64_t open = footer_open_count(profile, input);
    uint64_t excluded = input->regions_excluded;
    if (input->rank_excluded) {
        out->print(out, "gnomon: no rows: this rank is not in ranks=\n");
        return;
    }
    if (input->regions_seen == 0) {
        out->print(out, "gnomon: no rows: no marks were made\n");
        return;
    }
    if (excluded)
        out->print(out,
                   "gnomon: no rows: the filter excluded %" PRIu64
                   " of %" PRIu64 " region%s\n",
                   excluded, input->regions_seen,
                   footer_plural(input->regions_seen));
    if (input->scheduled && input->first_active_step == UINT64_MAX)
        out->print(out, "gnomon: no rows: the schedule is never active\n");
    else if (input->scheduled && input->steps_made < input->first_active_step)
        out->print(
            out,
            "gnomon: no rows: the schedule was never active: %" PRIu64
            " step%s made, the first active one would be step %" PRIu64 "\n",
            input->steps_made, input->steps_made == 1 ? " was" : "s were",
            input->first_active_step);
    else if (open)
        footer_opens(profile, input, out, "no rows: ");
    else if (!excluded)
        out->print(out, "gnomon: no rows: no scope ended in this stage\n");
}

static void footer_cost(const gnomon_profile *profile, uint64_t marks,
                        double pair_ns, const gnomon_writer *out)
{
    gnomon_stage_info s;
    char cost[32], wall[32], share[32];
    double cost_ns = (double)marks * pair_ns, wall_ns = 0;
    for (size_t i = 1; !gnomon_profile_stage(profile, i, &s); i++)
        wall_ns +=
            (double)(s.recorded_ns ? s.recorded_ns : s.end_ns - s.begin_ns);
    if (wall_ns <= 0)
        return;
    out->print(out,
               "gnomon: about %s ms of %s s (%s %%) went into %" PRIu64
               " mark%s at %" PRIu64 " ns each\n",
               footer_decimal(cost, cost_ns / 1e6),
               footer_decimal(wall, wall_ns / 1e9),
               footer_decimal(share, 100.0 * cost_ns / wall_ns), marks,
               footer_plural(marks), (uint64_t)(pair_ns + 0.5));
}

static void footer_loss(const gnomon_writer *out, const char *words,
                        uint64_t count)
{
    char room[GNOMON__LOSS_WORDS];
    out->print(out, "gnomon: %" PRIu64 " %s\n", count,
               gnomon__loss_words(room, words, count));
}

/* The counts follow one another, as their texts do. */
static uint64_t footer_count(const gnomon_health *h, size_t i)
{
    uint64_t count;
    memcpy(&count,
           (const char *)h + offsetof(gnomon_health, unmatched) +
               i * sizeof count,
           sizeof count);
    return count;
}

/* For spent memory the line names mem=, the option to change. */
static void footer_health(const gnomon__footer_input *input,
                          const gnomon_writer *out)
{
#define FOOTER_TEXT(field, text) text "\0"
    const char *words = GNOMON_HEALTH(FOOTER_TEXT);
#undef FOOTER_TEXT
    uint64_t other = input->after.other_nodes - input->before.other_nodes;
    if (other && *input->memory)
        out->print(out,
                   "gnomon: mem=%s is spent: %" PRIu64
                   " scope%s in \"(other)\"\n",
                   input->memory, other, other == 1 ? " is" : "s are");
    gnomon_health before = input->before;
    before.other_nodes =
        *input->memory ? input->after.other_nodes : before.other_nodes;
    for (size_t i = 0; *words; i++, words += strlen(words) + 1) {
        uint64_t was = footer_count(&before, i),
                 is = footer_count(&input->after, i);
        if (is > was)
            footer_loss(out, words, is - was);
    }
}

/* If there were too many names: shows the last ones within the limit, because
 * these are probably names that vary. */
static void footer_names(const gnomon_profile *profile,
                         const gnomon__footer_input *input,
                         const gnomon_writer *out)
{
    size_t count = gnomon_profile_count(profile, GNOMON_REGIONS), named = 0;
    gnomon_region_info region;
    if (input->after.other_names == input->before.other_names)
        return;
    for (size_t i = count; i && named < FOOTER_NAMES; i--)
        if (!gnomon_profile_region(profile, i, &region) && *region.name != '(')
            out->print(out, "%s%s",
                       named++ ? ", "
                               : "gnomon: the last names within the limit: ",
                       gnomon_shown(out, region.name));
    if (named)
        out->print(out, "\n");
}

/* ---- Events ------------------------------------------------------ */

/* A line for each kind, all threads together. */
static void footer_events(const gnomon_profile *profile,
                          const gnomon_writer *out)
{
    static const char *const kinds[] = {"events_lost", "events_overwritten",
                                        "activities_overwritten"};
    gnomon_loss_info l;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        uint64_t count = 0;
        for (size_t i = 1; !gnomon_profile_loss(profile, i, &l); i++)
            count += strcmp(l.kind, kinds[k]) == 0 ? l.count : 0;
        if (count)
            footer_loss(out, gnomon__event_loss(kinds[k]), count);
    }
}

/* ---- Scopes that ended late -------------------------------------- */

int gnomon__footer_late(const gnomon_profile *profile, const gnomon_writer *out)
{
    gnomon_stage_info stage;
    gnomon_node_info node;
    gnomon_region_info region;
    size_t named = 0, nodes = gnomon_profile_count(profile, GNOMON_NODES);
    if (gnomon_profile_stage(profile, 1, &stage) || !stage.late)
        return out->write(out, "", 0);
    out->print(out, "gnomon: %" PRIu64 " scope%s ", stage.late,
               footer_plural(stage.late));
    out->print(out, *stage.name ? "of stage %s" : "of an earlier stage%s",
               gnomon_shown(out, stage.name));
    out->print(out, " ended after its report, and %s in its profile:",
               stage.late == 1 ? "is" : "are");
    for (size_t i = 1; i <= nodes; i++)
        if (!gnomon_profile_node(profile, i, &node) && node.host &&
            node.host->count &&
            !gnomon_profile_region(profile, node.region, &region) &&
            named++ < FOOTER_NAMES)
            out->print(out, "%s %s %" PRIu64, named > 1 ? "," : "",
                       gnomon_shown(out, region.name), node.host->count);
    if (named > FOOTER_NAMES)
        out->print(out, " and %zu more", named - FOOTER_NAMES);
    return out->print(out, "\n");
}

/* Calls of a vendor's interface have times on the host too, but nobody marked them. */
static int footer_is_marked(const gnomon_profile *profile,
                            const gnomon_node_info *node)
{
    gnomon_track_info track;
    return gnomon_profile_track(profile, node->track, &track) != GNOMON_OK ||
           track.kind == GNOMON_TRACK_THREAD;
}

int gnomon__footer(const gnomon_profile *profile,
                   const gnomon__footer_input *input, const gnomon_writer *out)
{
    size_t nodes = profile ? gnomon_profile_count(profile, GNOMON_NODES) : 0;
    uint64_t marks = 0, rows = 0; /* memory may be outside of all scopes */
    for (size_t i = 1; i <= nodes; i++) {
        gnomon_node_info node;
        if (gnomon_profile_node(profile, i, &node) != GNOMON_OK)
            continue;
        rows += node.memory_count;
        if (node.host && footer_is_marked(profile, &node))
            marks += node.host->count;
    }
    rows += marks;
    if (input->forked_from)
        out->print(out,
                   "gnomon: process %" PRId64 ", forked from %" PRId64 "\n",
                   input->pid, input->forked_from);
    if (profile && rows == 0)
        footer_no_rows(profile, input, out);
    if (marks && input->pair_ns > 0)
        footer_cost(profile, marks, input->pair_ns, out);
    if (rows)
        footer_opens(profile, input, out, "");
    footer_health(input, out);
    if (profile)
        footer_names(profile, input, out);
    if (profile)
        footer_events(profile, out);
    return out->write(out, "", 0);
}
