/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The text of a thread's last failed control call, the names of codes, and the
 * log. Called from everywhere; nothing here allocates or locks.
 *
 * A text is one thread's own, always terminated, and cut where it is full. */
#include "platform/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gnomon/tool.h"
#include "platform/os.h"
#include "platform/owner.h"
#include "platform/escape.h"
#include "platform/tls.h"

static __thread char last_error_text[256] GNOMON__TLS;
/* The text is that of a callback, by host->fail. */
static __thread char is_reason GNOMON__TLS;

#ifdef GNOMON_TESTING
void (*gnomon__test_log)(const char *line);
#endif

int gnomon__fail(int code, const char *format, ...)
{
    char text[sizeof last_error_text] = ""; /* may be an argument */
    va_list list;
    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    gnomon__escape_copy(text, last_error_text, sizeof last_error_text);
    is_reason = 0;
    return code;
}

int gnomon__fail_in_file(int code, const char *path)
{
    char reason[sizeof last_error_text];
    size_t used = strlen(last_error_text) + 3; /* ": " and the NUL */
    size_t room = used < sizeof reason ? sizeof reason - used : 0;
    memcpy(reason, last_error_text, sizeof reason);
    return gnomon__fail(code, "%.*s: %s", (int)room, path, reason);
}

void gnomon__fail_clear(void)
{
    last_error_text[0] = 0;
    is_reason = 0;
}

int gnomon__fail_n(int code, const char *text, size_t length)
{
    GNOMON__FORWARD(fail(code, text, length));
    if (length > sizeof last_error_text) /* also GNOMON_TO_NUL */
        length = sizeof last_error_text;
    gnomon__fail(code, "%.*s", (int)length, text ? text : "");
    is_reason = last_error_text[0] != 0;
    return code;
}

const char *gnomon__fail_reason(int code)
{
    return is_reason ? last_error_text : gnomon_error_name(code);
}

void gnomon__fail_reason_clear(void)
{
    is_reason = 0;
}

const char *gnomon_error_text(void)
{
    GNOMON__FORWARD(error_text());
    return last_error_text;
}

const char *gnomon_error_name(int code)
{
    switch (code) {
    case GNOMON_OK:
        return "GNOMON_OK";
    case GNOMON_DECLINED:
        return "GNOMON_DECLINED";
#define ERROR_NAME(name, code, text) \
    case GNOMON_##name: \
        return "GNOMON_" #name;
        GNOMON_ERRORS(ERROR_NAME)
#undef ERROR_NAME
    default:
        return "GNOMON_E?";
    }
}

const char *gnomon_version(void)
{
    return GNOMON_VERSION;
}

void gnomon__log(const char *format, ...)
{
    static const char start[] = "gnomon: ";
    char line[1024],
        text[sizeof line - sizeof start] = ""; /* vsnprintf may fail */
    size_t length = sizeof start - 1;
    int kept_errno = errno;
    va_list list;
    memcpy(line, start, sizeof start);
    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    length += gnomon__escape_copy(text, line + length, sizeof text);
#ifdef GNOMON_TESTING
    if (gnomon__test_log != NULL) {
        gnomon__test_log(line);
        errno = kept_errno;
        return;
    }
#endif
    line[length] = '\n';
    int fd = gnomon__os_stderr();
    if (fd >= 0)
        (void)gnomon__os_write(fd, line, length + 1);
    errno = kept_errno;
}

void gnomon__log_line(const char *line)
{
    GNOMON__FORWARD_VOID(log(line));
    gnomon__log("%s", line ? line : "");
}
