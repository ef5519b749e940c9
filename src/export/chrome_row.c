/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
/* How a row of a Chrome trace begins. */
#include "export/chrome.h"

void gnomon__chrome_row(gnomon__chrome *c)
{
    if (c->is_first)
        gnomon__export_literal(c->t, "\n");
    else
        gnomon__export_literal(c->t, ",\n");
    c->is_first = 0;
}

void gnomon__chrome_place(gnomon__chrome *c, int64_t pid, int64_t tid,
                          uint64_t ns)
{
    gnomon__export_literal(c->t, ",\"pid\":");
    gnomon__export_signed(c->t, pid);
    gnomon__export_literal(c->t, ",\"tid\":");
    gnomon__export_signed(c->t, tid);
    gnomon__export_literal(c->t, ",\"ts\":");
    gnomon__export_us(c->t, ns);
}

void gnomon__chrome_moment(gnomon__chrome *c, size_t track, uint64_t ns,
                           const char *phase, const char *name)
{
    gnomon__chrome_row(c);
    gnomon__export_literal(c->t, "{\"ph\":");
    gnomon__export_string(c->t, phase);
    gnomon__export_literal(c->t, ",\"name\":");
    gnomon__export_json(c->t, name);
    gnomon__chrome_place(c, c->ids.pids[track], c->ids.tracks[track], ns);
    gnomon__export_literal(c->t, ",\"args\":{");
}

uint64_t gnomon__chrome_zero(const gnomon__chrome *c, size_t track)
{
    gnomon_track_info k;
    (void)gnomon_profile_track(c->p, track, &k);
    return c->zero[k.run];
}

int gnomon__chrome_on_device(const gnomon_profile *p, size_t track)
{
    gnomon_track_info k;
    return !gnomon_profile_track(p, track, &k) &&
           (k.kind == GNOMON_TRACK_STREAM || k.kind == GNOMON_TRACK_LANE) &&
           k.device >= 0;
}
