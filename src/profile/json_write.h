/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The JSON form of a profile, docs/file-format.md. */
#ifndef GNOMON_PROFILE_JSON_WRITE_H
#define GNOMON_PROFILE_JSON_WRITE_H

#include "gnomon/profile.h"

/* The version of the JSON form. It changes when an older reader would get a file
 * wrong; a key that it may ignore is no change. */
#define GNOMON__JSON_FORM 1

/* Writes all of it. GNOMON_OK, GNOMON_ENOMEM, or the writer's error. */
int gnomon__write_json(const gnomon_profile *p, const gnomon_writer *out);

#endif
