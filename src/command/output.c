/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Standard output. A reader that went away (`| head`) ends the program quietly:
 * by SIGPIPE, or, where that is ignored, as if by it. What comes out of a file never
 * reaches a terminal as control characters. */
#include "command/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "command/command.h"
#include "gnomon/profile.h"
#include "platform/error.h"
#include "platform/escape.h"
#include "platform/json.h"
#include "platform/memory.h"
#include "profile/model.h"
#include "spec/names.h"
#include "print/letters.h"

/* The exit status by which a shell reports an end by SIGPIPE. */
#define STATUS_OF_SIGPIPE (128 + SIGPIPE)

/* errno of the first failure; stdio keeps only that there was one. */
static int output_errno;

/* The last character on standard output; of formatted text, that of the format. */
static char output_last = '\n';

static int output_code(FILE *to, int failed)
{
    if (!failed)
        return ferror(to) ? GNOMON_EIO : GNOMON_OK;
    if (to == stdout && errno == EPIPE)
        exit(STATUS_OF_SIGPIPE);
    if (!output_errno)
        output_errno = errno;
    return GNOMON_EIO;
}

/* Names may hold what a terminal obeys, also in formats for programs. Escapes of ours
 * are printed, not written. */
static int output_to_terminal(FILE *to, const void *bytes, size_t size)
{
    gnomon__text rest = {bytes, size};
    int ok = 1;
    while (rest.length && ok) {
        char escape[8];
        gnomon__text piece = gnomon__escape_next(&rest, "\n\t", escape);
        ok = fwrite(piece.at, 1, piece.length, to) == piece.length;
    }
    return ok;
}

static int output_write(const gnomon_writer *w, const void *bytes, size_t size)
{
    FILE *to = w->context;
    if (ferror(to))
        return GNOMON_EIO;
    if (to == stdout && size)
        output_last = ((const char *)bytes)[size - 1];
    return output_code(to, isatty(fileno(to))
                               ? !output_to_terminal(to, bytes, size)
                               : fwrite(bytes, 1, size, to) != size);
}

static int output_print(const gnomon_writer *w, const char *format, ...)
    GNOMON_PRINTF(2, 3);

static int output_print(const gnomon_writer *w, const char *format, ...)
{
    FILE *to = w->context;
    va_list arguments;
    int n;
    if (ferror(to))
        return GNOMON_EIO;
    if (to == stdout && *format)
        output_last = format[strlen(format) - 1];
    va_start(arguments, format);
    n = vfprintf(to, format, arguments);
    va_end(arguments);
    return output_code(to, n < 0);
}

/* Kept until the program ends; a name without memory is left out. */
static const char *output_shown(const gnomon_writer *w, const char *name)
{
    static gnomon__escaped_names *names;
    const char *shown = gnomon__escaped_name(&names, name);
    (void)w;
    return shown ? shown : "";
}

static uint32_t terminal_columns(FILE *to)
{
    struct winsize size;
    return isatty(fileno(to)) && !ioctl(fileno(to), TIOCGWINSZ, &size)
               ? size.ws_col
               : 0;
}

static int output_has_colour(FILE *to)
{
    const char *none = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(fileno(to)) && !(none && *none) && term && *term &&
           strcmp(term, "dumb") != 0;
}

gnomon_writer gnomon__cli_writer(FILE *to)
{
    signal(SIGXFSZ, SIG_IGN); /* a full file is an error, no death */
    return (gnomon_writer){.struct_size = sizeof(gnomon_writer),
                           .write = output_write,
                           .print = output_print,
                           .shown = output_shown,
                           .columns = terminal_columns(to),
                           .shows_bold = (uint32_t)output_has_colour(to),
                           .context = to};
}

void gnomon__cli_end_line(void)
{
    gnomon_writer out = gnomon__cli_writer(stdout);
    if (output_last != '\n')
        out.write(&out, "\n", 1);
}

int gnomon__cli_flush(void)
{
    int failed = ferror(stdout);
    if (fflush(stdout) != 0)
        failed = output_code(stdout, 1);
    if (!failed)
        return GNOMON__EXIT_OK;
    gnomon__log("standard output: %s",
                output_errno ? strerror(output_errno) : "cannot be written");
    return GNOMON__EXIT_UNREADABLE;
}

const char *gnomon__cli_bold(FILE *to)
{
    return output_has_colour(to) ? "\033[1m" : "";
}

const char *gnomon__cli_plain(FILE *to)
{
    return output_has_colour(to) ? "\033[0m" : "";
}

/* ---- Pieces of text --------------------------------------------------------- */

const char *gnomon__cli_when(char text[32], uint64_t unix_ns)
{
    time_t seconds = (time_t)(unix_ns / 1000000000u);
    struct tm parts;
    if (!unix_ns || !gmtime_r(&seconds, &parts) ||
        !strftime(text, 32, "%Y-%m-%d %H:%M:%S UTC", &parts))
        strcpy(text, "-");
    return text;
}

/* Writes it, where there is a writer, and returns its code points. */
static size_t put_shown(const gnomon_writer *out, const char *text)
{
    gnomon__text rest = {text, strlen(text)};
    size_t n = 0;
    char escape[8];
    while (rest.length) {
        gnomon__text piece = gnomon__escape_next(&rest, "", escape);
        n += gnomon__print_width(piece.at, piece.length);
        if (out)
            out->write(out, piece.at, piece.length);
    }
    return n;
}

size_t gnomon__cli_width(const char *text)
{
    return put_shown(NULL, text);
}

void gnomon__cli_put(const gnomon_writer *out, const char *text, size_t width)
{
    for (size_t n = put_shown(out, text); n < width; n++)
        out->write(out, " ", 1);
}

void gnomon__cli_put_json(const gnomon_writer *out, const char *text)
{
    char quoted[12];
    uint32_t code;
    out->write(out, "\"", 1);
    for (size_t left = strlen(text), took; left; text += took, left -= took) {
        took = gnomon__utf8_next(text, left, &code);
        size_t n = gnomon__json_quote(text, took, quoted, sizeof quoted);
        out->write(out, quoted + 1, n - 2); /* without its quotes */
    }
    out->write(out, "\"", 1);
}

/* ---- Files of -o: written under a temporary name, then renamed ---------------- */

static int save_form(const char *path)
{
    size_t n = strlen(path);
    return n >= 5 && strcmp(path + n - 5, ".json") == 0 ? GNOMON__FORM_JSON
                                                        : GNOMON__FORM_FILE;
}

typedef struct save_request {
    int form;
    gnomon__cli_maker *maker;
    void *context;
} save_request;

/* GNOMON_OK, or an error code; for GNOMON_EIO errno has the reason. */
static int save_stream(const save_request *r, FILE *to)
{
    gnomon_writer out = gnomon__cli_writer(to);
    int code = r->maker(r->context, r->form, &out);
    if (!code && fflush(to) != 0)
        code = GNOMON_EIO;
    return code;
}

static int save_failed(const char *path, int code)
{
    gnomon__log("%s: %s", path,
                code == GNOMON_EIO     ? strerror(errno)
                : *gnomon_error_text() ? gnomon_error_text()
                                       : gnomon_error_name(code));
    return GNOMON__EXIT_UNREADABLE;
}

/* Writes to standard output. Errors are reported when it is flushed. */
static int save_output(const save_request *r)
{
    const int code = save_stream(r, stdout);
    const int status = code ? gnomon__cli_flush() : GNOMON__EXIT_OK;
    return code && !status ? save_failed("standard output", code) : status;
}

/* `to` NULL: it could not be opened. */
static int save_and_close(const save_request *r, FILE *to, const char *path)
{
    int code = to ? save_stream(r, to) : GNOMON_EIO;
    if (to && fclose(to) != 0 && !code)
        code = GNOMON_EIO;
    return code ? save_failed(path, code) : GNOMON__EXIT_OK;
}

/* "-", and the links that lead to standard output: where that is a file, a file that is
 * renamed to the link's name would take the link's place. */
static bool is_output(const char *path)
{
    return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0 ||
           strcmp(path, "/dev/fd/1") == 0 ||
           strcmp(path, "/proc/self/fd/1") == 0;
}

/* Other links of the system are to descriptors, too. */
static bool is_systems(const char *path)
{
    return strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0;
}

int gnomon__cli_make(const char *path, gnomon__cli_maker *maker, void *context)
{
    static const char temporary[] = ".gnomon-XXXXXX";
    const save_request r = {save_form(path), maker, context};
    struct stat about;
    const char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash - path) + 1 : 0;
    if (is_output(path))
        return save_output(&r);
    if (stat(path, &about) == 0 &&
        (!S_ISREG(about.st_mode) || is_systems(path)))
        return save_and_close(&r, fopen(path, "wbe"), path);
    char *name = gnomon__alloc(folder + sizeof temporary);
    if (!name)
        return save_failed(path, GNOMON_ENOMEM);
    memcpy(name, path, folder);
    strcpy(name + folder, temporary);
    const int fd = mkostemp(name, O_CLOEXEC);
    int status = save_and_close(&r, fd < 0 ? NULL : fdopen(fd, "wb"), path);
    if (!status && rename(name, path) != 0)
        status = save_failed(path, GNOMON_EIO);
    if (status && fd >= 0)
        unlink(name);
    gnomon__free(name);
    return status;
}

static int save_profile(void *profile, int form, const gnomon_writer *out)
{
    return gnomon__profile_write(profile, form, out);
}

int gnomon__cli_save(const gnomon_profile *profile, const char *path)
{
    return gnomon__cli_make(path, save_profile, (void *)(size_t)profile);
}
