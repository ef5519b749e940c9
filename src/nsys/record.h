/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A kernel and what the ranges around its launch say: a line of `gnomon nsys parse`, whose
 * keys and values are those of PyProf's. */
#ifndef GNOMON_NSYS_RECORD_H
#define GNOMON_NSYS_RECORD_H

#include <stdio.h>

#include "nsys/marker.h"

/* Both begin as zeroes. */
typedef struct gnomon__texts {
    const char **at;
    size_t count, room;
} gnomon__texts;
typedef struct gnomon__seqs {
    uint64_t *at; /* ascending */
    size_t count, room;
} gnomon__seqs;

/* Lists are from the outermost range to the innermost. Begins as zeroes. It borrows its
 * texts, of markers, of a line or of a forward operation, and only the lists and `names`
 * are its own: they are used again for the next one. */
typedef struct gnomon__nsys_record {
    const char *name, *long_name;
    int64_t ns, thread, device, stream, process;
    int64_t begin_ns, launch_ns; /* not in lines: 0 */
    uint32_t step;               /* in which it was launched, from 1; 0: none */
    int64_t grid[3], block[3];
    gnomon__texts layers, trace, reprs, markers, seq_markers, mods, ops;
    gnomon__texts others; /* ranges that are nothing else */
    gnomon__texts
        path; /* names of ranges, each once where it is inside itself */
    gnomon__seqs seqs, other_seqs;
    uint32_t sub; /* which one of the kernels of one operation it is */
    bool is_backward;
    bool
        has_lent_layers; /* they are of its forward operation, and not around it */
    bool has_call, is_in_range;
    bool is_recomputed;    /* torch's checkpointing runs a forward pass again */
    uint64_t instance;     /* of the innermost range around it; 0: not known */
    const char *inner;     /* torch's innermost operation; NULL: none */
    const char *sizes;     /* of torch's innermost operation; NULL: not told */
    bool is_whole;         /* no kernel, but all that an operation took */
    bool has_work;         /* somebody counted what it computed */
    uint64_t flops, bytes; /* then */
    bool has_no_memory;
    char *names; /* of the kernel: the long one, then the short one */
    size_t name_room;
} gnomon__nsys_record;

/* Whether one of the words, each of which a NUL ends, is in the text. */
static inline bool gnomon__has_any(const char *text, const char *words)
{
    while (*words && !strstr(text, words))
        words += strlen(words) + 1;
    return *words;
}

/* Forgets all, and keeps the memory for the next one. */
void gnomon__nsys_record_begin(gnomon__nsys_record *r);
void gnomon__nsys_record_free(gnomon__nsys_record *r);
void gnomon__nsys_record_list(gnomon__nsys_record *r, gnomon__texts *to,
                              const char *text);
/* Adds the next inner range. */
void gnomon__nsys_record_add(gnomon__nsys_record *r, const gnomon__marker *m);
/* Of the last kernel that had a number. Begins as zeroes. */
typedef struct gnomon__nsys_record_before {
    bool has_seq;
    uint64_t seq;
    uint32_t sub;
    char op[256];
} gnomon__nsys_record_before;

/* After the last range: the operation, the numbers, and which kernel of the operation this
 * one is. */
void gnomon__nsys_record_end(gnomon__nsys_record *r,
                             gnomon__nsys_record_before *before);
/* "void at::native::add<int>(...)" is "add". Copies the name. */
void gnomon__nsys_record_name(gnomon__nsys_record *r, const char *long_name);

/* The line, with its end. And back, borrowed from the line; false: it is none. */
void gnomon__nsys_record_print(const gnomon__nsys_record *r, FILE *to);
bool gnomon__nsys_record_read(gnomon__nsys_record *r,
                              const gnomon__literal *line);

#endif
