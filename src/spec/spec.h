/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The text of $GNOMON: parsed, and printed back.
 *
 *     spec   = item { "," item } ;
 *     item   = name [ "(" option { "," option } ")" ] | option | "@" file ;
 *     option = key [ "=" value ] ;
 *
 * Order of calls: gnomon__spec_parse; load the plugins it names; then
 * gnomon__spec_resolve (options.h), which knows the words; then
 * gnomon__options_create for each item. docs/environment.md is for users. */
#ifndef GNOMON_SPEC_SPEC_H
#define GNOMON_SPEC_SPEC_H

#include <stddef.h>

#include "spec/suggest.h"

/* Bytes of all files of one spec together, and how deep they may nest. */
#define GNOMON__SPEC_FILE_BYTES 65536
#define GNOMON__SPEC_FILE_DEPTH 4

/* The position of a word. A file may be a secret that was named by mistake, so messages
 * about its words show the position and never the text. */
typedef struct gnomon__spec_position {
    const char *file; /* NULL: in the text itself */
    size_t line;
} gnomon__spec_position;

typedef struct gnomon__setting {
    const char *key;
    const char *value; /* NULL: a bare key */
    gnomon__spec_position position;
} gnomon__setting;

typedef struct gnomon__settings {
    gnomon__setting *at;
    size_t count, room;
} gnomon__settings;

struct gnomon_profiler;

typedef struct gnomon__spec_item {
    const char *name;
    const struct gnomon_profiler *profiler; /* of a path that is loaded */
    int is_path; /* a plugin's: it has a '/', or ends in ".so" */
    size_t
        after; /* of a bare word: the number in `defaults` of the last free option
                     before it, with only bare words between; 0: none */
    gnomon__spec_position position;
    gnomon__settings settings;
} gnomon__spec_item;

/* The words of one text, each with its NUL. */
typedef struct gnomon__spec_words {
    struct gnomon__spec_words *next;
    char at[];
} gnomon__spec_words;

/* It borrows its texts, but for those that were parsed. Begins as zeroes. */
typedef struct gnomon__spec {
    const char *origin;             /* for complaints: "$GNOMON"; static */
    gnomon__complaints *complaints; /* of all that is done with it */
    gnomon__spec_item *items;
    size_t item_count, item_room;
    gnomon__settings defaults; /* free options: for all that know them */
    gnomon__spec_words *words; /* all that were parsed: its own */
    int wants_help;            /* set by gnomon__spec_resolve */
    int lost_plugin;           /* one was named that did not load */
} gnomon__spec;

/* Parses `text` (NULL: ""). What is wrong is left out and complained of. A bare word is
 * an item until gnomon__spec_resolve has looked at it. With `name`, the text is the options
 * of that profiler ("filter=opt*,extended=false"), which is the one item. GNOMON_OK;
 * GNOMON_EINVAL: the rest is in *out; GNOMON_ENOMEM: *out is empty. Free it in any case. */
int gnomon__spec_parse(gnomon__spec *out, const char *name, const char *text,
                       const char *origin, gnomon__complaints *complaints);

/* Writes the spec so that it parses to an equal one, quoting where needed, as
 * snprintf: at most `size` bytes with the NUL; returns the length of all. */
size_t gnomon__spec_print(const gnomon__spec *spec, char *buffer, size_t size);

void gnomon__spec_free(gnomon__spec *spec);

/* A word as a message may show it: "..." if its position is in a file. */
const char *gnomon__spec_shown(gnomon__spec_position position,
                               const char *text);

/* Complains of a word at that position. The line begins with `who` (NULL: the origin); in
 * a file with "$GNOMON: a.spec:3: " and `who`, unless that is NULL. */
void gnomon__spec_complain(const gnomon__spec *spec,
                           gnomon__spec_position position, const char *who,
                           const char *format, ...) GNOMON_PRINTF(4, 5);

/* ---- To build and change one -------------------------------------------- */

/* The texts must outlive the spec. GNOMON_OK, or GNOMON_ENOMEM and nothing is added.
 * Items move when one is added: keep no pointers to them. Who removes an item frees its
 * settings. */
int gnomon__spec_add(gnomon__spec *spec, const char *name);
int gnomon__settings_add(gnomon__settings *settings, const char *key,
                         const char *value);
void gnomon__settings_free(gnomon__settings *settings);

#endif
