/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Finds libgnomon-nvtx.so: in the program's folder, as in a build, or in the library
 * folder of the installation, relative to the program, so that an installed tree may be
 * moved. */
#include "cli/injected.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "platform/error.h"

#define LIBRARY "libgnomon-nvtx.so"
#define VARIABLE "NVTX_INJECTION64_PATH"

/* The program's own folder; 0: the system does not tell. */
static int own_folder(char folder[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    char *slash;
    if (n < 0)
        return 0;
    folder[n] = 0;
    slash = strrchr(folder, '/');
    if (slash)
        *slash = 0;
    return slash != NULL;
}

void gnomon__cli_check_nvtx(void)
{
    const char *path = getenv(VARIABLE);
    /* The loader searches for a name without a slash, so it is not checked. */
    if (path && strchr(path, '/') && access(path, R_OK) != 0)
        gnomon__log(VARIABLE "=%s: %s: NVTX in the program will load no tool",
                    path, strerror(errno));
}

int gnomon__cli_inject_nvtx(void)
{
    static const char *const places[] = {"", "/" GNOMON_LIB_FROM_BIN};
    char folder[PATH_MAX], path[2 * PATH_MAX], real[PATH_MAX];
    const char *before = getenv(VARIABLE);
    size_t i;
    int found = 0;
    if (!own_folder(folder)) {
        gnomon__log("--nvtx: /proc/self/exe: %s", strerror(errno));
        return 0;
    }
    for (i = 0; i < sizeof places / sizeof *places && !found; i++) {
        snprintf(path, sizeof path, "%s%s/" LIBRARY, folder, places[i]);
        found = realpath(path, real) && access(real, R_OK) == 0;
    }
    if (!found) {
        gnomon__log("--nvtx: " LIBRARY " is neither in %s nor in %s%s: it is "
                    "made where NVTX's headers are",
                    folder, folder, places[1]);
        return 0;
    }
    if (before && *before && strcmp(before, real) != 0)
        gnomon__log("--nvtx: " VARIABLE " was %s; for this program it is %s",
                    before, real);
    if (setenv(VARIABLE, real, 1) != 0) {
        gnomon__log("--nvtx: %s", strerror(errno));
        return 0;
    }
    return 1;
}
