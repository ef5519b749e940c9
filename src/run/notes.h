/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Notes for the `gnomon run` that started this process. In control calls. */
#ifndef GNOMON_RUN_NOTES_H
#define GNOMON_RUN_NOTES_H

/* A spec is read. */
void gnomon__notes_begin(void);
/* Marks were made, or no report is wanted. */
void gnomon__notes_marked(void);
/* A file was written. */
void gnomon__notes_wrote(const char *path);

#endif
