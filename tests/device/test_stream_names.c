/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names of streams: which callbacks get them, and how wrong ones are
 * handled.
 *
 * links: testing */
#include <dlfcn.h>
#include <signal.h>

#include "child.h"
#include "gnomon/cuda.h"
#include "marks.h"

static char heard[256];
static int is_nested;

static void hear(void *self, const gnomon_stream_event *event)
{
    size_t n = strlen(heard);
    (void)self;
    snprintf(heard + n, sizeof heard - n, "%s %p %s\n", event->device->name,
             event->stream, event->name);
    if (is_nested)
        gnomon_stream_name(event->device, event->stream, "inside");
}

static const gnomon_profiler listener = {.struct_size = sizeof listener,
                                         .abi = GNOMON_ABI,
                                         .name = "listener",
                                         .stream = hear};

static void *at(uintptr_t number)
{
    return (void *)number;
}

static uint64_t reentered(void)
{
    gnomon_health h = {.struct_size = sizeof h};
    gnomon_health_get(&h);
    return h.reentered;
}

TEST(hooks_hear_names)
{
    char changing[] = "compute";
    gnomon_stream_name(gnomon_cuda_device(), at(0x10), "off");
    CHECK_EQ(gnomon_attach(&listener, NULL, NULL), GNOMON_OK);
    CHECK_EQ(gnomon_attach(&probe, NULL, NULL), GNOMON_OK);
    gnomon_stream_name(gnomon_cuda_device(), at(0x20), changing);
    changing[0] = 'X';
    gnomon_stream_name(gnomon_cuda_device(), at(0x30), NULL);
    gnomon_stream_name(NULL, at(0x40), "of no device");
    is_nested = 1;
    gnomon_stream_name(gnomon_cuda_device(), at(0x50), "\xff");
    CHECK_EQ(reentered(), 1);
    CHECK_EQ(gnomon_detach(&listener, NULL), GNOMON_OK);
    gnomon_stream_name(gnomon_cuda_device(), at(0x60), "too late");
    CHECK_STR(heard, "cuda 0x20 compute\ncuda 0x30 (null)\n"
                     "cuda 0x50 \xEF\xBF\xBD\n");
}

static void name_it(int signal)
{
    (void)signal;
    gnomon_stream_name(gnomon_cuda_device(), at(0x10), "first");
}

/* As any mark, it is refused. */
TEST(a_handler_s_first_mark)
{
    setenv("GNOMON", "simple(file=/dev/null)", 1);
    signal(SIGUSR1, name_it);
    raise(SIGUSR1);
    CHECK_EQ(reentered(), 1);
}

/* Another copy of the library passes it on. */
TEST(copies)
{
    CHECK_EQ(gnomon_attach(&listener, NULL, NULL), GNOMON_OK);
    void *library =
        dlopen(TEST_BINARY_DIR "/../libgnomon.so", RTLD_NOW | RTLD_LOCAL);
    void (*name)(const gnomon_device *, void *, const char *) = NULL;
    void *symbol = library ? dlsym(library, "gnomon_stream_name") : NULL;
    memcpy(&name, &symbol, sizeof name);
    if (!CHECK(name != NULL))
        return;
    name(gnomon_cuda_device(), at(0x20), "theirs");
    CHECK_STR(heard, "cuda 0x20 theirs\n");
}

TEST(the_log_shows_them)
{
    child_result r = child_run(CHILD_PROGRAM("nvtx_marks"), "GNOMON=log",
                               (const char *const[]){"threads", NULL});
    CHECK_EQ(times_in(r.err, "log: stream: cuda 0x70 is compute\n"), 1);
}
