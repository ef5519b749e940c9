/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The list of devices on which scopes were timed. The reader's thread adds to it,
 * control calls read it. Its lock is held over no callback. */
#include "device/describe.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "platform/os_wait.h"

#define DEVICES 16u

typedef struct described_device {
    char kind[16];
    char name[64]; /* texts are fit for JSON */
    gnomon_device_identity identity;
    int32_t index;
    double event_ns;
    uint64_t clock_error_ns; /* UINT64_MAX: not known */
} described_device;

static described_device described[DEVICES];
static uint32_t described_count;
static gnomon__os_lock described_lock = GNOMON__OS_LOCK(GNOMON__OS_OWN_DEVICES);

static void make_fit_for_json(char *text)
{
    for (char *c = text; *c; c++)
        if (*c == '"' || *c == '\\' || *c < ' ' || *c > '~')
            *c = '?';
}

/* Under the lock; described_count: it is not there. */
static uint32_t find_described(const char *kind, int32_t index)
{
    uint32_t i = 0;
    while (i < described_count && (described[i].index != index ||
                                   strcmp(described[i].kind, kind) != 0))
        i++;
    return i;
}

void gnomon__describe_clock(const char *kind, int32_t index, uint64_t error_ns)
{
    gnomon__os_lock_take(&described_lock);
    uint32_t i = find_described(kind, index);
    if (i < described_count)
        described[i].clock_error_ns = error_ns;
    gnomon__os_lock_give(&described_lock);
}

void gnomon__describe_device(const char *kind, int32_t index, const char *name,
                             const gnomon_device_identity *identity,
                             double event_ns)
{
    gnomon__os_lock_take(&described_lock);
    uint32_t i = find_described(kind, index);
    if (i < DEVICES) {
        described_device *d = &described[i];
        if (i == described_count)
            d->clock_error_ns = UINT64_MAX;
        described_count = i < described_count ? described_count : i + 1;
        snprintf(d->kind, sizeof d->kind, "%s", kind);
        snprintf(d->name, sizeof d->name, "%s", name);
        make_fit_for_json(d->name);
        d->identity = *identity;
        d->identity.uuid[sizeof d->identity.uuid - 1] = 0;
        d->identity.pci[sizeof d->identity.pci - 1] = 0;
        make_fit_for_json(d->identity.uuid);
        make_fit_for_json(d->identity.pci);
        d->index = index;
        d->event_ns = event_ns;
    }
    gnomon__os_lock_give(&described_lock);
}

typedef int describe_add(const char *key, const char *json);

/* gnomon.KIND.INDEX.WHAT; `text` in quotes where it is one. */
static void add_fact(describe_add *add, const described_device *d,
                     const char *what, const char *text, uint64_t number)
{
    char key[64], json[80];
    snprintf(key, sizeof key, "gnomon.%s.%" PRId32 ".%s", d->kind, d->index,
             what);
    if (text)
        snprintf(json, sizeof json, "\"%s\"", text);
    else
        snprintf(json, sizeof json, "%" PRIu64, number);
    add(key, json);
}

static void add_identity(describe_add *add, const described_device *d)
{
    if (*d->identity.uuid)
        add_fact(add, d, "uuid", d->identity.uuid, 0);
    if (*d->identity.pci)
        add_fact(add, d, "pci", d->identity.pci, 0);
    if (d->identity.processors)
        add_fact(add, d, "processors", NULL, d->identity.processors);
    if (d->identity.memory)
        add_fact(add, d, "memory", NULL, d->identity.memory);
}

void gnomon__describe_each(int (*add)(const char *key, const char *json))
{
    for (uint32_t i = 0;; i++) {
        described_device d;
        gnomon__os_lock_take(&described_lock);
        int more = i < described_count;
        if (more)
            d = described[i];
        gnomon__os_lock_give(&described_lock);
        if (!more)
            return;
        add_fact(add, &d, "name", d.name, 0);
        add_fact(add, &d, "event_ns", NULL, (uint64_t)(d.event_ns + 0.5));
        add_identity(add, &d);
        if (d.clock_error_ns != UINT64_MAX)
            add_fact(add, &d, "clock_error_ns", NULL, d.clock_error_ns);
    }
}

void gnomon__describe_forget(void)
{
    gnomon__os_lock_renew(&described_lock);
    described_count = 0;
}
