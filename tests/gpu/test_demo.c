/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* needs: cublas
 * timeout: 300
 * The demo's model on the GPU against the same on the processor. */
#include "gpu.h"

#include "../child.h"

#define STEPS 60
/* Another order of sums, or fused multiplications, moves a loss by less than 1e-7
 * of it in so many steps; weight decay left out, by 1e-3. */
#define TOLERANCE 1e-5

static child_result train(const char *program, const char *environment,
                          const char *folder)
{
    char out[64];
    snprintf(out, sizeof out, "--out=%s", folder);
    return child_run(program, environment,
                     (const char *const[]){"--epochs=2", "--steps=30",
                                           "--sample=20", out, NULL});
}

/* The losses in a folder's metrics.csv: of steps, then of validations. Returns
 * how many there are. */
static int read_losses(const char *folder, double losses[STEPS + 2])
{
    char path[64], line[256];
    int steps = 0, validations = 0;
    snprintf(path, sizeof path, "%s/metrics.csv", folder);
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    while (fgets(line, sizeof line, file)) {
        double train = 0, validation = 0;
        if (sscanf(line, "%*d,%*d,%*f,%lf,", &train) == 1 && steps < STEPS)
            losses[steps++] = train;
        else if (sscanf(line, "%*d,%*d,%*f,,%lf", &validation) == 1 &&
                 validations < 2)
            losses[STEPS + validations++] = validation;
    }
    fclose(file);
    return steps + validations;
}

TEST(the_loss_is_the_processors)
{
    double on_cpu[STEPS + 2], on_gpu[STEPS + 2], worst = 0;
    if (!gpu_count())
        SKIP("no GPU here");
    child_result cpu = train(TRAIN_GPT, NULL, "cpu");
    child_result gpu = train(TRAIN_GPT_CUDA, NULL, "gpu");
    CHECK_EQ(cpu.status, 0);
    if (!CHECK_EQ(gpu.status, 0))
        fprintf(stderr, "%s", gpu.err);
    CHECK_EQ(read_losses("cpu", on_cpu), STEPS + 2);
    if (!CHECK_EQ(read_losses("gpu", on_gpu), STEPS + 2))
        return;
    for (int i = 0; i < STEPS + 2; i++)
        worst = fmax(worst, fabs(on_gpu[i] - on_cpu[i]) / on_cpu[i]);
    printf("of %d losses the worst differs by %.1e of it\n", STEPS + 2, worst);
    CHECK(worst < TOLERANCE);
}

/* A checkpoint of one program is continued by the other. */
TEST(checkpoints_are_the_processors)
{
    static const char *const words[] = {"--epochs=2",
                                        "--steps=30",
                                        "--sample=20",
                                        "--out=resumed",
                                        "--resume=cpu/epoch=0-step=30.ckpt",
                                        NULL};
    if (!gpu_count())
        SKIP("no GPU here");
    CHECK_EQ(train(TRAIN_GPT, NULL, "cpu").status, 0);
    child_result r = child_run(TRAIN_GPT_CUDA, NULL, words);
    if (!CHECK_EQ(r.status, 0))
        fprintf(stderr, "%s", r.err);
    double whole[STEPS + 2], rest[STEPS + 2];
    CHECK_EQ(read_losses("cpu", whole), STEPS + 2);
    CHECK_EQ(read_losses("resumed", rest), STEPS / 2 + 1);
    for (int i = 0; i < STEPS / 2; i++) {
        double loss = whole[STEPS / 2 + i];
        CHECK(fabs(rest[i] - loss) < TOLERANCE * loss);
    }
}

TEST(the_report)
{
    if (!gpu_count())
        SKIP("no GPU here");
    child_result r = train(TRAIN_GPT_CUDA, "GNOMON=simple,cuda", "reported");
    CHECK_EQ(r.status, 0);
    CHECK_EQ(times_in(r.err, "FIT Device Report"), 1);
    CHECK(times_in(r.err, "\nforward ") >= 1);
    CHECK(times_in(r.err, "\nbackward ") >= 1);
    CHECK(times_in(r.err, "\noptimizer ") >= 1);
    CHECK_EQ(times_in(r.err, "lost"), 0);
    printf("%s", r.err);
}
