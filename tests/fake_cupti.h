/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* CUPTI as a source on the fake one, with the test clock, and with a listener in the
 * recorder's place that keeps what it is told: call fake_cupti_use first. */
#ifndef GNOMON_TESTS_FAKE_CUPTI_H
#define GNOMON_TESTS_FAKE_CUPTI_H

#include <pthread.h>

#include "device/cupti_reading.h"
#include "device/cupti_source.h"
#include "fake_cuda.h"
#include "fake_cupti/fake_cupti.h"
#include "platform/ticks.h"

#define FAKE_CUPTI(name) TEST_BINARY_DIR "/fake_cupti/" name ".so"
#define KIND(name) (1u << GNOMON_DEVICE_##name)
#define ALL_KINDS 0x7fu
#define SOURCE 3u

static const fake_cupti *cupti;

/* ---- The listener ------------------------------------------------------------------ */

#define TOLD 4096u
static struct {
    pthread_mutex_t lock;
    gnomon_device_work records[TOLD];
    char names[TOLD][80];
    uint64_t count, lost;           /* of all */
    uint64_t launched[TOLD], notes; /* correlations, in their order */
    uint8_t own[TOLD];
} told = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void hear_launched(uint32_t source, uint64_t correlation, int is_own)
{
    pthread_mutex_lock(&told.lock);
    CHECK_EQ(source, SOURCE);
    uint64_t at = told.notes++ % TOLD;
    told.launched[at] = correlation;
    told.own[at] = (uint8_t)is_own;
    pthread_mutex_unlock(&told.lock);
}

static enum gnomon__activity_noted hear_noted(uint32_t source,
                                              uint64_t correlation)
{
    enum gnomon__activity_noted is = GNOMON__NOT_NOTED;
    pthread_mutex_lock(&told.lock);
    for (uint64_t i = 0; i < told.notes && i < TOLD && source == SOURCE; i++)
        if (told.launched[i] == correlation)
            is = told.own[i] ? GNOMON__NOTED_OWN : GNOMON__NOTED;
    pthread_mutex_unlock(&told.lock);
    return is;
}

static void hear(uint32_t source, const gnomon_device_work *records,
                 size_t count)
{
    pthread_mutex_lock(&told.lock);
    CHECK_EQ(source, SOURCE);
    CHECK_EQ(records->struct_size, sizeof *records);
    for (size_t i = 0; i < count; i++) {
        uint64_t at = told.count++ % TOLD;
        told.records[at] = records[i];
        snprintf(told.names[at], sizeof *told.names, "%s",
                 records[i].name ? records[i].name : "-");
        told.records[at].name = told.names[at];
    }
    pthread_mutex_unlock(&told.lock);
}

static void hear_lost(uint32_t source, uint64_t count)
{
    pthread_mutex_lock(&told.lock);
    CHECK_EQ(source, SOURCE);
    told.lost += count;
    pthread_mutex_unlock(&told.lock);
}

static const gnomon__cupti_listener ears = {hear_launched, hear_noted, hear,
                                            hear_lost};

static inline uint64_t told_count(void)
{
    pthread_mutex_lock(&told.lock);
    uint64_t n = told.count;
    pthread_mutex_unlock(&told.lock);
    return n;
}

static inline uint64_t told_lost(void)
{
    pthread_mutex_lock(&told.lock);
    uint64_t n = told.lost;
    pthread_mutex_unlock(&told.lock);
    return n;
}

/* The only record of the name, or NULL. */
static inline const gnomon_device_work *told_of(const char *name)
{
    const gnomon_device_work *found = NULL;
    for (uint64_t i = 0; i < told.count && i < TOLD; i++)
        if (strcmp(told.names[i], name) == 0) {
            CHECK(!found);
            found = &told.records[i];
        }
    return found;
}

static inline int was_launched(uint64_t correlation)
{
    for (uint64_t i = 0; i < told.notes && i < TOLD; i++)
        if (told.launched[i] == correlation && !told.own[i])
            return 1;
    return 0;
}

/* ---- The source ---------------------------------------------------------------------- */

static inline const fake_cupti *fake_cupti_load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const fake_cupti *table =
        library ? dlsym(library, "fake_cupti_table") : NULL;
    setenv("GNOMON_CUPTI_LIBRARY", path, 1);
    if (!CHECK(table != NULL))
        exit(1);
    return table;
}

static inline void fake_cupti_use_as(const char *path, uint32_t version)
{
    fake_cuda_use();
    cupti = fake_cupti_load(path);
    cupti->clock(&gnomon__test_ticks);
    cupti->version(version);
    gnomon__cupti_listens = &ears;
    gnomon_setup(NULL);
    pass(1000000);
}

static inline void fake_cupti_use(uint32_t version)
{
    fake_cupti_use_as(FAKE_CUPTI("cupti"), version);
}

/* NULL: it is open; else why not. */
static inline const char *open_cupti(uint32_t kinds)
{
    const gnomon_device_source *source = gnomon__cupti_source();
    const char *why = NULL;
    int code = source->open(source->self, SOURCE, kinds, &why);
    CHECK_EQ(code != 0, why != NULL);
    return code ? why : NULL;
}

static inline void flush_cupti(uint64_t patience_ns)
{
    const gnomon_device_source *source = gnomon__cupti_source();
    source->flush(source->self, patience_ns);
}

static inline void close_cupti(void)
{
    const gnomon_device_source *source = gnomon__cupti_source();
    source->close(source->self);
}

#define A_SECOND 1000000000u
/* Of a test whose device is done: no machine is so busy. */
#define PATIENCE (60ull * A_SECOND)

/* A stream of the fake driver, in a context of its own. */
static inline fake_place place_on(int device)
{
    fake_place p = {.device = (uint32_t)device,
                    .context_id = (uint32_t)device + 1};
    p.context = cuda->context(device);
    p.handle = cuda->stream(p.context);
    CHECK_EQ(cuda->stream_number(p.context, p.handle, 0, &p.stream), 0);
    return p;
}

#endif
