/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Files that commands read. A file's content says which form it has, never its
 * name; whatever cannot be read is one line with its name. Only what is not a
 * regular file (a pipe, standard input) is first read into memory as a whole. */
#include "command/inputs.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command/command.h"
#include "profile/json_read.h"
#include "command/progress.h"
#include "platform/error.h"
#include "platform/memory.h"

#define FIRST_READ ((size_t)64 << 10)

/* ---- Loading ---------------------------------------------------------------- */

/* Whether the first byte is one of JSON, valid or not. A .gnomon file begins with a byte
 * that no text has. */
static int is_json_text(const char *head, size_t size)
{
    size_t at = 0;
    while (at < size && strchr(" \t\r\n", head[at]) && head[at])
        at++;
    return at < size && strchr("{[\"", head[at]) && head[at];
}

/* Reads all that is left in `from`: `expected` bytes, or more. */
static int load_stream(FILE *from, size_t expected, gnomon_profile **out)
{
    char *bytes = NULL;
    size_t size = 0, room = 0, n = 1, more = expected + FIRST_READ;
    int code;
    while (n && !ferror(from)) {
        if (size == room && !gnomon__grow(&bytes, &room, room + more, 1)) {
            gnomon__free(bytes);
            return gnomon__fail(GNOMON_ENOMEM, "no memory to read it");
        }
        n = fread(bytes + size, 1, room - size, from);
        size += n;
    }
    if (ferror(from))
        code = gnomon__fail(GNOMON_EIO, "cannot be read: %s", strerror(errno));
    else if (is_json_text(bytes, size))
        code = gnomon__json_read(out, bytes, size);
    else
        code = gnomon_profile_read(out, bytes, size);
    gnomon__free(bytes);
    return code;
}

static int load_file(const char *path, gnomon_profile **out)
{
    struct stat about;
    char head[64];
    int code;
    FILE *from = fopen(path, "rbe");
    if (!from)
        return gnomon__fail(errno == ENOENT ? GNOMON_ENOENT : GNOMON_EIO, "%s",
                            strerror(errno));
    if (fstat(fileno(from), &about) != 0 || !S_ISREG(about.st_mode)) {
        code = load_stream(from, 0, out);
    } else if (is_json_text(head, fread(head, 1, sizeof head, from))) {
        rewind(from);
        code = load_stream(from, (size_t)about.st_size, out);
    } else {
        code = gnomon_profile_load(out, path);
    }
    fclose(from);
    return code;
}

static int load_any(const char *path, gnomon_profile **out, int again)
{
    int is_stdin = strcmp(path, "-") == 0, code;
    const char *name = is_stdin ? "standard input" : path, *why;
    size_t n = strlen(path);
    *out = NULL;
    gnomon__fail_clear();
    gnomon__progress_show();
    code = is_stdin ? load_stream(stdin, 0, out) : load_file(path, out);
    gnomon__progress_hide();
    why = gnomon_error_text();
    if (strncmp(why, path, n) == 0 && strncmp(why + n, ": ", 2) == 0)
        why += n + 2; /* the library's line names it, too */
    if (code || (*why && !again))
        gnomon__log("%s: %s", name, *why ? why : gnomon_error_name(code));
    return code;
}

int gnomon__cli_load(const char *path, gnomon_profile **out)
{
    return load_any(path, out, 0);
}

int gnomon__cli_load_again(const char *path, gnomon_profile **out)
{
    return load_any(path, out, 1);
}

/* ---- Words ------------------------------------------------------------------- */

int gnomon__cli_add(gnomon__cli_inputs *in, const char *path)
{
    if (!gnomon__grow(&in->paths, &in->room, in->count + 1, sizeof *in->paths))
        return 0;
    in->paths[in->count] = gnomon__strdup(path);
    return in->paths[in->count] && ++in->count;
}

static int no_room(void)
{
    gnomon__log("no memory for the names of files");
    return GNOMON__EXIT_UNREADABLE;
}

static int ends_in(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    return n > m && strcmp(name + n - m, end) == 0;
}

static int is_profile_name(const struct dirent *entry)
{
    return ends_in(entry->d_name, ".gnomon") ||
           ends_in(entry->d_name, ".gnomon.json");
}

static int expand_folder(gnomon__cli_inputs *in, const char *folder)
{
    struct dirent **found;
    int n = scandir(folder, &found, is_profile_name, versionsort), ok = 1;
    if (n < 0) {
        gnomon__log("%s: %s", folder, strerror(errno));
        return GNOMON__EXIT_UNREADABLE;
    }
    for (int i = 0; i < n; i++) {
        size_t size = strlen(folder) + strlen(found[i]->d_name) + 2;
        char *path = gnomon__alloc(size);
        if (path)
            snprintf(path, size, "%s%s%s", folder,
                     ends_in(folder, "/") || strcmp(folder, "/") == 0 ? ""
                                                                      : "/",
                     found[i]->d_name);
        ok = ok && path && gnomon__cli_add(in, path);
        gnomon__free(path);
        free(found[i]);
    }
    free(found);
    if (!ok)
        return no_room();
    if (n == 0) {
        gnomon__log("%s: holds no .gnomon or .gnomon.json file", folder);
        return GNOMON__EXIT_NOTHING;
    }
    return GNOMON__EXIT_OK;
}

static int by_version(const void *left, const void *right)
{
    const char *const *a = left, *const *b = right;
    return strverscmp(*a, *b);
}

static int expand_pattern(gnomon__cli_inputs *in, const char *pattern)
{
    glob_t found;
    int ok = 1;
    if (glob(pattern, 0, NULL, &found) != 0) {
        gnomon__log("%s: no such file", pattern);
        return GNOMON__EXIT_UNREADABLE;
    }
    qsort(found.gl_pathv, found.gl_pathc, sizeof *found.gl_pathv, by_version);
    for (size_t i = 0; i < found.gl_pathc; i++)
        ok = ok && gnomon__cli_add(in, found.gl_pathv[i]);
    globfree(&found);
    return ok ? GNOMON__EXIT_OK : no_room();
}

int gnomon__cli_expand(gnomon__cli_inputs *in, char *const *words)
{
    int status = GNOMON__EXIT_OK, one;
    struct stat about = {.st_mode = 0};
    for (; *words; words++) {
        int is_there = strcmp(*words, "-") == 0 || stat(*words, &about) == 0;
        if (is_there && strcmp(*words, "-") != 0 && S_ISDIR(about.st_mode))
            one = expand_folder(in, *words);
        else if (!is_there && strpbrk(*words, "*?["))
            one = expand_pattern(in, *words);
        else
            one = gnomon__cli_add(in, *words) ? GNOMON__EXIT_OK : no_room();
        status = gnomon__cli_worse(status, one);
    }
    return status;
}

void gnomon__cli_inputs_free(gnomon__cli_inputs *in)
{
    for (size_t i = 0; i < in->count; i++)
        gnomon__free(in->paths[i]);
    gnomon__free(in->paths);
    *in = (gnomon__cli_inputs){0};
}
