/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program of weak_memory.h as a litmus test in C, and the answer of herd7,
 * if installed, by RC11, the repaired model of C11. */
#ifndef GNOMON_TESTS_WEAK_LITMUS_H
#define GNOMON_TESTS_WEAK_LITMUS_H

#include <stdio.h>

#include "weak_memory.h"

static inline void litmus_op(FILE *f, const weak_op *o, int thread, int i)
{
    static const char *const orders[] = {"relaxed", "acquire", "release",
                                         "acq_rel"};
    const char *order = orders[o->order];
    char w = (char)('a' + o->word);
    if (o->kind == LOAD)
        fprintf(f, "  int r%d = atomic_load_explicit(%c, memory_order_%s);\n",
                o->into, w, order);
    else if (o->kind == STORE)
        fprintf(f, "  atomic_store_explicit(%c, %d, memory_order_%s);\n", w,
                o->value, order);
    else if (o->kind == FENCE && o->order)
        fprintf(f, "  atomic_thread_fence(memory_order_%s);\n", order);
    else if (o->kind == UPDATE && o->expected == ANY)
        fprintf(f,
                "  int r%d = atomic_exchange_explicit(%c, %d, memory_order_%s);"
                "\n",
                o->into, w, o->value, order);
    else if (o->kind == UPDATE)
        fprintf(
            f,
            "  int r%d = atomic_compare_exchange_strong_explicit(%c, e%d%d, "
            "%d, memory_order_%s, memory_order_relaxed);\n",
            o->into, w, thread, i, o->value, order);
}

static inline int litmus_has(const weak_op *o)
{
    return o->kind == UPDATE && o->expected != ANY;
}

static inline void litmus_print(FILE *f, const weak_program *p)
{
    fprintf(f, "C %s\n{ ", p->name);
    for (int w = 0; w < 5; w++)
        fprintf(f, "%c = %d; ", 'a' + w, p->first[w]);
    for (int t = 0; t < WEAK_THREADS; t++)
        for (int i = 0; i < WEAK_OPS; i++)
            if (litmus_has(&p->thread[t][i]))
                fprintf(f, "e%d%d = %d; ", t, i, p->thread[t][i].expected);
    fprintf(f, "}\n");
    for (int t = 0; t < WEAK_THREADS && p->thread[t][0].kind; t++) {
        fprintf(f,
                "P%d (atomic_int* a, atomic_int* b, atomic_int* c, "
                "atomic_int* d, atomic_int* e",
                t);
        for (int i = 0; i < WEAK_OPS; i++)
            if (litmus_has(&p->thread[t][i]))
                fprintf(f, ", int* e%d%d", t, i);
        fprintf(f, ") {\n");
        for (int i = 0; i < WEAK_OPS; i++)
            litmus_op(f, &p->thread[t][i], t, i);
        fprintf(f, "}\n");
    }
    fprintf(f, "locations [");
    for (int t = 0; t < WEAK_THREADS; t++)
        for (int i = 0; i < WEAK_OPS; i++)
            if (weak_reads(&p->thread[t][i]))
                fprintf(f, "%d:r%d; ", t, p->thread[t][i].into);
    fprintf(f, "]\nexists (a = 99)\n");
}

/* The result of a compare and swap: the expected value, or another. */
static inline void litmus_mend(const weak_program *p, weak_registers r)
{
    for (int t = 0; t < WEAK_THREADS; t++)
        for (int i = 0; i < WEAK_OPS; i++) {
            const weak_op *o = &p->thread[t][i];
            if (litmus_has(o))
                r[t][o->into] = r[t][o->into] ? o->expected : ANY;
        }
}

/* Programs with locks, system barriers or conditions are left out. */
static inline int litmus_can(const weak_program *p)
{
    for (int t = 0; t < WEAK_THREADS; t++)
        for (int i = 0; i < WEAK_OPS; i++)
            if (p->thread[t][i].kind > FENCE || p->thread[t][i].if_most)
                return 0;
    return 1;
}

/* As weak_can_go_wrong; -1: herd7 did not answer. */
static inline int litmus_can_go_wrong(const weak_program *p)
{
    char line[512];
    int states = -1, is_bad = 0;
    FILE *f = fopen("program.litmus", "w");
    litmus_print(f, p);
    fclose(f);
    f = popen("herd7 -model rc11.cat program.litmus", "r");
    while (f && fgets(line, sizeof line, f)) {
        weak_registers r = {{0}};
        int t, n, value, used;
        if (sscanf(line, "States %d", &states) == 1)
            continue;
        const char *at = line;
        for (; sscanf(at, "%d:r%d=%d;%n", &t, &n, &value, &used) == 3;
             at += used + (at[used] == ' '))
            r[t][n] = (uint8_t)value;
        litmus_mend(p, r);
        is_bad |= at != line && p->is_bad(r);
    }
    if (f)
        pclose(f);
    return states > 0 ? is_bad : -1;
}

#endif
