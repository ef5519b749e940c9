/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The same profiler as a plugin, for any marked program:
 *
 *     cc -shared -fPIC -o libcount.so 06_action_count_plugin.c
 *     GNOMON=./libcount.so ./train
 *
 * It links to no gnomon: what it calls comes with the writer and the profile,
 * or with the host table that gnomon_plugin_v1 is given. */
#include "action_count.h"

GNOMON_PLUGIN(action_count);
