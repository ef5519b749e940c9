/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which paths of a profile are layers of a model. The library has the rows for them, and
 * who links this file the search for them. */
#ifndef GNOMON_EXPORT_MODULES_H
#define GNOMON_EXPORT_MODULES_H

#include "gnomon/profile.h"

typedef struct gnomon__module {
    const char *name; /* "nn.Module: Linear"; NULL: it is none */
    uint32_t around;  /* the path of the next layer around it; 0: none */
    uint32_t number;  /* of its class: that of its last row */
    uint32_t
        is_each; /* each call within one of the layer around it has its own */
    /* Numbers of rows: its last one, and of the layer around that; 0: there is none. */
    uint64_t last, within;
} gnomon__module;

/* By node, from 0 to their count, in one block of memory that the caller frees; NULL: no
 * memory.
 *
 * Layers are the modules that torch's own session recorded. Without any, they are scopes
 * with a category, which is the class, around at least one operation, if the profile has
 * some. Without any of these, scopes and functions directly around an operation, whose
 * class is their name: as such a function may be called for each block of a model, its
 * calls within one call of the layer around it are layers of their own. What runs backward
 * is none. */
gnomon__module *gnomon__modules_find(const gnomon_profile *p);

#endif
