/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Work of devices by gnomon/tool.h: where it counts in profiles, in which stage, and
 * what is counted instead of it.
 *
 * links: testing
 * timeout: 300 */
#include "toy_source.h"

#define US 1000u

/* ---- Where work counts ---------------------------------------------------------- */

TEST(work_counts_below_the_scope_that_launched_it)
{
    toy_begin();
    for (int i = 0; i < 2; i++) {
        GNOMON_SCOPE("train_step");
        {
            GNOMON_SCOPE("forward");
            toy_kernel("gemm", 5000, 300);
            toy_kernel("gemm", 6000, 200);
            toy_kernel("relu", 7000, 50)->stream = 13;
        }
        toy_kernel("adam", 8000, 40);
    }
    toy_kernel("stray", 9000, 10);
    CHECK_WORK(0, "stream 7/ train_step>forward>gemm 4 1000\n"
                  "stream 7/ train_step>adam 2 80\n"
                  "stream 7/ stray 1 10\n"
                  "stream 13/ train_step>forward>relu 2 100\n");
    CHECK_EQ(toy_health().activities_unlinked, 0);
}

/* Statistics are those of each record, exactly. */
TEST(sums_are_exact)
{
    toy_begin();
    uint64_t total = 0;
    {
        GNOMON_SCOPE("step");
        for (uint64_t i = 1; i <= 200; i++) {
            toy_kernel("k", 1000 * i, i * i);
            total += i * i;
        }
    }
    gnomon_profile *p = profile_of("worker", 0);
    gnomon_node_info n;
    CHECK_EQ(gnomon_profile_node(p, node_at(p, 0, 0, "step>k"), &n), 0);
    if (CHECK(n.device != NULL)) {
        CHECK_EQ(n.device->count, 200);
        CHECK_EQ(n.device->total_ns, total);
        CHECK_EQ(n.device->self_ns, total);
        CHECK_EQ(n.device->min_ns, 1);
        CHECK_EQ(n.device->max_ns, 40000);
    }
    CHECK_EQ(n.op, 0); /* nothing is known of it */
    CHECK(n.host == NULL);
    gnomon_profile_free(p);
}

/* Each kind has its place: docs/cuda.md. */
TEST(each_kind_has_its_track_and_region)
{
    toy_begin();
    {
        GNOMON_SCOPE("step");
        toy_work(&toy, GNOMON_DEVICE_COPY, "Memcpy HtoD", 1, 100)->bytes = 64;
        toy_work(&toy, GNOMON_DEVICE_COPY, "Memcpy HtoD", 1, 100)->bytes = 64;
        toy_work(&toy, GNOMON_DEVICE_SET, "Memset", 1, 10)->bytes = 32;
        toy_work(&toy, GNOMON_DEVICE_CALL, "cudaLaunchKernel", 1, 5);
        toy_work(&toy, GNOMON_DEVICE_CALL, "cuLaunch", 1, 4)->flags =
            GNOMON_DEVICE_LOW_LEVEL;
        toy_work(&toy, GNOMON_DEVICE_SYNC, "Stream Sync", 1, 70);
        toy_work(&toy, GNOMON_DEVICE_SYNC, "Context Sync", 1, 80)->device = -1;
        toy_work(&toy, GNOMON_DEVICE_GRAPH, "Graph", 1, 900);
        toy_work(&toy, GNOMON_DEVICE_COLLECTIVE, "AllReduce", 1, 500);
    }
    toy_record(&toy, GNOMON_DEVICE_OVERHEAD, "Buffer Flush", 1, 6);
    CHECK_WORK(0, "calls of main/ step>cudaLaunchKernel @1 5\n"
                  "calls of main/ step>cuLaunch @1 4\n"
                  "calls of main/ step>Context Sync @1 80\n"
                  "overhead/ Buffer Flush 1 6\n"
                  "stream 7/ step>Memcpy HtoD 2 200 128B\n"
                  "stream 7/ step>Memset 1 10 32B\n"
                  "stream 7/ step>Stream Sync 1 70\n"
                  "graphs/ step>Graph 1 900\n"
                  "collectives/ step>AllReduce 1 500\n");
    gnomon_profile *p = profile_of("worker", 0);
    static const struct {
        const char *path, *category;
        uint32_t kind;
    } want[] = {{"step>Memcpy HtoD", "", GNOMON_KIND_COPY},
                {"step>Memset", "", GNOMON_KIND_SET},
                {"step>cudaLaunchKernel", "cuda_runtime", GNOMON_KIND_API},
                {"step>cuLaunch", "cuda_driver", GNOMON_KIND_API},
                {"step>Stream Sync", "cuda_sync", GNOMON_KIND_SCOPE},
                {"step>Context Sync", "cuda_sync", GNOMON_KIND_SCOPE},
                {"step>Graph", "graph", GNOMON_KIND_SCOPE},
                {"step>AllReduce", "", GNOMON_KIND_COLLECTIVE},
                {"Buffer Flush", "overhead", GNOMON_KIND_SCOPE}};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        gnomon_node_info n;
        gnomon_region_info r = {.category = "?"};
        if (!gnomon_profile_node(p, node_at(p, 0, 0, want[i].path), &n))
            gnomon_profile_region(p, n.region, &r);
        CHECK_STR(r.category, want[i].category);
        CHECK_EQ(r.kind, want[i].kind);
    }
    gnomon_profile_free(p);
}

TEST(tracks_say_which_device_and_thread)
{
    gnomon_track_info t;
    int seen = 0;
    toy_begin();
    {
        GNOMON_SCOPE("step");
        toy_kernel("gemm", 1, 1)->device = 3;
        toy_work(&toy, GNOMON_DEVICE_CALL, "call", 1, 1);
    }
    /* Calls of a thread that never marked. */
    toy_record(&toy, GNOMON_DEVICE_CALL, "call", 1, 1)->thread = 4712;
    gnomon_profile *p = profile_of("worker", 0);
    for (size_t i = 1; !gnomon_profile_track(p, i, &t); i++) {
        if (strcmp(t.name, "stream 7") == 0) {
            seen |= 1;
            CHECK_EQ(t.kind, GNOMON_TRACK_STREAM);
            CHECK_EQ(t.device, 3);
            CHECK_EQ(t.index, 7);
        } else if (strcmp(t.name, "calls of main") == 0) {
            seen |= 2;
            CHECK_EQ(t.kind, GNOMON_TRACK_LANE);
            CHECK_EQ(t.device, -1);
            CHECK_EQ(t.os_id, getpid());
        } else if (strcmp(t.name, "calls of thread 4712") == 0) {
            seen |= 4;
            CHECK_EQ(t.os_id, 4712);
        }
    }
    CHECK_EQ(seen, 7);
    gnomon_profile_free(p);
}

/* A kernel has a node for each of its shapes, with the shape as its operation. */
TEST(shapes_of_kernels_are_operations)
{
    toy_begin();
    {
        GNOMON_SCOPE("step");
        for (uint32_t i = 0; i < 4; i++) {
            gnomon_device_work *r = toy_kernel("gemm", 1, 100);
            r->context = 1;
            r->registers = 64;
            r->shared_static = 1024;
            r->shared_dynamic = 3072;
            r->grid[0] = 8u << i / 3;
            r->grid[1] = 8;
            r->grid[2] = r->block[1] = r->block[2] = 1;
            r->block[0] = 256;
        }
    }
    CHECK_WORK(0, "stream 7/ step>gemm 3 300\n"
                  "stream 7/ step>gemm 1 100\n");
    static const char *const want[] = {"context",
                                       "1",
                                       "registers per thread",
                                       "64",
                                       "shared memory",
                                       "4096",
                                       "grid",
                                       "[8, 8, 1]",
                                       "block",
                                       "[256, 1, 1]"};
    gnomon_profile *p = profile_of("worker", 0);
    gnomon_op_info op;
    CHECK_EQ(gnomon_profile_op(p, 1, &op), GNOMON_OK);
    if (CHECK_EQ(op.attribute_count, 5))
        for (size_t i = 0; i < 5; i++) {
            CHECK_STR(op.attributes[i].key, want[2 * i]);
            CHECK_STR(op.attributes[i].json, want[2 * i + 1]);
        }
    gnomon_profile_free(p);
}

/* ---- Stages --------------------------------------------------------------------------- */

TEST(work_counts_in_the_stage_of_its_launch)
{
    toy_begin();
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    {
        GNOMON_SCOPE("step");
        toy_kernel("gemm", 1, 100);
    }
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK); /* flushes */
    CHECK_EQ(gnomon_stage_begin("test"), GNOMON_OK);
    {
        GNOMON_SCOPE("step");
        toy_kernel("gemm", 1, 200);
    }
    CHECK_WORK(1, "stream 7/fit step>gemm 1 100\n"
                  "stream 7/test step>gemm 1 200\n");
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    CHECK_WORK(1, "stream 7/fit step>gemm 1 100\n"
                  "stream 7/test step>gemm 1 200\n");
    CHECK_EQ(toy_health().activities_late, 0);
}

/* Work that is over after its stage's report is added to that stage, and counted. */
TEST(late_work_counts_in_its_stage)
{
    gnomon_device_work late;
    toy_begin();
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    {
        GNOMON_SCOPE("step");
        late = *toy_kernel("gemm", 1, 100);
        toy.count = 0; /* it is not over */
    }
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    CHECK_EQ(gnomon_stage_begin("test"), GNOMON_OK);
    toy.records[toy.count++] = late;
    toy_tell(&toy);
    CHECK_WORK(1, "stream 7/fit step>gemm 1 100\n");
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    CHECK_WORK(1, "stream 7/fit step>gemm 1 100\n");
    CHECK_EQ(toy_health().activities_late, 1);
}

/* The same, where it is told when the next stage's report asks for it. */
TEST(work_that_is_flushed_late_counts_in_its_stage)
{
    gnomon_device_work late;
    toy_begin();
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    {
        GNOMON_SCOPE("step");
        late = *toy_kernel("gemm", 1, 100);
        toy.count = 0;
    }
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    CHECK_EQ(gnomon_stage_begin("test"), GNOMON_OK);
    toy.records[toy.count++] = late;
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    CHECK_WORK(1, "stream 7/fit step>gemm 1 100\n");
    CHECK_EQ(toy_health().activities_late, 1);
}

/* Where the launch was not seen, it is the stage in which the work began. */
TEST(work_without_a_launch_counts_in_the_stage_of_its_begin)
{
    toy_begin();
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    {
        GNOMON_SCOPE("step");
        toy_record(&toy, GNOMON_DEVICE_KERNEL, "a", gnomon_host_get()->now_ns(),
                   10);
        pass(1000);
    }
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    CHECK_EQ(gnomon_stage_begin("test"), GNOMON_OK);
    {
        GNOMON_SCOPE("step");
        toy_record(&toy, GNOMON_DEVICE_KERNEL, "b", gnomon_host_get()->now_ns(),
                   20);
        pass(1000);
    }
    CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
    CHECK_WORK(1, "stream 7/fit a 1 10\n"
                  "stream 7/test b 1 20\n");
}

/* A scope that is open over a stage's end launches in both. */
TEST(open_scopes_launch_in_each_stage)
{
    toy_begin();
    CHECK_EQ(gnomon_stage_begin("fit"), GNOMON_OK);
    {
        GNOMON_SCOPE("run");
        toy_kernel("a", 1, 10);
        CHECK_EQ(gnomon_stage_end(), GNOMON_OK);
        CHECK_EQ(gnomon_stage_begin("test"), GNOMON_OK);
        toy_kernel("b", 1, 20);
    }
    CHECK_WORK(1, "stream 7/fit run>a 1 10\n"
                  "stream 7/test run>b 1 20\n");
}

/* ---- Notes and records ------------------------------------------------------------------ */

TEST(work_without_a_note_is_of_no_scope)
{
    toy_begin();
    GNOMON_SCOPE("step");
    toy_record(&toy, GNOMON_DEVICE_KERNEL, "lost", 1, 10);
    gnomon_device_work *r = toy_kernel("early", 1, 20);
    r->correlation += 1; /* whose launch comes only now */
    uint64_t correlation = r->correlation;
    toy_tell(&toy);
    gnomon_host_get()->device_launched(toy.number, correlation);
    CHECK_WORK(0, "stream 7/ lost 1 10\n"
                  "stream 7/ early 1 20\n");
    CHECK_EQ(toy_health().activities_unlinked, 2);
}

/* A note stays for 65536 launches. */
TEST(notes_are_overwritten)
{
    toy_begin();
    GNOMON_SCOPE("step");
    gnomon_device_work *kept = toy_kernel("kept", 1, 10);
    for (uint64_t i = 1; i < 65536; i++)
        gnomon_host_get()->device_launched(toy.number, kept->correlation + i);
    toy_tell(&toy);
    gnomon_device_work *gone = toy_kernel("gone", 1, 20);
    gnomon_host_get()->device_launched(toy.number, gone->correlation + 65536);
    CHECK_WORK(0, "stream 7/ step>kept 1 10\n"
                  "stream 7/ gone 1 20\n");
    CHECK_EQ(toy_health().activities_unlinked, 1);
}

TEST(impossible_records_are_counted)
{
    toy_begin();
    toy_record(&toy, 8, "kind", 1, 10);
    toy_record(&toy, GNOMON_DEVICE_KERNEL, "end", 10, 0)->end_ns = 9;
    toy_record(&toy, GNOMON_DEVICE_KERNEL, "fine", 10, 0);
    toy_tell(&toy);
    CHECK_EQ(toy_health().activities_odd, 2);
    toy_record(&toy, GNOMON_DEVICE_KERNEL, "size", 1, 1)->struct_size = 64;
    toy_tell(&toy);
    CHECK_EQ(toy_health().activities_odd, 3);
    toy_record(&toy, GNOMON_DEVICE_KERNEL, "source", 1, 1);
    gnomon_host_get()->device_put(5, toy.records, 1);
    gnomon_host_get()->device_put(0, toy.records, 1);
    toy.count = 0;
    CHECK_EQ(toy_health().activities_odd, 5);
    gnomon_host_get()->device_lost(toy.number, 7);
    CHECK_EQ(toy_health().activities_lost, 7);
    CHECK_WORK(0, "stream 7/ fine 1 0\n");
    gnomon_profile *p = profile_of("worker", 0);
    gnomon_loss_info l;
    uint64_t odd = 0, lost = 0;
    for (size_t i = 1; !gnomon_profile_loss(p, i, &l); i++) {
        odd += strcmp(l.kind, "activities_odd") == 0 ? l.count : 0;
        lost += strcmp(l.kind, "activities_lost") == 0 ? l.count : 0;
    }
    CHECK_EQ(odd, 5);
    CHECK_EQ(lost, 7);
    gnomon_profile_free(p);
}

/* Records of a later release are longer. */
TEST(records_lie_as_far_apart_as_they_say)
{
    struct {
        gnomon_device_work r;
        uint64_t more;
    } two[2];
    toy_begin();
    for (int i = 0; i < 2; i++) {
        two[i].r = *toy_record(&toy, GNOMON_DEVICE_KERNEL, "k", 1, 10);
        two[i].r.struct_size = sizeof *two;
        two[i].more = UINT64_MAX;
    }
    toy.count = 0;
    gnomon_host_get()->device_put(toy.number, &two[0].r, 2);
    CHECK_WORK(0, "stream 7/ k 2 20\n");
}

TEST(names_of_work_are_made_fit)
{
    static char text[3000];
    toy_begin();
    memset(text, 'x', sizeof text - 1);
    toy_kernel(text, 1, 1);
    toy_tell(&toy);
    text[2000] = 'y'; /* another one */
    toy_kernel(text, 1, 2);
    toy_tell(&toy);
    toy_kernel("a\xff", 1, 3);
    toy_kernel(NULL, 1, 4);
    gnomon_profile *p = profile_of("worker", 0);
    CHECK_EQ(gnomon_profile_count(p, GNOMON_NODES), 4);
    CHECK(node_at(p, 0, 0, "a\xef\xbf\xbd") != 0);
    CHECK(node_at(p, 0, 0, "(no name)") != 0);
    gnomon_profile_free(p);
}
