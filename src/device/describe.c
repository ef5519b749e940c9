/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The list of devices on which scopes were timed. The reader's thread adds to it,
 * control calls read it. Its lock is held over no callback. */
#include "device/describe.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define DEVICES 16u

typedef struct described_device {
    char kind[16];
    char name[64]; /* fit for JSON */
    int32_t index;
    double event_ns;
} described_device;

static described_device described[DEVICES];
static uint32_t described_count;
static pthread_mutex_t described_lock = PTHREAD_MUTEX_INITIALIZER;

void gnomon__describe_device(const char *kind, int32_t index, const char *name,
                             double event_ns)
{
    pthread_mutex_lock(&described_lock);
    uint32_t i = 0;
    while (i < described_count && (described[i].index != index ||
                                   strcmp(described[i].kind, kind) != 0))
        i++;
    if (i < DEVICES) {
        described_device *d = &described[i];
        described_count = i < described_count ? described_count : i + 1;
        snprintf(d->kind, sizeof d->kind, "%s", kind);
        snprintf(d->name, sizeof d->name, "%s", name);
        for (char *c = d->name; *c; c++)
            if (*c == '"' || *c == '\\' || *c < ' ' || *c > '~')
                *c = '?';
        d->index = index;
        d->event_ns = event_ns;
    }
    pthread_mutex_unlock(&described_lock);
}

void gnomon__describe_each(int (*add)(const char *key, const char *json))
{
    for (uint32_t i = 0;; i++) {
        char key[64], json[80];
        described_device d;
        pthread_mutex_lock(&described_lock);
        int more = i < described_count;
        if (more)
            d = described[i];
        pthread_mutex_unlock(&described_lock);
        if (!more)
            return;
        snprintf(key, sizeof key, "gnomon.%s.%" PRId32 ".name", d.kind,
                 d.index);
        snprintf(json, sizeof json, "\"%s\"", d.name);
        add(key, json);
        snprintf(key, sizeof key, "gnomon.%s.%" PRId32 ".event_ns", d.kind,
                 d.index);
        snprintf(json, sizeof json, "%" PRIu64, (uint64_t)(d.event_ns + 0.5));
        add(key, json);
    }
}

void gnomon__describe_forget(void)
{
    described_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    described_count = 0;
}
