/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which marks a profiler takes, by name and category.
 *
 * A list is patterns separated by '|', white space around each left out. In a
 * pattern `*` stands for any text and `?` for one code point; all else is
 * itself, so "[LightningModule]M.x" is a plain name. A pattern that begins with
 * '@' is for the category, any other for the name. Letters' case matters. */
#ifndef GNOMON_SPEC_FILTER_H
#define GNOMON_SPEC_FILTER_H

#include <stddef.h>

/* Immutable; read from any thread. NULL is the filter that takes all. */
typedef struct gnomon__filter gnomon__filter;

/* Makes a filter that takes what any pattern of `include` matches (NULL or no
 * pattern: everything) and none of `exclude` does. *out may come out NULL. The
 * caller frees it. GNOMON_OK or GNOMON_ENOMEM. */
int gnomon__filter_create(gnomon__filter **out, const char *include,
                          const char *exclude);
void gnomon__filter_destroy(gnomon__filter *filter);

/* Whether the filter takes a mark; `category` may be NULL, which is "". Does
 * not allocate; at most pattern length times name length steps a pattern, in
 * the usual case one pass. */
int gnomon__filter_takes(const gnomon__filter *filter, const char *name,
                         const char *category);

/* Whether two filters were made of the same patterns in the same order. */
int gnomon__filter_equal(const gnomon__filter *a, const gnomon__filter *b);

/* Whether the n bytes of `pattern` match all of `text`. */
int gnomon__glob(const char *pattern, size_t n, const char *text);

#endif
