/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The words of a spec: which options there are, and what a profiler's come to
 * when defaults, free options and its own are put together and checked. */
#ifndef GNOMON_SPEC_OPTIONS_H
#define GNOMON_SPEC_OPTIONS_H

#include "gnomon/tool.h"
#include "spec/keep.h"
#include "spec/spec.h"
#include "spec/suggest.h"

/* Options of every profiler, which the core handles: filter, exclude, schedule, ranks,
 * at, file, dir. A profiler's own option of such a name is hidden. */
extern const gnomon_option_info gnomon__core_options[];

/* The most memory for recording without mem=. */
#define GNOMON__DEFAULT_MEM "64MiB"
#define GNOMON__DEFAULT_BUDGET (64ll << 20)

/* What belongs to the run and stands free, outside of brackets: mem, fork, step,
 * fold. */
extern const gnomon_option_info gnomon__run_options[];

/* Row `i` of a table (NULL: empty), or NULL past its end. */
const gnomon_option_info *gnomon__option_at(const gnomon_option_info *table,
                                            size_t i);

/* The row of a table with this key, or NULL. */
const gnomon_option_info *gnomon__option_find(const gnomon_option_info *table,
                                              const char *key);

/* Whether a key without a value means something: true, and of `dir` the host's
 * own directory. */
int gnomon__option_may_be_bare(const gnomon_option_info *info);

/* The options that a profiler brings; NULL: none. Looks at struct_size. */
const gnomon_option_info *gnomon__options_of(const gnomon_profiler *profiler);

/* Resolves each word of a parsed spec whose plugins are loaded. Bare words become
 * profilers (in the spelling of `known`), free options, or wants_help; unknown words
 * are complained of and removed. Paths are left as they are. GNOMON_OK,
 * GNOMON_EINVAL: something was wrong; GNOMON_ENOMEM. */
int gnomon__spec_resolve(gnomon__spec *spec,
                         const gnomon_profiler *const *known, size_t count);

/* Checks `text` as a value of that option, and converts it to a number. GNOMON_OK, or
 * GNOMON_EINVAL and `why` in a few words. */
int gnomon__option_check(const gnomon_option_info *info, const char *text,
                         int64_t *number, char *why, size_t size);

/* For options whose values are lists with '|': `line` says what to write instead of
 * `before` and words after commas, each of which is then added. 0: not such an option. */
int gnomon__setting_goes_on(char *line, size_t size,
                            const gnomon__setting *before);
void gnomon__setting_add_word(char *line, size_t size, const char *word);

typedef struct gnomon__option {
    const gnomon_option_info *info;
    char *text; /* NULL: none */
    int64_t number;
} gnomon__option;

/* One profiler's options, or the run's. Immutable. */
typedef struct gnomon__options {
    gnomon_options api; /* what gnomon_profiler.create gets */
    int has_keep;       /* an option `keep` of its own is parsed ... */
    int can_stream;     /* ... with this ... */
    gnomon__keep keep;  /* ... to this; else the last stay */
    size_t count;
    gnomon__option at[];
} gnomon__options;

/* Makes the options of `item` (its index in spec->items) for this profiler: preset, then
 * free option, then the item's. The last of a key holds; several of filter or exclude add
 * up. Where it wants events, an option `keep` of its own is checked (spec/keep.h).
 * `profiler` NULL: the run's own, from spec->defaults alone. Wrong values are complained
 * of and ignored. GNOMON_OK or GNOMON_EINVAL with *out, GNOMON_ENOMEM without. Tables and
 * profiler must outlive it. */
int gnomon__options_create(gnomon__options **out,
                           const gnomon_profiler *profiler,
                           const gnomon__spec *spec, size_t item);

void gnomon__options_destroy(gnomon__options *options);

/* As options->api.text and .number: NULL and 0 where there is none. */
const char *gnomon__options_text(const gnomon__options *options,
                                 const char *key);
int64_t gnomon__options_number(const gnomon__options *options, const char *key);

/* Adds every option that has a value to `out`: with them gnomon__spec_print
 * writes a resolved spec. GNOMON_OK or GNOMON_ENOMEM. */
int gnomon__options_settle(const gnomon__options *options,
                           gnomon__settings *out);

/* The number that `text` is as an option of `type` (gnomon_option_type): bytes
 * and ns, bool 0 or 1, text 0. GNOMON_OK, or GNOMON_EINVAL and `why` in a few
 * words. */
int gnomon__option_parse(int64_t type, const char *text, int64_t *number,
                         char *why, size_t size);

#endif
