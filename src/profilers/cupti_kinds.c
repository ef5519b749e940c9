/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the options of `cupti` say. */
#include "profilers/cupti_kinds.h"

#include <stdio.h>
#include <string.h>

#include "gnomon/tool.h"

static const struct {
    const char *word;
    uint32_t kind;
} cupti_words[] = {
    {"kernel", GNOMON_ACTIVITY_KERNEL},    {"memcpy", GNOMON_ACTIVITY_COPY},
    {"memset", GNOMON_ACTIVITY_SET},       {"runtime", GNOMON_ACTIVITY_CALL},
    {"driver", GNOMON_ACTIVITY_CALL},      {"sync", GNOMON_ACTIVITY_SYNC},
    {"overhead", GNOMON_ACTIVITY_OVERHEAD}};
#define CUPTI_WORDS (sizeof cupti_words / sizeof *cupti_words)

static int cupti_word_is(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

static int cupti_want(gnomon__cupti_wants *out, const char *text, size_t length)
{
    for (size_t i = 0; i < CUPTI_WORDS; i++)
        if (cupti_word_is(text, length, cupti_words[i].word)) {
            out->kinds |= 1u << cupti_words[i].kind;
            out->runtime |= cupti_word_is(text, length, "runtime");
            out->driver |= cupti_word_is(text, length, "driver");
            return 1;
        }
    return 0;
}

static void cupti_log_word(void (*log)(const char *line), const char *option,
                           const char *text, size_t length, const char *known)
{
    char line[192];
    snprintf(line, sizeof line, "cupti: %s: no '%.*s': there are %s", option,
             (int)(length < 64 ? length : 64), text, known);
    if (log)
        log(line);
}

void gnomon__cupti_wants_read(gnomon__cupti_wants *out, const char *kinds,
                              const char *graphs, void (*log)(const char *line))
{
    *out = (gnomon__cupti_wants){0};
    for (const char *at = kinds; at && *at;) {
        size_t length = strcspn(at, "|");
        if (length && !cupti_want(out, at, length))
            cupti_log_word(log, "kinds", at, length, GNOMON__CUPTI_ALL_KINDS);
        at += length + (at[length] != 0);
    }
    out->by_node = graphs && strcmp(graphs, "node") == 0;
    if (graphs && !out->by_node && strcmp(graphs, "launch") != 0)
        cupti_log_word(log, "graphs", graphs, strlen(graphs), "launch, node");
    if (!out->by_node)
        out->kinds |= 1u << GNOMON_ACTIVITY_GRAPH;
}
