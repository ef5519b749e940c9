/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A profile's two forms, docs/file-format.md. Each writes from start to end and
 * returns GNOMON_OK, GNOMON_ENOMEM, or the writer's error. */
#ifndef GNOMON_PROFILE_FORMS_H
#define GNOMON_PROFILE_FORMS_H

#include "gnomon/profile.h"

/* The version of the JSON form. It changes when an older reader would get a file
 * wrong; a key that it may ignore is no change. */
#define GNOMON__JSON_FORM 1

int gnomon__write_file(const gnomon_profile *p, const gnomon_writer *out);
int gnomon__write_json(const gnomon_profile *p, const gnomon_writer *out);

#endif
