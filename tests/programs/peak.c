/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* peak COMMAND...: runs it, and says last on stderr how many KiB it took at most. Its
 * status is the command's. A program by itself, as a child begins with what its parent
 * has. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct rusage used;
    int status;
    const pid_t child = argc > 1 ? fork() : -1;
    if (!child) {
        execv(argv[1], argv + 1);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &used) != child)
        return 127;
    fprintf(stderr, "%ld\n", used.ru_maxrss);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
