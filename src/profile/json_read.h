/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Makes a profile of its JSON form (docs/file-format.md). Of the program, not of
 * the library: it needs jansson. */
#ifndef GNOMON_PROFILE_JSON_READ_H
#define GNOMON_PROFILE_JSON_READ_H

#include "gnomon/profile.h"

/* GNOMON_OK, and the caller frees *out. gnomon_error_text() is then "", or says
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
