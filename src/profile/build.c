/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Owns profiles while programs make them. Everything an entity points to is
 * copied into the model, a text only once.
 *
 * Invariant: after an error nothing more is added; finish returns the first error. */
#include <stdio.h>
#include <string.h>

#include "gnomon/profile.h"
#include "platform/error.h"
#include "platform/json.h"
#include "platform/memory.h"
#include "platform/utf8.h"
#include "profile/fields.h"
#include "profile/slots.h"

struct gnomon_builder {
    gnomon__model *m;
    gnomon__text_table texts; /* the profile's copies */
    int code;                 /* of the first error */
    char why[160];
};

static int fails(gnomon_builder *b, int code, const char *what, int entity)
{
    if (!b->code)
        snprintf(b->why, sizeof b->why, "entity %zu of kind %d: %s",
                 gnomon__model_count(b->m, entity), entity, what);
    b->code = b->code ? b->code : code;
    return 0;
}

static int no_memory(gnomon_builder *b)
{
    if (!b->code)
        snprintf(b->why, sizeof b->why, "no memory to build a profile");
    b->code = b->code ? b->code : GNOMON_ENOMEM;
    return 0;
}

/* ---- Texts ----------------------------------------------------------------------- */

/* A text that is not UTF-8 is repaired, as names of regions are. */
static const char *keep_text(gnomon_builder *b, const char *text)
{
    size_t n = strlen(text);
    if (gnomon__utf8_valid(text, n))
        return gnomon__model_text(b->m, text);
    char *clean = gnomon__model_room(b->m, 3 * n + 1);
    int changed;
    if (clean)
        (void)gnomon__utf8_clean(text, n, clean, 3 * n + 1, &changed);
    return clean;
}

/* The profile's copy of a text. */
static const char *take_text(gnomon__copier *c, const char *text, int type)
{
    gnomon_builder *b = c->context;
    if (type == GNOMON__TYPE_JSON && !gnomon__json_valid(text, strlen(text))) {
        c->why = "its value is no JSON";
        return NULL;
    }
    gnomon__text_item *item = gnomon__text_intern(&b->texts, text);
    if (item && !item->text)
        item->text = keep_text(b, text);
    return item ? item->text : NULL;
}

/* ---- The builder -------------------------------------------------------------------- */

int gnomon_builder_create(gnomon_builder **out)
{
    gnomon__fail_clear();
    if (!out)
        return gnomon__fail(GNOMON_EINVAL, "nowhere to put a builder");
    gnomon_builder *b = gnomon__alloc(sizeof *b);
    *out = b;
    if (b && (b->m = gnomon__model_create()) != NULL)
        return GNOMON_OK;
    gnomon__free(b);
    *out = NULL;
    return gnomon__fail(GNOMON_ENOMEM, "no memory to build a profile");
}

uint32_t gnomon_builder_add(gnomon_builder *b, int entity, const void *info)
{
    uint32_t given;
    if (!b || b->code)
        return 0;
    if (entity < 0 || entity >= GNOMON__ENTITIES || !info) {
        snprintf(b->why, sizeof b->why, "there is no kind %d of entities",
                 entity);
        b->code = GNOMON_EINVAL;
        return 0;
    }
    const gnomon__struct *s = &gnomon__structs[entity];
    gnomon__copier c = {b->m, take_text, b, NULL};
    memcpy(&given, info, sizeof given);
    if (given < s->first_size ||
        gnomon__model_count(b->m, entity) >= UINT32_MAX)
        return (uint32_t)fails(b, GNOMON_EINVAL, "struct_size is not set",
                               entity);
    char *item = gnomon__model_add(b->m, entity);
    if (!item)
        return (uint32_t)no_memory(b);
    gnomon__struct_take(s, item, info, given);
    if (gnomon__copy_inside(&c, s, item))
        return (uint32_t)gnomon__model_count(b->m, entity);
    return (uint32_t)(c.why ? fails(b, GNOMON_EINVAL, c.why, entity)
                            : no_memory(b));
}

void gnomon_builder_free(gnomon_builder *b)
{
    if (!b)
        return;
    if (b->m)
        gnomon_profile_free(&b->m->base);
    gnomon__text_table_free(&b->texts);
    gnomon__free(b);
}

int gnomon_builder_finish(gnomon_builder *b, gnomon_profile **out)
{
    gnomon__fail_clear();
    if (!out)
        return gnomon__fail(GNOMON_EINVAL, "nowhere to put a profile");
    *out = NULL;
    if (!b)
        return gnomon__fail(GNOMON_EINVAL, "no builder");
    int code = b->code;
    if (code)
        (void)gnomon__fail(code, "%s", b->why);
    else
        code = gnomon_profile_check(&b->m->base);
    if (!code) {
        *out = &b->m->base;
        b->m = NULL;
    }
    gnomon_builder_free(b);
    return code;
}
