/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * nvtx: sends every mark to the tool that listens to NVTX, such as Nsight Systems or
 * Nsight Compute. Scopes are pushed and popped. Actions and ranges, which need not
 * nest, are started and ended. With capture=, the windows of its schedule are also the
 * tool's capture ranges.
 *
 * Without a tool, or if gnomon was built without NVTX's headers, it declines, so that
 * marks cost nothing.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "gnomon/tool.h"
#include "profilers/nvtx_calls.h"

#if GNOMON_WITH_NVTX

enum { NVTX_BY_RANGE = 1, NVTX_BY_CUDA = 2 }; /* ways to start a capture */

typedef struct nvtx_self {
    gnomon__nvtx_domain *domain; /* first: nvtx_calls.h */
    void (*log)(const char *line);
    int captures;     /* NVTX_BY_RANGE, NVTX_BY_CUDA */
    int is_scheduled; /* 0: one capture, to the end */
    int is_open;      /* a capture is */
    uint64_t range;   /* the capture's */
    uint32_t is_due;  /* to start when CUDA is in use */
    int (*cuda_stop)(void);
} nvtx_self;

/* ---- Capture ranges ----------------------------------------------------------- */

typedef int nvtx_cuda_call(void);

enum { NVTX_CUDA_NOT_INITIALIZED = 3, NVTX_CUDA_NO_CONTEXT = 201 }; /* cuda.h */

static nvtx_cuda_call *nvtx_symbol(void *library, const char *name)
{
    void *symbol = library ? dlsym(library, name) : NULL;
    nvtx_cuda_call *call;
    memcpy(&call, &symbol, sizeof call); /* ISO C has no such cast */
    return call;
}

/* Starts a capture by cuProfilerStart of the driver that the program has loaded; only
 * $GNOMON_CUDA_LIBRARY makes it load one. The library stays open. The runtime's
 * cudaProfilerStart is not used: it makes a context on the current device, which the
 * host may not have chosen yet, or keeps an error for the host's cudaGetLastError.
 * Tools hear of the driver's function as well. 0: there is no driver, or no context on
 * this thread. Other errors are the tool's. */
static int nvtx_start_cuda(nvtx_self *s)
{
    const char *given = secure_getenv("GNOMON_CUDA_LIBRARY");
    int is_given = given && *given;
    void *library = dlopen(is_given ? given : "libcuda.so.1",
                           RTLD_LAZY | (is_given ? 0 : RTLD_NOLOAD));
    nvtx_cuda_call *start = nvtx_symbol(library, "cuProfilerStart");
    nvtx_cuda_call *stop = nvtx_symbol(library, "cuProfilerStop");
    int result = start && stop ? start() : NVTX_CUDA_NOT_INITIALIZED;
    if (result == NVTX_CUDA_NOT_INITIALIZED || result == NVTX_CUDA_NO_CONTEXT)
        return 0;
    s->cuda_stop = stop;
    return 1;
}

static void nvtx_open_capture(nvtx_self *s)
{
    static uint32_t is_logged;
    if (s->captures & NVTX_BY_CUDA && !nvtx_start_cuda(s)) {
        __atomic_store_n(&s->is_due, !s->is_scheduled, __ATOMIC_RELAXED);
        if (!__atomic_exchange_n(&is_logged, 1, __ATOMIC_RELAXED))
            s->log(s->is_scheduled
                       ? "nvtx: capture=: CUDA is not in use on this thread: "
                         "--capture-range=cudaProfilerApi sees no window"
                       : "nvtx: capture=: CUDA is not in use on this thread: "
                         "--capture-range=cudaProfilerApi begins at a "
                         "later stage or step, once it is");
    }
    if (s->captures & NVTX_BY_RANGE)
        s->range = gnomon__nvtx_capture_begin(s->domain);
    s->is_open = 1;
}

/* Without a schedule the window opens at the first mark, often before CUDA is in use.
 * Then the capture starts at the first stage or end of a step at which CUDA is.
 * Several threads may call at once. */
static void nvtx_open_due(nvtx_self *s)
{
    int kept = errno;
    if (__atomic_load_n(&s->is_due, __ATOMIC_RELAXED) &&
        __atomic_exchange_n(&s->is_due, 0, __ATOMIC_RELAXED) &&
        !nvtx_start_cuda(s))
        __atomic_store_n(&s->is_due, 1, __ATOMIC_RELAXED);
    errno = kept;
}

static void nvtx_step(void *self, const gnomon_step_event *event)
{
    (void)event;
    nvtx_open_due(self);
}

static int nvtx_setup(void *self, const gnomon_run_info *run, const char *stage)
{
    (void)run, (void)stage;
    nvtx_open_due(self);
    return GNOMON_OK;
}

/* Ends the range first, so that it is inside the capture of the other way. */
static void nvtx_close_capture(nvtx_self *s)
{
    if (s->captures & NVTX_BY_RANGE)
        gnomon__nvtx_capture_end(s->domain, s->range);
    if (s->cuda_stop)
        (void)s->cuda_stop();
    s->cuda_stop = NULL;
    s->is_open = 0;
}

/* Without a schedule, one capture lasts over all stages, as a tool may stop after its
 * first capture. */
static void nvtx_window(void *self, const gnomon_window_event *event)
{
    nvtx_self *s = self;
    int kept = errno, opens = event->phase >= GNOMON_PHASE_RECORD;
    if (s->captures && opens && !s->is_open)
        nvtx_open_capture(s);
    else if (!opens && s->is_open && s->is_scheduled)
        nvtx_close_capture(s);
    errno = kept;
}

/* ---- Create and destroy -------------------------------------------------------- */

/* Whether the tool is gnomon's own libgnomon-nvtx.so: ranges would come back. */
static int nvtx_feeds_itself(void)
{
    const char *path = getenv("NVTX_INJECTION64_PATH");
    void *library = path && *path ? dlopen(path, RTLD_LAZY) : NULL;
    return library && dlsym(library, "gnomon_nvtx_in");
}

/* Writes to `why` what is wrong with the tool that $NVTX_INJECTION64_PATH names. 0: it
 * names none, or nothing is wrong. */
static int nvtx_tool_error(char *why, size_t size)
{
    const char *path = getenv("NVTX_INJECTION64_PATH");
    void *library = path && *path ? dlopen(path, RTLD_LAZY) : NULL;
    const char *error = path && *path && !library ? dlerror() : NULL;
    if (!path || !*path ||
        (library && dlsym(library, "InitializeInjectionNvtx2")))
        return 0;
    snprintf(why, size,
             "nvtx: no tool listens, so it is off: "
             "$NVTX_INJECTION64_PATH %s: %.300s",
             library ? "is no tool of NVTX" : "cannot be loaded",
             error ? error : path);
    return 1;
}

/* Logs why it is off, and how to start the program with a tool. The line names
 * --capture-range-end, as by default the tool ends at the first range's end and sends
 * the program SIGTERM. */
static void nvtx_log_absence(const nvtx_self *s, const char *domain,
                             int is_refused)
{
    static uint32_t is_logged;
    char line[512];
    if (__atomic_exchange_n(&is_logged, 1, __ATOMIC_RELAXED))
        return;
    if (is_refused)
        snprintf(line, sizeof line,
                 "nvtx: the tool does not want the domain '%.64s', so it is "
                 "off",
                 domain);
    if (is_refused || nvtx_tool_error(line, sizeof line)) {
        s->log(line);
        return;
    }
    snprintf(line, sizeof line,
             "nvtx: no tool listens, so it is off: start the program with nsys "
             "profile --trace=cuda,nvtx%s%.64s%s",
             s->captures & NVTX_BY_CUDA ? " --capture-range=cudaProfilerApi"
             : s->captures
                 ? " --capture-range=nvtx --nvtx-capture=" GNOMON__NVTX_CAPTURE
                   "@"
                 : "",
             s->captures == NVTX_BY_RANGE ? domain : "",
             !s->captures      ? ""
             : s->is_scheduled ? " --capture-range-end=repeat"
                               : " --capture-range-end=stop");
    s->log(line);
}

static int nvtx_take_options(nvtx_self *s, const gnomon_options *options)
{
    static const char *const words[] = {"none", "nvtx", "cuda", "steps"};
    const char *word = options->text(options, "capture");
    s->log = options->log;
    s->is_scheduled = options->text(options, "schedule") != NULL;
    while (s->captures < 4 && strcmp(word, words[s->captures]) != 0)
        s->captures++;
    if (s->captures == 4) {
        s->captures = 0;
        s->log("nvtx: capture=: say none, steps, cuda or nvtx");
    }
    const char *domain = options->text(options, "domain");
    if (getauxval(AT_SECURE)) { /* an untrusted user may have chosen the tool */
        s->log("nvtx: this program runs with more rights than its user: no "
               "tool is loaded");
        return GNOMON_DECLINED;
    }
    if (nvtx_feeds_itself()) {
        s->log("nvtx: the tool is gnomon itself, which would count its own "
               "ranges: off");
        return GNOMON_DECLINED;
    }
    int code = gnomon__nvtx_domain_get(&s->domain, domain, options->region_op);
    if (code == GNOMON_DECLINED || code == GNOMON__NVTX_REFUSED) {
        nvtx_log_absence(s, domain, code == GNOMON__NVTX_REFUSED);
        return GNOMON_DECLINED;
    }
    if (code != GNOMON__NVTX_NO_DOMAINS)
        return code;
    s->log(
        "nvtx: the tool knows no domains: all ranges are in the default one");
    return GNOMON_OK;
}

static int nvtx_create(const gnomon_options *options, void **self)
{
    nvtx_self *s = calloc(1, sizeof *s);
    if (!s)
        return GNOMON_ENOMEM;
    int code = nvtx_take_options(s, options);
    if (code) {
        free(s);
        return code;
    }
    *self = s;
    return GNOMON_OK;
}

static void nvtx_destroy(void *self)
{
    nvtx_self *s = self;
    if (s->is_open)
        nvtx_close_capture(s);
    free(s);
}

#else

static int nvtx_create(const gnomon_options *options, void **self)
{
    (void)self;
    options->log("nvtx: not in this build: it was made without the headers of "
                 "NVTX 3, which come with the CUDA toolkit");
    return GNOMON_DECLINED;
}

#endif

static const gnomon_option_info nvtx_options[] = {
    {.struct_size = sizeof(gnomon_option_info),
     .key = "domain",
     .type = GNOMON_OPTION_TEXT,
     .preset = "gnomon",
     .help = "the domain of all ranges"},
    {.struct_size = sizeof(gnomon_option_info),
     .key = "capture",
     .type = GNOMON_OPTION_TEXT,
     .preset = "none",
     .help = "steps: a capture range for each window of the schedule; cuda or "
             "nvtx: in one way"},
    {.key = NULL}};

static const gnomon_profiler nvtx = {
    .struct_size = sizeof nvtx,
    .abi = GNOMON_ABI,
    .name = "nvtx",
    .help = "ranges and marks for Nsight Systems and other tools of NVTX",
    .options = nvtx_options,
    .create = nvtx_create,
#if GNOMON_WITH_NVTX
    .start = gnomon__nvtx_start,
    .stop = gnomon__nvtx_stop,
    .setup = nvtx_setup,
    .step = nvtx_step,
    .counter = gnomon__nvtx_counter,
    .mark = gnomon__nvtx_mark,
    .thread = gnomon__nvtx_thread,
    .stream = gnomon__nvtx_stream,
    .destroy = nvtx_destroy,
    .window = nvtx_window,
#endif
};

GNOMON_PLUGIN(nvtx);
