/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Large databases: ten ranges for each kernel, five of them around its launch. With
 * $GNOMON_SOAK 10^6 kernels and 10^7 ranges in 256 MiB; $NSYS_KERNELS says another number,
 * and $NSYS_FILE where the database stays.
 * links: static
 * threads: none
 * needs: cli
 * timeout: 900 */
#if GNOMON_WITH_SQLITE

#include <sys/resource.h>

#include "exports.h"

typedef struct big_file {
    export_file x;
    sqlite3_stmt *kernel, *call, *range;
} big_file;

static sqlite3_stmt *prepared(big_file *b, const char *text)
{
    sqlite3_stmt *s = NULL;
    CHECK_EQ(sqlite3_prepare_v2(b->x.sql, text, -1, &s, NULL), SQLITE_OK);
    return s;
}

static void put_numbers(sqlite3_stmt *s, int count, const int64_t *numbers)
{
    sqlite3_reset(s);
    for (int i = 0; i < count; i++)
        sqlite3_bind_int64(s, i + 1, numbers[i]);
    CHECK_EQ(sqlite3_step(s), SQLITE_DONE);
}

static void put_range(big_file *b, int64_t begin, int64_t end, int64_t thread,
                      const char *text)
{
    sqlite3_reset(b->range);
    sqlite3_bind_text(b->range, 4, text, -1, SQLITE_STATIC);
    put_numbers(b->range, 3, (const int64_t[]){begin, end, thread});
}

/* A step has 100 kernels. */
static void put_kernel(big_file *b, int64_t i)
{
    const int64_t thread = EXPORT_THREAD(1, 1 + i % 2), at = 1000 + i * 1000;
    char text[96];
    if (i % 100 < 2)
        put_range(b, at, at + 99999, thread, "train_step");
    snprintf(text, sizeof text, "layer:%d", (int)(i / 2 % 50));
    put_range(b, at + 10, at + 900, thread, text);
    snprintf(text, sizeof text,
             "aten::linear, seq = %d, op_id = %d, sizes = [[64, 32], [16, 32]]",
             (int)i + 1, (int)i * 3);
    put_range(b, at + 20, at + 800, thread, text);
    snprintf(text, sizeof text, "aten::mm, op_id = %d", (int)i * 3 + 1);
    put_range(b, at + 30, at + 700, thread, text);
    put_range(b, at + 40, at + 600, thread, "gemm_call");
    for (int k = 0; k < 6 - (i % 100 < 2); k++) /* around no launch */
        put_range(b, at + 910 + k, at + 910 + k, thread, "aten::view");
    put_numbers(b->call, 4, (const int64_t[]){at + 50, at + 60, thread, i + 1});
    put_numbers(
        b->kernel, 4,
        (const int64_t[]){at + 5000, at + 5000 + i % 700, i + 1, 1 + i % 3});
}

static void make_big(const char *path, int64_t kernels)
{
    big_file b = {.x = export_begin(path, EXPORT_3_25)};
    export_string(&b.x, "ampere_sgemm_32x32");
    export_string(&b.x, "void at::native::elementwise_kernel<128>(int)");
    export_string(&b.x, "nvjet_tst_64x8_64x16_4x1_v_bz_TNN");
    b.kernel = prepared(
        &b, "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start, end, correlationId, "
            "demangledName, deviceId, streamId, globalPid) VALUES(?1, ?2, ?3, "
            "?4, 0, 7, 281474993487872)");
    b.call = prepared(&b, "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME(start, end, "
                          "globalTid, correlationId) VALUES(?1, ?2, ?3, ?4)");
    b.range =
        prepared(&b, "INSERT INTO NVTX_EVENTS(start, end, globalTid, text, "
                     "eventType) VALUES(?1, ?2, ?3, ?4, 59)");
    for (int64_t i = 0; i < kernels; i++)
        put_kernel(&b, i);
    sqlite3_finalize(b.kernel);
    sqlite3_finalize(b.call);
    sqlite3_finalize(b.range);
    export_end(&b.x);
}

static double seconds_of(int who)
{
    struct rusage r;
    getrusage(who, &r);
    return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
           (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
}

TEST(soak_large_databases_take_little_memory)
{
    NEEDS_PROGRAM;
    const char *asked = getenv("NSYS_KERNELS"), *kept = getenv("NSYS_FILE");
    const char *path = kept ? kept : "big.sqlite";
    const int64_t kernels = asked                   ? strtoll(asked, NULL, 10)
                            : getenv("GNOMON_SOAK") ? 1000000
                                                    : 2000;
    static const char *const words[] = {
        "prof %s -c idx,layer,op,sil,flops", "prof %s --group-by op",
        "prof %s --group-by step --step train_step", "prof %s -o big.gnomon"};
    char command[512];
    make_big(path, kernels);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        snprintf(command, sizeof command, words[i], path);
        char all[600];
        snprintf(all, sizeof all, "nsys %s", command);
        const double before = seconds_of(RUSAGE_CHILDREN),
                     kib = program_kib(all);
        fprintf(stderr, "    %.1f s of the CPU\n",
                seconds_of(RUSAGE_CHILDREN) - before);
        CHECK(kib > 0 && kib <= 256 * 1024);
    }
    snprintf(command, sizeof command,
             "%" PRId64 " kernels, 0 without a call, 0 in no range", kernels);
    CHECK(strstr(shell("$G nsys prof %s --top 1", path).err, command) != NULL);
}

/* How often a range is around a launch, by the join that one would write. */
static int64_t pairs_of_sql(const char *path)
{
    sqlite3 *sql;
    sqlite3_stmt *rows;
    CHECK_EQ(sqlite3_open(path, &sql), SQLITE_OK);
    CHECK_EQ(sqlite3_prepare_v2(
                 sql,
                 "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN "
                 "CUPTI_ACTIVITY_KIND_RUNTIME r ON r.correlationId = "
                 "k.correlationId AND r.globalTid >> 24 = k.globalPid >> 24 "
                 "JOIN NVTX_EVENTS n ON n.globalTid = r.globalTid AND n.start "
                 "<= r.start AND n.end >= r.end",
                 -1, &rows, NULL),
             SQLITE_OK);
    CHECK_EQ(sqlite3_step(rows), SQLITE_ROW);
    const int64_t pairs = sqlite3_column_int64(rows, 0);
    sqlite3_finalize(rows);
    sqlite3_close(sql);
    return pairs;
}

/* The same pairs, and how much longer SQL takes for them, whose time grows with the square
 * of the kernels. */
TEST(the_join_finds_what_sql_finds)
{
    NEEDS_PROGRAM;
    const int64_t kernels = getenv("GNOMON_SOAK") ? 4000 : 400;
    make_big("big.sqlite", kernels);
    double sql = seconds_of(RUSAGE_SELF);
    int64_t pairs = pairs_of_sql("big.sqlite");
    CHECK(pairs > 4 * kernels);
    sql = seconds_of(RUSAGE_SELF) - sql;
    double ours = seconds_of(RUSAGE_CHILDREN);
    child_result r = shell("$G nsys nvtx_kern_sum big.sqlite --json");
    ours = seconds_of(RUSAGE_CHILDREN) - ours;
    CHECK_EQ(r.status, 0);
    for (const char *at = r.out; (at = strstr(at, "\"Kern Inst\": "));)
        pairs -= strtoll(at += 13, NULL, 10);
    CHECK_EQ(pairs, 0);
    fprintf(stderr,
            "    %" PRId64 " kernels: SQL %.3f s, gnomon %.3f s: %.1f\n",
            kernels, sql, ours, ours > 0 ? sql / ours : 0);
}

#else

#include "test.h"

TEST(large_databases_are_read)
{
    SKIP("built without SQLite");
}

#endif
