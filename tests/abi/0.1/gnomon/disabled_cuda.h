/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* CUDA with GNOMON_DISABLE: calls that do nothing. Included by
 * gnomon/cuda.h; gnomon/disabled.h says what such calls return. */
#ifndef GNOMON_DISABLED_CUDA_H
#define GNOMON_DISABLED_CUDA_H

#include "cuda.h"

#ifdef GNOMON_DISABLE

GNOMON_BEGIN_DECLS

GNOMON_INLINE const gnomon_device *gnomon_cuda_device(void)
{
    return GNOMON_NULL;
}

GNOMON__CALL int gnomon_cuda_timer_create(gnomon_cuda_timer **out)
{
    *out = GNOMON_NULL;
    return GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_cuda_timer_start(gnomon_cuda_timer *timer,
                                         gnomon_cuda_stream stream)
{
    (void)timer;
    (void)stream;
    return GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_cuda_timer_stop(gnomon_cuda_timer *timer,
                                        gnomon_cuda_stream stream)
{
    (void)timer;
    (void)stream;
    return GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_cuda_timer_elapsed(gnomon_cuda_timer *timer, double *ms)
{
    (void)timer;
    *ms = 0;
    return GNOMON_ESTATE;
}

GNOMON__CALL int gnomon_cuda_timer_query(gnomon_cuda_timer *timer, double *ms)
{
    (void)timer;
    *ms = 0;
    return GNOMON_ESTATE;
}

GNOMON__CALL void gnomon_cuda_timer_destroy(gnomon_cuda_timer *timer)
{
    (void)timer;
}

GNOMON_END_DECLS

#endif

#endif
