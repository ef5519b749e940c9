/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Layers in Chrome's format, as Kineto writes modules of torch: for gnomon__export.layer. It
 * is not in the library.
 *
 * Layers are the modules that torch's own session recorded. Without any, they are scopes
 * with a category, which is the class, around at least one operation, if the profile has
 * some. Without any of these, scopes and functions directly around an operation, whose
 * class is their name: as such a function may be called for each block of a model, its
 * calls within one call of the layer around it are layers of their own. What runs backward
 * is none. */
#ifndef GNOMON_EXPORT_MODULES_H
#define GNOMON_EXPORT_MODULES_H

#include "export/chrome.h"

int gnomon__chrome_layer(gnomon__chrome *c, uint32_t node);

#endif
