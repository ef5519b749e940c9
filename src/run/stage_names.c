/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The names of stages, and the sums over the stages of each name. */
#include <string.h>

#include "platform/error.h"
#include "run/run.h"

#define MAX_NAMES 1024u /* further ones share "(other)" */

/* The first is that of stages without a name. */
static char no_name[] = "";
static gnomon__named_stages unnamed = {.name = no_name};
static gnomon__named_stages *names[MAX_NAMES + 1] = {&unnamed};
static uint32_t stage_name_count = 1;

uint32_t gnomon__stage_name_find(const char *name)
{
    uint32_t i = 0;
    while (i < stage_name_count && strcmp(names[i]->name, name) != 0)
        i++;
    return i;
}

static gnomon__named_stages *make_name(const char *name)
{
    gnomon__named_stages *n = gnomon__alloc(sizeof *n);
    if (n && !(n->name = gnomon__strdup(name))) {
        gnomon__free(n);
        n = NULL;
    }
    return n;
}

uint32_t gnomon__stage_name_number(const char *name)
{
    uint32_t i = gnomon__stage_name_find(name);
    if (i < stage_name_count)
        return i;
    int is_last = i >= MAX_NAMES;
    if (is_last)
        gnomon__trouble(&gnomon__no_thread, bad_stages);
    if (i > MAX_NAMES)
        return MAX_NAMES;
    names[i] = make_name(is_last ? "(other)" : name);
    if (!names[i]) {
        gnomon__trouble(&gnomon__no_thread, bad_stages);
        return 0;
    }
    stage_name_count++;
    return i;
}

void gnomon__stage_names_add(const gnomon__stage_record *s)
{
    gnomon__named_stages *n = names[s->key.name];
    if (!n->count++)
        n->begin_ns = s->key.begin_ns;
    n->end_ns = s->key.end_ns;
    n->ordinal = s->key.ordinal;
    if (s->steps && !gnomon__total_add(&n->steps, s->steps))
        gnomon__log("no memory for the steps of a stage: profiles of the whole "
                    "run lack them");
}

const gnomon__named_stages *gnomon__stages_named(uint32_t number)
{
    return number < stage_name_count ? names[number] : NULL;
}

uint32_t gnomon__stage_name_count(void)
{
    return stage_name_count;
}

void gnomon__stage_names_clear(int frees)
{
    for (uint32_t i = 1; i < stage_name_count; i++) {
        if (!frees) {
            gnomon__keep_reachable(names[i]);
            continue;
        }
        gnomon__total_empty(&names[i]->steps);
        gnomon__free(names[i]->name);
        gnomon__free(names[i]);
    }
    if (frees)
        gnomon__total_empty(&unnamed.steps);
    unnamed = (gnomon__named_stages){.name = no_name};
    stage_name_count = 1;
}
