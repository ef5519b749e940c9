/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The metadata of a run: keys and JSON values, for the profile. Changed in control
 * calls only. */
#include <string.h>

#include "platform/error.h"
#include "platform/json.h"
#include "platform/process.h"
#include "platform/utf8.h"
#include "run/host.h"
#include "run/run.h"

#define MAX_KEY 256

static struct {
    gnomon_metadata_info *at;
    size_t count, room;
} metadata GNOMON__OF_PROCESS;

const gnomon_metadata_info *gnomon__metadata_all(size_t *count)
{
    *count = metadata.count;
    return metadata.at;
}

void gnomon__metadata_clear(void)
{
    while (metadata.count) {
        metadata.count--;
        gnomon__free((void *)(uintptr_t)metadata.at[metadata.count].key);
        gnomon__free((void *)(uintptr_t)metadata.at[metadata.count].json);
    }
}

char *gnomon__clean_copy(gnomon__text text)
{
    size_t n = text.length < MAX_KEY ? text.length : MAX_KEY;
    int changed;
    char *copy = gnomon__alloc(3 * n + 1);
    if (copy)
        gnomon__utf8_clean(text.at, n, copy, 3 * n + 1, &changed);
    return copy;
}

int gnomon__metadata_put(gnomon__text key, gnomon__text json)
{
    if (!key.at || !json.at)
        return gnomon__fail(GNOMON_EINVAL, "gnomon_metadata: key or json NULL");
    if (!gnomon__json_valid(json.at, json.length))
        return gnomon__fail(GNOMON_EINVAL,
                            "gnomon_metadata: the value of %.*s is not JSON; a "
                            "text needs its quotes",
                            (int)(key.length < MAX_KEY ? key.length : MAX_KEY),
                            key.at);
    char *key_copy = gnomon__clean_copy(key);
    char *copy = gnomon__strndup(json.at, json.length);
    size_t i = 0;
    while (key_copy && i < metadata.count &&
           strcmp(metadata.at[i].key, key_copy) != 0)
        i++;
    if (!key_copy || !copy ||
        !gnomon__grow(&metadata.at, &metadata.room, i + 1,
                      sizeof *metadata.at)) {
        gnomon__free(key_copy);
        gnomon__free(copy);
        return gnomon__fail(GNOMON_ENOMEM, "no memory for metadata");
    }
    if (i < metadata.count) {
        gnomon__free((void *)(uintptr_t)metadata.at[i].key);
        gnomon__free((void *)(uintptr_t)metadata.at[i].json);
    } else {
        metadata.count++;
    }
    metadata.at[i] =
        (gnomon_metadata_info){sizeof *metadata.at, 0, key_copy, copy};
    return GNOMON_OK;
}
