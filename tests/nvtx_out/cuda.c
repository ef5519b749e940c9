/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a capture range needs of CUDA, with DRIVER: of its driver; else its runtime,
 * which nobody may call. A line for each call, in the tool's file. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static int say(const char *line)
{
    const char *path = getenv("NVTX_TOOL_OUT");
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (write(fd, line, strlen(line)) < 0)
        abort();
    close(fd);
    return 0;
}

#ifdef DRIVER
EXPORT int cuProfilerStart(void);
EXPORT int cuProfilerStop(void);

/* $CUDA_LATE: so many calls come before cuInit, or before the thread's context. */
EXPORT int cuProfilerStart(void)
{
    static int calls;
    const char *late = getenv("CUDA_LATE");
    if (late && calls < atoi(late))
        return calls++ % 2 ? 201 : 3;
    return say("cuda start\n");
}

EXPORT int cuProfilerStop(void)
{
    return say("cuda stop\n");
}
#else
EXPORT int cudaProfilerStart(void);
EXPORT int cudaProfilerStop(void);

EXPORT int cudaProfilerStart(void)
{
    return say("FAULT: a context of some device\n");
}

EXPORT int cudaProfilerStop(void)
{
    return say("FAULT: the runtime\n");
}
#endif
