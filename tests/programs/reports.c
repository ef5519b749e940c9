/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* FILE REPORT ...: the library's own reports of a profile; "chrome" is its export. */
#include <stdio.h>
#include <string.h>

#include <gnomon.h>
#include <gnomon/profile.h>
#include <gnomon/tool.h>

static int put(const gnomon_writer *writer, const void *bytes, size_t size)
{
    (void)writer;
    return fwrite(bytes, 1, size, stdout) == size ? GNOMON_OK : GNOMON_EIO;
}

int main(int argc, char **argv)
{
    const gnomon_writer out = {.struct_size = sizeof out, .write = put};
    gnomon_profile *profile;
    int failed = argc < 2 || gnomon_profile_load(&profile, argv[1]);
    for (int i = 2; i < argc && !failed; i++)
        failed = strcmp(argv[i], "chrome")
                     ? gnomon_report(profile, argv[i], &out)
                     : gnomon_write(profile, "chrome", &out);
    if (failed)
        fprintf(stderr, "%s\n", gnomon_error_text());
    return failed != 0;
}
