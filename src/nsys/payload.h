/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Operations that gnomon told, as the text that a range of PyProf's would have: all that
 * follows reads one form. */
#ifndef GNOMON_NSYS_PAYLOAD_H
#define GNOMON_NSYS_PAYLOAD_H

#include <stdio.h>

#include "gnomon/profile.h"
#include "nsys/database.h"
#include "nsys/literal.h"

/* {"mod": "gnomon", "name": ..., "op": ..., "args": [...], "type": {...}, "flops": ...,
 * "bytes": ..., "backward": ...} of a range of this name. */
void gnomon__op_text(FILE *to, const char *name, const gnomon_op_info *op);

/* Where the fields of "gnomon.op" lie, of each domain. Begins as zeroes. */
#define GNOMON__PAYLOAD_FIELDS 6
typedef struct gnomon__payload_layout {
    int64_t domain, schema;
    int64_t at[GNOMON__PAYLOAD_FIELDS]; /* -1: it has no such field */
} gnomon__payload_layout;

typedef struct gnomon__payloads {
    gnomon__payload_layout *layouts;
    size_t count, room;
    gnomon__literals literals;
    const void *blob; /* of the range at hand; borrowed, as is its JSON */
    size_t blob_size;
    const char *json; /* NULL: none */
} gnomon__payloads;

/* A gnomon__exit. Free in any case. */
int gnomon__payloads_read(gnomon__payloads *p, const gnomon__nsys *db);
void gnomon__payloads_free(gnomon__payloads *p);

/* The text of the payload at hand. `string` gives that of an id, valid until the next call,
 * or NULL. False: it is no operation. */
typedef const char *gnomon__payload_string(void *context, int64_t id);
bool gnomon__payload_text(gnomon__payloads *p, FILE *to, const char *name,
                          gnomon__payload_string *string, void *context);

#endif
