/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Packets: what a trace is made of. Each is whole in memory before it is written. */
#include "export/perfetto.h"

/* Times are Unix ns, and the file says nothing of clocks: viewers then take Unix time for
 * the time of the trace. A ClockSnapshot would say the same, but Perfetto shows it as a
 * group of its own, and opens a process by itself only where it is the only group. */
uint64_t gnomon__perfetto_unix(const gnomon__perfetto_run *run, uint64_t ns)
{
    uint64_t most = INT64_MAX;
    return run->zero > most || ns > most - run->zero ? most : run->zero + ns;
}

gnomon__wire *gnomon__perfetto_packet(gnomon__perfetto *f, uint32_t run)
{
    f->wire.size = 0;
    gnomon__wire_number(&f->wire, PACKET_SEQUENCE, f->runs[run].sequence);
    gnomon__wire_number(&f->wire, PACKET_FLAGS, FLAGS_NEEDS_STATE);
    return &f->wire;
}

void gnomon__perfetto_packet_end(gnomon__perfetto *f)
{
    char head[16];
    if (f->wire.has_failed) {
        f->has_no_memory = 1;
        return;
    }
    size_t n = gnomon__wire_varint(head, TRACE_PACKET << 3 | 2);
    n += gnomon__wire_varint(head + n, f->wire.size);
    gnomon__export_put(f->t, head, n);
    gnomon__export_put(f->t, f->wire.bytes, f->wire.size);
}

gnomon__wire *gnomon__perfetto_event(gnomon__perfetto *f, uint32_t run,
                                     uint64_t unix_ns, uint64_t uuid,
                                     uint32_t type, size_t *from)
{
    gnomon__wire *w = gnomon__perfetto_packet(f, run);
    gnomon__wire_number(w, PACKET_TIME, unix_ns);
    *from = gnomon__wire_open(w, PACKET_EVENT);
    gnomon__wire_number(w, EVENT_TYPE, type);
    gnomon__wire_number(w, EVENT_TRACK, uuid);
    return w;
}

void gnomon__perfetto_event_end(gnomon__perfetto *f, size_t from)
{
    gnomon__wire_close(&f->wire, from);
    gnomon__perfetto_packet_end(f);
}
