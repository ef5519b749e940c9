/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Notes on a file, to standard error: reports keep their bytes. */
#include "command/notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gnomon/profile.h"
#include "command/command.h"
#include "gnomon.h"
#include "gnomon/tool.h"
#include "platform/error.h"
#include "platform/memory.h"
#include "print/footer.h"

/* The words for a loss that gnomon_health counts, or of events; NULL: it is another
 * loss. */
static const char *health_words(const char *kind)
{
    static const struct {
        const char *kind, *words;
    } known[] = {
#define KNOWN(field, words) {#field, words},
        GNOMON_HEALTH(KNOWN)
#undef KNOWN
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].kind, kind) == 0)
            return known[i].words;
    return gnomon__event_loss(kind);
}

/* An unknown section, of a later gnomon, is no damage. */
int gnomon__cli_is_damage(const gnomon_loss_info *l)
{
    return !l->run && !health_words(l->kind) &&
           strncmp(l->kind, "unknown section", 15) != 0;
}

const char *gnomon__cli_loss(char *text, size_t size, const gnomon_loss_info *l)
{
    char room[GNOMON__LOSS_WORDS];
    const char *words = health_words(l->kind);
    if (words)
        snprintf(text, size, "%" PRIu64 " %s", l->count,
                 gnomon__loss_words(room, words, l->count));
    else
        snprintf(text, size, "%s%.200s: %" PRIu64,
                 gnomon__cli_is_damage(l) ? "damaged: " : "", l->kind,
                 l->count);
    return text;
}

int gnomon__cli_log_damage(const char *path, const gnomon_profile *p)
{
    int status = GNOMON__EXIT_OK;
    gnomon_loss_info l;
    char text[320];
    for (size_t i = 1; gnomon_profile_loss(p, i, &l) == GNOMON_OK; i++)
        if (gnomon__cli_is_damage(&l)) {
            if (path)
                gnomon__log("%s: %s", path,
                            gnomon__cli_loss(text, sizeof text, &l));
            status = GNOMON__EXIT_UNREADABLE;
        }
    return status;
}

static gnomon_loss_info *noted_loss(gnomon__cli_notes *n,
                                    const gnomon_loss_info *l)
{
    for (size_t i = 0; i < n->count; i++)
        if (!n->losses[i].run == !l->run &&
            strcmp(n->losses[i].kind, l->kind) == 0)
            return &n->losses[i];
    if (!gnomon__grow(&n->losses, &n->room, n->count + 1, sizeof *n->losses))
        return NULL;
    gnomon_loss_info *to = &n->losses[n->count];
    *to = (gnomon_loss_info){.run = l->run};
    to->kind = gnomon__strdup(l->kind);
    return to->kind ? &n->losses[n->count++] : NULL;
}

int gnomon__cli_notes_add(gnomon__cli_notes *n, const gnomon_profile *p)
{
    gnomon_node_info node;
    gnomon_loss_info loss;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_NODES); i++)
        if (gnomon_profile_node(p, i, &node) == GNOMON_OK)
            n->open += node.open;
    for (size_t i = 1; i <= gnomon_profile_count(p, GNOMON_LOSSES); i++) {
        gnomon_profile_loss(p, i, &loss);
        if (!loss.run && gnomon_profile_count(p, GNOMON_RUNS))
            continue;
        gnomon_loss_info *to = noted_loss(n, &loss);
        if (!to)
            return gnomon__fail(GNOMON_ENOMEM, "no memory for notes");
        to->count += loss.count;
    }
    return GNOMON_OK;
}

int gnomon__cli_notes_print(const gnomon__cli_notes *n, const char *path)
{
    int status = GNOMON__EXIT_OK;
    char text[320];
    for (size_t i = 0; i < n->count; i++) {
        gnomon__log("%s: %s", path,
                    gnomon__cli_loss(text, sizeof text, &n->losses[i]));
        if (gnomon__cli_is_damage(&n->losses[i]))
            status = GNOMON__EXIT_UNREADABLE;
    }
    if (n->open)
        gnomon__log("%s: %" PRIu64 " scope%s open", path, n->open,
                    n->open == 1 ? " was" : "s were");
    return status;
}

void gnomon__cli_notes_free(gnomon__cli_notes *n)
{
    for (size_t i = 0; i < n->count; i++)
        gnomon__free((void *)(size_t)n->losses[i].kind);
    gnomon__free(n->losses);
    *n = (gnomon__cli_notes){0};
}
