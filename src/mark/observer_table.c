/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
/* The table of observers and their bits. observer.c and leave.c change it. */
#include "mark/observer.h"
#include "platform/process.h"

gnomon__observer gnomon__observers[GNOMON__BITS];
uint32_t gnomon__memory_bits GNOMON__OF_PROCESS;
uint32_t gnomon__observer_epoch;
uint32_t gnomon__observer_offs;
uint32_t gnomon__needs_fence;
uint32_t gnomon__observer_is_idle = 1;
uint32_t gnomon__start_mask GNOMON__OF_PROCESS;
uint32_t gnomon__leaving_bits GNOMON__OF_PROCESS;
uint32_t gnomon__leave_serial;
uint32_t gnomon_enabled = GNOMON_MASK_UNSEEN;
uint64_t gnomon__step_under_way GNOMON__OF_PROCESS;
uint64_t gnomon__steps_over GNOMON__OF_PROCESS;

uint32_t gnomon__attached_bits GNOMON__OF_PROCESS;
uint32_t gnomon__armed_bits GNOMON__OF_PROCESS;
uint32_t gnomon__open_bits GNOMON__OF_PROCESS;
