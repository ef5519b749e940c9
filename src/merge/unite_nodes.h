/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef GNOMON_MERGE_UNITE_NODES_H
#define GNOMON_MERGE_UNITE_NODES_H

#include "merge/united.h"

/* Adds a part's paths, its tracks and stages being united. */
int gnomon__unite_nodes(gnomon__united_part *part);

#endif
