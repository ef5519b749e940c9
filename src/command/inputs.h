/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The files that a command is given, and the profiles in them. */
#ifndef GNOMON_COMMAND_INPUTS_H
#define GNOMON_COMMAND_INPUTS_H

#include <stddef.h>

struct gnomon_profile;

/* The profile in a file, .gnomon or JSON, as its content says; "-" is standard
 * input. GNOMON_OK, and the caller frees it. Else an error code, and *out is
 * NULL. One line, which names the file, says what is wrong, and also which keys
 * of a JSON form were ignored. */
int gnomon__cli_load(const char *path, struct gnomon_profile **out);

/* The same of a file that was loaded before: ignored keys are not logged again. */
int gnomon__cli_load_again(const char *path, struct gnomon_profile **out);

/* Files in the order of the words: a folder is all *.gnomon and *.gnomon.json in
 * it, ordered as people number them (rank 9 before rank 10); what is not there
 * and has *, ? or [ is a pattern. */
typedef struct gnomon__cli_inputs {
    char **paths;
    size_t count;
    size_t room;
} gnomon__cli_inputs;

/* Begins as zeroes. A gnomon__exit: _OK; _UNREADABLE or _NOTHING where a folder
 * or pattern could not be read or held nothing, which one line has said: the
 * others are in `inputs` all the same. Free in any case. */
int gnomon__cli_expand(gnomon__cli_inputs *inputs, char *const *words);

/* Adds a path as it is. 0: no memory. */
int gnomon__cli_add(gnomon__cli_inputs *inputs, const char *path);
void gnomon__cli_inputs_free(gnomon__cli_inputs *inputs);

#endif
