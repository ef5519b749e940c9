/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The JSON form of a profile, docs/file-format.md. */
#ifndef GNOMON_PROFILE_JSON_READ_H
#define GNOMON_PROFILE_JSON_READ_H

#include "gnomon/profile.h"

/* The version of the JSON form. It changes when an older reader would get a file
 * wrong; a key that it may ignore is no change. */
#define GNOMON__JSON_FORM 1

/* Writes all of it. GNOMON_OK, GNOMON_ENOMEM, or the writer's error. */
int gnomon__write_json(const gnomon_profile *p, const gnomon_writer *out);

/* A part of the program, not of the library: it needs jansson.
 *
 * GNOMON_OK, and the caller frees *out. gnomon_error_text() is then "", or says
 * in one line which keys were not known and so ignored.
 *
 * Else *out is NULL and gnomon_error_text() says what to do, and where:
 *   GNOMON_EINVAL  no JSON, or not of this form ("nodes[3].host.total_ns: not a
 *                  number"), or a profile that breaks a rule of docs/profile.md
 *   GNOMON_EABI    of a version of the form that is newer than this program
 *   GNOMON_ENOMEM
 *   GNOMON_ESTATE  built without jansson
 * Places count from 1, as the numbers of entities do. */
int gnomon__json_read(gnomon_profile **out, const char *text, size_t size);

#endif
