/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The names of stages, and the sums over the stages of each name. */
#include <string.h>

#include "platform/error.h"
#include "platform/process.h"
#include "run/run.h"

#define MAX_NAMES 1024u /* further ones share "(other)" */

/* The first is that of stages without a name. */
static struct {
    gnomon__named_stages unnamed;
    uint32_t others;
} names GNOMON__OF_PROCESS;
static gnomon__named_stages *other_names[MAX_NAMES];

static gnomon__named_stages *named_stage(uint32_t number)
{
    static char no_name[] = "";
    if (number)
        return other_names[number - 1];
    names.unnamed.name = no_name;
    return &names.unnamed;
}

uint32_t gnomon__stage_name_find(const char *name)
{
    uint32_t i = 0;
    while (i <= names.others && strcmp(named_stage(i)->name, name) != 0)
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
    if (i <= names.others)
        return i;
    int is_last = i >= MAX_NAMES;
    if (is_last)
        gnomon__trouble(&gnomon__no_thread, bad_stages);
    if (i > MAX_NAMES)
        return MAX_NAMES;
    gnomon__named_stages *its = make_name(is_last ? "(other)" : name);
    if (!its) {
        gnomon__trouble(&gnomon__no_thread, bad_stages);
        return 0;
    }
    other_names[i - 1] = its;
    store_release(&names.others, i); /* a child may be forked at any moment */
    return i;
}

void gnomon__stage_names_add(const gnomon__stage_record *s)
{
    gnomon__named_stages *n = named_stage(s->key.name);
    if (!n->count++)
        n->begin_ns = s->key.begin_ns;
    n->end_ns = s->key.end_ns;
    n->ordinal = s->key.ordinal;
    if (s->steps && !gnomon__whole_steps_add(&n->steps, s->steps))
        gnomon__log("no memory for the steps of a stage: profiles of the whole "
                    "run lack them");
}

const gnomon__named_stages *gnomon__stages_named(uint32_t number)
{
    return number <= names.others ? named_stage(number) : NULL;
}

uint32_t gnomon__stage_name_count(void)
{
    return names.others + 1;
}

void gnomon__stage_names_clear(void)
{
    for (uint32_t i = 0; i < names.others; i++) {
        gnomon__whole_steps_empty(&other_names[i]->steps);
        gnomon__free(other_names[i]->name);
        gnomon__free(other_names[i]);
    }
    gnomon__whole_steps_empty(&names.unnamed.steps);
    memset(&names, 0, sizeof names);
}
