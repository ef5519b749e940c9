/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* links: testing
 * threads: none */
#include "spec_text.h"

/* ---- Words -------------------------------------------------------------- */

static void resolves(const char *text, int status, const char *meaning,
                     const char *first)
{
    gnomon__spec spec;
    CHECK_EQ(parse(&spec, text), GNOMON_OK);
    CHECK_EQ(gnomon__spec_resolve(&spec, known, 3), status);
    CHECK_STR(spelled(&spec), meaning);
    CHECK_STR(complaint(0), first);
    CHECK_EQ(said.count, first != NULL);
    round_trip(&spec);
    gnomon__spec_free(&spec);
}

TEST(words_are_found)
{
    resolves("SIMPLE,oldest,Log(a=1)", GNOMON_OK, "<simple><Oldest><log>[a:1]",
             NULL);
    resolves("simple,extended", GNOMON_OK, "<simple>free[extended:true]", NULL);
    resolves("simple,mem=1,rows=3,FILE=x", GNOMON_OK,
             "<simple>free[mem:1]free[rows:3]free[FILE:x]", NULL);
    resolves("./x.so(whatever)", GNOMON_OK, "path<./x.so>[whatever:-]", NULL);
    {
        gnomon__spec spec;
        CHECK_EQ(parse(&spec, "log,Help"), GNOMON_OK);
        CHECK_EQ(gnomon__spec_resolve(&spec, known, 3), GNOMON_OK);
        CHECK(spec.wants_help);
        CHECK_STR(spelled(&spec), "<log>");
        gnomon__spec_free(&spec);
    }
}

TEST(unknown_words_are_reported)
{
    resolves("simpel,log", GNOMON_EINVAL, "<log>",
             "$GNOMON: unknown profiler 'simpel': did you mean 'simple'?");
    resolves("tensorboard", GNOMON_EINVAL, "",
             "$GNOMON: unknown profiler 'tensorboard'. There are: simple, log, "
             "Oldest");
    resolves("hlep", GNOMON_EINVAL, "",
             "$GNOMON: unknown profiler 'hlep': did you mean 'help'?");
    resolves("extended(a=1)", GNOMON_EINVAL, "",
             "$GNOMON: unknown profiler 'extended'. There are: simple, log, "
             "Oldest");
    resolves("log,flie=x", GNOMON_EINVAL, "<log>",
             "$GNOMON: unknown option 'flie': did you mean 'file'?");
    resolves("log,colour=x", GNOMON_EINVAL, "<log>",
             "$GNOMON: unknown option 'colour': no profiler has it");
    resolves("log,file", GNOMON_EINVAL, "<log>",
             "$GNOMON: file: a value is missing: file=...");
    resolves("simple=yes", GNOMON_EINVAL, "",
             "$GNOMON: 'simple' is a profiler: write simple");
    resolves("simple=a.txt", GNOMON_EINVAL, "",
             "$GNOMON: 'simple' is a profiler: write simple(file=a.txt)");
    resolves("simple=rows=3", GNOMON_EINVAL, "",
             "$GNOMON: 'simple' is a profiler: write simple(rows=3)");
}

/* Words of other tools. */
TEST(empty_options_are_silent)
{
    resolves("off", GNOMON_OK, "", NULL);
    resolves("None", GNOMON_OK, "", NULL);
    resolves("0", GNOMON_OK, "", NULL);
    resolves("simple,off", GNOMON_OK, "<simple>", NULL);
    resolves("off,file=x", GNOMON_OK, "free[file:x]", NULL);
    resolves("mem=1GiB", GNOMON_OK, "free[mem:1GiB]", NULL);
    resolves("off(a=1)", GNOMON_EINVAL, "",
             "$GNOMON: unknown profiler 'off'. There are: simple, log, "
             "Oldest");
}

TEST(lines_say_what_to_write)
{
    resolves("file=out.txt", GNOMON_EINVAL, "free[file:out.txt]",
             "$GNOMON: no profiler is named: write simple,file=out.txt");
    resolves("mem=1GiB,step=it*", GNOMON_EINVAL, "free[mem:1GiB]free[step:it*]",
             "$GNOMON: no profiler is named: write simple,step=it*");
    resolves("extended", GNOMON_EINVAL, "free[extended:true]",
             "$GNOMON: no profiler is named: write simple,extended=true");
    resolves("log,filter=forward,backward", GNOMON_EINVAL,
             "<log>free[filter:forward]",
             "$GNOMON: unknown profiler 'backward': if filter is to have it, "
             "write filter=forward|backward");
    resolves("log,ranks=0,1", GNOMON_EINVAL, "<log>free[ranks:0]",
             "$GNOMON: unknown profiler '1': if ranks is to have it, write "
             "ranks=0|1");
    resolves("ranks=0,log,17", GNOMON_EINVAL, "<log>free[ranks:0]",
             "$GNOMON: unknown profiler '17'. There are: simple, log, Oldest");
    resolves("exclude=a,simpel", GNOMON_EINVAL, "free[exclude:a]",
             "$GNOMON: unknown profiler 'simpel': did you mean 'simple'?");
    resolves("simple:file=x", GNOMON_EINVAL, "",
             "$GNOMON: a profiler's options go in brackets: write "
             "simple(file=x)");
    resolves("simple:extended", GNOMON_EINVAL, "",
             "$GNOMON: unknown profiler 'simple:extended': options go in "
             "brackets: write simple(extended)");
    resolves(
        "simple log", GNOMON_EINVAL, "",
        "$GNOMON: unknown profiler 'simple log': separate words by commas: "
        "write simple,log");
    resolves(
        "simple;log", GNOMON_EINVAL, "",
        "$GNOMON: unknown profiler 'simple;log': separate words by commas: "
        "write simple,log");
    resolves("simple,schedule=wait:1,active=3", GNOMON_EINVAL,
             "<simple>free[schedule:wait:1]",
             "$GNOMON: 'active' is a part of schedule: write "
             "schedule=wait:1/warmup:1/active:3");
}

TEST(suggestions)
{
    static const struct {
        const char *word, *best;
    } cases[] = {
        {"simpel", "simple"},
        {"smple", "simple"},
        {"simplee", "simple"},
        {"SIMPLE", "simple"},
        {"sinple", "simple"},
        {"simp", NULL},
        {"lgo", "log"},
        {"lag", "log"},
        {"og", "log"},
        {"x", NULL},
        {"", NULL},
        {"foo", NULL},
        {"advnaecd", "advanced"},
        {"dvncd", NULL},
        {"a very long word that nobody ever would have meant", NULL},
    };
    size_t i;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gnomon__suggestion s = gnomon__suggest(cases[i].word);
        gnomon__suggest_offer(&s, "simple");
        gnomon__suggest_offer(&s, "log");
        gnomon__suggest_offer(&s, "advanced");
        CHECK_STR(s.best, cases[i].best);
    }
}

TEST(complaints_are_lines)
{
    unsigned i;
    gnomon__complaints_free(&said);
    gnomon__complain(&said, "a\nb\xFF%s", "\x7F\t\xC3\xA9");
    CHECK_STR(complaint(0), "a\\nb\xEF\xBF\xBD\\x7f\\t\xC3\xA9");
    gnomon__complain(&said, "a\nb\xFF%s", "\x7F\t\xC3\xA9");
    CHECK_EQ(said.count, 1); /* reported already */
    for (i = 0; i < 20; i++)
        gnomon__complain(&said, "%u", i % 19);
    CHECK_EQ(said.count, GNOMON__COMPLAINTS);
    CHECK_EQ(said.dropped, 5);
    gnomon__complaints_free(&said);
}

/* ---- Options ------------------------------------------------------------ */

static gnomon__spec options_spec;

static gnomon__options *options_of(const char *text, int status,
                                   const char *first)
{
    gnomon__options *options = NULL;
    gnomon__spec_free(&options_spec);
    CHECK_EQ(parse(&options_spec, text), GNOMON_OK);
    CHECK_EQ(gnomon__options_create(&options, &simple, &options_spec, 0),
             status);
    CHECK_STR(complaint(0), first);
    return options;
}

TEST(options_in_three_layers)
{
    gnomon__options *o = options_of(
        "simple(rows=5,Every=1.5s,title=\"a, b\",every=2ms),extended=no,rows=9,"
        "room=2MiB",
        GNOMON_OK, NULL);
    const gnomon_options *api = &o->api;
    gnomon__settings all = {0};
    CHECK_EQ(api->number(api, "rows"), 5);
    CHECK_EQ(api->number(api, "EXTENDED"), 0);
    CHECK_STR(api->text(api, "extended"), "no");
    CHECK_EQ(api->number(api, "every"), 2000000);
    CHECK_EQ(api->number(api, "room"), 2 << 20);
    CHECK_STR(api->text(api, "title"), "a, b");
    CHECK_STR(api->text(api, "ranks"), "all");
    CHECK(api->text(api, "file") == NULL);
    CHECK_EQ(api->number(api, "file"), 0);
    CHECK(api->text(api, "nothing") == NULL);
    CHECK(api->text(api, NULL) == NULL);
    CHECK_EQ(api->number(api, NULL), 0);
    CHECK_EQ(gnomon__options_settle(o, &all), GNOMON_OK);
    gnomon__settings_free(&options_spec.items[0].settings);
    gnomon__settings_free(&options_spec.defaults);
    options_spec.items[0].settings = all;
    CHECK_STR(round_trip(&options_spec),
              "simple(extended=no,rows=5,every=2ms,room=2MiB,title=\"a, b\","
              "ranks=all,at=stage)");
    gnomon__options_destroy(o);
}

TEST(filters_add_up)
{
    gnomon__options *o =
        options_of("simple(filter=a|b,filter=c,exclude=x),filter=z,exclude=y,"
                   "title=t,title=u",
                   GNOMON_OK, NULL);
    CHECK_STR(gnomon__options_text(o, "filter"), "a|b|c");
    CHECK_STR(gnomon__options_text(o, "exclude"), "x");
    CHECK_STR(gnomon__options_text(o, "title"), "u");
    gnomon__options_destroy(o);
    o = options_of("simple,filter=z,filter=y", GNOMON_OK, NULL);
    CHECK_STR(gnomon__options_text(o, "filter"), "z|y");
    gnomon__options_destroy(o);
}

TEST(wrong_options_are_reported_and_ignored)
{
    static const struct {
        const char *text, *first;
    } cases[] = {
        {"simple(extnded=no)",
         "simple: unknown option 'extnded': did you mean 'extended'? It knows: "
         "extended, rows, every, room, title, filter, exclude, schedule, "
         "ranks, at, file, dir, as"},
        {"simple(colour=red)",
         "simple: unknown option 'colour'. It knows: extended, rows, every, "
         "room, title, filter, exclude, schedule, ranks, at, file, dir, as"},
        {"simple(mem=1MiB)", "simple: 'mem' is for the whole run: write it "
                             "outside of the brackets"},
        {"simple(extended=maybe)",
         "simple: extended=maybe: say true or false (or yes, no, on, off, 1, "
         "0)"},
        {"simple,extended=", "$GNOMON: extended=: say true or false (or yes, "
                             "no, on, off, 1, 0)"},
        {"simple(rows)", "simple: rows: a value is missing: rows=..."},
        {"simple(rows=1.5)", "simple: rows=1.5: say a whole number"},
        {"simple(rows=9223372036854775808)",
         "simple: rows=9223372036854775808: the number is too large"},
        {"simple(every=10)", "simple: every=10: a unit is missing: say ns, us, "
                             "ms, s, min or h"},
        {"simple(every=10 sec)", "simple: every=10 sec: no such unit: "
                                 "say ns, us, ms, s, min or h"},
        {"simple(room=1TiB)", "simple: room=1TiB: no such unit: say "
                              "B, KB, KiB, MB, MiB, GB or GiB"},
        {"simple(room=-1)", "simple: room=-1: say a number and its unit"},
        {"simple(schedule=wait:1)",
         "simple: schedule=wait:1: 'active' is missing: how many steps to "
         "record, as active:3"},
        {"simple(ranks=one)",
         "simple: ranks=one: say all, or ranks and spans as 0|3|8-15"},
        {"simple(file=)", "simple: file=: a value is missing"},
        {"simple(file=a/)",
         "simple: file=a/: say a file, or dir= for a directory"},
        {"simple(file=~/x)", "simple: file=~/x: no shell has put a folder for "
                             "'~': write the folder"},
        {"simple(file=a/${B}c/$_)", "simple: file=a/${B}c/$_: no shell has put "
                                    "a folder for '${B}c': write the folder"},
        {"simple(dir=~)", "simple: dir=~: no shell has put a folder for '~': "
                          "write the folder"},
        {"simple(filter=forward,backward)",
         "simple: unknown option 'backward': if filter is to have it, write "
         "filter=forward|backward"},
    };
    size_t i;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gnomon__options *o =
            options_of(cases[i].text, GNOMON_EINVAL, cases[i].first);
        CHECK_EQ(said.count, 1);
        CHECK_EQ(gnomon__options_number(o, "extended"), 1);
        CHECK_EQ(gnomon__options_number(o, "rows"), -1);
        CHECK_EQ(gnomon__options_number(o, "room"), 65536);
        CHECK(gnomon__options_text(o, "every") == NULL);
        CHECK(gnomon__options_text(o, "schedule") == NULL);
        CHECK(gnomon__options_text(o, "file") == NULL);
        gnomon__options_destroy(o);
    }
}

TEST(options_of_an_old_profiler_and_the_run)
{
    gnomon__spec spec;
    gnomon__options *o;
    CHECK(gnomon__options_of(&oldest) == NULL);
    CHECK(gnomon__options_of(&simple) == own_options);
    CHECK_EQ(parse(&spec, "log,file=x,mem=256MiB"), GNOMON_OK);
    CHECK_EQ(gnomon__options_create(&o, NULL, &spec, 0), GNOMON_OK);
    CHECK_EQ(gnomon__options_number(o, "mem"), 256 << 20);
    CHECK(gnomon__options_text(o, "file") == NULL);
    gnomon__options_destroy(o);
    CHECK_EQ(gnomon__options_create(&o, &logs, &spec, 0), GNOMON_OK);
    CHECK_STR(gnomon__options_text(o, "file"), "x");
    gnomon__options_destroy(o);
    gnomon__spec_free(&spec);
}

/* It would lose every mark. */
TEST(memory_for_no_thread_is_refused)
{
    gnomon__spec spec;
    gnomon__options *o;
    static const char *const few[] = {"mem=64", "mem=0", "mem=32767"};
    for (size_t i = 0; i < sizeof few / sizeof *few; i++) {
        char line[160];
        CHECK_EQ(parse(&spec, few[i]), GNOMON_OK);
        CHECK_EQ(gnomon__options_create(&o, NULL, &spec, 0), GNOMON_EINVAL);
        CHECK_EQ(gnomon__options_number(o, "mem"), GNOMON__DEFAULT_BUDGET);
        snprintf(line, sizeof line,
                 "$GNOMON: %s: the least is 32 KiB, and a number without a "
                 "unit is bytes: say mem=64MiB",
                 few[i]);
        CHECK_STR(complaint(0), line);
        gnomon__options_destroy(o);
        gnomon__spec_free(&spec);
    }
}

TEST(options_of_gnomon_attach)
{
    gnomon__spec spec;
    gnomon__complaints_free(&said);
    CHECK_EQ(gnomon__spec_parse(&spec, "mine", "filter=opt*,extended",
                                "gnomon_attach", &said),
             GNOMON_OK);
    CHECK_STR(spelled(&spec), "<mine>[filter:opt*][extended:-]");
    gnomon__spec_free(&spec);
    CHECK_EQ(gnomon__spec_parse(&spec, "mine", NULL, "", &said), GNOMON_OK);
    CHECK_STR(spelled(&spec), "<mine>");
    gnomon__spec_free(&spec);
    CHECK_EQ(gnomon__spec_parse(&spec, "mine", "a),b", "gnomon_attach", &said),
             GNOMON_EINVAL);
    CHECK_STR(spelled(&spec), "<mine>[a:-][b:-]");
    CHECK_STR(complaint(0), "gnomon_attach: at character 2, '),b': there is "
                            "no open bracket before this");
    gnomon__spec_free(&spec);
}

TEST(values_have_units)
{
    static const struct {
        int type;
        const char *text;
        int64_t number;
    } cases[] = {
        {GNOMON_OPTION_BOOL, "Yes", 1},
        {GNOMON_OPTION_BOOL, "off", 0},
        {GNOMON_OPTION_INTEGER, "-12", -12},
        {GNOMON_OPTION_INTEGER, "+7", 7},
        {GNOMON_OPTION_INTEGER, "9223372036854775807", INT64_MAX},
        {GNOMON_OPTION_BYTES, "0", 0},
        {GNOMON_OPTION_BYTES, "123", 123},
        {GNOMON_OPTION_BYTES, "1KB", 1000},
        {GNOMON_OPTION_BYTES, "1kb", 1000},
        {GNOMON_OPTION_BYTES, "1KiB", 1024},
        {GNOMON_OPTION_BYTES, "64MiB", 67108864},
        {GNOMON_OPTION_BYTES, "1k", 1024},
        {GNOMON_OPTION_BYTES, "64M", 67108864},
        {GNOMON_OPTION_BYTES, "1G", 1073741824},
        {GNOMON_OPTION_BYTES, "2MB", 2000000},
        {GNOMON_OPTION_BYTES, "1.5 GiB", 1610612736},
        {GNOMON_OPTION_BYTES, "3GB", 3000000000},
        {GNOMON_OPTION_BYTES, "8589934591.999999GiB", 9223372036854774734},
        {GNOMON_OPTION_DURATION, "0", 0},
        {GNOMON_OPTION_DURATION, "10ns", 10},
        {GNOMON_OPTION_DURATION, "10us", 10000},
        {GNOMON_OPTION_DURATION, "10ms", 10000000},
        {GNOMON_OPTION_DURATION, "0.000001s", 1000},
        {GNOMON_OPTION_DURATION, "2min", 120000000000},
        {GNOMON_OPTION_DURATION, "1.25h", 4500000000000},
        {GNOMON_OPTION_TEXT, "anything", 0},
        {99, "of a later version", 0},
    };
    static const struct {
        int type;
        const char *text;
    } wrong[] = {
        {GNOMON_OPTION_BYTES, "8589934592GiB"},
        {GNOMON_OPTION_BYTES, "99999999999999999999"},
        {GNOMON_OPTION_BYTES, ".5MB"},
        {GNOMON_OPTION_BYTES, "1T"},
        {GNOMON_OPTION_BYTES, "1MiBs"},
        {GNOMON_OPTION_BYTES, ""},
        {GNOMON_OPTION_DURATION, "1"},
        {GNOMON_OPTION_DURATION, "0.1"},
        {GNOMON_OPTION_DURATION, "3000000h"},
        {GNOMON_OPTION_DURATION, "1ms 2us"},
        {GNOMON_OPTION_INTEGER, ""},
        {GNOMON_OPTION_INTEGER, "-"},
        {GNOMON_OPTION_INTEGER, "--1"},
        {GNOMON_OPTION_INTEGER, "1e3"},
        {GNOMON_OPTION_BOOL, ""},
        {GNOMON_OPTION_BOOL, "2"},
    };
    size_t i;
    char why[128];
    int64_t number;
    for (i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CHECK_EQ(gnomon__option_parse(cases[i].type, cases[i].text, &number,
                                      why, sizeof why),
                 GNOMON_OK);
        if (!CHECK_EQ(number, cases[i].number))
            fprintf(stderr, "    %s\n", cases[i].text);
    }
    for (i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        why[0] = '\0';
        if (!CHECK_EQ(gnomon__option_parse(wrong[i].type, wrong[i].text,
                                           &number, why, sizeof why),
                      GNOMON_EINVAL))
            fprintf(stderr, "    %s\n", wrong[i].text);
        CHECK_EQ(number, 0);
        CHECK(why[0] != '\0');
    }
}

/* ---- Lack of memory ----------------------------------------------------- */

/* Fails each allocation in turn: the result is complete, or the lack is
 * reported. */
TEST(survives_lack_of_memory)
{
    uint64_t n, before;
    int done = 0;
    gnomon__complaints_free(&said);
    gnomon__spec_free(&options_spec);
    before = gnomon__heap_bytes();
    for (n = 1; !done && CHECK(n < 1000); n++) {
        gnomon__spec spec;
        gnomon__options *options = NULL, *run = NULL;
        gnomon__settings all = {0};
        int a, b = 0, c = 0, d = 0, e = 0;
        gnomon__test_fail_allocation(n);
        a = gnomon__spec_parse(&spec, NULL,
                               "SIMPLE(filter=a,filter=b,bad=1,\"x\"y),"
                               "extended,log,mem=1MB,unknown=2",
                               "$GNOMON", &said);
        b = gnomon__spec_resolve(&spec, known, 3);
        if (spec.item_count > 0) {
            c = gnomon__options_create(&options, &simple, &spec, 0);
            CHECK_EQ(c == GNOMON_ENOMEM, options == NULL);
        }
        d = gnomon__options_create(&run, NULL, &spec, 0);
        if (options)
            e = gnomon__options_settle(options, &all);
        done = gnomon__test_allocations() < n;
        CHECK_EQ((a == GNOMON_ENOMEM) + (b == GNOMON_ENOMEM) +
                     (c == GNOMON_ENOMEM) + (d == GNOMON_ENOMEM) +
                     (e == GNOMON_ENOMEM) + (said.dropped > 0),
                 !done);
        if (a == GNOMON_ENOMEM)
            CHECK_EQ(spec.item_count + spec.defaults.count, 0);
        else if (done)
            CHECK_STR(gnomon__options_text(options, "filter"), "a|b");
        gnomon__settings_free(&all);
        gnomon__options_destroy(options);
        gnomon__options_destroy(run);
        gnomon__spec_free(&spec);
        gnomon__complaints_free(&said);
        CHECK_EQ(gnomon__heap_bytes(), before);
    }
    CHECK(n > 20);
    gnomon__test_fail_allocation(0);
}
