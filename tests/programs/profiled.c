/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Data for the viewers of .prof files: recursion and mutual recursion,
 * nested actions with names of all kinds, several threads, two stages. Each
 * part takes some time, so that every viewer shows it. */
#include <pthread.h>
#include <time.h>

#include <gnomon.h>

static void work(long us)
{
    GNOMON_FUNCTION();
    struct timespec t, end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += us * 1000;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    do
        clock_gettime(CLOCK_MONOTONIC, &t);
    while (t.tv_sec < end.tv_sec ||
           (t.tv_sec == end.tv_sec && t.tv_nsec < end.tv_nsec));
}

static int fib(int n)
{
    GNOMON_FUNCTION();
    work(20);
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static void even(int n);
static void odd(int n)
{
    GNOMON_FUNCTION();
    work(30);
    if (n)
        even(n - 1);
}
static void even(int n)
{
    GNOMON_FUNCTION();
    if (n)
        odd(n - 1);
}

static void train(void)
{
    gnomon_start("run_training_epoch");
    for (int i = 0; i < 3; i++) {
        GNOMON_SCOPE("batch <one> \"quoted\"");
        gnomon_start("[Strategy]SingleDeviceStrategy.training_step");
        fib(5);
        gnomon_stop("[Strategy]SingleDeviceStrategy.training_step");
        gnomon_start(
            "[Callback]ModelCheckpoint{'monitor': 'val/loss'}.\xc3\xa9");
        even(6);
        gnomon_stop(
            "[Callback]ModelCheckpoint{'monitor': 'val/loss'}.\xc3\xa9");
        gnomon_step();
    }
    work(50);
    gnomon_stop("run_training_epoch");
}

static void *load(void *unused)
{
    GNOMON_SCOPE("load");
    gnomon_start("<fetch>");
    work(300);
    gnomon_stop("<fetch>");
    return unused;
}

int main(void)
{
    pthread_t loaders[2];
    gnomon_stage_begin("fit");
    for (int i = 0; i < 2; i++)
        if (pthread_create(&loaders[i], NULL, load, NULL))
            return 1;
    train();
    for (int i = 0; i < 2; i++)
        pthread_join(loaders[i], NULL);
    gnomon_stage_begin("test");
    train();
    gnomon_stage_end();
    return 0;
}
