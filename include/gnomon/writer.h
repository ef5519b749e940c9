/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Writers: where reports and files go. Included by gnomon/profile.h and
 * gnomon/profiler.h.
 *
 * gnomon gives a writer to each profiler's summary. A program that asks for a
 * report (gnomon_summary) or a file (gnomon_profile_write) brings one of its own,
 * of which only struct_size and `write` must be set.
 */
#ifndef GNOMON_WRITER_H
#define GNOMON_WRITER_H

#include "base.h"

GNOMON_BEGIN_DECLS

/* What was recorded. gnomon/profile.h has its readers. */
typedef struct gnomon_profile gnomon_profile;

/* Where a report goes. Its calls return GNOMON_OK or an error code. After an error
 * gnomon's own writers write nothing more and return it again, so a profiler may
 * write all of its report and return the last code.
 * Look at struct_size before a field that is newer than the first release
 * (GNOMON_HAS). A writer that a callback is given is borrowed, and is for the
 * calling thread alone. */
typedef struct gnomon_writer {
    uint32_t struct_size;
    uint32_t reserved;
    /* Writes `size` bytes of UTF-8 text, or of a file. */
    int (*write)(const struct gnomon_writer *writer, const void *bytes,
                 size_t size);
    /* The same of a text that is made as by printf. */
    int (*print)(const struct gnomon_writer *writer, const char *format, ...)
        GNOMON_PRINTF(2, 3);
    /* Whoever makes a writer may keep something here. */
    void *context;
    /* Writes a whole file of the profiler's own, next to its report. Its name is
     * made as the report's, of stage, profiler and rank; then comes `part`, in
     * which what file names cannot have is replaced (NULL: nothing), then
     * `extension` (".prof"). A file of this name is replaced.
     * GNOMON_ENOENT: reports go to a stream and the run has no folder, which one
     * line has said. GNOMON_EIO: it cannot be written; a line has said why.
     * NULL, or past struct_size: this writer makes no files. */
    int (*file)(const struct gnomon_writer *writer, const char *part,
                const char *extension, const void *bytes, size_t size);
    /* Call gnomon_shown, which looks whether this is there. NULL, or past struct_size:
     * names are shown as they are. */
    const char *(*shown)(const struct gnomon_writer *writer, const char *name);
    /* How many columns the terminal has, where the text goes to one. 0, or past
     * struct_size: it goes elsewhere, and nothing need be clipped. */
    uint32_t columns;
    uint32_t reserved_too;
    /* Writes a file as `file` does, but piece by piece: `make` is called once, with
     * `context` and a writer of the file's bytes. If it returns an error the file is
     * not made, and stays as it was. What this process wrote by this call stays too: a
     * second file of a name has "run2" in it, as one line says. Without dir= and file=
     * the file is in the run's folder, or in the current one. Where there is a `part`,
     * the name has it.
     * Returns as `file`, or what `make` returned. NULL, or past struct_size: this
     * writer makes no files. */
    int (*stream)(const struct gnomon_writer *writer, const char *part,
                  const char *extension,
                  int (*make)(void *context, const struct gnomon_writer *file),
                  void *context);
    /* The path of the file that `file` or `stream` wrote last; "": none. */
    const char *(*path)(const struct gnomon_writer *writer);
} gnomon_writer;

/* A name as a reader of the report may safely see it. In a file that is the name
 * itself. On a terminal, characters that would move its cursor, begin a line or
 * turn text around become escapes: "\x1b", "\n", "\u202e".
 * The result lives as long as both the name and the writer; do not free it. */
static inline const char *gnomon_shown(const gnomon_writer *writer,
                                       const char *name)
{
    size_t reach = offsetof(gnomon_writer, shown) + sizeof writer->shown;
    return writer->struct_size >= reach && writer->shown
               ? writer->shown(writer, name)
               : name;
}

GNOMON_END_DECLS

#endif
