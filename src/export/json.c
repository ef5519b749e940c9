/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* json: the profile's own JSON form, which gnomon reads again. Several profiles become
 * an array. If a part of the time is asked for, the profile that is written is a view
 * of the given one, without the events of other times. */
#include "export/timeline.h"

/* Events are asked for in their order, so a cursor is where the last answer was. For one
 * thread: it moves. */
typedef struct json_cut {
    gnomon_profile base;
    const gnomon_profile *of;
    const gnomon__export *what;
    size_t count, number; /* number: of the last answer */
    gnomon__event_cursor at;
} json_cut;

/* ---- A profile without other events -------------------------------------------- */

static size_t json_cut_count(const gnomon_profile *p, int entity)
{
    const json_cut *c = (const json_cut *)(const void *)p;
    return entity == GNOMON_EVENTS ? c->count
                                   : gnomon_profile_count(c->of, entity);
}

static int json_cut_get(const gnomon_profile *p, int entity, size_t number,
                        void *info)
{
    json_cut *c = (json_cut *)(size_t)p;
    if (entity != GNOMON_EVENTS || !number || number > c->count)
        return c->of->api->get(c->of, entity,
                               entity == GNOMON_EVENTS ? 0 : number, info);
    if (number < c->number) {
        c->number = 0;
        gnomon__event_cursor_all(&c->at, c->what, c->of);
    }
    while (c->number < number && gnomon__event_cursor_next(&c->at))
        c->number++;
    return c->of->api->get(c->of, entity, c->at.walk.number, info);
}

static int json_write_cut(const gnomon__export *what, const gnomon_profile *of,
                          const gnomon_writer *out)
{
    static const gnomon_profile_api api = {.struct_size = sizeof api,
                                           .abi = GNOMON_ABI,
                                           .count = json_cut_count,
                                           .get = json_cut_get};
    json_cut c = {.base.api = &api, .of = of, .what = what};
    if (!what->until_unix_ns)
        return gnomon__write_json(of, out);
    gnomon__event_cursor_all(&c.at, what, of);
    while (gnomon__event_cursor_next(&c.at))
        c.count++;
    c.number = c.count;
    return gnomon__write_json(&c.base, out);
}

/* ---- The file ------------------------------------------------------------------ */

static int json_write_all(const gnomon__export *what, const gnomon_writer *out)
{
    int code = GNOMON_OK;
    if (what->count == 1)
        return json_write_cut(what, what->profiles[0], out);
    code = out->write(out, "[\n", 2);
    for (size_t i = 0; !code && i < what->count; i++) {
        if (i)
            code = out->write(out, ",\n", 2);
        if (!code)
            code = json_write_cut(what, what->profiles[i], out);
    }
    return code ? code : out->write(out, "]\n", 2);
}

const gnomon__exporter gnomon__export_to_json = {
    .name = "json",
    .extension = ".gnomon.json",
    .about = "the profile's own JSON form, which gnomon reads again",
    .write = json_write_all};
