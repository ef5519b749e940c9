/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The files that a command is given, the profiles in them, how far reading is, and notes on
 * what was lost. */
#ifndef GNOMON_COMMAND_INPUTS_H
#define GNOMON_COMMAND_INPUTS_H

#include <stddef.h>
#include <stdint.h>

struct gnomon_profile;
struct gnomon_loss_info;

/* The profile in a file, .gnomon, JSON or cProfile's, as its content says; "-" is standard
 * input. GNOMON_OK, and the caller frees it. Else an error code, and *out is
 * NULL. One line, which names the file, says what is wrong, and also which keys
 * of a JSON form were ignored. */
int gnomon__cli_load(const char *path, struct gnomon_profile **out);

/* `again`: it was loaded before, and ignored keys are not logged any more. */
int gnomon__cli_load_again(const char *path, struct gnomon_profile **out,
                           int again);

/* What could be read of all inputs. Invariant: `paths`, which are borrowed, lie as
 * `profiles` do. */
typedef struct gnomon__cli_loaded {
    const struct gnomon_profile **profiles;
    const char **paths;
    size_t count;
} gnomon__cli_loaded;

struct gnomon__cli_inputs;

/* A gnomon__exit; lines have said what could not be read. Free it in any case. */
int gnomon__cli_load_all(gnomon__cli_loaded *all,
                         const struct gnomon__cli_inputs *in);
void gnomon__cli_loaded_free(gnomon__cli_loaded *all);

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

/* ---- How far reading is ------------------------------------------------------ */

/* Shows a progress bar on standard error, if that is a terminal and there is much to
 * read; else nothing. It borrows the files until the end. */
void gnomon__progress_begin(const gnomon__cli_inputs *inputs);
void gnomon__progress_end(void);

/* The bar is drawn only between _show or _at and _hide, so that it is never inside a
 * report; _show nests, and counts one file more; _at says what is read now: run 3 of
 * 8. */
void gnomon__progress_show(void);
void gnomon__progress_at(const char *what, size_t at, size_t of);
void gnomon__progress_hide(void);

/* ---- Notes on a file --------------------------------------------------------- */

/* What was lost in one or many runs, and how many scopes were open. Zeroes are an
 * empty one. */
typedef struct gnomon__cli_notes {
    uint64_t open;
    struct gnomon_loss_info *losses; /* by kind; each kind is a copy */
    size_t count, room;
} gnomon__cli_notes;

/* Adds the losses of a profile. In a file with runs, losses of no run are damage to the
 * file and left out: gnomon__gather_damage logs them. GNOMON_OK or GNOMON_ENOMEM. */
int gnomon__cli_notes_add(gnomon__cli_notes *n,
                          const struct gnomon_profile *profile);

/* Lines on standard error. A gnomon__exit: _UNREADABLE where one is of damage. */
int gnomon__cli_notes_print(const gnomon__cli_notes *n, const char *path);
void gnomon__cli_notes_free(gnomon__cli_notes *n);

/* Whether it is of damage to the file, not of what the run lost. */
int gnomon__cli_is_damage(const struct gnomon_loss_info *loss);

/* Logs all damage to the file `path`; NULL: it is not logged. A gnomon__exit:
 * _UNREADABLE where there is some. */
int gnomon__cli_log_damage(const char *path,
                           const struct gnomon_profile *profile);

/* A loss as a sentence; returns text. */
const char *gnomon__cli_loss(char *text, size_t size,
                             const struct gnomon_loss_info *loss);

#endif
