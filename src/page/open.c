/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "page/page.h"

extern char **environ;

static int has_display(void)
{
    const char *x = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
    return (x && *x) || (wayland && *wayland);
}

/* xdg-open ends once it has told a browser. */
static int is_opened(const char *path)
{
    char *words[] = {(char *)(size_t) "xdg-open", (char *)(size_t)path, NULL};
    pid_t child;
    int status = 1;
    return posix_spawnp(&child, words[0], NULL, NULL, words, environ) == 0 &&
           waitpid(child, &status, 0) == child && status == 0;
}

void gnomon__page_open(const char *path)
{
    if (!has_display() || !is_opened(path))
        puts(path);
}
