/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The fields of a profile's entities, as Python sees them: those that the library
 * describes, in the order of their structs. */
#ifndef GNOMON_BINDING_FIELDS_H
#define GNOMON_BINDING_FIELDS_H

#include "binding.h"

#include <gnomon/profile.h>

#define BINDING_FIELDS 24 /* of a struct, at most */

typedef struct binding_entity {
    int entity;       /* gnomon_entity or gnomon_part */
    const char *name; /* as in Profile.nodes; NULL: there is none */
    size_t count;
    gnomon_field_info fields[BINDING_FIELDS];
} binding_entity;

const binding_entity *binding_entity_of(int entity);
/* NULL: an exception is set. */
const binding_entity *binding_entity_named(const char *name);

/* Room for the struct of any entity. */
typedef union binding_info {
    uint32_t struct_size;
    uint64_t room[32];
} binding_info;

/* The value of one field of a struct, and those of all as a tuple. A new reference; NULL:
 * an exception is set. */
PyObject *binding_field_value(const void *of, const gnomon_field_info *field);
PyObject *binding_struct_value(const void *of, const binding_entity *entity);

#endif
