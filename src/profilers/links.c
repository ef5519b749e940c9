/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: which path caused which other one, how often, and the times of the other one.
 * With by= a link is in the group of the path that caused it. */
#include "gnomon.h"
#include "gnomon/tool.h"
#include "print/rows.h"

/* A path with several links to it counts once. */
#define LINK_COLUMN_LIST(X) \
    X(LINK_FROM, "from", "From", TEXT, SHOWN, KEY) \
    X(LINK_TO, "to", "To", TEXT, SHOWN, KEY) \
    X(LINK_KIND, "kind", "Kind", TEXT, SHOWN, LAST) \
    X(LINK_COUNT, "count", "Links", COUNT, SHOWN, SUM) \
    X(LINK_CALLS, "calls", "Calls of it", COUNT, SHOWN, ONCE) \
    X(LINK_TOTAL, "total", "Total of it", TIME, SHOWN, ONCE) \
    X(LINK_SELF, "self", "Self of it", TIME, EXTRA, ONCE) \
    X(LINK_KIND_NUMBER, "", "", ID, HIDDEN, KEY)
GNOMON__COLUMNS(links_columns, LINK_COLUMNS, LINK_COLUMN_LIST);

static void links_read(gnomon__report_rows *r)
{
    static const char *const kinds[] = {[GNOMON_LINK_SUBMIT] = "submit",
                                        [GNOMON_LINK_BACKWARD] = "backward",
                                        [GNOMON_LINK_LAUNCH] = "launch"};
    const gnomon_stats none = {.count = 0};
    gnomon_link_info l;
    gnomon__report_node from, to;
    for (size_t i = 1; !gnomon_profile_link(r->profile, i, &l); i++) {
        if (!gnomon__report_node_at(r->profile, l.to, &to))
            continue;
        (void)gnomon__report_node_at(r->profile, l.from, &from);
        const gnomon_stats *s = to.of.host ? to.of.host : &none;
        gnomon__cell *cells =
            gnomon__report_row(r, from.of.track, from.of.region);
        r->id = l.to;
        gnomon__cell_text(&cells[LINK_FROM], gnomon__report_path(r, l.from));
        gnomon__cell_text(&cells[LINK_TO], gnomon__report_path(r, l.to));
        gnomon__cell_text(&cells[LINK_KIND],
                          l.kind <= GNOMON_LINK_LAUNCH ? kinds[l.kind] : "?");
        gnomon__cell_count(&cells[LINK_KIND_NUMBER], l.kind);
        gnomon__cell_count(&cells[LINK_COUNT], l.count);
        gnomon__cell_count(&cells[LINK_CALLS], s->count);
        gnomon__cell_count(&cells[LINK_TOTAL], s->total_ns);
        gnomon__cell_count(&cells[LINK_SELF], s->self_ns);
    }
}

static const gnomon__report links_report = {
    .name = "links",
    .title = "Links",
    .if_empty = "no link was recorded: gnomon_link_in() makes one, from "
                "gnomon_link_out()",
    .columns = links_columns,
    .column_count = LINK_COLUMNS,
    .by_from = GNOMON__BY_THREAD,
    .by_to = GNOMON__BY_FILE,
    .reads = GNOMON__READS_LINKS,
    .sort = LINK_COUNT,
    .read = links_read,
};

GNOMON__REPORT_PROFILER(
    links, links_report, GNOMON_WANT_TREE,
    "what was handed to other threads, by whom, and what it took",
    GNOMON__TABLE_OPTIONS, GNOMON__BY_ANY_OPTION);
