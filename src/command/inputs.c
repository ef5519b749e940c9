/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Files that commands read. A file's content says which form it has, never its
 * name; whatever cannot be read is one line with its name. Only what is not a
 * regular file (a pipe, standard input) is first read into memory as a whole. */
#include "command/inputs.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "command/command.h"
#include "command/prof_read.h"
#include "gnomon.h"
#include "gnomon/profile.h"
#include "gnomon/tool.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "print/footer.h"
#include "print/order.h"
#include "profile/json_read.h"

#define FIRST_READ ((size_t)64 << 10)

/* ---- How far reading is ------------------------------------------------------ */

#define MUCH ((uint64_t)16 << 20) /* bytes */
#define MANY 64                   /* files */
#define WIDTH 40

/* Invariant: under the lock, a bar is on the screen only while `is_shown`. A thread draws
 * it, so that code that reads needs no calls for it: the system counts the bytes that this
 * process has read. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t over;
    pthread_t thread;
    int is_running, is_over, is_shown, is_drawn;
    size_t at, of;    /* the file, or what else is counted */
    const char *what; /* that is */
    unsigned depth;   /* of shows without a hide */
    uint64_t read_before, to_read;
} bar = {.lock = PTHREAD_MUTEX_INITIALIZER, .what = "file"};

/* Bytes that this process has read; 0 where the system does not say. */
static uint64_t bytes_read(void)
{
    uint64_t bytes = 0;
    FILE *io = fopen("/proc/self/io", "re");
    if (io && fscanf(io, "rchar: %" SCNu64, &bytes) != 1)
        bytes = 0;
    if (io)
        fclose(io);
    return bytes;
}

/* The part that was read: of many files by their number, of one by its bytes. */
static double done_part(void)
{
    uint64_t done = bytes_read();
    if (bar.of > 1)
        return (double)(bar.at - 1) / (double)bar.of;
    done = done > bar.read_before ? done - bar.read_before : 0;
    return done > bar.to_read ? 1 : (double)done / (double)bar.to_read;
}

static void draw(void)
{
    char drawn[WIDTH + 1];
    double part = done_part();
    memset(drawn, '.', WIDTH);
    memset(drawn, '#', (size_t)(part * WIDTH));
    drawn[WIDTH] = 0;
    fprintf(stderr, "\r%s %3d %%, %s %zu of %zu\033[K", drawn,
            (int)(part * 100), bar.what, bar.at, bar.of);
    fflush(stderr);
    bar.is_drawn = 1;
}

static void clear(void)
{
    if (bar.is_drawn)
        fputs("\r\033[K", stderr);
    bar.is_drawn = 0;
}

static void *progress_thread(void *unused)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    pthread_mutex_lock(&bar.lock);
    while (!bar.is_over) {
        until.tv_nsec += 200000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&bar.over, &bar.lock, &until);
        if (bar.is_shown && !bar.is_over)
            draw();
    }
    pthread_mutex_unlock(&bar.lock);
    return unused;
}

void gnomon__progress_begin(const gnomon__cli_inputs *in)
{
    const char *term = getenv("TERM");
    struct stat about;
    sigset_t all, before;
    pthread_condattr_t monotonic;
    if (!isatty(STDERR_FILENO) || !term || !*term || !strcmp(term, "dumb"))
        return;
    bar.to_read = 1;
    bar.of = in->count;
    for (size_t i = 0; i < in->count; i++)
        if (stat(in->paths[i], &about) == 0 && S_ISREG(about.st_mode))
            bar.to_read += (uint64_t)about.st_size;
    if (bar.to_read < MUCH && bar.of < MANY)
        return;
    bar.read_before = bytes_read();
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&bar.over, &monotonic);
    pthread_condattr_destroy(&monotonic);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bar.is_running =
        pthread_create(&bar.thread, NULL, progress_thread, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void gnomon__progress_end(void)
{
    if (!bar.is_running)
        return;
    pthread_mutex_lock(&bar.lock);
    bar.is_over = 1;
    clear();
    pthread_cond_signal(&bar.over);
    pthread_mutex_unlock(&bar.lock);
    pthread_join(bar.thread, NULL);
    bar.is_running = 0;
}

void gnomon__progress_show(void)
{
    if (!bar.is_running)
        return;
    pthread_mutex_lock(&bar.lock);
    bar.at += !bar.depth++;
    bar.is_shown = 1;
    pthread_mutex_unlock(&bar.lock);
}

void gnomon__progress_at(const char *thing, size_t number, size_t count)
{
    if (!bar.is_running)
        return;
    pthread_mutex_lock(&bar.lock);
    bar.what = thing;
    bar.at = number;
    bar.of = count;
    bar.depth = 1;
    bar.is_shown = 1;
    pthread_mutex_unlock(&bar.lock);
}

void gnomon__progress_hide(void)
{
    if (!bar.is_running)
        return;
    pthread_mutex_lock(&bar.lock);
    bar.depth -= bar.depth > 0;
    bar.is_shown = bar.depth > 0;
    if (!bar.is_shown)
        clear();
    pthread_mutex_unlock(&bar.lock);
}

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
    else if (gnomon__prof_is(bytes, size))
        code = gnomon__prof_read(out, bytes, size);
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
    size_t size = 0;
    int code;
    FILE *from = fopen(path, "rbe");
    if (!from)
        return gnomon__fail(errno == ENOENT ? GNOMON_ENOENT : GNOMON_EIO, "%s",
                            strerror(errno));
    if (fstat(fileno(from), &about) != 0 || !S_ISREG(about.st_mode)) {
        code = load_stream(from, 0, out);
    } else if (size = fread(head, 1, sizeof head, from),
               gnomon__prof_is(head, size) || is_json_text(head, size)) {
        rewind(from);
        code = load_stream(from, (size_t)about.st_size, out);
    } else {
        code = gnomon_profile_load(out, path);
    }
    fclose(from);
    return code;
}

int gnomon__cli_load_again(const char *path, gnomon_profile **out, int again)
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
    return *out ? GNOMON_OK : code ? code : GNOMON_EIO;
}

int gnomon__cli_load(const char *path, gnomon_profile **out)
{
    return gnomon__cli_load_again(path, out, 0);
}

int gnomon__cli_load_all(gnomon__cli_loaded *all, const gnomon__cli_inputs *in)
{
    int status = GNOMON__EXIT_OK;
    *all = (gnomon__cli_loaded){
        gnomon__alloc((in->count + 1) * sizeof *all->profiles),
        gnomon__alloc((in->count + 1) * sizeof *all->paths), 0};
    if (!all->profiles || !all->paths) {
        gnomon__log("no memory for the files");
        return GNOMON__EXIT_UNREADABLE;
    }
    for (size_t i = 0; i < in->count; i++) {
        gnomon_profile *p;
        if (gnomon__cli_load(in->paths[i], &p)) {
            status = GNOMON__EXIT_UNREADABLE;
            continue;
        }
        status =
            gnomon__cli_worse(status, gnomon__cli_log_damage(in->paths[i], p));
        all->paths[all->count] = in->paths[i];
        all->profiles[all->count++] = p;
    }
    return status;
}

void gnomon__cli_loaded_free(gnomon__cli_loaded *all)
{
    while (all->count)
        gnomon_profile_free(
            (gnomon_profile *)(size_t)all->profiles[--all->count]);
    gnomon__free(all->profiles);
    gnomon__free(all->paths);
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
    GNOMON__SORT(found.gl_pathv, found.gl_pathc, by_version);
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

/* ---- Notes on a file, to standard error: reports keep their bytes ------------ */

/* The words for a loss that gnomon_health counts, or of events; NULL: it is another
 * loss. */
static const char *health_words(const char *kind)
{
    static const struct {
        const char *kind, *words;
    } known[] = {
#define KNOWN(field, words) {#field, words},
        GNOMON_HEALTH(KNOWN)
#undef KNOWN
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].kind, kind) == 0)
            return known[i].words;
    return gnomon__event_loss(kind);
}

/* An unknown section, of a later gnomon, is no damage. */
int gnomon__cli_is_damage(const gnomon_loss_info *l)
{
    return !l->run && !health_words(l->kind) &&
           strncmp(l->kind, "unknown section", 15) != 0;
}

const char *gnomon__cli_loss(char *text, size_t size, const gnomon_loss_info *l)
{
    char room[GNOMON__LOSS_WORDS];
    const char *words = health_words(l->kind);
    if (words)
        snprintf(text, size, "%" PRIu64 " %s", l->count,
                 gnomon__loss_words(room, words, l->count));
    else
        snprintf(text, size, "%s%.200s: %" PRIu64,
                 gnomon__cli_is_damage(l) ? "damaged: " : "", l->kind,
                 l->count);
    return text;
}

int gnomon__cli_log_damage(const char *path, const gnomon_profile *p)
{
    int status = GNOMON__EXIT_OK;
    gnomon_loss_info l;
    char text[320];
    for (size_t i = 1; gnomon_profile_loss(p, i, &l) == GNOMON_OK; i++)
        if (gnomon__cli_is_damage(&l)) {
            if (path)
                gnomon__log("%s: %s", path,
                            gnomon__cli_loss(text, sizeof text, &l));
            status = GNOMON__EXIT_UNREADABLE;
        }
    return status;
}

static gnomon_loss_info *noted_loss(gnomon__cli_notes *n,
                                    const gnomon_loss_info *l)
{
    for (size_t i = 0; i < n->count; i++)
        if (!n->losses[i].run == !l->run &&
            strcmp(n->losses[i].kind, l->kind) == 0)
            return &n->losses[i];
    if (!gnomon__grow(&n->losses, &n->room, n->count + 1, sizeof *n->losses))
        return NULL;
    gnomon_loss_info *to = &n->losses[n->count];
    *to = (gnomon_loss_info){.run = l->run};
    to->kind = gnomon__strdup(l->kind);
    return to->kind ? &n->losses[n->count++] : NULL;
}

int gnomon__cli_notes_add(gnomon__cli_notes *n, const gnomon_profile *p)
{
    gnomon_node_info node;
    gnomon_loss_info loss;
    for (size_t i = 1; !gnomon_profile_node(p, i, &node); i++)
        n->open += node.open;
    for (size_t i = 1; !gnomon_profile_loss(p, i, &loss); i++) {
        if (!loss.run && gnomon_profile_count(p, GNOMON_RUNS))
            continue;
        gnomon_loss_info *to = noted_loss(n, &loss);
        if (!to)
            return gnomon__fail(GNOMON_ENOMEM, "no memory for notes");
        to->count += loss.count;
    }
    return GNOMON_OK;
}

int gnomon__cli_notes_print(const gnomon__cli_notes *n, const char *path)
{
    int status = GNOMON__EXIT_OK;
    char text[320];
    for (size_t i = 0; i < n->count; i++) {
        gnomon__log("%s: %s", path,
                    gnomon__cli_loss(text, sizeof text, &n->losses[i]));
        if (gnomon__cli_is_damage(&n->losses[i]))
            status = GNOMON__EXIT_UNREADABLE;
    }
    if (n->open)
        gnomon__log("%s: %" PRIu64 " scope%s open", path, n->open,
                    n->open == 1 ? " was" : "s were");
    return status;
}

void gnomon__cli_notes_free(gnomon__cli_notes *n)
{
    for (size_t i = 0; i < n->count; i++)
        gnomon__free((void *)(size_t)n->losses[i].kind);
    gnomon__free(n->losses);
    *n = (gnomon__cli_notes){0};
}
