/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Hosts that lock their memory (mlockall) before the first mark: what gnomon
 * reserves takes no pages and is not locked.
 * labels: guest */
#include <sys/mman.h>
#include <sys/resource.h>

#include "child.h"
#include "gnomon.h"
#include "gnomon/profile.h"
#include "test.h"

/* A line of /proc/self/status, in KiB; 0: there is none. */
static long status_of(const char *key)
{
    char line[256];
    long kib = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, key, strlen(key)) == 0)
            kib = atol(line + strlen(key));
    if (f)
        fclose(f);
    return kib;
}

static void mark_something(void)
{
    GNOMON_SCOPE("scope");
    gnomon_start("action");
    gnomon_stop("action");
}

static void check_recorded(void)
{
    gnomon_profile *p = NULL;
    CHECK_EQ(gnomon_snapshot(&p, "simple", 0), GNOMON_OK);
    CHECK(p && gnomon_profile_count(p, GNOMON_NODES) >= 2);
    gnomon_profile_free(p);
}

#define NEEDS_LOCKS \
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0 || status_of("VmLck:") == 0) \
    SKIP("mlockall is refused, or a sanitizer's")

/* Once 107 MB: 64 of the arena, 32 of the heap, and a stack of 8. */
TEST(what_is_reserved_is_not_locked)
{
    NEEDS_LOCKS;
    long locked = status_of("VmLck:"), filled = status_of("VmRSS:");
    CHECK_EQ(gnomon_attach(NULL, NULL, "simple"), GNOMON_OK);
    mark_something();
    CHECK(status_of("VmLck:") - locked < 3000);
    CHECK(status_of("VmRSS:") - filled < 3000);
    check_recorded();
    gnomon_attach(NULL, NULL, "");
}

/* Of a low limit gnomon takes the rest, if only to reserve. */
TEST(a_limit_of_what_may_be_locked)
{
    struct rlimit limit;
    CHECK_EQ(getrlimit(RLIMIT_MEMLOCK, &limit), 0);
    if (limit.rlim_cur > 16u << 20)
        limit.rlim_cur = 16u << 20;
    CHECK_EQ(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
    if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0)
        SKIP("root stays root");
    NEEDS_LOCKS;
    CHECK_EQ(gnomon_attach(NULL, NULL, "simple"), GNOMON_OK);
    mark_something();
    check_recorded();
    gnomon_attach(NULL, NULL, "");
}
