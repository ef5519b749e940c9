/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compiled: for speed */
#include "platform/owner.h"

const gnomon_host *gnomon__owner;
