/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Calls hooks, and marks each call. The trainer's loops go through here.
 *
 * Invariant: callbacks come first, in their order, then the module, then the
 * strategy; an action is open exactly while the body of its part runs. Names are
 * literals, so a mark that is off costs only one test.
 */
#include "hooks.h"

#include <stddef.h>

#include <gnomon.h>

#define PARTS 4

static const char *const action_names[PARTS][HOOK_COUNT] = {
#define HOOK_NAME(name) PROGRESS_ACTION(#name),
    {HOOKS(HOOK_NAME)},
#undef HOOK_NAME
#define HOOK_NAME(name) CHECKPOINT_ACTION(#name),
    {HOOKS(HOOK_NAME)},
#undef HOOK_NAME
#define HOOK_NAME(name) MODULE_ACTION(#name),
    {HOOKS(HOOK_NAME)},
#undef HOOK_NAME
#define HOOK_NAME(name) STRATEGY_ACTION(#name),
    {HOOKS(HOOK_NAME)},
#undef HOOK_NAME
};

static hook_body *const *const part_bodies[PARTS] = {
    progress_line, model_checkpoint, gpt_module, single_device};

void hook_call(struct trainer *trainer, unsigned parts, enum hook hook)
{
    for (int part = 0; part < PARTS; part++) {
        if (!(parts >> part & 1))
            continue;
        const char *action = action_names[part][hook];
        gnomon_start(action);
        if (part_bodies[part][hook])
            part_bodies[part][hook](trainer);
        gnomon_stop(action);
    }
}
