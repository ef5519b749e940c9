/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What is left out is looked at too: its operation may go on in a kernel that is not. */
#include "nsys/kernels.h"

#include <inttypes.h>
#include <string.h>

#include "command/command.h"
#include "platform/error.h"
#include "spec/filter.h"

int gnomon__nsys_kernels_open(gnomon__nsys_kernels *k, const char *path,
                              const gnomon__nsys_filter *filter)
{
    *k = (gnomon__nsys_kernels){
        .filter = filter, .work = {.is_pyprofs = filter->asked.is_pyprofs}};
    return k->status =
               gnomon__nsys_records_open(&k->records, path, &filter->asked);
}

static bool is_in_such_a_range(const gnomon__nsys_record *r,
                               const char *pattern)
{
    const gnomon__texts *const lists[] = {&r->path, &r->layers, &r->ops};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        for (size_t i = 0; i < lists[k]->count; i++)
            if (gnomon__glob(pattern, strlen(pattern), lists[k]->at[i]))
                return true;
    return false;
}

static bool is_asked_for(const gnomon__nsys_filter *f,
                         const gnomon__nsys_record *r)
{
    return (!f->asked.is_pyprofs || r->has_call) &&
           (f->process < 0 || f->process == r->process) &&
           (f->device < 0 || f->device == r->device) &&
           (f->stream < 0 || f->stream == r->stream) &&
           (!f->asked.domain || r->is_in_range) &&
           (!f->range || is_in_such_a_range(r, f->range));
}

gnomon__nsys_record *gnomon__nsys_kernel_next(gnomon__nsys_kernels *k)
{
    gnomon__nsys_record *r;
    while (!k->status &&
           (r = gnomon__nsys_records_next(k->records, &k->status))) {
        if (!k->only_reads && !gnomon__work_of(&k->work, r)) {
            gnomon__log("no memory for a kernel");
            k->status = GNOMON__EXIT_UNREADABLE;
            break;
        }
        if (!is_asked_for(k->filter, r)) {
            k->left_out++;
            continue;
        }
        k->count++;
        k->ns += r->ns > 0 ? (uint64_t)r->ns : 0;
        k->flops += k->work.flops;
        k->bytes += k->work.bytes;
        k->unknown += !k->work.is_known;
        k->unsure += !k->only_reads && *k->work.tensor_cores == '?';
        return r;
    }
    if (!k->status && !k->count)
        k->status = GNOMON__EXIT_NOTHING;
    return NULL;
}

void gnomon__nsys_kernels_tell(const gnomon__nsys_kernels *k)
{
    const gnomon__nsys_records_sums s = gnomon__nsys_records_sum(k->records);
    if (k->left_out)
        gnomon__log("%" PRIu64 " kernels were not asked for", k->left_out);
    gnomon__log("%" PRIu64 " kernels, %" PRIu64 " without a call, %" PRIu64
                " in no range; %" PRIu64 " ranges are open at the end",
                s.kernels, s.without_call, s.without_range, s.unclosed);
    if (s.bad_lines)
        gnomon__log("%" PRIu64 " lines were not kernels", s.bad_lines);
    if (k->only_reads)
        return;
    if (k->work.without_forward)
        gnomon__log("%" PRIu64 " backward kernels have a number that no "
                    "forward operation has",
                    k->work.without_forward);
    gnomon__log("%" PRIu64 " kernels have an operation without figures (na); "
                "for %" PRIu64 " the name does not say whether they ran on "
                "tensor cores (?)",
                k->unknown, k->unsure);
}

void gnomon__nsys_kernels_free(gnomon__nsys_kernels *k)
{
    gnomon__nsys_records_free(k->records);
    gnomon__work_free(&k->work);
}
