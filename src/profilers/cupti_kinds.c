/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the options of `cupti` say. */
#include "profilers/cupti_kinds.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "gnomon/tool.h"

static const struct {
    char word[9];
    bool is_runtime, is_driver;
    uint32_t kind;
} cupti_words[] = {{"kernel", 0, 0, GNOMON_DEVICE_KERNEL},
                   {"memcpy", 0, 0, GNOMON_DEVICE_COPY},
                   {"memset", 0, 0, GNOMON_DEVICE_SET},
                   {"runtime", 1, 0, GNOMON_DEVICE_CALL},
                   {"driver", 0, 1, GNOMON_DEVICE_CALL},
                   {"sync", 0, 0, GNOMON_DEVICE_SYNC},
                   {"overhead", 0, 0, GNOMON_DEVICE_OVERHEAD}};

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
        const size_t length = strcspn(at, "|");
        const size_t most = sizeof cupti_words / sizeof *cupti_words;
        size_t i = 0;
        while (i < most && (strlen(cupti_words[i].word) != length ||
                            memcmp(at, cupti_words[i].word, length) != 0))
            i++;
        if (i < most) {
            out->kinds |= 1u << cupti_words[i].kind;
            out->runtime |= cupti_words[i].is_runtime;
            out->driver |= cupti_words[i].is_driver;
        } else if (length) {
            cupti_log_word(log, "kinds", at, length, GNOMON__CUPTI_ALL_KINDS);
        }
        at += length + (at[length] != 0);
    }
    out->by_node = graphs && strcmp(graphs, "node") == 0;
    if (graphs && !out->by_node && strcmp(graphs, "launch") != 0)
        cupti_log_word(log, "graphs", graphs, strlen(graphs), "launch, node");
    if (!out->by_node)
        out->kinds |= 1u << GNOMON_DEVICE_GRAPH;
}
