/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Builders with GNOMON_DISABLE: calls that do nothing. Included by
 * gnomon/builder.h; gnomon/disabled.h says what such calls return. */
#ifndef GNOMON_DISABLED_BUILDER_H
#define GNOMON_DISABLED_BUILDER_H

#include "builder.h"

#ifdef GNOMON_DISABLE

GNOMON_BEGIN_DECLS

GNOMON__CALL int gnomon_builder_create(gnomon_builder **out)
{
    *out = GNOMON_NULL;
    return GNOMON_ESTATE;
}

GNOMON__CALL uint32_t gnomon_builder_add(gnomon_builder *builder, int entity,
                                         const void *info)
{
    (void)builder;
    (void)entity;
    (void)info;
    return 0;
}

GNOMON__CALL int gnomon_builder_finish(gnomon_builder *builder,
                                       gnomon_profile **out)
{
    (void)builder;
    *out = GNOMON_NULL;
    return GNOMON_ESTATE;
}

GNOMON__CALL void gnomon_builder_free(gnomon_builder *builder)
{
    (void)builder;
}

GNOMON_END_DECLS

#endif

#endif
