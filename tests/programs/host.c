/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A host with gnomon as a shared library. */
#include "host.h"
