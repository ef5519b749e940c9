/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Marks before main, after it, and in the last moments of threads: in
 * constructors and destructors of static and thread-local objects, and of keys.
 * Exit status 0. */
#include <pthread.h>
#include <unistd.h>

#include <gnomon.h>

static void mark(const char *name)
{
    GNOMON_SCOPE("scope");
    gnomon_start(name);
    gnomon_stop(name);
    GNOMON_COUNTER("samples", 1.0);
    gnomon_step();
}

__attribute__((constructor(101))) static void first_of_all()
{
    mark("constructor");
}

__attribute__((destructor(101))) static void last_of_all()
{
    mark("destructor");
    gnomon_stage_end();
    gnomon_teardown();
}

struct marking {
    const char *name;
    explicit marking(const char *n) : name(n)
    {
        mark(name);
    }
    ~marking()
    {
        mark(name);
        gnomon_token t = gnomon_begin(
            gnomon_region_get("open for ever", 0, GNOMON_KIND_SCOPE));
        (void)t;
    }
};

static marking global("static object");
static thread_local marking local("thread-local object");

static pthread_key_t keys[2];

/* Comes again for as long as it sets itself anew. */
template <int i> static void key_over(void *)
{
    mark("key");
    pthread_setspecific(keys[i], &keys[i]);
}

static void *live(void *)
{
    pthread_setspecific(keys[0], &keys[0]);
    pthread_setspecific(keys[1], &keys[1]);
    mark(local.name);
    return 0;
}

int main()
{
    pthread_t thread;
    static marking inner("local static object");
    /* Both come after gnomon's own, which the first mark made. */
    pthread_key_create(&keys[0], key_over<0>);
    mark(local.name);
    pthread_key_create(&keys[1], key_over<1>);
    for (int i = 0; i < 20; i++) {
        if (pthread_create(&thread, 0, live, 0))
            return 1;
        pthread_join(thread, 0);
    }
    return 0;
}
