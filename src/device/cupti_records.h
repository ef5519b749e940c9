/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Records of CUPTI as gnomon_device_work. Their layouts are NVIDIA's documented ABI
 * (cupti_activity.h of CUDA 11.8 to 13.0), written out here as offsets, so that
 * nothing of CUDA is needed to build. Records of later versions are longer, and what
 * an older version has keeps its place. Fields that came after 11.8 are read only
 * where the CUPTI that wrote the record has them. */
#ifndef GNOMON_DEVICE_CUPTI_RECORDS_H
#define GNOMON_DEVICE_CUPTI_RECORDS_H

#include "gnomon/tool.h"

/* Versions of CUPTI's interface, as cuptiGetVersion tells them. */
#define GNOMON__CUPTI_11_8 18u /* 12.0 and 12.1 too */
#define GNOMON__CUPTI_12_3 21u
#define GNOMON__CUPTI_12_8 26u
#define GNOMON__CUPTI_12_9 27u
#define GNOMON__CUPTI_13_2 130200u
#define GNOMON__CUPTI_13_4 130400u

/* CUpti_ActivityKind, as far as it is used. */
enum gnomon__cupti_kind {
    GNOMON__CUPTI_MEMCPY = 1,
    GNOMON__CUPTI_MEMSET = 2,
    GNOMON__CUPTI_KERNEL = 3, /* one at a time: never asked for */
    GNOMON__CUPTI_DRIVER = 4,
    GNOMON__CUPTI_RUNTIME = 5,
    GNOMON__CUPTI_CONCURRENT_KERNEL = 10,
    GNOMON__CUPTI_OVERHEAD = 17,
    GNOMON__CUPTI_MEMCPY2 = 22, /* between two devices */
    GNOMON__CUPTI_SYNCHRONIZATION = 38,
    GNOMON__CUPTI_GRAPH_TRACE = 51
};
#define GNOMON__CUPTI_KINDS 64u    /* 13.5 has 57 */
#define GNOMON__CUPTI_SHORTEST 40u /* bytes of a record, of these kinds */

/* Waits that from 12.8 on are made of queries too: the types of events and streams. */
#define GNOMON__CUPTI_MAY_QUERY(type) ((type) == 1 || (type) == 3)

#define GNOMON__CUPTI_CONTEXTS 64u /* a power of two */

/* How the records of one CUPTI are read. Of one thread at a time. */
typedef struct gnomon__cupti_reader {
    uint32_t version;
    int has_system_threads; /* threads have the system's numbers */
    /* A moment of CUPTI's clock by gnomon's; 0: before the run's zero. */
    uint64_t (*time)(uint64_t moment);
    /* The name that a reader knows the kernel by. NULL: `name` itself. */
    const char *(*kernel_name)(const char *name);
    /* The name of an interface's call; NULL: unknown. */
    const char *(*call_name)(int is_driver, uint32_t call);
    char *text; /* for the name of the record that is read */
    /* The last contexts of which work was seen, as waits do not tell their device. */
    struct {
        uint32_t context;
        int32_t device;
        int is_known;
    } contexts[GNOMON__CUPTI_CONTEXTS];
} gnomon__cupti_reader;

/* A kind of record that is read, and the kind of work that it tells of. */
typedef struct gnomon__cupti_layout {
    uint8_t kind, of;
    /* Where the begin is, which the end follows, and the correlation. */
    uint8_t begin, correlation;
    /* Reads what the kind has beside these. */
    void (*rest)(gnomon__cupti_reader *reader, const void *record,
                 gnomon_device_work *out);
} gnomon__cupti_layout;

/* Kernels first; the last one is never asked for. */
#define GNOMON__CUPTI_LAYOUTS 10u
#define GNOMON__CUPTI_ASKED (GNOMON__CUPTI_LAYOUTS - 1)
extern const gnomon__cupti_layout gnomon__cupti_layouts[GNOMON__CUPTI_LAYOUTS];

enum gnomon__cupti_reading {
    GNOMON__CUPTI_OF_NO_USE = 0, /* a kind that nobody asked for */
    GNOMON__CUPTI_READ = 1,
    GNOMON__CUPTI_UNFINISHED = 2 /* it has no begin or no end */
};

#define GNOMON__CUPTI_TEXT 80u

/* Fills in *out from a record. `text` is where it writes the names that it makes up.
 * Other names are CUPTI's, or of kernel_name and call_name. */
enum gnomon__cupti_reading gnomon__cupti_read(gnomon__cupti_reader *reader,
                                              const void *record,
                                              gnomon_device_work *out,
                                              char text[GNOMON__CUPTI_TEXT]);

/* The kind of a record. */
uint32_t gnomon__cupti_kind_of(const void *record);

#endif
