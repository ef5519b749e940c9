/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* CUPTI as one of several subscribers. From 13.4 on several may subscribe, if all of them
 * make calls that name the subscriber; each then has buffers, kinds and a clock of its own.
 * CUPTI refuses these calls where somebody made those for the whole process, and the other
 * way round. */
#ifndef GNOMON_DEVICE_CUPTI_SEVERAL_H
#define GNOMON_DEVICE_CUPTI_SEVERAL_H

#include "device/cupti_driver.h"

/* Whether this CUPTI can, and it is wise. In control calls, as all here. */
int gnomon__cupti_is_for_several(void);

/* PyTorch's profiler makes the calls for the whole process, at any time: it must neither be
 * shut out nor find that its buffers are to be zeroed. */
int gnomon__cupti_is_pytorch_here(void);

/* Subscribes; then gnomon__cupti() has the calls of this subscriber. Or why not. */
int gnomon__cupti_several_subscribe(void **subscriber,
                                    cupti_callback *callback);
/* Before it is left: gnomon__cupti() is for the whole process again. */
void gnomon__cupti_several_over(void);

/* Whether it is subscribed so. */
int gnomon__cupti_is_one_of_several(void);

#endif
