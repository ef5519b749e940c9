/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The same with gnomon inside it, exporting nothing.
 *
 * links: static */
#include "host.h"
