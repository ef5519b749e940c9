/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* timeout: 900
 * What threads share without a lock, on a machine with a weak memory order
 * (aarch64): each protocol of docs/ordering.md as a program of a few
 * operations, in all ways in which it can go (weak_memory.h). None may end badly;
 * and without any one of its orders it must, so that none is there for nothing and
 * the model is seen to see. Each operation names where in src/ it stands, and that
 * is looked up: the source that changes is not the one that was tried. */
#include "ordering_programs.h"
#include "weak_litmus.h"

#include "test.h"

/* ---- Tests ------------------------------------------------------------------- */

TEST(no_program_goes_wrong)
{
    for (size_t i = 0; i < PROGRAMS; i++) {
        size_t states;
        if (!CHECK(!weak_can_go_wrong(programs[i], &states)))
            fprintf(stderr, "    %s\n", programs[i]->name);
        printf("%s: %zu states\n", programs[i]->name, states);
    }
}

static int has_order(const weak_op *o)
{
    return o->kind == BARRIER || o->order != RELAXED;
}

/* Without both of a thread's two that can stand for each other. */
static int needs_either(const weak_program *p, int thread)
{
    weak_program weaker = *p;
    size_t states;
    int count = 0;
    for (int k = 0; k < WEAK_OPS; k++)
        if (p->thread[thread][k].is_spare == 2) {
            weaker = weak_without(&weaker, thread, k);
            count++;
        }
    return !count || (count == 2 && weak_can_go_wrong(&weaker, &states));
}

TEST(without_any_of_its_orders_each_goes_wrong)
{
    for (size_t i = 0; i < PROGRAMS; i++)
        for (int t = 0; t < WEAK_THREADS; t++) {
            if (!CHECK(needs_either(programs[i], t)))
                fprintf(stderr, "    %s, thread %d\n", programs[i]->name, t);
            for (int k = 0; k < WEAK_OPS; k++) {
                const weak_op *o = &programs[i]->thread[t][k];
                weak_program weaker = weak_without(programs[i], t, k);
                size_t states;
                if (has_order(o) &&
                    !CHECK_EQ(weak_can_go_wrong(&weaker, &states),
                              !o->is_spare))
                    fprintf(stderr, "    %s, thread %d, operation %d\n",
                            programs[i]->name, t, k);
            }
        }
}

/* ---- Another's word ---------------------------------------------------------- */

/* What the weaker ones do by C11's model, too; EITHER is about one machine alone. */
static void check_weaker_by_herd(const weak_program *p)
{
    for (int t = 0; t < WEAK_THREADS; t++)
        for (int k = 0; k < WEAK_OPS; k++) {
            const weak_op *o = &p->thread[t][k];
            weak_program weaker = weak_without(p, t, k);
            if (has_order(o) && o->is_spare < 2 &&
                !CHECK_EQ(litmus_can_go_wrong(&weaker), !o->is_spare))
                fprintf(stderr, "    %s, thread %d, operation %d\n", p->name, t,
                        k);
        }
}

TEST(herd_agrees)
{
    if (system("herd7 -version >/dev/null 2>&1"))
        SKIP("no herd7");
    for (size_t i = 0; i < PROGRAMS; i++) {
        if (!litmus_can(programs[i]))
            continue;
        if (!CHECK_EQ(litmus_can_go_wrong(programs[i]), 0))
            fprintf(stderr, "    %s\n", programs[i]->name);
        check_weaker_by_herd(programs[i]);
    }
}

/* Who writes the word last, and who reads it first, of something made before. */
static const char *const published[][2] = {
    {"mark/count.c|store_release(&tree->touched[t->bank], node);",
     "record/rows_copy.c|load_acquire(&c->tree->touched[c->bank])"},
    {"mark/count.c|store_release(&p->histogram_word, wider.histogram_word);",
     "record/rows_copy.c|load_acquire(&n->part[c->bank].histogram_word)"},
    {"mark/carry.c|store_release(&node->carry, begin_carry(t, tree, at));",
     "record/rows_copy.c|load_acquire(&n->carry)"},
    {"mark/carry.c|store_release(&tree->ended[t->bank], at);",
     "record/rows_copy.c|load_acquire(&c->tree->ended[c->bank])"},
    {"mark/tree_marks.c|store_release(&tree->counters, at);",
     "record/rows_copy.c|load_acquire(&c->tree->counters)"},
    {"mark/link.c|store_release(&e->from, from);",
     "record/rows_copy.c|load_acquire(&edges[i].from)"},
    {"mark/tree.c|store_release(&t->states[bit], at);",
     "record/stack.c|load_acquire(&t->states[__builtin_ctz(trees)])"},
    {"mark/tree.c|store_release(&tree->generation, generation);",
     "record/rows.c|load_acquire(&c->tree->generation)"},
    {"mark/adopt.c|store_release(&t->generations[bit], generation);",
     "record/rows.c|load_acquire(&t->generations[bit])"},
    {"mark/cut.c|store_release(&t->bank, !t->bank);",
     "record/rows.c|load_acquire(&t->bank)"},
    {"mark/cut.c|store_release(&t->segment, gnomon__segment);",
     "record/rows.c|load_acquire(&t->segment)"},
    {"mark/thread.c|store_release(&gnomon__threads[number], t);",
     "record/slice.c|load_acquire(&gnomon__threads[i])"},
    {"mark/thread.c|store_release(&gnomon__thread_total, number + 1);",
     "record/slice.c|load_acquire(&gnomon__thread_total)"},
    {"mark/thread_name.c|store_release(&t->name, name);",
     "mark/thread_table.c|load_acquire(&t->name)"},
    {"mark/range.c|store_release(&t->ranges.blocks[t->ranges.block_count++], "
     "block);",
     "mark/range.c|load_acquire(&t->ranges.blocks[slot / BLOCK_SLOTS])"},
    {"mark/region.c|store_release(block, fresh);",
     "mark/region.c|load_acquire(&entry_blocks[id / BLOCK])"},
    {"mark/region.c|store_release(&region->link, (void *)entry);",
     "mark/frame.h|load_acquire(&region->link)"},
    {"mark/region.c|store_release(&entry_count, id);",
     "mark/region.c|load_acquire(&entry_count)"},
    {"platform/memory.c|cas_acq_rel(&chosen_heap, &now,",
     "platform/memory.c|load_acquire(&chosen_heap)"},
    {"platform/clock.c|cas_acq_rel(&clock_head, &was, next)",
     "platform/clock.c|load_acquire(&clock_head)"},
    {"platform/clock.c|store_release(&moments_owned, 0);",
     "platform/clock.c|cas_acq_rel(&moments_owned, &nobody, 1)"},
    {"platform/os_libraries.c|store_release(&staying[at].begin, begin);",
     "platform/os_libraries.c|load_acquire(&staying[i].begin)"},
    {"platform/os_linux.c|sub_release(&threads_starting, 1);",
     "platform/os_linux.c|load_acquire(&threads_starting)"},
    {"platform/os_process.c|store_release(&gnomon__os_own, page);",
     "mark/lock.c|load_acquire(&gnomon__os_own)"},
    {"platform/os_write.c|store_release(&error_known, 1);",
     "platform/os_write.c|load_acquire(&error_known)"},
    {"run/control.c|store_release(&has_started, 1);",
     "run/control.c|load_acquire(&has_started)"},
    {"run/setup.c|store_release(&is_configured, 1);",
     "run/setup.c|load_acquire(&is_configured)"},
    {"run/configure.c|swap_acq_rel(&followed, spec)",
     "run/configure.c|load_acquire(&followed)"},
    {"run/copies.c|store_release(&gnomon__owner, owner);",
     "platform/owner.h|load_acquire(&gnomon__owner)"},
    {"run/copies.c|store_release(&state, OWNER);",
     "run/copies.c|load_acquire(&state)"},
    {"device/thread_timers.c|store_release(&timers->out_head, at + 1);",
     "device/reader.c|load_acquire(&timers->out_head)"},
    {"device/reader.c|store_release(&timers->back_head, at + 1);",
     "device/thread_timers.c|load_acquire(&timers->back_head)"},
    {"device/timers.c|cas_acq_rel(&gnomon__all_timers, &timers->next, timers)",
     "device/reader.c|load_acquire(&gnomon__all_timers)"},
    {"device/reader_thread.c|store_release(&v->generation, generation);",
     "device/timers.c|load_acquire(&gnomon__timer_views[i].generation)"},
    {"device/cuda_failures.c|store_release(&cuda_first_failures[i].call, "
     "call);",
     "device/cuda_failures.c|load_acquire(&cuda_first_failures[i].call)"},
    {"inject/nvtx_names.c|add_release(&domain->labelled, 1);",
     "inject/nvtx_names.c|load_acquire(&domain->labelled)"},
};
#define PUBLISHED (sizeof published / sizeof *published)

/* ---- Where they stand -------------------------------------------------------- */

/* Without comments and blanks; the string is static. */
static const char *bare(const char *text, size_t n, char *out)
{
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '/' && text[i + 1] == '*')
            i = (size_t)(strstr(text + i, "*/") - text) + 1;
        else if (!strchr(" \n\t", text[i]))
            out[used++] = text[i];
    }
    out[used] = 0;
    return out;
}

/* Whether the file of `at`, `file|text`, has the text. */
static int stands(const char *at)
{
    static char path[512], text[1 << 17], source[1 << 17], wanted[512];
    const char *bar = strchr(at, '|');
    snprintf(path, sizeof path, TEST_SOURCE_DIR "/../src/%.*s", (int)(bar - at),
             at);
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n] = 0;
    if (f)
        fclose(f);
    return strstr(bare(text, n, source),
                  bare(bar + 1, strlen(bar + 1), wanted)) != NULL;
}

/* What src/ calls an operation of this order. */
static const char *macro_of(const weak_op *o)
{
    static const char *const fences[] = {"", "fence_acquire()",
                                         "fence_release()", "fence_acq_rel()"};
    if (o->kind == FENCE)
        return fences[o->order];
    if (o->kind == BARRIER)
        return "barrier()";
    if (o->order == RELAXED)
        return o->kind == STORE && strchr(o->source, '(') ? "store_relaxed("
                                                          : "";
    return o->kind == LOAD       ? "load_acquire("
           : o->kind == STORE    ? "store_release("
           : o->order == ACQ_REL ? "_acq_rel("
                                 : "_release(";
}

TEST(the_source_has_the_quoted_text)
{
    for (size_t i = 0; i < PROGRAMS; i++)
        for (int t = 0; t < WEAK_THREADS; t++)
            for (int k = 0; k < WEAK_OPS; k++) {
                const weak_op *o = &programs[i]->thread[t][k];
                int is_named = o->source != NULL;
                if ((is_named && !CHECK(stands(o->source))) ||
                    (is_named && !CHECK(strstr(o->source, macro_of(o)))) ||
                    (!is_named && has_order(o) &&
                     !CHECK(programs[i] == &publication)))
                    fprintf(stderr, "    %s, thread %d, operation %d: %s\n",
                            programs[i]->name, t, k,
                            is_named ? o->source : "-");
            }
    for (size_t i = 0; i < PUBLISHED; i++)
        for (int side = 0; side < 2; side++) {
            const char *at = published[i][side];
            int good = CHECK(stands(at)) &
                       CHECK(strstr(at, side ? "acq" : "rel") != NULL);
            if (!good)
                fprintf(stderr, "    %s\n", at);
        }
}

/* The flag of callbacks would be of no use without a value for each. */
TEST(a_flag_of_one_value_goes_wrong)
{
    weak_program same = two_callbacks;
    size_t states;
    same.thread[0][5].value = 1;
    CHECK(weak_can_go_wrong(&same, &states));
}
