/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: testing
 * threads: none */
#include <sys/resource.h>

#include "sanitizer.h"
#include "spec_text.h"

static void good(const char *text, const char *meaning, const char *printed)
{
    gnomon__spec spec;
    CHECK_EQ(parse(&spec, text), GNOMON_OK);
    CHECK_EQ(said.count, 0);
    CHECK_STR(spelled(&spec), meaning);
    CHECK_STR(round_trip(&spec), printed ? printed : text);
    gnomon__spec_free(&spec);
}

TEST(grammar)
{
    good("", "", NULL);
    good("simple", "<simple>", NULL);
    good("simple,log", "<simple><log>", NULL);
    good("simple(extended)", "<simple>[extended:-]", NULL);
    good("simple(extended=false,filter=opt*)",
         "<simple>[extended:false][filter:opt*]", NULL);
    good("trace(schedule=wait:1/warmup:1/active:3),nvtx",
         "<trace>[schedule:wait:1/warmup:1/active:3]<nvtx>", NULL);
    good("./libmine.so", "path<./libmine.so>", NULL);
    good("mine.so(a=1)", "path<mine.so>[a:1]", NULL);
    good(".so", "<.so>", NULL);
    good("file=x,simple", "<simple>free[file:x]", "simple,file=x");
    good("file=", "free[file:]", NULL);
    good("a=b=c", "free[a:b=c]", NULL);
    good("simple()", "<simple>", "simple");
}

TEST(white_space_and_empty_items)
{
    good(" simple ( extended = no , filter = a b ) , log ",
         "<simple>[extended:no][filter:a b]<log>",
         "simple(extended=no,filter=a b),log");
    good(",,simple(,a,,),\n,log,", "<simple>[a:-]<log>", "simple(a),log");
}

TEST(quotes)
{
    good("simple(filter=\"[Callback]ModelCheckpoint{'monitor': None, "
         "'mode': 'min'}*\")",
         "<simple>[filter:[Callback]ModelCheckpoint{'monitor': None, "
         "'mode': 'min'}*]",
         NULL);
    good("simple(filter=[LightningModule]M.x)",
         "<simple>[filter:[LightningModule]M.x]", NULL);
    good("file=\"a\\\"b\\\\c,(d)\"", "free[file:a\"b\\c,(d)]", NULL);
    good("file=a\\b", "free[file:a\\b]", NULL);
    good("\"file\"=\" x \"", "free[file: x ]", "file=\" x \"");
    good("\"/a=b/c.so\"(\"k=\"=\"v=\")", "path</a=b/c.so>[k=:v=]",
         "\"/a=b/c.so\"(\"k=\"=v=)");
    good("\"@x\"", "<@x>", NULL);
    good("f=\"a\\nb\"", "free[f:anb]", "f=anb");
    good("f=\"a\nb\"", "free[f:a\nb]", NULL);
    good("f=\"#\"", "free[f:#]", NULL);
    good("f=a#b", "free[f:a#b]", "f=\"a#b\"");
}

TEST(newlines_and_comments_separate)
{
    good("# all of it\nsimple(\n  extended=no # short\n  filter=a\n)\n\n"
         "log # , not=this\n",
         "<simple>[extended:no][filter:a]<log>",
         "simple(extended=no,filter=a),log");
}

/* Errors are reported, and the rest works. */
static void bad(const char *text, const char *meaning, const char *first)
{
    gnomon__spec spec;
    CHECK_EQ(parse(&spec, text), GNOMON_EINVAL);
    CHECK_STR(complaint(0), first);
    CHECK_EQ(said.count, 1);
    CHECK_STR(spelled(&spec), meaning);
    round_trip(&spec);
    gnomon__spec_free(&spec);
}

TEST(errors_say_where)
{
    bad("simple)", "<simple>",
        "$GNOMON: at character 7, ')': there is no open bracket before this");
    bad("simple(a=1", "<simple>[a:1]",
        "$GNOMON: at character 7, '(a=1': the bracket is not closed");
    bad("log,file=\"x", "<log>",
        "$GNOMON: at character 10, '\"x': the quote is not closed");
}

TEST(errors_leave_the_rest)
{
    bad("simple(filter=f(int, x),extended=no),log",
        "<simple>[extended:no]<log>",
        "$GNOMON: at character 16, '(int, x),extended=no': a bracket inside a "
        "value: put the value in double quotes");
    bad("simple(a(\"x\\\",)y\"),b)", "<simple>[b:-]",
        "$GNOMON: at character 9, '(\"x\\\",)y\"),b)': a bracket inside a "
        "value: "
        "put the value in double quotes");
    bad("file=a\"b,c\",log", "<log>",
        "$GNOMON: at character 7, '\"b,c\",log': a quote inside a word: put "
        "all "
        "of it in double quotes, and write \\\" for a quote");
    bad("simple(\"a\" b=1,c)", "<simple>[c:-]",
        "$GNOMON: at character 12, 'b=1,c)': a comma is missing before this");
    bad("simple(a)log,x", "<simple>[a:-]<x>",
        "$GNOMON: at character 10, 'log,x': a comma is missing before this");
    bad("=x,log", "<log>",
        "$GNOMON: at character 1, '=x,log': the name of an option is missing");
    bad("simple(=1,b)", "<simple>[b:-]",
        "$GNOMON: at character 8, '=1,b)': the name of an option is missing");
    bad("(a=1),log", "<log>",
        "$GNOMON: at character 1, '(a=1),log': the name of a profiler is "
        "missing");
    bad("\"\",log", "<log>",
        "$GNOMON: at character 1, '\"\",log': the name of a profiler is "
        "missing");
    bad("@,log", "<log>",
        "$GNOMON: at character 1, '@,log': the name of a file is missing");
}

/* ---- Files -------------------------------------------------------------- */

static char folder[] = "/tmp/gnomon-test-spec-XXXXXX";

static void enter_folder(void)
{
    if (!mkdtemp(folder) || chdir(folder) != 0)
        CHECK_STR(folder, "a folder of our own");
}

static void leave_folder(void)
{
    CHECK(chdir("/") == 0 && rmdir(folder) == 0);
}

static void write_file(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    if (CHECK(f != NULL)) {
        CHECK(fputs(text, f) >= 0);
        fclose(f);
    }
}

TEST(files)
{
    enter_folder();
    write_file("a.spec", "# ours\nsimple(extended=no)\nfile=out.txt\n@b.spec");
    write_file("b.spec", "log\nsimple(\n\"x\n");
    write_file("c.spec", "trace");
    good("@c.spec,nvtx", "<trace><nvtx>", "trace,nvtx");
    good("@\"c.spec\"", "<trace>", "trace");
    {
        gnomon__spec spec;
        CHECK_EQ(parse(&spec, "mem=1,@a.spec,nvtx"), GNOMON_EINVAL);
        CHECK_STR(spelled(&spec), "<simple>[extended:no]<log><simple><nvtx>"
                                  "free[mem:1]free[file:out.txt]");
        CHECK_EQ(said.count, 2);
        CHECK_STR(complaint(0), "$GNOMON: b.spec:3: the quote is not closed");
        CHECK_STR(complaint(1), "$GNOMON: b.spec:2: the bracket is not "
                                "closed");
        gnomon__spec_free(&spec);
    }
    bad("@missing.spec,log", "<log>",
        "$GNOMON: at character 1, '@missing.spec,log': No such file or "
        "directory");
    unlink("a.spec");
    unlink("b.spec");
    unlink("c.spec");
    leave_folder();
}

TEST(files_are_bounded)
{
    gnomon__spec spec;
    char *big = malloc(GNOMON__SPEC_FILE_BYTES + 2);
    enter_folder();
    write_file("a.spec", "a,@a.spec,@a.spec");
    CHECK_EQ(parse(&spec, "@a.spec"), GNOMON_EINVAL);
    CHECK_STR(spelled(&spec), "<a><a><a><a><a><a><a><a><a><a><a><a><a><a><a>");
    CHECK_STR(complaint(0), "$GNOMON: a.spec:1: files include one another too "
                            "deeply");
    CHECK_EQ(said.count, 1);
    gnomon__spec_free(&spec);
    memset(big, '#', GNOMON__SPEC_FILE_BYTES + 1);
    big[GNOMON__SPEC_FILE_BYTES + 1] = '\0';
    write_file("a.spec", big);
    bad("@a.spec", "",
        "$GNOMON: at character 1, '@a.spec': the files have more "
        "than 64 KiB");
    write_file("a.spec", big + 1);
    good("@a.spec", "", "");
    bad("@a.spec,x,@a.spec", "<x>",
        "$GNOMON: at character 11, '@a.spec': the "
        "files have more than 64 KiB");
    unlink("a.spec");
    leave_folder();
    free(big);
}

/* ---- Random specs and random bytes -------------------------------------- */

static uint64_t random_state = 88172645463325252u;

static unsigned rnd(unsigned n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (unsigned)(random_state % n);
}

/* A word rich in what needs quoting; it stays for as long as a spec has words. */
static const char *word(int may_be_empty)
{
    static const char *const letters = "ab,()=\"\\#@ \t\n'[]{}|*?%:/.\r\xC3";
    static char words[64][16];
    static unsigned count;
    char *out = words[count++ % 64];
    unsigned i, n = rnd(12) + !may_be_empty;
    for (i = 0; i < n; i++)
        out[i] = letters[rnd((unsigned)strlen(letters))];
    out[n] = '\0';
    return out;
}

static void add_words(gnomon__settings *s, int may_be_bare)
{
    unsigned n = rnd(4);
    while (n-- > 0) {
        const char *key = word(0);
        gnomon__settings_add(s, key, may_be_bare && !rnd(3) ? NULL : word(1));
    }
}

TEST(print_is_undone_by_parse)
{
    int round;
    for (round = 0; round < 20000; round++) {
        gnomon__spec spec;
        unsigned n = rnd(4);
        memset(&spec, 0, sizeof spec);
        while (n-- > 0) {
            gnomon__spec_add(&spec, word(0));
            add_words(&spec.items[spec.item_count - 1].settings, 1);
        }
        /* A free option without a value reads as an item until it is
         * resolved. */
        add_words(&spec.defaults, 0);
        round_trip(&spec);
        gnomon__spec_free(&spec);
    }
}

TEST(print_as_snprintf)
{
    gnomon__spec spec;
    const char *all = "simple(filter=\"a,b\"),x=1";
    size_t size, n = strlen(all);
    CHECK_EQ(parse(&spec, all), GNOMON_OK);
    for (size = 0; size < n + 3; size++) {
        char out[64];
        size_t fits = size > n ? n : size ? size - 1 : 0;
        memset(out, '?', sizeof out);
        CHECK_EQ(gnomon__spec_print(&spec, out, size), n);
        CHECK(strncmp(out, all, fits) == 0);
        CHECK_EQ(out[size], '?');
        if (size > 0)
            CHECK_EQ(out[fits], '\0');
    }
    gnomon__spec_free(&spec);
}

/* For any bytes: no crash, no leak, and the printed spec is parsed to the
 * same. */
TEST(soak_random_bytes)
{
    long round, rounds = getenv("GNOMON_SOAK") ? 20000000 : 100000 / EACH;
    uint64_t before;
    gnomon__complaints_free(&said);
    before = gnomon__heap_bytes();
    for (round = 0; round < rounds; round++) {
        static const char *const pieces[] = {
            "simple", "extended", "=",        "(",     ")",
            ",",      "\"",       "\\",       " ",     "\n",
            "#",      "@",        "filter",   "file",  "mem",
            "a",      "*",        "1MiB",     "/",     "help",
            "log",    ".so",      "true",     "\xFF",  "\xE2\x82\xAC",
            "\t",     "schedule", "active:1", "ranks", "|"};
        char text[400];
        unsigned n = rnd(40), i, length = 0;
        gnomon__spec spec;
        gnomon__options *options;
        for (i = 0; i < n; i++)
            if (rnd(4))
                length += (unsigned)snprintf(text + length, 12, "%s",
                                             pieces[rnd(30)]);
            else
                text[length++] = (char)(1 + rnd(255));
        text[length] = '\0';
        parse(&spec, text);
        round_trip(&spec);
        gnomon__complaints_free(&said);
        gnomon__spec_resolve(&spec, known, 3);
        for (i = 0; i < spec.item_count; i++) {
            gnomon__options_create(&options, &simple, &spec, i);
            gnomon__options_destroy(options);
        }
        gnomon__spec_free(&spec);
        for (i = 0; i < said.count; i++)
            CHECK(strpbrk(said.line[i], "\n\r\t") == NULL);
        gnomon__complaints_free(&said);
        if (!CHECK_EQ(gnomon__heap_bytes(), before))
            break;
    }
}

/* They take about a second; with time quadratic in the text they would hit the limit, as
 * an item may then cost 2 ns for each item before. */
TEST(long_garbage_is_quick)
{
    const struct rlimit seconds = {10, 10};
    static const char *const pieces[] = {"a,",     ")",      "a=1,", "a(",
                                         "\"\"x,", "a\n)\n", "@x,"};
    size_t i, k, size = 200000 / EACH;
    char *text = malloc(size);
    CHECK(IS_SLOW || setrlimit(RLIMIT_CPU, &seconds) == 0);
    for (i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        gnomon__spec spec;
        size_t n = strlen(pieces[i]);
        for (k = 0; k + n < size; k += n)
            memcpy(text + k, pieces[i], n);
        text[k] = '\0';
        CHECK(parse(&spec, text) != GNOMON_ENOMEM);
        CHECK(gnomon__spec_resolve(&spec, known, 3) != GNOMON_ENOMEM);
        CHECK_EQ(spec.item_count + spec.defaults.count, 0);
        CHECK(said.count > 0);
        gnomon__spec_free(&spec);
    }
    gnomon__complaints_free(&said);
    free(text);
}
