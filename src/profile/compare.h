/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Comparing field after field, in functions that return below 0, 0 or above. */
#ifndef GNOMON_PROFILE_COMPARE_H
#define GNOMON_PROFILE_COMPARE_H

#define GNOMON__COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* Returns the first difference. */
#define GNOMON__TRY(order) \
    do { \
        int gnomon__difference = (order); \
        if (gnomon__difference) \
            return gnomon__difference; \
    } while (0)

/* Of the structs `a` and `b` point to. */
#define GNOMON__TRY_NUMBER(field) \
    GNOMON__TRY(GNOMON__COMPARE(a->field, b->field))

#endif
