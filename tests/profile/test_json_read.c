/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* JSON as people write it: what is read, and what is refused with a line.
 * links: testing
 * threads: none
 * needs: cli */
#include <math.h>

#include "json_form.h"
#include "platform/memory.h"

/* ---- By hand ----------------------------------------------------------------- */

TEST(a_person_leaves_out_what_has_a_default)
{
    NEEDS_JANSSON();
    gnomon_profile *p = profile_of_json(
        "{\"gnomon\": 1, \"tracks\": [{}],\n"
        " \"regions\": [{\"name\": \"forward\"}],\n"
        " \"stages\": [{}], \"steps\": [{\"stage\": 1}],\n"
        " \"links\": [{\"from\": 1, \"to\": 1}],\n"
        " \"nodes\": [{\"track\": 1, \"region\": 1, \"memory\": [],\n"
        "  \"host\": {\"count\": 2, \"total_ns\": 3e3, \"self_ns\": \"3000\",\n"
        "   \"min_ns\": 1500, \"max_ns\": 1500}}]}");
    gnomon_run_info run;
    gnomon_track_info track;
    gnomon_node_info node;
    gnomon_step_info step;
    if (!p)
        return;
    CHECK_EQ(gnomon_profile_count(p, GNOMON_RUNS), 1);
    gnomon_profile_run(p, 1, &run);
    CHECK(run.rank == -1 && run.local_rank == -1 && run.world_size == -1);
    CHECK(!run.job && !run.uuid && !run.dir && !run.attempt);
    CHECK_STR(run.host, "");
    gnomon_profile_track(p, 1, &track);
    CHECK(track.run == 1 && track.device == -1 && track.kind == 0);
    gnomon_profile_step(p, 1, &step);
    CHECK_EQ(step.phase, GNOMON_PHASE_RECORD);
    gnomon_profile_node(p, 1, &node);
    CHECK_EQ(node.host->total_ns, 3000);
    CHECK_EQ(node.host->cell_count, 1);
    CHECK_EQ(node.host->cells[0].cell, gnomon_cell_of(1500));
    CHECK_EQ(node.host->cells[0].count, 2);
    CHECK(!node.device && !node.work && !node.memory);
    gnomon_profile_free(p);
}

TEST(blanks_of_any_kind_are_passed_over)
{
    NEEDS_JANSSON();
    gnomon_profile *p = profile_of_json(
        "\r\n\t {\n\t\"gnomon\":\t1,\r\n\t\"tracks\" :\n[\t{}\n,\t{\t}\r\n\t]"
        "\n\t}\r\n");
    CHECK_EQ(p ? gnomon_profile_count(p, GNOMON_TRACKS) : 0, 2);
    gnomon_profile_free(p);
}

TEST(texts_words_and_numbers_may_stand_for_one_another)
{
    NEEDS_JANSSON();
    gnomon_profile *p = profile_of_json(
        "{\"gnomon\": \"1\", \"runs\": [{\"rank\": \"-1\", \"job\": null,\n"
        "  \"zero_unix_ns\": \"18446744073709551615\"}],\n"
        " \"tracks\": [{\"kind\": 3, \"alive\": 1, \"inexact\": false},\n"
        "   {\"kind\": \"2\", \"alive\": \"0\", \"run\": null},\n"
        "   {\"kind\": \"stream\"}],\n"
        " \"nodes\": [{\"track\": 3, \"region\": 1, \"flags\": [\"part\"]}],\n"
        " \"ops\": [{\"operation\": \"add\", \"flags\": [\"bytes_given\", 1],\n"
        "   \"attributes\": [{\"key\": \"grid\", \"value\": [128, 1.5]},\n"
        "    {\"key\": \"x\", \"value\": null},\n"
        "    {\"key\": \"y\", \"json\": \" [ ] \"}]}],\n"
        " \"regions\": [{\"name\": \"r\"}],\n"
        " \"counters\": [{\"track\": 1, \"region\": 1, \"count\": 1,\n"
        "   \"last\": \"1.5\", \"min\": \"-Infinity\", \"max\": \"NaN\",\n"
        "   \"sum\": 3}]}");
    gnomon_track_info track;
    gnomon_run_info run;
    gnomon_op_info op;
    gnomon_counter_info counter;
    gnomon_node_info node;
    if (!p)
        return;
    gnomon_profile_node(p, 1, &node);
    CHECK_EQ(node.flags, GNOMON_NODE_PART);
    gnomon_profile_run(p, 1, &run);
    CHECK_EQ(run.zero_unix_ns, UINT64_MAX);
    gnomon_profile_track(p, 1, &track);
    CHECK(track.kind == GNOMON_TRACK_POOL && track.alive == 1);
    gnomon_profile_track(p, 2, &track);
    CHECK(track.kind == GNOMON_TRACK_LANE && track.alive == 0);
    gnomon_profile_op(p, 1, &op);
    CHECK_EQ(op.flags, GNOMON_OP_BACKWARD | GNOMON_OP_BYTES_GIVEN);
    CHECK_STR(gnomon_attribute_at(&op, 0)->json, "[128, 1.5]");
    CHECK_STR(gnomon_attribute_at(&op, 1)->json, "null");
    CHECK_STR(gnomon_attribute_at(&op, 2)->json, " [ ] ");
    gnomon_profile_counter(p, 1, &counter);
    CHECK(counter.last == 1.5 && isinf(counter.min) && isnan(counter.max) &&
          counter.sum == 3);
    gnomon_profile_free(p);
}

static void check_ignored(const char *text, const char *line)
{
    gnomon_profile *p = profile_of_json(text);
    CHECK_STR(gnomon_error_text(), line);
    gnomon_profile_free(p);
}

TEST(unknown_keys_are_ignored_and_named)
{
    NEEDS_JANSSON();
    check_ignored("{\"gnomon\": 1}", "");
    check_ignored("{\"gnomon\": 1, \"colour\": [{}]}", "ignored: colour");
    check_ignored("{\"gnomon\": 1, \"runs\": [{}, {\"rnk\\n\": 1, \"x\": {}}], "
                  "\"regions\": [{\"name\": \"r\", \"value\": 1}]}",
                  "ignored: runs[2].rnk?, runs[2].x, regions[1].value");
    check_ignored("{\"gnomon\": 1, \"1\": 1, \"2\": 1, \"3\": 1, \"4\": 1, "
                  "\"5\": 1, \"6\": 1, \"7\": 1}",
                  "ignored: 1, 2, 3, 4, 5 and 2 more");
    check_ignored("{\"gnomon\": 1, \"runs\": [{"
                  "\"a123456789012345678901234567890123456789xyz\": 1, "
                  "\"b123456789012345678901234567890123456789xyz\": 1, "
                  "\"c123456789012345678901234567890123456789xyz\": 1, "
                  "\"dd\": 1}]}",
                  "ignored: "
                  "runs[1].a123456789012345678901234567890123456789, "
                  "runs[1].b123456789012345678901234567890123456789, "
                  "runs[1].c123456789012345678901234567890123456789 and 1 "
                  "more");
}

/* Jansson reads no whole number above 2^63 - 1. */
TEST(doubles_take_any_number)
{
    NEEDS_JANSSON();
    gnomon_profile *p = profile_of_json(
        "{\"gnomon\": 1, \"tracks\": [{}], \"regions\": [{\"name\": \"r\"}],\n"
        " \"counters\": [{\"track\": 1, \"region\": 1, \"count\": 7,\n"
        "   \"last\": 18446744073709551616, \"min\": -9223372036854775809,\n"
        "   \"max\": \"18446744073709551616\", \"sum\": 3}]}");
    gnomon_counter_info c;
    if (!p)
        return;
    gnomon_profile_counter(p, 1, &c);
    CHECK_EQ(c.count, 7);
    CHECK(c.last == 18446744073709551616.0 && c.max == c.last &&
          c.min == -9223372036854775808.0 && c.sum == 3);
    gnomon_profile_free(p);
}

/* ---- What is wrong, and where -------------------------------------------------- */

/* `line` may end in "...": what follows is jansson's own. */
static void check_wrong(const char *text, int code, const char *line)
{
    uint64_t before = gnomon__heap_bytes();
    gnomon_profile *p = (gnomon_profile *)(size_t)&before;
    const char *rest = strstr(line, "...");
    size_t n = rest && !rest[3] ? (size_t)(rest - line) : strlen(line) + 1;
    CHECK_EQ(gnomon__json_read(&p, text, strlen(text)), code);
    CHECK(p == NULL);
    if (!CHECK(strncmp(gnomon_error_text(), line, n) == 0))
        fprintf(stderr, "    %s, not\n    %s\n", gnomon_error_text(), line);
    CHECK_EQ(gnomon__heap_bytes(), before);
}

#define WRONG(inside, line) \
    check_wrong("{\"gnomon\": 1, " inside "}", GNOMON_EINVAL, line)
#define TRACK_AND_REGION \
    "\"tracks\": [{}, {\"kind\": \"pool\"}], \"regions\": [{\"name\": " \
    "\"r\"}], "
#define WRONG_NODE(inside, line) \
    WRONG(TRACK_AND_REGION \
          "\"nodes\": [{\"track\": 1, \"region\": 1}, {\"track\": 1, " \
          "\"region\": 1, " inside "}]", \
          line)

TEST(each_error_names_its_position)
{
    NEEDS_JANSSON();
    WRONG("\"runs\": {}", "runs: not a list");
    WRONG("\"runs\": [[]]", "runs[1]: not an object");
    WRONG("\"runs\": [{}, {\"rank\": true}]", "runs[2].rank: not a number");
    WRONG("\"runs\": [{\"rank\": 2147483648}]",
          "runs[1].rank: not in -2147483648 .. 2147483647");
    WRONG("\"runs\": [{\"rank\": \"-2147483649\"}]",
          "runs[1].rank: not in -2147483648 .. 2147483647");
    WRONG("\"runs\": [{\"pid\": \"9223372036854775808\"}]",
          "runs[1].pid: not in -9223372036854775808 .. 9223372036854775807");
    /* The first of two. */
    WRONG("\"runs\": [{\"rank\": \"x\", \"local_rank\": []}]",
          "runs[1].rank: not a whole number");
    WRONG("\"runs\": [{\"zero_unix_ns\": [], \"now_ns\": -1}]",
          "runs[1].zero_unix_ns: not a number");
    WRONG("\"runs\": [{\"now_ns\": -1}]",
          "runs[1].now_ns: not in 0 .. 18446744073709551615");
    WRONG("\"runs\": [{\"now_ns\": \"18446744073709551616\"}]",
          "runs[1].now_ns: too large a number");
    WRONG("\"runs\": [{\"now_ns\": \"\"}]", "runs[1].now_ns: not a number");
    WRONG("\"runs\": [{\"now_ns\": \"-\"}]", "runs[1].now_ns: not a number");
    WRONG("\"runs\": [{\"now_ns\": \"1 \"}]",
          "runs[1].now_ns: not a whole number");
    WRONG("\"runs\": [{\"now_ns\": 1.5}]",
          "runs[1].now_ns: not a whole number below 2^53: give all digits");
    WRONG("\"runs\": [{\"now_ns\": 1e16}]",
          "runs[1].now_ns: not a whole number below 2^53: give all digits");
    WRONG("\"runs\": [{\"host\": 1}]", "runs[1].host: not a text");
    WRONG("\"regions\": [{}]", "regions[1].name: missing");
    WRONG("\"regions\": [{\"name\": null}]", "regions[1].name: missing");
    WRONG("\"regions\": [{\"name\": \"r\", \"kind\": \"kernl\\u001b\"}]",
          "regions[1].kind: 'kernl?' is not one of: scope, function, action, "
          "range, mark, counter, python, api, kernel, copy, set, collective, "
          "line");
    WRONG("\"regions\": [{\"name\": \"r\", \"kind\": []}]",
          "regions[1].kind: not a word");
    WRONG("\"regions\": [{\"name\": \"r\", \"line\": 4294967296}]",
          "regions[1].line: not in 0 .. 4294967295");
    WRONG("\"metadata\": [{\"key\": \"k\"}]", "metadata[1].json: missing");
    WRONG(
        "\"metadata\": [{\"key\": \"k\", \"json\": \"{\"}]",
        "metadata[1].json: not a text that is JSON; a value as such goes under "
        "\"value\"");
    WRONG(
        "\"metadata\": [{\"key\": \"k\", \"json\": [1]}]",
        "metadata[1].json: not a text that is JSON; a value as such goes under "
        "\"value\"");
    WRONG("\"metadata\": [{\"key\": \"k\", \"json\": \"1\", \"value\": 1}]",
          "metadata[1].json: there is a \"value\" too");
    WRONG("\"ops\": [{\"operation\": \"o\", \"flags\": \"backward\"}]",
          "ops[1].flags: not a list of words");
    WRONG("\"ops\": [{\"operation\": \"o\", \"flags\": [1, \"x\"]}]",
          "ops[1].flags[2]: 'x' is not one of: backward, flops_given, "
          "bytes_given, by_definition");
    WRONG(
        "\"ops\": [{\"operation\": \"o\", \"inputs\": [{\"dims\": [1, {}]}]}]",
        "ops[1].inputs[1].dims[2]: not a number");
    WRONG("\"ops\": [{\"operation\": \"o\", \"inputs\": [{\"dims\": [1], "
          "\"strides\": [1, 2]}]}]",
          "ops[1].inputs[1].strides: not as many as dims");
    WRONG("\"ops\": [{\"operation\": \"o\", \"attributes\": [{\"key\": 3}]}]",
          "ops[1].attributes[1].key: not a text");
    WRONG("\"counters\": [{\"track\": 1, \"region\": 1, \"count\": 1, "
          "\"sum\": \"1,5\"}]",
          "counters[1].sum: not a number, nor \"NaN\", \"Infinity\" or "
          "\"-Infinity\"");
    WRONG("\"counters\": [{\"track\": 1, \"region\": 1, \"count\": 1, "
          "\"sum\": \"NaN(0x0000000000000001)\"}]",
          "counters[1].sum: not a number, nor \"NaN\", \"Infinity\" or "
          "\"-Infinity\"");
    WRONG("\"counters\": [{\"track\": 1, \"region\": 1, \"count\": 1, "
          "\"sum\": []}]",
          "counters[1].sum: not a number");
    WRONG("\"counters\": [{\"track\": 1, \"region\": 1, \"count\": 1, "
          "\"sum\": \"1e999\"}]",
          "counters[1].sum: not a number, nor \"NaN\", \"Infinity\" or "
          "\"-Infinity\"");
    WRONG_NODE("\"host\": 3", "nodes[2].host: not an object");
    WRONG_NODE("\"host\": {\"total_ns\": \"x\"}",
               "nodes[2].host.total_ns: not a whole number");
    WRONG_NODE("\"host\": {\"total_ns\": []}",
               "nodes[2].host.total_ns: not a number");
    WRONG_NODE("\"host\": {\"count\": 1, \"max_ns\": 3}",
               "nodes[2].host.cells: missing: give the histogram as [[cell, "
               "executions], ...], or min_ns and max_ns that are equal");
    WRONG_NODE("\"host\": {\"cells\": {}}", "nodes[2].host.cells: not a list");
    WRONG_NODE("\"host\": {\"cells\": [[1, 2], [3]]}",
               "nodes[2].host.cells[2]: not a pair [cell, executions]");
    WRONG_NODE("\"host\": {\"cells\": [[1, null]]}",
               "nodes[2].host.cells[1][2]: not a number");
    WRONG_NODE("\"device\": {\"cells\": [[-1, 2]]}",
               "nodes[2].device.cells[1][1]: not in 0 .. 4294967295");
    WRONG_NODE("\"memory\": [{\"pool\": 2}, {}]",
               "nodes[2].memory[2].pool: missing");
    WRONG_NODE("\"work\": []", "nodes[2].work: not an object");
}

TEST(rules_of_profiles_are_checked_too)
{
    NEEDS_JANSSON();
    WRONG_NODE("\"parent\": 2", "node 2: parent 2 is not before it");
    WRONG_NODE("\"host\": {\"count\": 2, \"cells\": [[1, 1]]}",
               "node 2: histogram counts 1, count is 2");
    WRONG("\"runs\": [], \"tracks\": [{}]", "track 1: run 1 is not there");
    WRONG("\"links\": [{\"from\": 1, \"to\": 1}]",
          "link 1: from 1 is not there");
}

TEST(other_json_is_refused)
{
    NEEDS_JANSSON();
    static const char missing[] =
        "\"gnomon\": 1 is missing, so this is no profile";
    static char deep[100];
    check_wrong("{}", GNOMON_EINVAL, missing);
    check_wrong("{\"a\": {\"gnomon\": 1}}", GNOMON_EINVAL, missing);
    check_wrong("[1]", GNOMON_EINVAL, missing);
    check_wrong("\"gnomon\"", GNOMON_EINVAL, missing);
    check_wrong("{\"gnomon\": 0}", GNOMON_EINVAL,
                "gnomon: there is no version 0");
    check_wrong("{\"gnomon\": {}}", GNOMON_EINVAL, "gnomon: not a number");
    check_wrong("{\"gnomon\": 2}", GNOMON_EABI,
                "gnomon: version 2 is newer than this program, which reads 1");
    check_wrong("", GNOMON_EINVAL, "line 1, column ...");
    check_wrong("{\"gnomon\": 1,\n \"runs\": [}", GNOMON_EINVAL,
                "line 2, column 11: ...");
    check_wrong("{\"gnomon\": 1, \"a\": 1, \"a\": 2}", GNOMON_EINVAL,
                "line 1, column ...");
    check_wrong("{\"gnomon\": 9223372036854775808}", GNOMON_EINVAL,
                "line 1, column 30: too large a number: in quotes it may go up "
                "to 2^64 - 1");
    check_wrong("{\"gnomon\": 1e999}", GNOMON_EINVAL,
                "line 1, column 16: too large a number: in quotes it may go up "
                "to 2^64 - 1");
    check_wrong("{\"gnomon\": \"\\u0000\"}", GNOMON_EINVAL,
                "line 1, column ...");
    check_wrong("{\"gnomon\": \"\xff\"}", GNOMON_EINVAL, "line 1, column ...");
    check_wrong("{\"gnomon\": 1} x", GNOMON_EINVAL, "line 1, column 15: ...");
    memset(deep, '[', 40);
    memcpy(deep, "{\"gnomon\": 1, \"a\": ", 19);
    memset(deep + 19, '[', 64);
    check_wrong(deep, GNOMON_EINVAL, "line 1, column 83: ...");
    char closed[300];
    snprintf(
        closed, sizeof closed, "%s%.*s}", deep, 64,
        "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]");
    check_wrong(closed, GNOMON_EINVAL, "nested deeper than 64");
}
