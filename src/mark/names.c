/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The texts of regions. A text that must change for reports is counted in
 * bad_names. */
#include "mark/names.h"

#include <stdio.h>
#include <string.h>

#include "mark/thread.h"
#include "platform/hash.h"
#include "platform/os.h"

#define ROOM_PAGE 65536u
#define HASH_TEXT 24u /* "...#", 16 digits and a NUL, and some more */

void *gnomon__name_room(size_t bytes)
{
    /* The first page is static: while gnomon is off no system call is made. */
    static _Alignas(16) char first[ROOM_PAGE];
    static char *page = first;
    static size_t left = ROOM_PAGE;
    bytes = (bytes + 15) & ~(size_t)15;
    if (bytes > left) {
        char *fresh = gnomon__os_map(ROOM_PAGE);
        if (!fresh)
            return NULL;
        page = fresh;
        left = ROOM_PAGE;
    }
    void *room = page + ROOM_PAGE - left;
    left -= bytes;
    return room;
}

uint64_t gnomon__name_hash(uint64_t hash, gnomon__text text)
{
    hash = gnomon__hash_bytes(hash, text.at, text.length);
    return gnomon__hash_bytes(hash, "\xff", 1); /* no name has this byte */
}

/* Cuts `clean`, which has `length` bytes, before a code point, and ends it in the
 * hash of what it came from. Returns the length. */
static size_t end_in_hash(char *clean, size_t length, gnomon__text whole)
{
    size_t n = GNOMON__MAX_NAME - HASH_TEXT;
    n = length < n ? length : n;
    while (n && (clean[n] & 0xc0) == 0x80)
        n--;
    return n +
           (size_t)snprintf(clean + n, HASH_TEXT, "...#%016llx",
                            (unsigned long long)gnomon__name_hash(0, whole));
}

gnomon__text gnomon__name_fit(gnomon__text text,
                              char room[GNOMON__MAX_NAME + 1], int is_shown)
{
    if (!text.length || (text.length <= GNOMON__MAX_NAME &&
                         (is_shown ? gnomon__utf8_valid(text.at, text.length)
                                   : !memchr(text.at, 0, text.length))))
        return text;
    gnomon__trouble(&gnomon__no_thread, bad_names);
    size_t n = gnomon__utf8_clean(text.at, text.length, room,
                                  GNOMON__MAX_NAME + 1, NULL);
    if (text.length > GNOMON__MAX_NAME || n + 4 > GNOMON__MAX_NAME)
        n = end_in_hash(room, n, text);
    return (gnomon__text){room, n};
}

const char *gnomon__name_clean(const char *text, size_t length)
{
    char room[GNOMON__MAX_NAME + 1];
    gnomon__text fit = gnomon__name_fit((gnomon__text){text, length}, room, 1);
    if (fit.at == text)
        return text;
    char *clean = gnomon__name_room(fit.length + 1);
    return clean ? memcpy(clean, room, fit.length + 1) : "(bad name)";
}
