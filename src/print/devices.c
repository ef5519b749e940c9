/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tells kinds of work by their regions: the kind, and where that says nothing the
 * category. */
#include "print/devices.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print/events.h"

const gnomon_stats *gnomon__work_stats(const gnomon_node_info *n)
{
    if (n->device && n->device->count)
        return n->device;
    return n->host && n->host->count ? n->host : NULL;
}

const char *gnomon__node_name(const gnomon_profile *p, uint32_t node)
{
    gnomon__report_node n;
    (void)gnomon__report_node_at(p, node, &n);
    return n.region.name;
}

uint64_t gnomon__work_bytes(const gnomon_profile *p, const gnomon_node_info *n)
{
    gnomon_op_info op;
    const gnomon_stats *s = gnomon__work_stats(n);
    if (n->work && n->work->bytes)
        return n->work->bytes;
    if (!s || !n->op || gnomon_profile_op(p, n->op, &op) != GNOMON_OK)
        return 0;
    return op.bytes > UINT64_MAX / s->count ? 0 : op.bytes * s->count;
}

/* ---- Kinds ---------------------------------------------------------------------- */

/* How the names of kernels of NCCL and RCCL begin. */
static bool work_is_collective(const char *name)
{
    return strncmp(name, "nccl", 4) == 0 || strncmp(name, "rccl", 4) == 0;
}

static int work_on_device(const gnomon_region_info *r, bool is_stream)
{
    if (strcmp(r->category, "cuda_sync") == 0)
        return GNOMON__WORK_WAIT;
    if (strcmp(r->category, "overhead") == 0)
        return GNOMON__WORK_OVERHEAD;
    switch (r->kind) {
    case GNOMON_KIND_KERNEL:
        return work_is_collective(r->name) ? GNOMON__WORK_COMMUNICATION
                                           : GNOMON__WORK_KERNEL;
    case GNOMON_KIND_COPY:
        return GNOMON__WORK_COPY;
    case GNOMON_KIND_SET:
        return GNOMON__WORK_SET;
    case GNOMON_KIND_COLLECTIVE: /* beside streams its kernels are on them too */
        return is_stream ? GNOMON__WORK_COMMUNICATION : GNOMON__WORK_NONE;
    default: /* whole graphs are on a lane of their own */
        return strcmp(r->category, "graph") == 0 ? GNOMON__WORK_KERNEL
                                                 : GNOMON__WORK_NONE;
    }
}

static int work_kind(const gnomon_node_info *n, const gnomon_region_info *r,
                     const gnomon_track_info *t)
{
    if (!gnomon__work_stats(n) || n->flags & GNOMON_NODE_PART)
        return GNOMON__WORK_NONE;
    if (t->device >= 0 && t->kind == GNOMON_TRACK_STREAM)
        return work_on_device(r, true);
    if (t->kind == GNOMON_TRACK_LANE && r->kind == GNOMON_KIND_API)
        return GNOMON__WORK_CALL;
    return t->kind == GNOMON_TRACK_LANE ? work_on_device(r, false)
                                        : GNOMON__WORK_NONE;
}

/* ---- Devices ----------------------------------------------------------------------- */

const char *gnomon__metadata_text(const gnomon_profile *p, uint32_t run,
                                  const char *key, int *length)
{
    gnomon_metadata_info m;
    for (size_t i = 1; gnomon_profile_metadata(p, i, &m) == GNOMON_OK; i++) {
        const size_t size = strlen(m.json);
        if ((run && m.run != run) || strcmp(m.key, key) != 0 || size < 3 ||
            size > GNOMON__DEVICE_NAME - 24 || m.json[0] != '"')
            continue;
        *length = (int)size - 2;
        return m.json + 1;
    }
    *length = 0;
    return "";
}

static void work_name_device(const gnomon_profile *p, gnomon__device *d)
{
    char key[64];
    int length;
    (void)snprintf(key, sizeof key, "gnomon.cuda.%" PRId32 ".name", d->number);
    const char *name = gnomon__metadata_text(p, d->run, key, &length);
    (void)snprintf(d->name, sizeof d->name, "GPU %" PRId32 "%s%.*s%s",
                   d->number, length ? " (" : "", length, name,
                   length ? ")" : "");
}

static bool work_read_tracks(gnomon__device_work *w)
{
    const size_t count = gnomon_profile_count(w->profile, GNOMON_TRACKS);
    gnomon__keyed_list of = {0}; /* tracks by run and number of device */
    gnomon_track_info t;
    bool ok = true;
    for (size_t i = 1; ok && !gnomon_profile_track(w->profile, i, &t); i++)
        if (t.device >= 0 && t.kind != GNOMON_TRACK_POOL)
            ok = gnomon__keyed_add(
                &of, (uint64_t)t.run << 32 | (uint32_t)t.device, i, 0);
    gnomon__keyed_sort(&of);
    w->on = calloc(count + 1, sizeof *w->on);
    w->devices = calloc(of.count + 1, sizeof *w->devices);
    ok = ok && w->on && w->devices;
    for (size_t i = 0; ok && i < of.count; i++) {
        const uint64_t key = of.at[i].key;
        if (!i || of.at[i - 1].key != key) {
            gnomon__device *d = &w->devices[w->device_count++];
            d->number = (int32_t)key;
            d->run = (uint32_t)(key >> 32);
            work_name_device(w->profile, d);
        }
        w->on[of.at[i].value] = (uint32_t)w->device_count;
    }
    free(of.at);
    return ok;
}

/* ---- Nodes -------------------------------------------------------------------------- */

static void work_count(gnomon__device_work *w, int work, uint32_t track,
                       const gnomon_stats *s)
{
    w->waits += work == GNOMON__WORK_WAIT ? s->count : 0;
    w->calls += work == GNOMON__WORK_CALL ? s->count : 0;
    w->overheads += work == GNOMON__WORK_OVERHEAD ? s->count : 0;
    if (!w->on[track] || !gnomon__work_is_busy(work))
        return;
    w->devices[w->on[track] - 1].work += s->count;
    w->devices[w->on[track] - 1].total_ns += s->total_ns;
    w->busy_work += s->count;
    w->busy_ns += s->total_ns;
}

static bool work_read_nodes(gnomon__device_work *w)
{
    const size_t tracks = gnomon_profile_count(w->profile, GNOMON_TRACKS);
    bool *has_work = calloc(tracks + 1, sizeof *has_work);
    w->work = calloc(w->nodes + 1, 1);
    for (size_t i = 1; has_work && w->work && i <= w->nodes; i++) {
        gnomon_node_info n;
        gnomon_region_info r;
        gnomon_track_info t;
        if (gnomon_profile_node(w->profile, i, &n) != GNOMON_OK ||
            gnomon_profile_region(w->profile, n.region, &r) != GNOMON_OK ||
            gnomon_profile_track(w->profile, n.track, &t) != GNOMON_OK)
            continue;
        const int work = work_kind(&n, &r, &t);
        w->work[i] = (unsigned char)work;
        if (work)
            work_count(w, work, n.track, gnomon__work_stats(&n));
        if (gnomon__work_is_busy(work) && !has_work[n.track] &&
            w->on[n.track]) {
            has_work[n.track] = true;
            w->devices[w->on[n.track] - 1].streams++;
        }
    }
    const bool ok = has_work && w->work;
    free(has_work);
    return ok;
}

static void work_read_losses(gnomon__device_work *w)
{
    gnomon_loss_info l;
    for (size_t i = 1; !gnomon_profile_loss(w->profile, i, &l); i++) {
        uint64_t *to = strcmp(l.kind, "activities_unlinked") == 0 ? &w->unlinked
                       : strcmp(l.kind, "activities_lost") == 0   ? &w->lost
                       : strcmp(l.kind, "activities_late") == 0   ? &w->late
                       : strcmp(l.kind, "activities_odd") == 0    ? &w->odd
                                                                  : NULL;
        if (to)
            *to += l.count;
    }
}

int gnomon__device_work_make(gnomon__device_work *w, const gnomon_profile *p)
{
    *w = (gnomon__device_work){.profile = p,
                               .nodes = gnomon_profile_count(p, GNOMON_NODES)};
    if (!work_read_tracks(w) || !work_read_nodes(w))
        return GNOMON_ENOMEM;
    work_read_losses(w);
    return GNOMON_OK;
}

void gnomon__device_work_free(gnomon__device_work *w)
{
    free(w->work);
    free(w->on);
    free(w->devices);
    *w = (gnomon__device_work){0};
}
