/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Gives a fuzz target the files of folders, or single ones, without libFuzzer:
 *     fuzz_spec corpus/spec            */
#include <dirent.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whether the file could be read. The copy has the exact size, so that
 * overruns show. */
static int replay_file(const char *path)
{
    static uint8_t bytes[1 << 20];
    FILE *f = fopen(path, "rb");
    size_t size = f ? fread(bytes, 1, sizeof bytes, f) : 0;
    int is_read = f && !ferror(f);
    uint8_t *copy = malloc(size + 1);
    if (f)
        fclose(f);
    if (is_read && copy) {
        memcpy(copy, bytes, size);
        LLVMFuzzerTestOneInput(copy, size);
    }
    free(copy);
    return is_read;
}

int main(int argc, char **argv)
{
    int count = 0;
    for (int i = 1; i < argc; i++) {
        static char from[PATH_MAX]; /* absolute: a target may go elsewhere */
        DIR *folder = realpath(argv[i], from) ? opendir(from) : NULL;
        struct dirent *entry;
        if (!folder) {
            count += replay_file(from);
            continue;
        }
        while ((entry = readdir(folder)) != NULL) {
            char path[PATH_MAX + 256];
            snprintf(path, sizeof path, "%s/%s", from, entry->d_name);
            if (*entry->d_name != '.')
                count += replay_file(path);
        }
        closedir(folder);
    }
    printf("%d inputs\n", count);
    return count == 0; /* an empty run proves nothing */
}
