/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Rules in order, of which the first that fits decides. The words are those that cuBLAS,
 * cuDNN, CUTLASS, FlashAttention and Triton use in names of kernels; cuBLAS's nvjet is all
 * tensor cores. An architecture's "xmma" is none by itself: sm80_xmma_gemm_..._ffma_...
 * runs on the ordinary cores. A new word is one more row. */
#include <ctype.h>
#include <string.h>

#include "nsys/work.h"

enum part { OF_ALL, OF_BASE /* before the first "<" */ };

/* The words of a row: one of them is in the name. "#" is a number. */
static const struct {
    enum part part;
    const char *answer;
    const char *words;
} core_rules[] = {
    {OF_BASE, "1",
     "nvjet_ flash_fwd flash_bwd flashattnfwdsm90 flashattnbwdsm90 "
     "flashattnfwdsm100 flashattnbwdsm100 fmhasm100"},
    {OF_ALL, "1",
     "fmha_cutlassf_f16 fmha_cutlassf_bf16 fmha_cutlassb_f16 "
     "fmha_cutlassb_bf16"},
    {OF_BASE, "0",
     "simt ffma gemv dot_kernel splitkreduce pooling elementwise "
     "reduce_kernel fft winograd im2col transpose nchwtonhwc nhwctonchw "
     "softmax layernorm layer_norm"},
    {OF_ALL, "1",
     "tensorop wgmma gmma wmma hmma imma dmma bmma qmma tcgen05 umma utcmma "
     "tensor#x#x# warpgroup deep_gemm fp8_gemm"},
    {OF_ALL, "1",
     "884gemm 884cudnn 884fprop 884dgrad 884wgrad 1688gemm 1688cudnn "
     "1688fprop 1688dgrad 1688wgrad 1684gemm 16816gemm 16816cudnn 16816fprop "
     "16816dgrad 16816wgrad 8816gemm 8816cudnn 8832gemm 16832gemm 16864gemm"},
    {OF_BASE, "?", "triton_ cutlass::kernel cutlass::device_kernel"}};

/* Whether `text` begins with the word. */
static bool begins_with(const char *text, const char *word, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (word[i] == '#') {
            const size_t digits = strspn(text, "0123456789");
            if (!digits)
                return false;
            text += digits;
        } else if (*text++ != word[i]) {
            return false;
        }
    }
    return true;
}

static bool has_word(const char *text, size_t length, const char *words)
{
    for (; *words; words += strspn(words, " ")) {
        const size_t n = strcspn(words, " ");
        for (size_t i = 0; i < length; i++)
            if (begins_with(text + i, words, n))
                return true;
        words += n;
    }
    return false;
}

/* Where the name by which a kernel is judged begins. */
static const char *base_of(const char *name, size_t *length)
{
    const char *inner = strstr(name, "cutlass::kernel<");
    if (!inner)
        inner = strstr(name, "cutlass::kernel2<");
    if (inner && !strncmp(strchr(inner, '<') + 1, "cutlass", 7))
        name = strchr(inner, '<') + 1; /* made of another one */
    *length = strcspn(name, "<(");
    return name;
}

const char *gnomon__tensor_cores_of(const char *kernel)
{
    char name[1024] = "";
    size_t n = 0, length;
    for (; kernel[n] && n + 1 < sizeof name; n++)
        name[n] = (char)tolower((unsigned char)kernel[n]);
    name[n] = 0;
    const char *base = base_of(name, &length);
    for (size_t i = 0; i < sizeof core_rules / sizeof *core_rules; i++)
        if (core_rules[i].part == OF_ALL
                ? has_word(name, n, core_rules[i].words)
                : has_word(base, length, core_rules[i].words))
            return core_rules[i].answer;
    return "0";
}
