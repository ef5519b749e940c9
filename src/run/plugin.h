/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Profilers by name: built-in, registered, from a file. */
#ifndef GNOMON_RUN_PLUGIN_H
#define GNOMON_RUN_PLUGIN_H

#include "gnomon/tool.h"

/* All that a bare name can mean, registered ones first. */
const gnomon_profiler *const *gnomon__profilers_known(size_t *count);
const gnomon_profiler *gnomon__profiler_named(const char *name);
int gnomon__profiler_is_builtin(const gnomon_profiler *profiler);
/* Makes it known by its name; it replaces one of this name. GNOMON_EINVAL, GNOMON_EABI,
 * GNOMON_EFULL and a text. Inside a control call. */
int gnomon__profiler_add(const gnomon_profiler *profiler);
/* Loads a plugin. GNOMON_ENOENT, GNOMON_EABI, GNOMON_EPLUGIN and a text, which
 * names it as `shown`. */
int gnomon__plugin_load(const gnomon_profiler **out, const char *path,
                        const char *shown);
/* Whether a profiler's table can be used. GNOMON_EABI and a text. */
int gnomon__profiler_check(const gnomon_profiler *profiler);

#endif
