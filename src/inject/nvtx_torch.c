/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What torch's emit_nvtx says behind the name of an operation:
 *
 *     aten::mm, seq = 12, op_id = 7, sizes = [[2, 3], [3, 4]], input_op_ids = [(5,0)]
 *     AddmmBackward, stashed seq = 12, seq = 30     (1.0 to 1.4, which write seq= too)
 *
 * Sizes make the scope compute an operation; the number links backward with the forward
 * that has it, the last one of that number. Before op_id came, 0 was no number.
 *
 * Numbers are of the thread that ran forward, which no text names. So where forwards of
 * several threads have one, backward is linked with that of its own thread or none. */
#include <stdlib.h>
#include <string.h>

#include "inject/nvtx.h"
#include "ops/torch_text.h"

#define INPUTS 32u
#define DIMS 8u /* of one input */

/* The value behind a key; NULL: it is not there. */
static const char *torch_value(const char *parts, const char *key)
{
    const char *at = strstr(parts, key);
    if (!at)
        return NULL;
    at += strlen(key);
    return at + strspn(at, " =");
}

/* "[[2, 3], [], [4]]", which skip_part has read before. Returns how many there are; those
 * with too many dims have none. */
static size_t read_shapes(const char *at, gnomon_tensor inputs[INPUTS],
                          int64_t dims[INPUTS][DIMS])
{
    size_t count = 0;
    if (*at == '[' && *++at != '[')
        return 0;
    for (; count < INPUTS && (at = strchr(at, '[')) != NULL; count++) {
        uint32_t rank = 0;
        const char *end = strchr(at, ']');
        at++;
        for (; at < end; rank++) {
            char *next;
            const int64_t dim = strtoll(at, &next, 10);
            if (next == at)
                break;
            if (rank < DIMS)
                dims[count][rank] = dim;
            at = next + strspn(next, ", ");
        }
        inputs[count] = (gnomon_tensor){sizeof *inputs, rank <= DIMS ? rank : 0,
                                        "", dims[count], NULL};
        if (!end || end[1] == ']')
            return count + 1;
    }
    return count;
}

gnomon_region *gnomon__inject_torch_region(gnomon_region *scope,
                                           const char *text, size_t length)
{
    gnomon_tensor inputs[INPUTS];
    int64_t dims[INPUTS][DIMS];
    char name[256];
    gnomon_op_info op = {.struct_size = sizeof op, .operation = name};
    const char *sizes = torch_value(text + length, ", sizes");
    if (!sizes || length >= sizeof name)
        return scope;
    memcpy(name, text, length);
    name[length] = 0;
    op.inputs = inputs;
    op.input_count = read_shapes(sizes, inputs, dims);
    op.flags = gnomon__torch_is_backward(name, length) ? GNOMON_OP_BACKWARD : 0;
    return gnomon_op_region(scope, &op);
}

/* ---- Links ------------------------------------------------------------------ */

#define FORWARDS \
    8192u /* a power of two: a newer number takes an older one's place */

static struct inject_forward {
    uint32_t is_busy;   /* somebody reads or writes it; nobody waits */
    uint32_t is_shared; /* several threads have the number */
    uint64_t number;    /* plus one */
    const void *thread;
    gnomon_link link;
} inject_forwards[FORWARDS];

static void keep_forward(struct inject_forward *f, uint64_t number,
                         const void *thread)
{
    const int is_again = f->number == number + 1;
    f->is_shared = is_again && (f->is_shared || f->thread != thread);
    f->number = number + 1;
    f->thread = thread;
    f->link = gnomon_link_out();
}

void gnomon__inject_torch_link(const char *text, size_t length)
{
    static const char engine[] = "autograd::engine::";
    const char *parts = text + length;
    const char *stashed = torch_value(parts, ", stashed seq");
    const char *seq = stashed ? stashed : torch_value(parts, ", seq");
    const void *thread = gnomon__inject_this_thread;
    if (!seq || strncmp(text, engine, sizeof engine - 1) == 0)
        return;
    const uint64_t number = strtoull(seq, NULL, 10);
    if (!number && !strstr(parts, ", op_id"))
        return;
    struct inject_forward *f = &inject_forwards[number % FORWARDS];
    gnomon_link link = {{0}};
    if (swap_acq_rel(&f->is_busy, 1))
        return;
    if (!stashed && !gnomon__torch_is_backward(text, length))
        keep_forward(f, number, thread);
    else if (f->number == number + 1 && (!f->is_shared || f->thread == thread))
        link = f->link;
    store_release(&f->is_busy, 0);
    gnomon_link_in(&link, GNOMON_LINK_BACKWARD); /* all zero: nothing */
}
