/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What `gnomon run`, where it started this process, is told. In control calls. */
#ifndef GNOMON_RUN_NOTES_H
#define GNOMON_RUN_NOTES_H

/* A spec is read. */
void gnomon__notes_begin(void);
/* A report comes, or none is to come. */
void gnomon__notes_marked(void);
/* A file was written. */
void gnomon__notes_wrote(const char *path);

#endif
