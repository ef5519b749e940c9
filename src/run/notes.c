/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Notes for `gnomon run`, if it started this process or a parent of it: whether the
 * process used gnomon, whether it made marks, and which files it wrote. They are
 * appended to a file that the environment names (GNOMON__NOTES); without it, or on
 * another machine, nothing is done. Inside control calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/os.h"
#include "run/notes.h"

static char notes_file[512]; /* "": no `gnomon run` */
static int notes_begun, notes_marked;

void gnomon__notes_begin(void)
{
    const char *file = gnomon__os_is_secure() ? NULL : getenv(GNOMON__NOTES);
    if (notes_begun)
        return;
    notes_begun = 1;
    if (file && *file == '/' && strlen(file) < sizeof notes_file)
        strcpy(notes_file, file);
    if (*notes_file)
        gnomon__os_note(notes_file, GNOMON__NOTE_BEGUN, NULL);
}

void gnomon__notes_marked(void)
{
    if (*notes_file && !notes_marked)
        gnomon__os_note(notes_file, GNOMON__NOTE_MARKED, NULL);
    notes_marked = 1;
}

void gnomon__notes_wrote(const char *path)
{
    if (*notes_file)
        gnomon__os_note(notes_file, GNOMON__NOTE_FILE, path);
}
