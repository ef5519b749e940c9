/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Any text as $GNOMON: it is obeyed, or a line says why not; what was understood
 * prints to a text that is understood the same; nothing is left in memory.
 * links: testing */
#include "fuzz.h"

#include <errno.h>
#include <sys/stat.h>

#include "spec_text.h"

#define LONGEST 512 /* spec_text.h's buffers hold what this spells to */

static void put(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    if (!f || fputs(text, f) < 0 || fclose(f))
        abort();
}

/* A spec may name files: only those of a folder of the build, which has these
 * two. It stays, as a fuzzer may be stopped at any moment. */
static void go_to_folder(void)
{
    static const char folder[] = TEST_BINARY_DIR "/fuzz_spec";
    static int is_there;
    if (is_there++)
        return;
    if ((mkdir(folder, 0755) && errno != EEXIST) || chdir(folder))
        abort();
    put("a", "simple\n# a comment\nlog(every=2s),@b");
    put("b", "@a");
}

static void use(gnomon__spec *spec)
{
    gnomon__complaints wrong = {0};
    size_t i;
    spec->complaints = &wrong;
    int code = gnomon__spec_resolve(spec, known, 3);
    CHECK_EQ(code == GNOMON_OK, wrong.count == 0 && wrong.dropped == 0);
    round_trip(spec);
    for (i = 0; i < spec->item_count; i++) {
        gnomon__options *options = NULL;
        gnomon__settings settled = {0};
        code = gnomon__options_create(&options, known[i & 1], spec, i);
        CHECK(code == GNOMON_OK || code == GNOMON_EINVAL);
        if (options)
            CHECK_EQ(gnomon__options_settle(options, &settled), GNOMON_OK);
        gnomon__settings_free(&settled);
        gnomon__options_destroy(options);
    }
    gnomon__complaints_free(&wrong);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[LONGEST];
    gnomon__spec spec;
    go_to_folder();
    if (size >= LONGEST)
        return 0;
    fuzz_begin(data, size);
    fuzz_text(text, sizeof text);
    if (strchr(text, '@') && strchr(text, '/'))
        return 0; /* a file of another folder, perhaps an endless one */
    gnomon__heap_start();
    uint64_t before = gnomon__heap_bytes();
    int code = parse(&spec, text);
    CHECK(code == GNOMON_OK || code == GNOMON_EINVAL);
    CHECK_EQ(code == GNOMON_OK, said.count == 0 && said.dropped == 0);
    round_trip(&spec);
    use(&spec);
    gnomon__spec_free(&spec);
    gnomon__complaints_free(&said);
    code = gnomon__spec_parse(&spec, "simple", text, "x", &said);
    CHECK(code == GNOMON_OK || code == GNOMON_EINVAL);
    use(&spec);
    gnomon__spec_free(&spec);
    gnomon__complaints_free(&said);
    CHECK_EQ(gnomon__heap_bytes(), before);
    return fuzz_end();
}
