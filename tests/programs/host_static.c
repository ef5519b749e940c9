/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* As host.c, with gnomon linked in statically, exporting nothing.
 *
 * links: static */
#include "host.h"
