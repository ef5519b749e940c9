/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Shared by tests of specs and options: parsing that keeps the messages,
 * specs as text for comparison, and known profilers. Include it once in a
 * program. */
#ifndef GNOMON_TESTS_SPEC_TEXT_H
#define GNOMON_TESTS_SPEC_TEXT_H

#include "test.h"

#include <stdint.h>
#include <stdlib.h>

#include "platform/memory.h"
#include "spec/options.h"
#include "spec/spec.h"

static gnomon__complaints said;

static inline const char *complaint(unsigned i)
{
    return i < said.count ? said.line[i] : NULL;
}

static inline int parse(gnomon__spec *spec, const char *text)
{
    gnomon__complaints_free(&said);
    return gnomon__spec_parse(spec, NULL, text, "$GNOMON", &said);
}

/* A spec as text, with every value between angles, for comparison. */
static inline const char *spelled(const gnomon__spec *spec)
{
    static char out[4096];
    size_t i, k, n = 0;
#define SPELL(...) n += (size_t)snprintf(out + n, sizeof out - n, __VA_ARGS__)
    out[0] = '\0';
    for (i = 0; i < spec->item_count; i++) {
        const gnomon__spec_item *item = &spec->items[i];
        SPELL("%s<%s>", item->is_path ? "path" : "", item->name);
        for (k = 0; k < item->settings.count; k++)
            SPELL("[%s:%s]", item->settings.at[k].key,
                  item->settings.at[k].value ? item->settings.at[k].value
                                             : "-");
    }
    for (k = 0; k < spec->defaults.count; k++)
        SPELL("free[%s:%s]", spec->defaults.at[k].key,
              spec->defaults.at[k].value ? spec->defaults.at[k].value : "-");
    return out;
}

static inline int equal(const gnomon__spec *a, const gnomon__spec *b)
{
    char *first = strdup(spelled(a));
    int same = strcmp(first, spelled(b)) == 0;
    free(first);
    return same;
}

/* Prints the spec, parses the text again, and returns the text. */
static inline const char *round_trip(const gnomon__spec *spec)
{
    static char text[4096];
    gnomon__spec again;
    size_t n = gnomon__spec_print(spec, text, sizeof text);
    CHECK_EQ(strlen(text), n);
    if (!CHECK_EQ(parse(&again, text), GNOMON_OK) ||
        !CHECK(equal(spec, &again)))
        fprintf(stderr, "    %s\n", text);
    gnomon__spec_free(&again);
    return text;
}

static const gnomon_option_info own_options[] = {
    {sizeof(gnomon_option_info), GNOMON_OPTION_BOOL, "extended", "true",
     "all columns"},
    {sizeof(gnomon_option_info), GNOMON_OPTION_INTEGER, "rows", "-1",
     "most rows"},
    {sizeof(gnomon_option_info), GNOMON_OPTION_DURATION, "every", NULL,
     "how often"},
    {sizeof(gnomon_option_info), GNOMON_OPTION_BYTES, "room", "64KiB",
     "buffer"},
    {sizeof(gnomon_option_info), GNOMON_OPTION_TEXT, "title", NULL, "title"},
    {sizeof(gnomon_option_info), GNOMON_OPTION_INTEGER, "file", "7",
     "never reached: the core has it"},
    {.key = NULL},
};
static const gnomon_profiler simple = {
    .struct_size = sizeof simple, .name = "simple", .options = own_options};
static const gnomon_profiler logs = {.struct_size = sizeof logs, .name = "log"};
static const gnomon_profiler oldest = {
    .struct_size = offsetof(gnomon_profiler, options),
    .name = "Oldest",
    .options = (const gnomon_option_info *)16};
static const gnomon_profiler *const known[] = {&simple, &logs, &oldest};

#endif
