/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The same profiler as a plugin, for any marked program:
 *
 *     cc -shared -fPIC -o libcount.so 06_action_count_plugin.c
 *     GNOMON=./libcount.so ./train
 *
 * It is not linked to gnomon: it calls functions of the writer, of the profile, and
 * of the host table that gnomon_plugin_v1 gets. */
#include "action_count.h"

GNOMON_PLUGIN(action_count);
