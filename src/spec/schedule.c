/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The schedule: text to numbers, step to phase. Pure; called at parsing, and by
 * whoever moves the masks after a step. Invariant: parsed numbers are at most
 * SCHEDULE_MOST, so that no sum here overflows. */
#include "spec/schedule.h"

#include <stdio.h>
#include <string.h>

#include "spec/suggest.h"

#define SCHEDULE_MOST 1000000000000000000 /* three of them fit in 63 bits */

typedef struct schedule_key {
    const char *key;
    size_t field;
    unsigned least;
} schedule_key;

static const schedule_key schedule_keys[] = {
    {"wait", offsetof(gnomon__schedule, wait), 0},
    {"warmup", offsetof(gnomon__schedule, warmup), 0},
    {"active", offsetof(gnomon__schedule, active), 1},
    {"repeat", offsetof(gnomon__schedule, repeat), 0},
    {"skip_first", offsetof(gnomon__schedule, skip_first), 0},
    {"skip_first_wait", offsetof(gnomon__schedule, skip_first_wait), 0},
};
#define SCHEDULE_KEYS (sizeof schedule_keys / sizeof schedule_keys[0])

/* Which key the n bytes name; SCHEDULE_KEYS: none. */
static size_t schedule_find(const char *key, size_t n)
{
    size_t i;
    for (i = 0; i < SCHEDULE_KEYS; i++)
        if (strlen(schedule_keys[i].key) == n &&
            memcmp(schedule_keys[i].key, key, n) == 0)
            break;
    return i;
}

int gnomon__schedule_has(const char *key)
{
    return schedule_find(key, strlen(key)) < SCHEDULE_KEYS;
}

static int schedule_unknown(const char *key, size_t n, char *why, size_t size)
{
    char word[64];
    gnomon__suggestion s;
    size_t i;

    snprintf(word, sizeof word, "%.*s", n < 60 ? (int)n : 60, key);
    s = gnomon__suggest(word);
    for (i = 0; i < SCHEDULE_KEYS; i++)
        gnomon__suggest_offer(&s, schedule_keys[i].key);
    if (s.best)
        snprintf(why, size, "a part is unknown: did you mean '%s'?", s.best);
    else
        snprintf(why, size,
                 "a part is unknown: write wait:1/warmup:1/active:3, "
                 "perhaps with repeat, skip_first or skip_first_wait");
    return GNOMON_EINVAL;
}

/* "[-]digits" to its magnitude and sign; 0 where it is anything else. */
static int schedule_number(const char *text, size_t n, uint64_t *out,
                           int *negative)
{
    const char *at = text + (n > 0 && *text == '-'), *first = at;
    int64_t number = gnomon__digits(&at);
    *negative = first > text;
    *out = (uint64_t)number;
    return at > first && at == text + n && number >= 0 &&
           number <= SCHEDULE_MOST;
}

/* One "key:number", or with '=', the n bytes at `text`. */
static int schedule_part(gnomon__schedule *s, unsigned *seen, const char *text,
                         size_t n, char *why, size_t size)
{
    size_t key_size = strcspn(text, ":=/");
    const char *colon = key_size < n ? text + key_size : NULL;
    size_t which = schedule_find(text, key_size);
    const schedule_key *k;
    uint64_t number;
    int negative;

    if (which == SCHEDULE_KEYS)
        return schedule_unknown(text, key_size, why, size);
    k = &schedule_keys[which];
    if (*seen & 1u << which) {
        snprintf(why, size, "'%s' is given twice", k->key);
        return GNOMON_EINVAL;
    }
    *seen |= 1u << which;
    if (!colon ||
        !schedule_number(colon + 1, n - key_size - 1, &number, &negative)) {
        snprintf(why, size, "'%s' needs a whole number, as %s:1", k->key,
                 k->key);
        return GNOMON_EINVAL;
    }
    if (k->field == offsetof(gnomon__schedule, skip_first_wait)) {
        number = number != 0; /* as in torch: whatever is not 0 is yes */
    } else if ((negative && number > 0) || number < k->least) {
        snprintf(why, size, "%s must be at least %u", k->key, k->least);
        return GNOMON_EINVAL;
    }
    memcpy((char *)s + k->field, &number, sizeof number);
    return GNOMON_OK;
}

int gnomon__schedule_parse(gnomon__schedule *out, const char *text, char *why,
                           size_t size)
{
    gnomon__schedule s;
    unsigned seen = 0;

    memset(out, 0, sizeof *out);
    memset(&s, 0, sizeof s);
    for (;;) {
        size_t n = strcspn(text, "/");
        if (schedule_part(&s, &seen, text, n, why, size) != GNOMON_OK)
            return GNOMON_EINVAL;
        if (text[n] == '\0')
            break;
        text += n + 1;
    }
    if (s.active == 0) {
        snprintf(why, size,
                 "'active' is missing: how many steps to record, "
                 "as active:3");
        return GNOMON_EINVAL;
    }
    *out = s;
    return GNOMON_OK;
}

/* The offset of a step in its cycle, and the cycle's number. Only remainders are added,
 * so that no `step` overflows. */
static uint64_t schedule_offset(const gnomon__schedule *s, uint64_t step,
                                uint64_t *cycle)
{
    uint64_t length = s->wait + s->warmup + s->active;
    uint64_t since = step - s->skip_first;
    uint64_t offset = since % length;

    *cycle = since / length;
    if (s->skip_first_wait) {
        offset += s->wait;
        *cycle += offset / length;
        offset %= length;
    }
    return offset;
}

enum gnomon_phase gnomon__schedule_phase(const gnomon__schedule *s,
                                         uint64_t step)
{
    uint64_t cycle, offset;

    if (s->active == 0)
        return GNOMON_PHASE_RECORD;
    if (step < s->skip_first)
        return GNOMON_PHASE_NONE;
    offset = schedule_offset(s, step, &cycle);
    if ((s->repeat > 0 && cycle >= s->repeat) || offset < s->wait)
        return GNOMON_PHASE_NONE;
    if (offset < s->wait + s->warmup)
        return GNOMON_PHASE_WARMUP;
    if (offset < s->wait + s->warmup + s->active - 1)
        return GNOMON_PHASE_RECORD;
    return GNOMON_PHASE_RECORD_AND_SAVE;
}

uint64_t gnomon__schedule_cycle(const gnomon__schedule *s, uint64_t step)
{
    uint64_t cycle = 0;
    if (s->active && step >= s->skip_first)
        (void)schedule_offset(s, step, &cycle);
    return cycle;
}

uint64_t gnomon__schedule_next_active(const gnomon__schedule *s, uint64_t step)
{
    uint64_t cycle, offset, left;

    if (s->active == 0)
        return step;
    if (step < s->skip_first)
        step = s->skip_first;
    offset = schedule_offset(s, step, &cycle);
    if (s->repeat > 0 && cycle >= s->repeat)
        return UINT64_MAX;
    left = offset < s->wait ? s->wait - offset : 0;
    return left > UINT64_MAX - step ? UINT64_MAX : step + left;
}
