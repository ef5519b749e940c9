/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "nsys/peaks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "platform/error.h"

const char *const gnomon__peak_words[] = {"fp64", "fp64tc", "fp32", "tf32",
                                          "fp16", "bf16",   "fp8",  "int8",
                                          "GB/s", NULL};

int gnomon__peaks_read(gnomon__peaks *p, const char *words)
{
    for (const char *at = words; *at; at += *at == ',') {
        char word[8] = "", *end = NULL;
        const size_t n = strcspn(at, "=,");
        if (n < sizeof word)
            memcpy(word, at, n);
        const int kind = gnomon__cli_word(word, gnomon__peak_words);
        const double value = at[n] == '=' ? strtod(at + n + 1, &end) : 0;
        if (kind < 0 || !(value > 0) || !isfinite(value) || !end ||
            (*end && *end != ',')) {
            gnomon__log("--peak %s: say TFLOP/s by type and GB/s of memory, as "
                        "bf16=989.4,fp32=66.9,GB/s=3350; types are fp64, "
                        "fp64tc, fp32, tf32, fp16, bf16, fp8, int8",
                        words);
            return GNOMON__EXIT_USAGE;
        }
        *(kind == GNOMON__PEAK_KINDS ? &p->gbs : &p->tflops[kind]) = value;
        at = end;
    }
    return GNOMON__EXIT_OK;
}

/* Ordinary cores are fp32's and fp64's alone: what they do in smaller types is seldom
 * near to a peak. */
double gnomon__peak_of(const gnomon__peaks *p, const gnomon__work *w)
{
    static const struct {
        const char *dtype;
        uint8_t on_tensor_cores, else_on;
    } kinds[] = {{"float64", GNOMON__PEAK_FP64_TENSOR, GNOMON__PEAK_FP64},
                 {"double", GNOMON__PEAK_FP64_TENSOR, GNOMON__PEAK_FP64},
                 {"float32", GNOMON__PEAK_TF32, GNOMON__PEAK_FP32},
                 {"float16", GNOMON__PEAK_FP16, GNOMON__PEAK_FP32},
                 {"half", GNOMON__PEAK_FP16, GNOMON__PEAK_FP32},
                 {"bfloat16", GNOMON__PEAK_BF16, GNOMON__PEAK_FP32},
                 {"float8", GNOMON__PEAK_FP8, GNOMON__PEAK_FP8},
                 {"int8", GNOMON__PEAK_INT8, GNOMON__PEAK_INT8},
                 {"float", GNOMON__PEAK_TF32, GNOMON__PEAK_FP32}};
    const bool is_tensor = *w->tensor_cores == '1' || *w->tensor_cores == '?';
    const char *dtype =
        w->info && w->info->input_count ? w->info->inputs->dtype : "";
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strncmp(dtype, kinds[i].dtype, strlen(kinds[i].dtype)))
            return p->tflops[is_tensor ? kinds[i].on_tensor_cores
                                       : kinds[i].else_on];
    return 0;
}

/* ---- Of devices ------------------------------------------------------------------------- */

/* Boards of a name, found again by how many multiprocessors they have and by their clock,
 * as peaks are of both. Of the tensor cores of others nothing was read. */
static const struct {
    const char *name, *source;
    int64_t processors, clock_mhz;
    double tflops[GNOMON__PEAK_KINDS];
} boards[] = {
#define AMPERE "NVIDIA A100 Tensor Core GPU Architecture, V1.0, table 4"
    {"V100", AMPERE, 80, 1530, {7.8, 0, 15.7, 0, 125}},
    {"A100", AMPERE, 108, 1410, {9.7, 19.5, 19.5, 156, 312, 312, 0, 624}}};

/* FP32 cores of a multiprocessor, of which each multiplies and adds once a clock, up to and
 * with a compute capability, as in NVIDIA's cuda-samples, Common/helper_cuda.h. */
static const struct {
    int64_t until;
    int cores;
} capabilities[] = {{0x4f, 0},  {0x5f, 128}, {0x60, 64}, {0x6f, 128},
                    {0x80, 64}, {0xc1, 128}, {-1, 0}};

const char *gnomon__peaks_of_device(gnomon__peaks *p,
                                    const gnomon__nsys_device *device)
{
    const int64_t clock_mhz = device->clock_hz / 1000000;
    size_t i = 0;
    *p = (gnomon__peaks){
        .gbs = isfinite(device->bandwidth) ? device->bandwidth / 1e9 : 0};
    for (size_t b = 0; b < sizeof boards / sizeof *boards; b++)
        if (strstr(device->name, boards[b].name) &&
            device->processors == boards[b].processors &&
            clock_mhz == boards[b].clock_mhz) {
            memcpy(p->tflops, boards[b].tflops, sizeof p->tflops);
            return boards[b].source;
        }
    while (capabilities[i].until >= 0 &&
           device->capability > capabilities[i].until)
        i++;
    p->tflops[GNOMON__PEAK_FP32] = 2e-12 * capabilities[i].cores *
                                   (double)device->processors *
                                   (double)device->clock_hz;
    return p->tflops[GNOMON__PEAK_FP32] > 0
               ? "2 for each core and clock, cores as in cuda-samples' "
                 "helper_cuda.h"
               : NULL;
}
