/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The training data loader: a thread that draws the next batch while the model
 * trains on this one. The trainer calls it from one thread.
 *
 * Invariant: `drawing` belongs to the thread while a step is wanted, and to the
 * trainer otherwise; `mutex` guards the hand-over. Batches come in the order of the
 * steps, so the thread changes only the time that they take.
 */
#include "data.h"

#include <pthread.h>
#include <stdlib.h>

struct loader {
    const struct text *text;
    uint64_t seed, next, last;
    struct batch drawing, given;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    gnomon_link asked; /* where the wanted step was asked for */
    int wanted, ended;
};

static void *draw_batches(void *argument)
{
    struct loader *loader = argument;
    gnomon_thread_name("loader");
    pthread_mutex_lock(&loader->mutex);
    for (;;) {
        while (!loader->wanted && !loader->ended)
            pthread_cond_wait(&loader->changed, &loader->mutex);
        if (loader->ended)
            break;
        pthread_mutex_unlock(&loader->mutex);
        {
            GNOMON_SCOPE("draw_batch");
            gnomon_link_in(&loader->asked, GNOMON_LINK_SUBMIT);
            batch_draw(&loader->drawing, loader->text, loader->seed,
                       loader->next);
        }
        pthread_mutex_lock(&loader->mutex);
        loader->wanted = 0;
        pthread_cond_broadcast(&loader->changed);
    }
    pthread_mutex_unlock(&loader->mutex);
    return NULL;
}

static void ask(struct loader *loader)
{
    loader->asked = gnomon_link_out();
    loader->wanted = 1;
    pthread_cond_broadcast(&loader->changed);
}

static void release(struct loader *loader)
{
    batch_free(&loader->drawing);
    batch_free(&loader->given);
    pthread_cond_destroy(&loader->changed);
    pthread_mutex_destroy(&loader->mutex);
    free(loader);
}

struct loader *loader_start(const struct text *text, int size, int block,
                            uint64_t seed, uint64_t first, uint64_t last)
{
    struct loader *loader = calloc(1, sizeof *loader);
    if (!loader)
        return NULL;
    loader->text = text;
    loader->seed = seed;
    loader->next = first;
    loader->last = last;
    pthread_mutex_init(&loader->mutex, NULL);
    pthread_cond_init(&loader->changed, NULL);
    if (first < last)
        ask(loader);
    if (batch_create(&loader->drawing, size, block) ||
        batch_create(&loader->given, size, block) ||
        pthread_create(&loader->thread, NULL, draw_batches, loader)) {
        release(loader);
        return NULL;
    }
    return loader;
}

const struct batch *loader_next(struct loader *loader)
{
    pthread_mutex_lock(&loader->mutex);
    while (loader->wanted)
        pthread_cond_wait(&loader->changed, &loader->mutex);
    struct batch drawn = loader->drawing;
    loader->drawing = loader->given;
    loader->given = drawn;
    if (++loader->next < loader->last)
        ask(loader);
    pthread_mutex_unlock(&loader->mutex);
    return &loader->given;
}

void loader_stop(struct loader *loader)
{
    if (!loader)
        return;
    pthread_mutex_lock(&loader->mutex);
    loader->ended = 1;
    pthread_cond_broadcast(&loader->changed);
    pthread_mutex_unlock(&loader->mutex);
    pthread_join(loader->thread, NULL);
    release(loader);
}
