/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * train_gpt: trains a small GPT on a text and writes some of its own. Set
 * GNOMON=simple to see where the time went.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include <gnomon.h>

#include "trainer.h"

#ifdef _OPENMP
#define MOST_THREADS 8
#endif
#define DEFAULT_TEXT "/usr/share/common-licenses/GPL-3"

enum kind { WHOLE, NUMBER, SEED, TEXT, FLAG, HELP };

struct option {
    const char *name, *help;
    enum kind kind;
    void *at;
    int least, most; /* of whole numbers */
};

static struct options options = {
    .epochs = 4,
    .steps = 120,
    .val_batches = 4,
    .batch = 8,
    .block = 64,
    .layers = 2,
    .heads = 4,
    .embedding = 64,
    .sample = 300,
    .rate = 5e-3,
    .seed = 1,
    .out = "train_gpt.out",
};

static const struct option table[] = {
    {"epochs", "how often to validate and save", WHOLE, &options.epochs, 1,
     1000000},
    {"steps", "training batches in an epoch", WHOLE, &options.steps, 1,
     1000000},
    {"val-batches", "batches in a validation", WHOLE, &options.val_batches, 1,
     1000000},
    {"batch", "windows in a batch", WHOLE, &options.batch, 1, 4096},
    {"block", "letters in a window", WHOLE, &options.block, 1, 4096},
    {"layers", "blocks of the model", WHOLE, &options.layers, 1, 128},
    {"heads", "attention heads", WHOLE, &options.heads, 1, 128},
    {"embd", "channels, a multiple of --heads", WHOLE, &options.embedding, 1,
     4096},
    {"lr", "learning rate", NUMBER, &options.rate, 0, 0},
    {"seed", "of weights, batches and samples", SEED, &options.seed, 0, 0},
    {"text", "file to learn (default: the GPL)", TEXT, &options.text, 0, 0},
    {"out", "folder for checkpoints and metrics.csv", TEXT, &options.out, 0, 0},
    {"resume", "checkpoint to go on from", TEXT, &options.resume, 0, 0},
    {"sample", "letters to write at the end", WHOLE, &options.sample, 0,
     1000000},
    {"test", "have a test stage too", FLAG, &options.test, 0, 0},
    {"help", "this", HELP, NULL, 0, 0},
};

static int complain(const char *name, const char *why)
{
    fprintf(stderr, "train_gpt: --%s: %s\n", name, why);
    return -1;
}

static void print_value(const struct option *option)
{
    if (option->kind == WHOLE)
        printf(" (%d)", *(const int *)option->at);
    else if (option->kind == NUMBER)
        printf(" (%g)", *(const double *)option->at);
    else if (option->kind == SEED)
        printf(" (%llu)", (unsigned long long)*(const uint64_t *)option->at);
    else if (option->kind == TEXT && *(const char *const *)option->at)
        printf(" (%s)", *(const char *const *)option->at);
    putchar('\n');
}

static void print_help(void)
{
    puts("Trains a character-level GPT. Options, and what they are if not "
         "given:");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        int takes = table[i].kind != FLAG && table[i].kind != HELP;
        printf("  --%-12s %-3s %s", table[i].name, takes ? "X" : "",
               table[i].help);
        print_value(&table[i]);
    }
    puts("GNOMON=simple train_gpt also says where the time went, and\n"
         "GNOMON=advanced train_gpt in which functions.");
}

static int set(const struct option *option, const char *value)
{
    char *end = NULL;
    errno = 0;
    if (option->kind == TEXT) {
        *(const char **)option->at = value;
    } else if (option->kind == WHOLE) {
        long number = strtol(value, &end, 10);
        if (errno || end == value || *end || number < option->least ||
            number > option->most) {
            char why[80];
            snprintf(why, sizeof why, "not a whole number from %d to %d",
                     option->least, option->most);
            return complain(option->name, why);
        }
        *(int *)option->at = (int)number;
    } else if (option->kind == NUMBER) {
        double number = strtod(value, &end);
        if (errno || end == value || *end || !(number > 0 && number < 1))
            return complain(option->name, "not a number between 0 and 1");
        *(double *)option->at = number;
    } else {
        unsigned long long number = strtoull(value, &end, 10);
        if (errno || end == value || *end || *value == '-')
            return complain(option->name, "not a whole number");
        *(uint64_t *)option->at = number;
    }
    return 0;
}

/* 0, 1 after --help, or -1 after one line on stderr. */
static int parse(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const struct option *option = table;
        const struct option *last = table + sizeof table / sizeof *table;
        const char *word = argv[i], *value = strchr(word, '=');
        size_t length = value ? (size_t)(value - word) : strlen(word);
        while (option < last && (strlen(option->name) + 2 != length ||
                                 strncmp(word, "--", 2) != 0 ||
                                 strncmp(word + 2, option->name, length - 2)))
            option++;
        if (option == last) {
            fprintf(stderr, "train_gpt: unknown option %s: see --help\n", word);
            return -1;
        }
        int takes = option->kind != FLAG && option->kind != HELP;
        if (!takes && value)
            return complain(option->name, "takes no value");
        if (takes && !value && i + 1 == argc)
            return complain(option->name, "needs a value");
        if (option->kind == HELP) {
            print_help();
            return 1;
        }
        if (option->kind == FLAG)
            *(int *)option->at = 1;
        else if (set(option, value ? value + 1 : argv[++i]))
            return -1;
    }
    if (options.embedding % options.heads != 0)
        return complain("embd", "not a multiple of --heads");
    return 0;
}

/* Puts the hyper-parameters into the profile. */
static void describe_run(const struct trainer *trainer)
{
    char json[64];
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct option *option = &table[i];
        if (option->kind == WHOLE)
            snprintf(json, sizeof json, "%d", *(const int *)option->at);
        else if (option->kind == NUMBER)
            snprintf(json, sizeof json, "%.15g", *(const double *)option->at);
        else if (option->kind == SEED)
            snprintf(json, sizeof json, "%llu",
                     (unsigned long long)*(const uint64_t *)option->at);
        else
            continue;
        gnomon_metadata(option->name, json);
    }
    snprintf(json, sizeof json, "%zu", trainer->model->count);
    gnomon_metadata("parameters", json);
}

/* A model this small is not faster with more threads. */
static void limit_threads(void)
{
#ifdef _OPENMP
    if (!getenv("OMP_NUM_THREADS") && omp_get_max_threads() > MOST_THREADS)
        omp_set_num_threads(MOST_THREADS);
#endif
}

int main(int argc, char **argv)
{
    struct trainer trainer;
    int parsed = parse(argc, argv);
    if (parsed)
        return parsed < 0;
    limit_threads();
    options.progress = stdout;
    if (!options.text)
        options.text =
            access(DEFAULT_TEXT, R_OK) == 0 ? DEFAULT_TEXT : TRAIN_GPT_TEXT;
    if (trainer_create(&trainer, &options))
        return 1;
    printf("%s: %zu letters, %d different; %zu parameters\n", options.text,
           trainer.text.count, trainer.text.vocabulary, trainer.model->count);

    gnomon_setup(NULL);
    describe_run(&trainer);
    trainer_fit(&trainer);
    if (!trainer.failed) {
        trainer_validate(&trainer);
        if (options.test)
            trainer_test(&trainer);
        if (options.sample > 0)
            trainer_predict(&trainer);
    }
    gnomon_teardown();

    int failed = trainer.failed;
    trainer_free(&trainer);
    return failed;
}
