/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Texts for one are made of those for several, which programs have in GNOMON_HEALTH: a
 * second text for each would be 6 KB of the library. */
#include "print/losses.h"

#include <stddef.h>
#include <string.h>

static const char loss_nouns[][2][10] = {
    {"were", "was"},       {"their", "its"},         {"them", "it"},
    {"scopes", "a scope"}, {"actions", "an action"}, {"begins", "begin"},
    {"parts", "a part"}};

/* A word of the text for one; *is_said: the noun that is counted came before. */
static const char *loss_word(const char *word, size_t *length, int *is_said)
{
    for (size_t i = 0; *is_said && i < sizeof loss_nouns / sizeof *loss_nouns;
         i++)
        if (strlen(loss_nouns[i][0]) == *length &&
            memcmp(loss_nouns[i][0], word, *length) == 0) {
            *length = strlen(loss_nouns[i][1]);
            return loss_nouns[i][1];
        }
    if (!*is_said && *length && word[*length - 1] == 's') {
        *is_said = 1;
        --*length;
    }
    return word;
}

/* What follows a colon says why, and stays as it is. */
const char *gnomon__loss_words(char room[GNOMON__LOSS_WORDS],
                               const char *several, uint64_t count)
{
    size_t used = 0;
    int is_said = 0;
    if (count != 1)
        return several;
    while (*several && *several != ':') {
        size_t length = strcspn(several, " ,:"), took = length;
        const char *word = loss_word(several, &length, &is_said);
        if (used + length + 1 >= GNOMON__LOSS_WORDS)
            break;
        memcpy(room + used, word, length);
        used += length;
        several += took;
        while ((*several == ' ' || *several == ',') &&
               used + 1 < GNOMON__LOSS_WORDS)
            room[used++] = *several++;
    }
    size_t rest = strlen(several), left = GNOMON__LOSS_WORDS - 1 - used;
    rest = rest < left ? rest : left;
    memcpy(room + used, several, rest);
    room[used + rest] = '\0';
    return room;
}

const char *gnomon__event_loss(const char *kind)
{
    if (strcmp(kind, "events_lost") == 0)
        return "events lost: no memory, or no path of their own (raise mem=)";
    if (strcmp(kind, "events_overwritten") == 0)
        return "events overwritten by later ones (raise mem=)";
    if (strcmp(kind, "activities_overwritten") == 0)
        return "events of device work overwritten by later ones (raise mem=)";
    return NULL;
}
