/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Two views of profiles: one of what is added, with other names and ordinals, and one of
 * the sum, which turns these ordinals into runs. */
#include "report/apart.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "platform/error.h"
#include "platform/memory.h"
#include "report/rank_steps.h"

static int no_room_apart(void)
{
    return gnomon__fail(GNOMON_ENOMEM, "no memory for the ranks");
}

/* A profile whose tracks all have the name of its rank or host, so that a sum keeps
 * only these apart. */
typedef struct named_tracks {
    gnomon_profile base;
    const gnomon_profile *of;
    const char *name;
    uint32_t ordinal; /* of its stages; 0: their own */
} named_tracks;

static size_t named_count(const gnomon_profile *p, int entity)
{
    return gnomon_profile_count(((const named_tracks *)(const void *)p)->of,
                                entity);
}

static int named_get(const gnomon_profile *p, int entity, size_t number,
                     void *info)
{
    const named_tracks *named = (const void *)p;
    int code = named->of->api->get(named->of, entity, number, info);
    if (!code && entity == GNOMON_TRACKS) {
        gnomon_track_info *track = info;
        track->name = named->name;
        track->os_id = 0;
    } else if (!code && entity == GNOMON_STAGES && named->ordinal) {
        gnomon_stage_info *stage = info;
        stage->ordinal = named->ordinal;
    }
    return code;
}

/* The number of the rank or host among the runs, from 1; 0: no memory. */
static uint32_t apart_run(gnomon__apart *a, const gnomon_run_info *run)
{
    const int is_host = a->by == GNOMON__STAGES_BY_HOST;
    for (size_t i = 0; i < a->count; i++)
        if (is_host ? strcmp(a->runs[i].host, run->host) == 0
                    : a->runs[i].rank == run->rank)
            return (uint32_t)i + 1;
    if (!gnomon__grow(&a->runs, &a->room, a->count + 1, sizeof *a->runs))
        return 0;
    const char *host = gnomon__strdup(is_host ? run->host : "");
    if (!host)
        return 0;
    a->runs[a->count] = (gnomon_run_info){.struct_size = sizeof *a->runs,
                                          .rank = is_host ? -1 : run->rank,
                                          .local_rank = -1,
                                          .world_size = -1,
                                          .host = host,
                                          .spec = "",
                                          .clock = ""};
    return (uint32_t)++a->count;
}

static int add_named(gnomon__unite *sum, const gnomon_profile *stage,
                     const char *name, uint32_t ordinal)
{
    static const gnomon_profile_api api = {.struct_size = sizeof api,
                                           .abi = GNOMON_ABI,
                                           .count = named_count,
                                           .get = named_get};
    const named_tracks named = {{&api}, stage, name, ordinal};
    return gnomon__unite_add(sum, &named.base, 1, NULL);
}

/* ---- Steps of ranks and hosts --------------------------------------------------- */

static int add_rank_steps(gnomon__unite *sum, const gnomon_profile *rank,
                          uint32_t ordinal)
{
    gnomon__rank_steps steps;
    int code = gnomon__rank_steps_make(&steps, rank);
    if (!code)
        code = add_named(sum, &steps.base, "", ordinal);
    gnomon__rank_steps_free(&steps);
    return code;
}

int gnomon__apart_end(gnomon__apart *a, gnomon__unite *sum)
{
    gnomon__unite *one = a->one;
    gnomon_profile *rank;
    if (!one)
        return GNOMON_OK;
    a->one = NULL;
    int code = gnomon__unite_finish(one, &rank);
    if (code)
        return code;
    code = add_rank_steps(sum, rank, a->one_run);
    gnomon_profile_free(rank);
    return code;
}

/* The attempts of a rank, or the ranks of a host, are added up before the slow steps are
 * looked at. */
static int add_to_one(gnomon__apart *a, gnomon__unite *sum,
                      const gnomon__shared *shared, const gnomon_profile *stage,
                      uint32_t run)
{
    int code = run == a->one_run ? GNOMON_OK : gnomon__apart_end(a, sum);
    a->one_run = run;
    if (!code && !a->one)
        code = gnomon__unite_create(&a->one, shared, GNOMON__UNITE_RANKS);
    return code ? code : gnomon__unite_add(a->one, stage, 1, NULL);
}

/* ---- Stages --------------------------------------------------------------------- */

int gnomon__apart_add(gnomon__apart *a, gnomon__unite *sum,
                      const gnomon__shared *shared, const gnomon_profile *stage,
                      const gnomon_run_info *run)
{
    char name[320];
    gnomon_stage_info first;
    uint32_t number;
    if (!a->by)
        return gnomon__unite_add(sum, stage, 1, NULL);
    if (a->of_steps && gnomon_profile_stage(stage, 1, &first) == GNOMON_OK) {
        a->ordinal = first.ordinal;
        if (!(number = apart_run(a, run)))
            return no_room_apart();
        return add_to_one(a, sum, shared, stage, number);
    }
    if (a->by == GNOMON__STAGES_BY_RANK)
        snprintf(name, sizeof name, "rank %" PRId32, run->rank);
    else
        snprintf(name, sizeof name, "host %s",
                 *run->host ? run->host : "(not known)");
    return add_named(sum, stage, name, 0);
}

/* ---- The sum -------------------------------------------------------------------- */

static size_t apart_count(const gnomon_profile *p, int entity)
{
    const gnomon__apart *a = (const void *)p;
    return entity == GNOMON_RUNS ? a->count
                                 : gnomon_profile_count(a->of, entity);
}

static int apart_get(const gnomon_profile *p, int entity, size_t number,
                     void *info)
{
    const gnomon__apart *a = (const void *)p;
    if (entity == GNOMON_RUNS) {
        if (!number || number > a->count)
            return GNOMON_EINVAL;
        *(gnomon_run_info *)info = a->runs[number - 1];
        return GNOMON_OK;
    }
    int code = a->of->api->get(a->of, entity, number, info);
    if (!code && entity == GNOMON_STAGES) {
        gnomon_stage_info *stage = info;
        stage->run = stage->ordinal;
        stage->ordinal = a->ordinal;
    }
    return code;
}

const gnomon_profile *gnomon__apart_view(gnomon__apart *a,
                                         const gnomon_profile *sum)
{
    static const gnomon_profile_api api = {.struct_size = sizeof api,
                                           .abi = GNOMON_ABI,
                                           .count = apart_count,
                                           .get = apart_get};
    a->base.api = &api;
    a->of = sum;
    return a->count ? &a->base : sum;
}

void gnomon__apart_free(gnomon__apart *a)
{
    for (size_t i = 0; i < a->count; i++)
        gnomon__free((void *)(size_t)a->runs[i].host);
    gnomon__free(a->runs);
    gnomon__unite_free(a->one);
    *a = (gnomon__apart){.count = 0};
}
