/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Scopes on streams with GNOMON_DISABLE: calls that do nothing. Included by
 * gnomon/device.h; gnomon/disabled.h says what such calls return. */
#ifndef GNOMON_DISABLED_DEVICE_H
#define GNOMON_DISABLED_DEVICE_H

#include "device.h"

#ifdef GNOMON_DISABLE

GNOMON_BEGIN_DECLS

/* As in gnomon/disabled.h: arguments are compiled, but not evaluated. */
GNOMON_INLINE gnomon_device_scope gnomon_begin_on(gnomon_region *region,
                                                  const gnomon_device *device,
                                                  void *stream)
{
    gnomon_device_scope none = {0, 0, 0};
    (void)region;
    (void)device;
    (void)stream;
    return none;
}

GNOMON_INLINE void gnomon_end_on(gnomon_device_scope scope)
{
    (void)scope;
}

GNOMON_INLINE gnomon_device_scope gnomon__none_or(int nothing)
{
    gnomon_device_scope none = {0, 0, 0};
    (void)nothing;
    return none;
}

GNOMON_INLINE void gnomon_stream_name(const gnomon_device *device, void *stream,
                                      const char *name)
{
    (void)device;
    (void)stream;
    (void)name;
}

GNOMON_INLINE void gnomon_stream_name_n(const gnomon_device *device,
                                        void *stream, const char *name,
                                        size_t length)
{
    (void)device;
    (void)stream;
    (void)name;
    (void)length;
}

GNOMON_INLINE int gnomon_device_wait(uint64_t patience_ns)
{
    (void)patience_ns;
    return GNOMON_ESTATE;
}

#define gnomon_stream_name(device, stream, name) \
    GNOMON__NOT(gnomon_stream_name(device, stream, name))
#define gnomon_stream_name_n(device, stream, name, length) \
    GNOMON__NOT(gnomon_stream_name_n(device, stream, name, length))
#define gnomon_begin_on(region, device, stream) \
    gnomon__none_or(1 ? 0 : (gnomon_begin_on(region, device, stream), 0))
#define gnomon_end_on(scope) GNOMON__NOT(gnomon_end_on(scope))
#define GNOMON_SCOPE_ON_DEVICE(name, device, stream) \
    GNOMON__SCOPE(sizeof(name) + sizeof(device) + sizeof(stream) > 0, \
                  __COUNTER__)

GNOMON_END_DECLS

#endif

#endif
