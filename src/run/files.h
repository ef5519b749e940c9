/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a run writes: reports and profiles, and where they go. */
#ifndef GNOMON_RUN_FILES_H
#define GNOMON_RUN_FILES_H

#include "profile/file_write.h"
#include "run/fd_writer.h"
#include "run/run.h"

struct gnomon__model;

/* ---- profiles.c -------------------------------------------------------------------- */

/* Whether this attachment writes the profile that file= names. */
int gnomon__profile_is_kept(const gnomon__attachment *a);
/* Its file=, if that names a profile that no attached profiler records; else NULL. */
const char *gnomon__profile_unrecorded_file(const gnomon__attachment *a);
/* Writes what is new to that file: the reported stage `closed` (borrowed; NULL: none),
 * and late records of earlier stages. */
void gnomon__profile_keep(const gnomon__attachment *a,
                          const struct gnomon__model *closed);

/* ---- output.c ---------------------------------------------------------------------- */

/* A writer into memory, for the summary of `of` (NULL: no profiler, and no files).
 * Names are escaped if the reports of `of` go to a terminal. */
typedef struct gnomon__buffer {
    gnomon_writer writer; /* first */
    gnomon__attachment *of;
    char *text;
    size_t length, room;
    int code; /* the first error */
    gnomon__escaped_names *names;
} gnomon__buffer;
void gnomon__buffer_init(gnomon__buffer *b, gnomon__attachment *of);
void gnomon__buffer_free(gnomon__buffer *b);

/* Writes a report to where the attachment's options say. */
void gnomon__output(const gnomon__attachment *a, const char *text,
                    size_t length);
void gnomon__output_plain(const char *text, size_t length); /* stderr */

/* ---- paths.c ----------------------------------------------------------------------- */

/* Keeps the working folder: in it begin the paths of the spec that is read now. */
void gnomon__path_begin(void);
/* Where paths of a new attachment begin; `word`: of the spec. From gnomon__alloc; NULL:
 * not known. */
char *gnomon__path_folder(const char *word);
/* The folder in / that dir= or file= needs and that is not there, or NULL. Free it. */
char *gnomon__path_root_missing(const gnomon__attachment *a);
/* What file= is for: a form of profiles, or -1: a report. */
int gnomon__path_form(const gnomon__attachment *a);
/* Whether file= or dir= is given for reports. */
int gnomon__path_is_given(const gnomon__attachment *a);
/* The same, but not for a stream as /dev/stderr, which may be a terminal. */
int gnomon__path_is_file(const gnomon__attachment *a);
int gnomon__path_has_folder(const gnomon__attachment *a);
/* The path of a report (no part, no extension) or of another file of its; and that of
 * the profile of a stage, with the number `view` in its name unless 0. `logs`: log the
 * errors of the pattern. From gnomon__alloc; NULL: no memory. */
char *gnomon__path_of(const gnomon__attachment *a, const char *part,
                      const char *extension);
char *gnomon__path_of_profile(const gnomon__attachment *a, const char *stage,
                              uint32_t view, int logs);

/* As host->file_name, inside a control call. */
size_t gnomon__path_own(const char *pattern, char *buffer, size_t size);

/* ---- files.c ----------------------------------------------------------------------- */

typedef struct gnomon__file_job {
    uint64_t part; /* what the file is to hold; another part is replaced ... */
    int grows;     /* ... and the same part appended to */
    uint32_t view; /* the only one that writes it; 0: any */
    gnomon__fd_job content;
    /* Of the file so far; `content` adds its own. */
    gnomon__file_counts counts;
} gnomon__file_job;

/* Makes or appends to a file; if another process wrote it meanwhile, under a name with
 * the process id. 0, or an errno, and then the file is as it was. */
int gnomon__file_put(const char *path, gnomon__file_job *job);
/* Where that file is: `path`, or the name with the process id. Valid until the next file. */
const char *gnomon__file_where(const char *path);
/* After a failure: whether to log it, as it was not logged since the last success. */
int gnomon__file_failed(const char *path, int why);
/* The same of bytes. Part 0 is reports, which are appended to this process's earlier
 * ones. */
int gnomon__file_put_bytes(const char *path, uint64_t part, const void *bytes,
                           size_t size);
/* Whether this process wrote there; whether another part. */
int gnomon__file_is_written(const char *path);
int gnomon__file_is_taken(const char *path, uint64_t part);
/* Forgets the files of a view that is gone. */
void gnomon__files_drop(uint32_t view);

#endif
