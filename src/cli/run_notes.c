/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The reports of a program that was run. Its processes append to a file the paths that
 * they wrote, and whether they made marks (platform/os.h), so nothing is guessed from
 * the spec or from files in the folder. Processes on other machines leave no notes. */
#include "cli/run_notes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/inputs.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "platform/os.h"
#include "spec/names.h"
#include "spec/spec.h"

void gnomon__run_notes_begin(gnomon__run_notes *notes)
{
    const char *outer = getenv(GNOMON__NOTES), *folder = getenv("TMPDIR");
    int fd = -1;
    *notes->path = 0;
    if (outer && *outer) /* the outer `gnomon run` prints them */
        return;
    folder = folder && *folder == '/' ? folder : "/tmp";
    if (snprintf(notes->path, sizeof notes->path, "%s/gnomon-run-XXXXXX",
                 folder) < (int)sizeof notes->path)
        fd = mkstemp(notes->path);
    if (fd < 0 || close(fd) != 0 || setenv(GNOMON__NOTES, notes->path, 1)) {
        gnomon__log("%s: %s: the reports that are written cannot be listed",
                    folder, strerror(errno));
        *notes->path = 0;
    }
}

/* ---- What was read ----------------------------------------------------------------- */

typedef struct notes_read {
    int has_begun, has_marked;
    gnomon__cli_inputs files;
} notes_read;

/* Adds a path once, relative to the working directory if below it. */
static void add_written_file(notes_read *read, char *path)
{
    char cwd[PATH_MAX];
    size_t n = getcwd(cwd, sizeof cwd) ? strlen(cwd) : 0;
    if (n > 1 && strncmp(path, cwd, n) == 0 && path[n] == '/')
        path += n + 1;
    for (size_t i = 0; i < read->files.count; i++)
        if (strcmp(read->files.paths[i], path) == 0)
            return;
    if (access(path, F_OK) == 0)
        (void)gnomon__cli_add(&read->files, path);
}

static void read_notes(notes_read *read, const char *path)
{
    FILE *from = fopen(path, "re");
    char *note = NULL;
    size_t room = 0;
    ssize_t n;
    while (from && (n = getdelim(&note, &room, 0, from)) > 0) {
        read->has_begun |= *note == GNOMON__NOTE_BEGUN;
        read->has_marked |= *note == GNOMON__NOTE_MARKED;
        if (*note == GNOMON__NOTE_FILE && n > 2)
            add_written_file(read, note + 1);
    }
    free(note);
    if (from)
        (void)fclose(from);
}

/* ---- The lines ------------------------------------------------------------------------ */

/* Whether file= or dir= names a file; streams do not count. */
static int names_file(const gnomon__settings *settings)
{
    for (size_t i = 0; i < settings->count; i++) {
        const char *value = settings->at[i].value;
        if (gnomon__same_word(settings->at[i].key, "dir") ||
            (gnomon__same_word(settings->at[i].key, "file") && value &&
             !gnomon__file_is_stream(value)))
            return 1;
    }
    return 0;
}

/* Whether the spec wants anything, and whether it wants files. */
static int is_wanted(const char *text, int *in_files)
{
    gnomon__complaints ignored = {0}; /* the program has logged them */
    gnomon__spec spec = {0};
    (void)gnomon__spec_parse(&spec, text, "--profiler", &ignored);
    int wants = spec.item_count != 0;
    *in_files = names_file(&spec.defaults);
    for (size_t i = 0; i < spec.item_count; i++) {
        *in_files |= names_file(&spec.items[i].settings);
        wants &= !gnomon__same_word(spec.items[i].name, "off") &&
                 !gnomon__same_word(spec.items[i].name, "none") &&
                 strcmp(spec.items[i].name, "0") != 0;
    }
    gnomon__complaints_free(&ignored);
    gnomon__spec_free(&spec);
    return wants;
}

static void log_nothing_written(const notes_read *read, const char *name,
                                const char *spec, int has_nvtx)
{
    int in_files = 0;
    if (!is_wanted(spec, &in_files))
        return;
    if (!read->has_begun && has_nvtx)
        gnomon__log("%s: nothing was recorded: no process on this machine "
                    "called gnomon or NVTX",
                    name);
    else if (!read->has_begun)
        gnomon__log("%s: nothing was recorded: no process on this machine made "
                    "a mark of gnomon; for marks of NVTX use gnomon run --nvtx",
                    name);
    else if (!read->has_marked)
        gnomon__log("%s: nothing was reported: it has made no mark, or ended "
                    "by _exit",
                    name);
    else if (in_files)
        gnomon__log("no report was written");
}

void gnomon__run_notes_print(const gnomon__run_notes *notes, const char *name,
                             const char *spec, int has_nvtx)
{
    notes_read read = {0};
    if (!*notes->path)
        return;
    read_notes(&read, notes->path);
    (void)unlink(notes->path);
    for (size_t i = 0; i < read.files.count; i++)
        gnomon__log("report: %s", read.files.paths[i]);
    if (!read.files.count && name)
        log_nothing_written(&read, name, spec, has_nvtx);
    gnomon__cli_inputs_free(&read.files);
}
