/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What gnomon nsys reads markers and names of kernels by.
 * links: static
 * threads: none
 * needs: cli */
#include <stdlib.h>
#include <string.h>

#include "nsys/literal.h"
#include "nsys/work.h"
#include "test.h"

TEST(names_tell_tensor_cores)
{
    static const char *const names[][2] = {
        {"nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNN", "1"},
        {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x256x8_stage3_ffma_x",
         "0"},
        {"volta_h884gemm_256x64_ldg8_nn", "1"},
        {"trt_ampere_h16816gemm_128x64_ldg8_stages_32x6_tn_v1", "1"},
        {"cutlass_tensorop_s1688fprop_optimized_tf32_128x128", "1"},
        {"cutlass_80_simt_sgemm_128x64_8x5_nt_align1", "0"},
        {"void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128>>(x)",
         "1"},
        {"void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu>(T1)",
         "1"},
        {"void cutlass::Kernel2<cutlass_80_simt_sgemm_256x128>(T1::Params)",
         "0"},
        {"triton_mm_7", "?"},
        {"void cutlass::device_kernel<at::cuda::detail::GemmUniversal>(x)",
         "?"},
        {"volta_cgemm_32x32_tn", "0"},
        {"gemmSN_NN_kernel", "0"},
        {"void at::native::elementwise_kernel<128, wmma>(int)", "0"},
        {"sm50_xmma_pooling_max", "0"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CHECK_STR(gnomon__tensor_cores_of(names[i][0]), names[i][1]);
}

/* ---- Literals ---------------------------------------------------------------------------- */

static const gnomon__literal *literal(gnomon__literals *l, const char *text)
{
    return gnomon__literal_read(l, text, strlen(text));
}

TEST(literals_are_those_of_python_and_json)
{
    static const char *const wrong[] = {"",     "[",   "[1,,2]", "{1}",
                                        "'a",   "1 2", "[1)",    "nope",
                                        "{1:2", "()(", "'\\x4'"};
    gnomon__literals l = {0};
    const gnomon__literal *v = literal(
        &l, "{'a': (1, -2.5,), \"b\": [None, True, null], 'c': (7), 'd': "
            "'\\x41\\u20ac\\ud83d\\ude00\\'\"', 'a': 99999999999999999999}");
    CHECK_EQ(v->kind, GNOMON__LITERAL_DICT);
    CHECK_EQ(gnomon__literal_get(v, "a")->kind, GNOMON__LITERAL_REAL);
    CHECK_EQ(gnomon__literal_get(v, "b")->count, 3);
    CHECK_EQ(gnomon__literal_part(gnomon__literal_get(v, "b"), 1)->of.integer,
             1);
    CHECK_EQ(gnomon__literal_get(v, "c")->of.integer, 7);
    CHECK_STR(gnomon__literal_text(gnomon__literal_get(v, "d")),
              "A\xe2\x82\xac\xf0\x9f\x98\x80'\"");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(literal(&l, wrong[i]) == NULL);
    gnomon__literals_free(&l);
}

/* Any bytes: those that are a value read the same when they are read again. */
TEST(literals_of_any_bytes_are_read_or_refused)
{
    static const char letters[] = "[](){}'\"\\,:1aNone u0x-.";
    const int rounds = getenv("GNOMON_SOAK") ? 1000000 : 20000;
    gnomon__literals l = {0};
    char text[48];
    unsigned seed = 5;
    for (int i = 0; i < rounds; i++) {
        const size_t n = (seed = seed * 1664525 + 1013904223) >> 26 & 31;
        for (size_t k = 0; k < n; k++)
            text[k] = letters[(seed = seed * 1664525 + 1013904223) %
                              (sizeof letters - 1)];
        const gnomon__literal *v = gnomon__literal_read(&l, text, n);
        if (v)
            CHECK(v->next >= 1 && v->count <= n);
        if (i % 64 == 0)
            gnomon__literals_free(&l);
    }
    char *deep = malloc(100000);
    memset(deep, '[', 100000);
    CHECK(gnomon__literal_read(&l, deep, 100000) == NULL);
    free(deep);
    gnomon__literals_free(&l);
}

/* ---- Forward and backward --------------------------------------------------------------- */

static void one_kernel(gnomon__work *w, gnomon__nsys_record *r, uint64_t seq,
                       bool is_backward)
{
    char text[160];
    gnomon__nsys_record_before before = {0};
    gnomon__marker args = {0}, torch = {0};
    int n =
        snprintf(text, sizeof text,
                 "{'mod': 'f', 'op': 'linear', 'args': [{'name': '', "
                 "'type': 'tensor', 'shape': (8, 4), 'dtype': 'float32'}]}");
    gnomon__nsys_record_begin(r);
    gnomon__nsys_record_name(r, "gemm");
    CHECK(gnomon__marker_set(&args, text, (size_t)n));
    n = snprintf(text, sizeof text, "%s, seq = %llu",
                 is_backward ? "LinearBackward0" : "linear",
                 (unsigned long long)seq);
    CHECK(gnomon__marker_set(&torch, text, (size_t)n));
    if (!is_backward)
        gnomon__nsys_record_add(r, &args);
    gnomon__nsys_record_add(r, &torch);
    gnomon__nsys_record_end(r, &before);
    CHECK(gnomon__work_of(w, r));
    CHECK_STR(w->op, seq ? "linear" : "Linear");
    gnomon__marker_free(&args);
    gnomon__marker_free(&torch);
}

/* However many there are, what is kept for their backward passes stays small, and the last
 * ones are found. */
TEST(forward_operations_are_kept_in_bounded_memory)
{
    const uint64_t count = 3 * GNOMON__FORWARDS;
    gnomon__work w = {0};
    gnomon__nsys_record r = {0};
    for (uint64_t i = 1; i <= count; i++)
        one_kernel(&w, &r, i, false);
    for (int k = 0; k < 2; k++) {
        CHECK(w.forwards[k].count <= GNOMON__FORWARDS);
        CHECK(w.forwards[k].used <= GNOMON__FORWARD_BYTES);
    }
    for (uint64_t i = 0; i < GNOMON__FORWARDS / 2; i++)
        one_kernel(&w, &r, count - i, true);
    CHECK_EQ(w.without_forward, 0);
    one_kernel(&w, &r, 0, true);
    CHECK_EQ(w.without_forward, 1);
    gnomon__nsys_record_free(&r);
    gnomon__work_free(&w);
}
