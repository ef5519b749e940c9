/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* File names of reports. Called when reports are written, from control calls
 * only. Invariants: a value never adds a directory to a path, two ranks of a
 * run never get one path, and no part of one is longer than NAME_MOST. */
#include "spec/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gnomon/profile.h"
#include "platform/hash.h"
#include "platform/memory.h"
#include "platform/utf8.h"
#include "spec/rank.h"

#define NAME_MOST 255
#define NAME_HASH 17      /* '-' and 16 digits */
#define NAME_EXTENSION 32 /* longer ones are not taken for extensions */

/* A text that grows; `at` is NULL once memory has run out, or at first. */
typedef struct name_text {
    char *at;
    size_t length;
    size_t size;
    int failed;
} name_text;

static void name_add(name_text *t, const char *text, size_t n)
{
    if (t->failed || !gnomon__grow(&t->at, &t->size, t->length + n + 1, 1)) {
        t->failed = 1;
        return;
    }
    memcpy(t->at + t->length, text, n);
    t->length += n;
    t->at[t->length] = '\0';
}

/* Hands the text to the caller; NULL: memory ran out. */
static char *name_take(name_text *t)
{
    name_add(t, "", 0);
    if (!t->failed)
        return t->at;
    gnomon__free(t->at);
    return NULL;
}

static int name_ends(const char *name, size_t n, const char *with)
{
    size_t length = strlen(with);
    return n >= length && memcmp(name + n - length, with, length) == 0;
}

int gnomon__form_named(const char *name)
{
    static const char *const names[] = {"gnomon", "json", "chrome"};
    for (int i = 0; i < 3; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    return -1;
}

int gnomon__file_form(const char *pattern)
{
    size_t n = strlen(pattern);
    if (name_ends(pattern, n, ".gnomon"))
        return GNOMON__FORM_FILE;
    return name_ends(pattern, n, ".gnomon.json") ? GNOMON__FORM_JSON : -1;
}

/* Without libgnomon-trace.so a trace is Chrome's JSON, and only the program makes another
 * one, of a profile. */
static int name_is_no_trace(char *line, size_t size, const char *pattern)
{
    size_t n = strlen(pattern), stem = gnomon__file_extension(pattern, n);
    int is_gzip = name_ends(pattern, n, ".gz");
    size_t plain = is_gzip ? n - strlen(".gz") : n;
    int is_perfetto = name_ends(pattern, plain, ".pftrace") ||
                      name_ends(pattern, plain, ".perfetto-trace");
    if (!is_perfetto && !is_gzip)
        return 0;
    int shown = (int)(stem < 64 ? stem : 64);
    snprintf(line, size,
             "its trace is Chrome's JSON: write file=%.*s.gnomon, and after "
             "the run: gnomon export %.*s.gnomon --to %s -o %.80s",
             shown, pattern, shown, pattern,
             is_perfetto ? "perfetto" : "chrome", pattern);
    return 1;
}

int gnomon__file_misnamed(char *line, size_t size, const char *pattern,
                          int is_trace)
{
    static const struct {
        char end[9], what[20], before[30], after[13];
    } ends[] = {
        {".json", "the profile as JSON", "file=", ".gnomon.json"},
        {".prof", ".prof files", "advanced(dump_stats=run,file=", ".txt)"},
        {".pstats", ".prof files", "advanced(dump_stats=run,file=", ".txt)"},
        {".trace", "the profile", "file=", ".gnomon"},
        {".pftrace", "the profile", "file=", ".gnomon"},
        {".gz", "the profile", "file=", ".gnomon"}};
    if (is_trace)
        return name_is_no_trace(line, size, pattern);
    size_t n = strlen(pattern), i = 0;
    while (i < sizeof ends / sizeof *ends &&
           !name_ends(pattern, n, ends[i].end))
        i++;
    if (i == sizeof ends / sizeof *ends || gnomon__file_form(pattern) >= 0)
        return 0;
    n -= strlen(ends[i].end);
    if (name_ends(pattern, n, ".gnomon"))
        n -= strlen(".gnomon");
    snprintf(line, size,
             "its report goes there, which is text: for %s write %s%.*s%s",
             ends[i].what, ends[i].before, (int)(n < 64 ? n : 64), pattern,
             ends[i].after);
    return 1;
}

size_t gnomon__file_extension(const char *name, size_t n)
{
    static const char *const known[] = {".gnomon.json", ".pt.trace.json"};
    size_t i;
    if (name_ends(name, n, ".gz"))
        return gnomon__file_extension(name, n - strlen(".gz"));
    for (i = 0; i < sizeof known / sizeof *known; i++)
        if (n > strlen(known[i]) && name_ends(name, n, known[i]))
            return n - strlen(known[i]);
    for (i = n; i-- > 1;)
        if (name[i] == '.')
            return i;
    return n;
}

/* Cuts one part of a path where it is too long, of which the last n - dot bytes are the
 * extension; returns its new length. */
static size_t name_fit(char *part, size_t n, size_t dot)
{
    char digits[NAME_HASH + 1];
    size_t kept = 0, room;

    if (n <= NAME_MOST)
        return n;
    if (n - dot > NAME_EXTENSION)
        dot = n;
    room = NAME_MOST - NAME_HASH - (n - dot);
    while (kept < dot) {
        uint32_t code;
        size_t took = gnomon__utf8_next(part + kept, dot - kept, &code);
        if (kept + took > room)
            break;
        kept += took;
    }
    snprintf(digits, sizeof digits, "-%016" PRIx64,
             gnomon__hash_bytes(GNOMON__HASH_SEED, part, n));
    memcpy(part + kept, digits, NAME_HASH);
    kept += NAME_HASH;
    memmove(part + kept, part + dot, n - dot);
    return kept + n - dot;
}

/* ---- Lightning's -------------------------------------------------------- */

/* The white space that Python's str.strip() removes, but for \n, \r and \t, which are
 * replaced before. */
static int name_is_space(uint32_t code)
{
    return code == ' ' || code == 0x0B || code == 0x0C ||
           (code >= 0x1C && code <= 0x1F) || code == 0x85 || code == 0xA0 ||
           code == 0x1680 || (code >= 0x2000 && code <= 0x200A) ||
           code == 0x2028 || code == 0x2029 || code == 0x202F ||
           code == 0x205F || code == 0x3000;
}

/* Sanitises in place; returns the new length. */
static size_t name_sanitise(char *name, size_t n)
{
    size_t i, length = 0, first = 0, last = 0;

    for (i = 0; i < n; i++) {
        char c = strchr("\\/:*?\"<>|\n\r\t", name[i]) ? '_' : name[i];
        if (c != '_' || length == 0 || name[length - 1] != '_')
            name[length++] = c;
    }
    for (i = 0; i < length;) {
        uint32_t code;
        size_t took = gnomon__utf8_next(name + i, length - i, &code);
        if (!name_is_space(code))
            last = i + took;
        else if (last == 0)
            first = i + took;
        i += took;
    }
    if (last == 0)
        return 0;
    memmove(name, name + first, last - first);
    return last - first;
}

char *gnomon__file_name(const char *stage, const char *filename, int32_t rank,
                        const char *action, const char *extension)
{
    name_text name = {NULL, 0, 0, 0};
    char digits[16];
    snprintf(digits, sizeof digits, "%" PRId32, rank);
    const char *parts[] = {stage && *stage ? stage : NULL,
                           filename && *filename ? filename : NULL,
                           rank >= 0 ? digits : NULL, action};

    name_add(&name, "", 0);
    for (size_t i = 0; i < 4; i++) {
        if (!parts[i])
            continue;
        name_add(&name, "-", name.length ? 1 : 0);
        name_add(&name, parts[i], strlen(parts[i]));
    }
    if (!name.failed)
        name.length = name_sanitise(name.at, name.length);
    if (name.length == 0)
        name_add(&name, "profile", 7);
    size_t stem = name.length;
    name_add(&name, extension, strlen(extension));
    if (!name.failed)
        name.length = name_fit(name.at, name.length, stem);
    return name_take(&name);
}

/* ---- Patterns ----------------------------------------------------------- */

static int name_has(const char *pattern, char percent)
{
    for (; *pattern; pattern++)
        if (*pattern == '%' && pattern[1] != '\0' && *++pattern == percent)
            return 1;
    return 0;
}

/* Whether the paths of all ranks of a run differ. */
static int name_separates_ranks(const char *pattern)
{
    return name_has(pattern, 'r') ||
           (name_has(pattern, 'h') &&
            (name_has(pattern, 'l') || name_has(pattern, 'p')));
}

int gnomon__file_has_stage(const char *pattern)
{
    return name_has(pattern, 's');
}

/* A path of the system, which is a stream and not a file of ours. */
int gnomon__file_is_stream(const char *path)
{
    return (strncmp(path, "/dev/", 5) == 0 &&
            strncmp(path, "/dev/shm/", 9) != 0) ||
           strncmp(path, "/proc/", 6) == 0;
}

/* A value as part of a file's name: it stays in its directory. No dot of it
 * begins a name or follows another dot. */
static void name_add_value(name_text *t, const char *value)
{
    for (; *value; value++) {
        unsigned char c = (unsigned char)*value;
        char before = t->length > 0 ? t->at[t->length - 1] : '/';
        int bad = c == '/' || c < 0x20 || c == 0x7F ||
                  (c == '.' && (before == '/' || before == '.'));
        name_add(t, bad ? "_" : value, 1);
    }
}

/* Adds the value of %c; 0: unknown letter. */
static int name_add_percent(name_text *t, char c, const gnomon__file_values *v)
{
    char digits[24];
    const char *value = digits;

    switch (c) {
    case 'r':
        snprintf(digits, sizeof digits, "%" PRId32, v->rank < 0 ? 0 : v->rank);
        break;
    case 'l':
        snprintf(digits, sizeof digits, "%" PRId32,
                 v->local_rank < 0 ? 0 : v->local_rank);
        break;
    case 'h':
        value = v->host && *v->host ? v->host : "host";
        break;
    case 'p':
        snprintf(digits, sizeof digits, "%" PRId64, v->pid);
        break;
    case 's':
        value = v->stage && *v->stage ? v->stage : "run";
        break;
    case 't':
        snprintf(digits, sizeof digits, "%" PRIu64, v->start_unix_s);
        break;
    case '%':
        value = "%";
        break;
    default:
        return 0;
    }
    name_add_value(t, value);
    return 1;
}

/* The pattern with the values in it, not yet cut to what fits. */
static void name_fill(name_text *t, const char *pattern,
                      const gnomon__file_values *v, const char *who,
                      gnomon__complaints *complaints)
{
    const char *slash = strrchr(pattern, '/');
    const char *last = slash ? slash + 1 : pattern, *c;
    int rank = gnomon__rank_has_others(v->rank, v->world_size) &&
               !name_separates_ranks(pattern);
    int pid = v->add_pid && !name_has(pattern, 'p');
    const char *insert =
        (rank || pid || v->view) && !gnomon__file_is_stream(pattern)
            ? last + gnomon__file_extension(last, strlen(last))
            : NULL;

    for (c = pattern;; c++) {
        if (c == insert) {
            name_add(t, "-", (size_t)rank);
            if (rank)
                name_add_percent(t, 'r', v);
            name_add(t, "-", (size_t)pid);
            if (pid)
                name_add_percent(t, 'p', v);
            if (v->view) {
                char view[24];
                int n = snprintf(view, sizeof view, "-view%" PRIu32, v->view);
                name_add(t, view, (size_t)n);
            }
        }
        if (*c == '\0')
            return;
        if (*c != '%') {
            name_add(t, c, 1);
        } else if (c[1] != '\0' && name_add_percent(t, c[1], v)) {
            c++;
        } else {
            gnomon__complain(complaints,
                             "%s: file=%.64s: '%.2s' is not known and stays: "
                             "there are %%r %%l %%h %%p %%s %%t and %%%%",
                             who, pattern, c);
            name_add(t, c, 1);
        }
    }
}

char *gnomon__file_expand(const char *pattern, const gnomon__file_values *v,
                          const char *who, gnomon__complaints *complaints)
{
    name_text path = {NULL, 0, 0, 0};
    name_add(&path, "", 0);
    name_fill(&path, pattern, v, who, complaints);
    char *part = path.failed ? NULL : path.at, *to = part;
    while (part) {
        size_t n = strcspn(part, "/");
        char *end = part[n] ? part + n : NULL;
        size_t fits = name_fit(part, n, gnomon__file_extension(part, n));
        memmove(to, part, fits);
        to += fits;
        if (end)
            *to++ = '/';
        part = end ? end + 1 : NULL;
    }
    path.length = path.failed ? 0 : (size_t)(to - path.at);
    return name_take(&path);
}
