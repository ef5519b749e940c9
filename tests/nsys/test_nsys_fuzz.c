/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Databases and texts of ranges that chance has changed: they are read or refused, and what
 * is made of them is sound. 10^4 databases; with $GNOMON_SOAK 10^6.
 * links: static
 * threads: none
 * needs: cli */
#if GNOMON_WITH_SQLITE

#include <fcntl.h>

#include "command/output.h"
#include "exports.h"
#include "nsys/groups.h"
#include "nsys/stats.h"
#include "nsys/tree.h"

static uint64_t fuzz_state = 1;

static uint32_t chance(uint32_t below)
{
    fuzz_state = fuzz_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(fuzz_state >> 33) % below;
}

/* Of standard output and error, between which nothing is checked. */
static int kept[2];

static void be_silent(void)
{
    const int none = open("/dev/null", O_WRONLY);
    fflush(stdout);
    for (int i = 0; i < 2; i++) {
        kept[i] = dup(i + 1);
        dup2(none, i + 1);
    }
    close(none);
}

static void speak_again(void)
{
    fflush(stdout);
    for (int i = 0; i < 2; i++) {
        dup2(kept[i], i + 1);
        close(kept[i]);
    }
}

/* ---- Databases ------------------------------------------------------------------------ */

static const char *const markers[] = {
    "{''mod'': ''torch'', ''op'': ''mm'', ''args'': [{''name'': '''', "
    "''type'': ''tensor'', ''shape'': (3, 4), ''dtype'': ''float32''}]}",
    "{\"mod\": \"torch\", \"op\": \"mm\", \"args\": [{\"name\": \"\", "
    "\"type\": "
    "\"tensor\", \"shape\": [3, 4], \"dtype\": \"float32\"}]}",
    "aten::mm, seq = 3, op_id = 4, sizes = [[2, 3], [3, 4]]",
    "MmBackward0, seq = 3, op_id = 9", "layer:fc"};

static void put_small(const char *path, enum export_generation of)
{
    export_file x = {.of = of};
    (void)remove(path);
    CHECK_EQ(sqlite3_open(path, &x.sql), SQLITE_OK);
    export_sql(&x, "PRAGMA page_size = 512; PRAGMA journal_mode = OFF; BEGIN");
    export_tables(&x);
    for (int i = 0; i < 5; i++)
        export_range(&x, 1, 1, markers[i], 10 + i, 90 - i);
    export_call(&x, 1, 1, 1, 20, 30);
    export_call(&x, 1, 1, 2, 40, 50);
    export_kernel(&x, of == EXPORT_NVPROF ? 0 : 1, 1, "gemm", 100, 10);
    export_kernel(&x, of == EXPORT_NVPROF ? 0 : 1, 2, "ncclKernel_x", 105, 10);
    if (of == EXPORT_3_25) {
        export_sql(&x, "CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES(schemaId, "
                       "name, offset)");
        export_sql(
            &x,
            "INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES(4, "
            "'Message size', 8), (4, 'communicator', 0), (0, 'operation', 0), "
            "(0, 'inputs', 8), (0, 'flops', 32)");
        export_sql(&x, "UPDATE NVTX_EVENTS SET binaryData = zeroblob(48)");
        export_sql(&x, "CREATE TABLE TARGET_INFO_GPU(name, smCount, clockRate, "
                       "computeMajor, computeMinor, memoryBandwidth)");
        export_sql(&x, "INSERT INTO TARGET_INFO_GPU VALUES('A100', 108, "
                       "1410000000, 8, 0, 1555200000000)");
    }
    export_end(&x);
}

static size_t change(unsigned char *bytes, size_t size)
{
    for (uint32_t i = 1 + chance(6); i; i--) {
        const size_t at = chance((uint32_t)size);
        bytes[at] = chance(3) ? (unsigned char)chance(256)
                              : (unsigned char)(bytes[at] ^ 1u << chance(8));
    }
    return chance(8) ? size : chance((uint32_t)size);
}

/* Reads all of it in each way. */
static int read_all(const char *path, uint32_t round)
{
    gnomon__nsys_filter filter = GNOMON__NSYS_ALL;
    gnomon__nsys_grouping grouping = {
        .by = (int)(round % (GNOMON__NSYS_BY_COLLECTIVE + 1)),
        .choice = {.is_table = true, .limit = 10, .sort = -1}};
    gnomon__nsys_kernels k;
    gnomon__nsys_tree tree = {0};
    const gnomon_writer out = gnomon__cli_writer(stdout);
    int code = GNOMON_OK;
    filter.asked.step = "*";
    filter.asked.domain = round % 7 ? NULL : "default";
    if (round % 8 == 7) {
        filter.range = round % 3 ? NULL : "*";
        (void)gnomon__nsys_stats((int)(round / 8 % 8), path, &filter,
                                 GNOMON__NSYS_CSV, 10);
    } else if (!gnomon__nsys_kernels_open(&k, path, &filter)) {
        const gnomon__nsys_record *r;
        if (round % 2) {
            bool ok = gnomon__nsys_tree_begin(&tree);
            while (ok && (r = gnomon__nsys_kernel_next(&k)))
                ok = gnomon__nsys_tree_add(&tree, r, &k.work);
            code = ok ? gnomon_profile_check(gnomon__nsys_tree_end(&tree))
                      : GNOMON_ENOMEM;
            gnomon__nsys_tree_free(&tree);
        } else {
            (void)gnomon__nsys_groups_print(&k, &grouping, &out);
        }
    }
    if (round % 8 != 7)
        gnomon__nsys_kernels_free(&k);
    return code;
}

TEST(soak_changed_databases_are_read_or_refused)
{
    static const enum export_generation of[] = {EXPORT_2021, EXPORT_3_25,
                                                EXPORT_NVPROF};
    const uint32_t rounds = getenv("GNOMON_SOAK") ? 1000000 : 10000;
    static unsigned char was[3][65536], bytes[65536];
    size_t sizes[3], wrong = 0;
    child_folder();
    for (int i = 0; i < 3; i++) {
        put_small("small.sqlite", of[i]);
        FILE *f = fopen("small.sqlite", "rb");
        sizes[i] = fread(was[i], 1, sizeof was[i], f);
        fclose(f);
        CHECK(sizes[i] > 1000 && sizes[i] < sizeof was[i]);
    }
    const int file = open("changed.sqlite", O_RDWR | O_CREAT, 0600);
    be_silent();
    for (uint32_t i = 0; i < rounds; i++) {
        memcpy(bytes, was[i % 3], sizes[i % 3]);
        const size_t size = change(bytes, sizes[i % 3]);
        if (ftruncate(file, 0) || pwrite(file, bytes, size, 0) != (ssize_t)size)
            break;
        wrong += read_all("changed.sqlite", i) == GNOMON_EINVAL;
    }
    speak_again();
    close(file);
    CHECK_EQ(wrong, 0);
}

/* ---- Texts of ranges ------------------------------------------------------------------ */

TEST(soak_changed_texts_of_ranges_are_read)
{
    const int rounds = getenv("GNOMON_SOAK") ? 1000000 : 30000;
    gnomon__nsys_record r = {0};
    gnomon__nsys_record_before before = {0};
    gnomon__marker m[3] = {{0}};
    gnomon__work w = {0};
    for (int i = 0; i < rounds; i++) {
        char text[256];
        gnomon__nsys_record_begin(&r);
        gnomon__nsys_record_name(&r, i % 3 ? "gemm" : "nccl\xff_\x80");
        for (int k = 0; k < 3; k++) {
            const char *from = markers[chance(5)];
            size_t n = 0;
            for (; *from; from++)
                if (*from != '\'' || from[1] != '\'')
                    text[n++] = *from;
            for (uint32_t c = chance(4); c; c--)
                text[chance((uint32_t)n)] = "\0'\"[](){},:\\x9\xff\xc3"
                                            "e="[chance(18)];
            CHECK(gnomon__marker_set(&m[k], text, chance(9) ? n : n / 2));
            gnomon__nsys_record_add(&r, &m[k]);
        }
        gnomon__nsys_record_end(&r, &before);
        CHECK(gnomon__work_of(&w, &r));
        CHECK(r.ops.count <= r.mods.count && w.op && w.mod && w.params);
    }
    for (int k = 0; k < 3; k++)
        gnomon__marker_free(&m[k]);
    gnomon__nsys_record_free(&r);
    gnomon__work_free(&w);
}

#else

#include "test.h"

TEST(changed_databases_are_read_or_refused)
{
    SKIP("built without SQLite");
}

#endif
