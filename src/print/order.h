/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Orders, sorts and searches, and lists that grow on the table's heap. */
#ifndef GNOMON_PRINT_ORDER_H
#define GNOMON_PRINT_ORDER_H

#include "platform/order.h"
#include "print/table.h"

/* Adds an item behind `count` of them; false: no memory. */
#define GNOMON__PUSH(items, room, count, ...) \
    (gnomon__table_grow(&(items), &(room), (count) + 1, sizeof *(items)) && \
     ((items)[(count)++] = (__VA_ARGS__), true))

#endif
