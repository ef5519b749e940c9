/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Adds statistics without loss: the histograms' boundaries are the same in all
 * profiles. */
#include "profile/sums.h"

#include <string.h>

#include "platform/error.h"
#include "platform/memory.h"

static int no_memory_to_add(void)
{
    return gnomon__fail(GNOMON_ENOMEM, "no memory to add profiles up");
}

gnomon__sum *gnomon__sum_create(gnomon__model *m)
{
    gnomon__sum *sum =
        m ? gnomon__model_room(m, sizeof *sum) : gnomon__alloc(sizeof *sum);
    if (sum)
        sum->m = m;
    else
        (void)no_memory_to_add();
    return sum;
}

/* A model cannot free cells: so they grow by half, and waste no more than they are. */
static int sum_room(gnomon__sum *to, size_t cells)
{
    const size_t more = to->room + to->room / 2;
    const size_t room = cells > more ? cells : more;
    if (!to->m)
        return gnomon__grow(&to->s.cells, &to->room, cells, sizeof(gnomon_cell))
                   ? GNOMON_OK
                   : no_memory_to_add();
    if (cells <= to->room)
        return GNOMON_OK;
    gnomon_cell *at = gnomon__model_room(to->m, room * sizeof *at);
    if (!at)
        return no_memory_to_add();
    if (to->s.cell_count)
        memcpy(at, to->s.cells, to->s.cell_count * sizeof *at);
    to->s.cells = at;
    to->room = room;
    return GNOMON_OK;
}

/* How many cells both have together. It takes the same steps as add_cells, because
 * cells of a file are unchecked and may be in any order. */
static size_t cells_of_both(const gnomon_stats *a, const gnomon_stats *b)
{
    size_t have = a->cell_count, count = b->cell_count, n = 0;
    for (; count; n++) {
        uint32_t x = have ? a->cells[have - 1].cell : 0;
        uint32_t y = b->cells[count - 1].cell;
        int is_own = have && x >= y, is_other = !have || y >= x;
        have -= (size_t)is_own;
        count -= (size_t)is_other;
    }
    return n + have;
}

/* From the end, so that nothing is overwritten before it is read. */
static void add_cells(gnomon_cell *to, size_t have, const gnomon_cell *more,
                      size_t count, size_t both)
{
    while (count) {
        gnomon_cell *at = &to[--both];
        if (have && to[have - 1].cell > more[count - 1].cell) {
            *at = to[--have];
        } else if (have && to[have - 1].cell == more[count - 1].cell) {
            gnomon_cell sum = to[--have];
            sum.count += more[--count].count;
            *at = sum;
        } else {
            *at = more[--count];
            at->reserved = 0;
        }
    }
}

int gnomon__sum_add(gnomon__sum *to, const gnomon_stats *more)
{
    if (!more)
        return GNOMON_OK;
    if (!to->s.struct_size)
        return gnomon__sum_become(to, more);
    size_t both = cells_of_both(&to->s, more);
    int code = sum_room(to, both);
    if (code)
        return code;
    add_cells((gnomon_cell *)(size_t)to->s.cells, to->s.cell_count, more->cells,
              more->cell_count, both);
    to->s.cell_count = both;
    gnomon_stats_add(&to->s, more);
    return GNOMON_OK;
}

int gnomon__stats_compare(const gnomon_stats *a, const gnomon_stats *b)
{
    return gnomon__compare_fields(&gnomon__structs[GNOMON__STATS], a, b, 0);
}

int gnomon__sum_become(gnomon__sum *to, const gnomon_stats *other)
{
    int code = sum_room(to, other->cell_count);
    if (code)
        return code;
    const gnomon_cell *cells = to->s.cells;
    if (other->cell_count)
        memcpy((void *)(size_t)cells, other->cells,
               other->cell_count * sizeof *cells);
    to->s = *other;
    to->s.struct_size = sizeof to->s;
    to->s.cells = cells;
    return GNOMON_OK;
}

int gnomon__sum_keep(const gnomon__sum *s, gnomon__model *m,
                     const gnomon_stats **out)
{
    gnomon__sum *copy = gnomon__sum_create(m);
    if (!copy || gnomon__sum_become(copy, &s->s))
        return 0;
    *out = &copy->s;
    return 1;
}

void gnomon__sum_free(gnomon__sum *s)
{
    gnomon__free((void *)(size_t)s->s.cells);
    memset(s, 0, sizeof *s);
}
