/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Notes on a file, to standard error: reports keep their bytes. */
#include "cli/notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gnomon.h"
#include "platform/error.h"

/* What gnomon_health counts has words of its own; the rest says its kind. */
const char *gnomon__cli_loss(char *text, size_t size, const gnomon_loss_info *l)
{
    static const struct {
        const char *kind, *words;
    } known[] = {
#define KNOWN(field, words) {#field, words},
        GNOMON_HEALTH(KNOWN)
#undef KNOWN
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(known[i].kind, l->kind) == 0) {
            snprintf(text, size, "%" PRIu64 " %s", l->count, known[i].words);
            return text;
        }
    }
    snprintf(text, size, "%s%.200s: %" PRIu64,
             l->run ? "" : "damaged: ", l->kind, l->count);
    return text;
}

void gnomon__cli_notes(const char *path, const gnomon_profile *p)
{
    size_t open = gnomon_profile_count(p, GNOMON_OPENS);
    gnomon_loss_info loss;
    char text[320];
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_LOSSES); i++)
        if (gnomon_profile_loss(p, i, &loss) == GNOMON_OK)
            gnomon__log("%s: %s", path,
                        gnomon__cli_loss(text, sizeof text, &loss));
    if (open)
        gnomon__log("%s: %zu scope%s open", path, open,
                    open == 1 ? " was" : "s were");
}
