/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The door to reading JSON: a text becomes jansson's tree, each entity of it a
 * struct (json_struct.c) that goes into a builder. */
#include "profile/json_read.h"

#include <errno.h>
#include <string.h>

#include "platform/error.h"
#include "platform/memory.h"

#define FIRST_READ ((size_t)64 << 10)

#if GNOMON_WITH_JANSSON
#include "profile/json_value.h"
#include "platform/json.h"
#include "profile/forms.h"

typedef gnomon__json_reading reading;

/* ---- The whole ------------------------------------------------------------------- */

static int read_kind(reading *r, gnomon_builder *b, int entity, json_t *list)
{
    const gnomon__struct *s = &gnomon__structs[entity];
    size_t i;
    json_t *item;
    gnomon__json_enter(r, s->many, 0);
    if (!json_is_array(list))
        return gnomon__json_wrong(r, "not a list");
    json_array_foreach(list, i, item)
    {
        gnomon__any any;
        gnomon__json_enter(r, NULL, i + 1);
        memset(&any, 0, sizeof any);
        int good = gnomon__json_to_struct(r, s, item, (char *)&any);
        /* Where it cannot be added, finish says why. */
        int added = good && gnomon_builder_add(b, entity, &any);
        gnomon__json_drop(r);
        if (!added)
            return 0;
        gnomon__json_leave(r);
    }
    gnomon__json_leave(r);
    return 1;
}

static int read_version(reading *r, json_t *root)
{
    json_t *version = json_object_get(root, "gnomon");
    uint64_t number;
    if (!version)
        return gnomon__json_wrong(
            r, "\"gnomon\": 1 is missing, so this is no profile");
    gnomon__json_enter(r, "gnomon", 0);
    if (!gnomon__json_to_u64(r, version, UINT64_MAX, &number))
        return 0;
    if (!number)
        return gnomon__json_wrong(r, "there is no version 0");
    if (number > GNOMON__JSON_FORM) {
        gnomon__json_wrong(r,
                           "version %llu is newer than this program, which "
                           "reads %d",
                           (unsigned long long)number, GNOMON__JSON_FORM);
        r->code = GNOMON_EABI;
        return 0;
    }
    gnomon__json_leave(r);
    return 1;
}

static void read_root(reading *r, gnomon_builder *b, json_t *root)
{
    static const gnomon_run_info nobody = {
        .rank = -1, .local_rank = -1, .world_size = -1};
    const char *key;
    json_t *list;
    if (!read_version(r, root))
        return;
    for (int i = 0; i < GNOMON__ENTITIES; i++) {
        int entity = gnomon__json_order[i];
        list = json_object_get(root, gnomon__structs[entity].many);
        if (list && !json_is_null(list)) {
            if (!read_kind(r, b, entity, list))
                return;
        } else if (entity == GNOMON_RUNS) {
            (void)gnomon_add_run(b, &nobody);
        }
    }
    json_object_foreach(root, key, list)
    {
        int known = strcmp(key, "gnomon") == 0;
        for (int i = 0; !known && i < GNOMON__ENTITIES; i++)
            known = strcmp(key, gnomon__structs[i].many) == 0;
        if (!known)
            gnomon__json_ignore(r, key);
    }
}

/* What jansson says is wrong, which may quote the file. */
static void wrong_syntax(reading *r, const json_error_t *error)
{
    char text[80];
    gnomon__json_wrong(r, "line %d, column %d: %s", error->line, error->column,
                       gnomon__json_shown(error->text, text, sizeof text));
}

/* The tree, or NULL and the error. jansson does not always say that memory is
 * missing: then nothing else is wrong. */
static json_t *parse_text(reading *r, const char *text, size_t size)
{
    /* jansson 2.14 leaves the code in it unset where its first buffer fails. */
    json_error_t error = {0};
    int is_json = gnomon__json_valid(text, size);
    json_t *root = json_loadb(text, size,
                              JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (root && is_json)
        return root;
    if (root) {
        json_decref(root);
        gnomon__json_wrong(r, "nested deeper than %d", GNOMON__JSON_DEPTH);
        return NULL;
    }
    switch (json_error_code(&error)) {
    case json_error_numeric_overflow:
        gnomon__json_wrong(r,
                           "line %d, column %d: too large a number: in "
                           "quotes it may go up to 2^64 - 1",
                           error.line, error.column);
        break;
    case json_error_duplicate_key:
    case json_error_null_character:
    case json_error_null_byte_in_key:
        wrong_syntax(r, &error);
        break;
    default:
        if (is_json)
            gnomon__json_no_memory(r);
        else
            wrong_syntax(r, &error);
    }
    return NULL;
}

static int tell_ignored(const reading *r)
{
    size_t more = r->ignored_count - r->named_count;
    if (!r->ignored_count)
        return GNOMON_OK;
    if (!more)
        return gnomon__fail(GNOMON_OK, "ignored: %s", r->ignored);
    return gnomon__fail(GNOMON_OK, "ignored: %s and %zu more", r->ignored,
                        more);
}

int gnomon__json_read(gnomon_profile **out, const char *text, size_t size)
{
    reading r = {0};
    gnomon_builder *b;
    *out = NULL;
    int code = gnomon_builder_create(&b);
    if (code)
        return code;
    json_t *root = parse_text(&r, text, size);
    if (root)
        read_root(&r, b, root);
    if (r.code) {
        gnomon_builder_free(b);
        code = gnomon__fail(r.code, "%s", r.why);
    } else {
        code = gnomon_builder_finish(b, out);
    }
    json_decref(root);
    return code ? code : tell_ignored(&r);
}
#else
int gnomon__json_read(gnomon_profile **out, const char *text, size_t size)
{
    (void)text;
    (void)size;
    *out = NULL;
    return gnomon__fail(GNOMON_ESTATE,
                        "this program reads no JSON, as it was built without "
                        "jansson: install libjansson-dev, configure with "
                        "GNOMON_JSON=ON and build again");
}
#endif

/* ---- Files ----------------------------------------------------------------------- */

/* All that is left in `from`; *text is NULL after an error. */
static int read_all(FILE *from, char **text, size_t *size)
{
    size_t room = 0, n = 1;
    *text = NULL;
    *size = 0;
    while (n) {
        if (*size == room && !gnomon__grow(text, &room, room + FIRST_READ, 1)) {
            gnomon__free(*text);
            *text = NULL;
            return gnomon__fail(GNOMON_ENOMEM, "no memory to read a profile");
        }
        n = fread(*text + *size, 1, room - *size, from);
        *size += n;
    }
    if (!ferror(from))
        return GNOMON_OK;
    int why = errno;
    gnomon__free(*text);
    *text = NULL;
    return gnomon__fail(GNOMON_EIO, "cannot be read: %s", strerror(why));
}

int gnomon__json_read_stream(gnomon_profile **out, FILE *from)
{
    char *text;
    size_t size;
    *out = NULL;
    int code = read_all(from, &text, &size);
    if (!code)
        code = gnomon__json_read(out, text, size);
    gnomon__free(text);
    return code;
}

int gnomon__json_read_path(gnomon_profile **out, const char *path)
{
    *out = NULL;
    FILE *from = fopen(path, "rbe");
    if (!from) {
        int why = errno;
        return gnomon__fail(why == ENOENT ? GNOMON_ENOENT : GNOMON_EIO,
                            "%s: %s", path, strerror(why));
    }
    int code = gnomon__json_read_stream(out, from);
    fclose(from);
    return code;
}
