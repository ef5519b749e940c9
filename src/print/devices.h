/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The work of devices in a profile: which nodes are kernels, copies and so on, and on
 * which device they ran; and its reports. docs/profile.md says how such work lies in a
 * profile.
 *
 * Uses public headers and libc only, so that plugins can bring it along. */
#ifndef GNOMON_PRINT_DEVICES_H
#define GNOMON_PRINT_DEVICES_H

#include "print/rows.h"

enum gnomon__work {
    GNOMON__WORK_NONE, /* a path that leads to work, or no work of a device */
    GNOMON__WORK_KERNEL,
    GNOMON__WORK_COMMUNICATION, /* kernels of collective operations */
    GNOMON__WORK_COPY,
    GNOMON__WORK_SET,
    GNOMON__WORK_WAIT,     /* takes no time of the device */
    GNOMON__WORK_OVERHEAD, /* of the recording itself; likewise */
    GNOMON__WORK_CALL      /* of a vendor's interface, on the host */
};

#define GNOMON__DEVICE_NAME 96

/* A device of a run. */
typedef struct gnomon__device {
    int32_t number;
    uint32_t run;
    uint32_t streams;        /* tracks that have work */
    uint64_t work, total_ns; /* on all of them; times on streams add up */
    char name[GNOMON__DEVICE_NAME]; /* "GPU 0 (H200)" */
} gnomon__device;

typedef struct gnomon__device_work {
    const gnomon_profile *profile;
    size_t nodes;
    unsigned char *work; /* by node: gnomon__work */
    uint32_t *on;        /* by track: 1 + index of its device; 0: the host's */
    gnomon__device *devices; /* by run and number */
    size_t device_count;
    uint64_t busy_work, busy_ns; /* of all devices */
    uint64_t waits, calls, overheads;
    uint64_t unlinked, lost, late, odd; /* losses */
} gnomon__device_work;

/* GNOMON_OK or GNOMON_ENOMEM; free in any case. O(nodes + tracks) memory. Borrows the
 * profile. */
int gnomon__device_work_make(gnomon__device_work *w,
                             const gnomon_profile *profile);
void gnomon__device_work_free(gnomon__device_work *w);

/* Whether a device is busy with such work. */
static inline bool gnomon__work_is_busy(int work)
{
    return work >= GNOMON__WORK_KERNEL && work <= GNOMON__WORK_SET;
}

/* The statistics of a node of work. NULL: none. */
const gnomon_stats *gnomon__work_stats(const gnomon_node_info *n);

/* The name of a node's region; "" where there is none. */
const char *gnomon__node_name(const gnomon_profile *p, uint32_t node);

/* The text of a run's metadata, without the quotes of JSON; run 0: of any run. Its length
 * is 0 if there is none, or if it is longer than a device's name. */
const char *gnomon__metadata_text(const gnomon_profile *p, uint32_t run,
                                  const char *key, int *length);

/* Bytes that all executions of a node moved; 0: not known. */
uint64_t gnomon__work_bytes(const gnomon_profile *p, const gnomon_node_info *n);

/* What reports say of a profile without such work. */
#define GNOMON__NO_DEVICE_WORK "no device work in this profile"

/* ---- Reports ---------------------------------------------------------------------- */

extern const gnomon__report gnomon__stream_times; /* of scopes */
extern const gnomon__report gnomon__gpu; /* for which scopes, and when idle */
/* Parts of its text: their `more` is that of its rows. */
extern const gnomon__report gnomon__gpu_devices, gnomon__gpu_gaps;
extern const gnomon__report gnomon__kernels; /* copies and calls, by name */

/* Waits for devices, as a table inside another report: gnomon__report_part. */
int gnomon__kernels_print_waits(const gnomon_profile *profile,
                                const gnomon_writer *out);

#endif
