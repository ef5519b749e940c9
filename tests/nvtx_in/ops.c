/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sends what gnomon's profiler nvtx sends with a scope that computes an operation, by
 * that profiler's own code, as another program would receive it. */
#include <stdlib.h>

#include "profilers/nvtx_payload.h"

static nvtxEventAttributes_t
    event; /* has the payload as long as the program runs */

int main(void)
{
    static const int64_t dims[] = {8, 64, 32};
    static const gnomon_tensor inputs[] = {
        {sizeof *inputs, 2, "float32", dims, NULL},
        {sizeof *inputs, 2, "float32", dims + 1, NULL}};
    static const gnomon_op_info op = {.struct_size = sizeof op,
                                      .flags = GNOMON_OP_BACKWARD,
                                      .operation = "matmul",
                                      .inputs = inputs,
                                      .input_count = 2,
                                      .flops = 32768,
                                      .bytes = 10240};
    nvtx_load();
    nvtxDomainHandle_t domain = NVTX_ASK(CORE2, DomainCreateA, "mine");
    event = (nvtxEventAttributes_t){.version = NVTX_VERSION,
                                    .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
                                    .messageType = NVTX_MESSAGE_TYPE_REGISTERED,
                                    .message.registered =
                                        nvtx_string(domain, "linear")};
    uint64_t layout = nvtx_register_layout(domain);
    nvtx_add_payload(&event, domain, layout, &op);
    for (int i = 0; i < 2; i++) {
        nvtx_push(domain, &event);
        nvtx_pop(domain);
    }
    return layout ? 0 : 77;
}
