/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* timeout: 900
 * What threads share without a lock, on a machine with a weak memory order
 * (aarch64): each protocol of docs/inside/ordering.md as a program of a few
 * operations, in all ways in which it can go (weak_memory.h). None may end badly;
 * and without any one of its orders it must, so that none is there for nothing and
 * the model is seen to see.
 *
 * The programs are written by hand: they are worth as much as they are like src/. What
 * is checked of that: each operation quotes its line and the function; it stands there,
 * those of one thread in one function in the program's order; and every access or fence
 * with an order in a quoted function is quoted, or has a reason (ordering/check.py). So
 * whoever changes an order has to change the program. What is not checked: that
 * functions are called in the order of the program, and operations without a quote,
 * which stand for plain data. */
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
    {"mark/count.c: list_touched: store_release(&tree->touched[t->bank], "
     "node);",
     "record/rows_copy.c: note_touched: "
     "load_acquire(&c->tree->touched[c->bank])"},
    {"mark/count.c: widen: store_release(&p->histogram_word, "
     "wider.histogram_word);",
     "record/rows_copy.c: copy_node: "
     "load_acquire(&n->part[c->bank].histogram_word)"},
    {"mark/carry.c: move_chain: store_release(&node->carry, begin_carry(t, "
     "tree, at));",
     "record/rows_copy.c: segment_of_open: load_acquire(&n->carry)"},
    {"mark/carry.c: hand_over: store_release(&tree->ended[t->bank], at);",
     "record/rows_copy.c: note_ended: load_acquire(&c->tree->ended[c->bank])"},
    {"mark/tree_marks.c: counter_of: store_release(&tree->counters, at);",
     "record/rows_copy.c: copy_counters: load_acquire(&c->tree->counters)"},
    {"mark/link.c: count_link: store_release(&e->from, from);",
     "record/rows_copy.c: gnomon__copy_links: load_acquire(&edges[i].from)"},
    {"mark/tree.c: gnomon__tree_adopt: store_release(&t->states[bit], at);",
     "record/stack.c: read_position: "
     "load_acquire(&t->states[__builtin_ctz(trees)])"},
    {"mark/tree.c: gnomon__tree_adopt: store_release(&tree->generation, "
     "generation);",
     "record/rows.c: begin_copy: load_acquire(&c->tree->generation)"},
    {"mark/adopt.c: adopt: store_release(&t->generations[bit], generation);",
     "record/rows.c: begin_copy: load_acquire(&t->generations[bit])"},
    {"mark/cut.c: gnomon__thread_cut: store_release(&t->bank, !t->bank);",
     "record/rows.c: gnomon__rows_copy: load_acquire(&t->bank)"},
    {"mark/cut.c: gnomon__thread_cut: store_release(&t->segment, "
     "gnomon__segment);",
     "record/rows.c: gnomon__rows_take: load_acquire(&t->segment)"},
    {"mark/thread.c: make_state: store_release(&gnomon__threads[number], t);",
     "mark/thread.h: gnomon__thread_numbered: "
     "load_acquire(&gnomon__threads[number])"},
    {"mark/thread.c: make_state: store_release(&gnomon__thread_total, number + "
     "1);",
     "mark/thread.h: gnomon__thread_numbered: "
     "load_acquire(&gnomon__thread_total)"},
    {"mark/thread_name.c: thread_rename: store_release(&t->name, name);",
     "mark/thread_table.c: gnomon__thread_name_of: load_acquire(&t->name)"},
    {"mark/range.c: more_slots: "
     "store_release(&t->ranges.blocks[t->ranges.block_count++], "
     "block);",
     "mark/range.c: range_at: load_acquire(&t->ranges.blocks[slot / "
     "BLOCK_SLOTS])"},
    {"mark/region.c: next_entry: store_release(block, fresh);",
     "mark/region.c: gnomon__region_entry: load_acquire(&entry_blocks[id / "
     "BLOCK])"},
    {"mark/region.c: add_entry: store_release(&region->link, (void *)entry);",
     "mark/frame.h: gnomon__frame_describe: load_acquire(&region->link)"},
    {"mark/region.c: add_entry: store_release(&entry_count, id);",
     "mark/region.c: gnomon__region_count: load_acquire(&entry_count)"},
    {"platform/memory.c: heap: cas_acq_rel(&chosen_heap, &now,",
     "platform/memory.c: heap: load_acquire(&chosen_heap)"},
    {"platform/clock.c: publish_line: cas_acq_rel(&clock_head, &was, next)",
     "platform/clock.c: find_ns: load_acquire(&clock_head)"},
    {"platform/clock.c: keep_moment: store_release(&moments_owned, 0);",
     "platform/clock.c: own_moments: cas_acq_rel(&moments_owned, &nobody, 1)"},
    {"platform/os_libraries.c: note_staying: store_release(&staying[at].begin, "
     "begin);",
     "platform/os_libraries.c: gnomon__os_is_pinned: "
     "load_acquire(&staying[i].begin)"},
    {"platform/os_threads.c: thread_main: sub_release(&threads_starting, 1);",
     "platform/os_wait.c: gnomon__os_wait_until: load_acquire(word)"},
    {"platform/os_process.c: gnomon__os_own_page_slow: "
     "cas_acq_rel(&gnomon__os_own, &none, page)",
     "platform/os.h: gnomon__os_own_number: load_acquire(&gnomon__os_own)"},
    {"platform/os_process.c: gnomon__os_own_page_slow: "
     "store_release(&gnomon__os_own_state,",
     "platform/os.h: gnomon__os_own_page: load_acquire(&gnomon__os_own_state)"},
    {"platform/os_wait.c: gnomon__os_once_slow: "
     "store_release(&once->is_made, 1);",
     "platform/os_wait.h: gnomon__os_make_once: "
     "load_acquire(&once->is_made)"},
    {"platform/os_process.c: gnomon__os_own_number_slow: "
     "cas_acq_rel(word, &number, next)",
     "platform/os.h: gnomon__os_own_number: load_acquire(word)"},
    {"platform/os_wait.c: renew: store_release(&lock->made_in, number)",
     "platform/os_wait.c: look_for_child: load_acquire(&lock->made_in) != "
     "number"},
    {"platform/os_files.c: note_stderr: store_release(&error_known, 1);",
     "platform/os_files.c: gnomon__os_stderr: load_acquire(&error_known)"},
    {"run/control.c: gnomon__control_started: "
     "store_release(&start_state, START_OVER);",
     "run/control.c: gnomon__control_first: load_acquire(&start_state)"},
    {"run/setup.c: read_environment: "
     "store_release(&is_configured, spec ?",
     "run/setup.c: gnomon__run_is_ready: load_acquire(&is_configured)"},
    {"run/fork.c: gnomon__fork_follow: swap_acq_rel(&followed, spec)",
     "run/fork.c: gnomon__follows: load_acquire(&followed)"},
    {"run/copies.c: settle: store_release(&gnomon__owner, owner);",
     "platform/owner.h: GNOMON__FORWARD: load_acquire(&gnomon__owner)"},
    {"run/copies.c: settle: store_release(&state, OWNER);",
     "run/copies.c: gnomon__copy_owns: load_acquire(&state)"},
    {"device/timers.c: timer_send: "
     "store_release(&timers->out_head, at + 1);",
     "device/reader.c: read_messages: load_acquire(&timers->out_head)"},
    {"device/reader.c: give_back: store_release(&timers->back_head, at + 1);",
     "device/timers.c: take_returned_timers: "
     "load_acquire(&timers->back_head)"},
    {"device/timers.c: make_thread_timers: cas_acq_rel(&gnomon__all_timers, "
     "&timers->next, timers)",
     "device/reader.c: reader_pass_all: load_acquire(&gnomon__all_timers)"},
    {"device/reader.c: gnomon__timers_watch: "
     "store_release(&v->timed, generation);",
     "device/timers.c: view_at: load_acquire(&v->timed)"},
    {"device/cuda_driver.c: gnomon__cuda_failed: "
     "store_release(&cuda_first_failures[i].call, "
     "call);",
     "device/cuda_driver.c: gnomon__cuda_log_failures: "
     "load_acquire(&cuda_first_failures[i].call)"},
    {"inject/nvtx_names.c: gnomon__inject_label_set: "
     "add_release(&domain->labelled, 1);",
     "inject/nvtx_names.c: gnomon__inject_regions_make: "
     "load_acquire(&domain->labelled)"},
    {"inject/nvtx_names.c: gnomon__inject_label_set: "
     "cas_acq_rel(&domain->labels, &made->next, made)",
     "inject/nvtx_names.c: label_of: load_acquire(&domain->labels)"},
    {"inject/nvtx_names.c: gnomon__inject_regions_make: "
     "cas_acq_rel(&name->regions, &head, made)",
     "inject/nvtx.h: gnomon__inject_regions_of: load_acquire(&name->regions)"},
    {"inject/nvtx_names.c: gnomon__inject_regions_make: "
     "cas_acq_rel(&name->regions, &head, made)",
     "inject/nvtx_names.c: gnomon__inject_regions_make: head = "
     "load_acquire(&name->regions)"},
    {"mark/tape.h: gnomon__tape_write: store_release(&tape->next,",
     "record/tape_read.c: list_open: load_acquire(&tape->next)"},
};
#define PUBLISHED (sizeof published / sizeof *published)

/* ---- Where they stand -------------------------------------------------------- */

#define SOURCE_BYTES (1 << 17)

/* Without comments, and with blanks only if `with_blanks`; the string is `out`. */
static const char *bare(const char *text, size_t n, int with_blanks, char *out)
{
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '/' && text[i + 1] == '*')
            i = (size_t)(strstr(text + i, "*/") - text) + 1;
        else if (with_blanks || !strchr(" \n\t\\", text[i]))
            out[used++] = text[i];
    }
    out[used] = 0;
    return out;
}

/* A file of src/ without comments; static. */
static const char *source_of(const char *file, size_t length)
{
    static char path[512], text[SOURCE_BYTES], source[SOURCE_BYTES];
    snprintf(path, sizeof path, TEST_SOURCE_DIR "/../src/%.*s", (int)length,
             file);
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n] = 0;
    if (f)
        fclose(f);
    return bare(text, n, 1, source);
}

/* From the parenthesis behind a name to the end of what the name defines: a function,
 * or a macro. NULL: it is used there. */
static const char *end_of_definition(const char *name, const char *open)
{
    const char *at = open + 1;
    if (strncmp(name - 8, "#define ", 8) == 0) {
        while (*at && (*at != '\n' || at[-1] == '\\'))
            at++;
        return at;
    }
    for (int depth = 1; depth && *at; at++)
        depth += (*at == '(') - (*at == ')');
    at += strspn(at, " \n");
    return *at == '{' ? strstr(at, "\n}") : NULL;
}

/* The function `name`, without comments and blanks; static. "": there is none. */
static const char *function_of(const char *source, const char *name,
                               size_t length)
{
    static char function[SOURCE_BYTES];
    const char *at = source + 8, *end;
    for (; (at = strstr(at, name)) != NULL; at += length)
        if (at[length] == '(' && !strchr("_.>", at[-1]) &&
            (end = end_of_definition(at, at + length)) != NULL)
            return bare(at, (size_t)(end - at), 0, function);
    return "";
}

typedef struct place {
    const char *quote;
    size_t
        function; /* how much of `quote` says file and function; 0: no place */
    size_t at;    /* in the function */
} place;

/* The place of `quote`, `file: function: text`, in src/, not before `least`. */
static place place_of(const char *quote, size_t least)
{
    static char name[64], wanted[512];
    const char *colon = strchr(quote, ':'), *text = strchr(colon + 1, ':');
    place p = {quote, 0, 0};
    snprintf(name, sizeof name, "%.*s", (int)(text - colon - 2), colon + 2);
    const char *function = function_of(
        source_of(quote, (size_t)(colon - quote)), name, strlen(name));
    bare(text + 1, strlen(text + 1), 0, wanted);
    const char *found =
        strlen(function) < least ? NULL : strstr(function + least, wanted);
    if (found) {
        p.function = (size_t)(text - quote);
        p.at = (size_t)(found - function);
    }
    return p;
}

static int is_same_function(const place *p, const place *q)
{
    return p->function == q->function &&
           strncmp(p->quote, q->quote, p->function) == 0;
}

/* The place of the operation `k`: where an earlier one of the thread is in the same
 * function, not before that one. Where the thread has come to the same text before, it
 * is another call of the function. */
static place place_in(const weak_op *thread, int k, const place *places)
{
    place p = place_of(thread[k].source, 0);
    size_t least = 0;
    for (int j = 0; j < k; j++)
        if (thread[j].source && is_same_function(&p, &places[j]))
            least = strcmp(thread[j].source, p.quote) == 0 ? 0 : places[j].at;
    for (int j = 0; j < k; j++)
        if (thread[j].source && strcmp(thread[j].source, p.quote) == 0)
            least = 0;
    return place_of(thread[k].source, least);
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

static void check_thread(const weak_program *p, int t)
{
    place places[WEAK_OPS];
    for (int k = 0; k < WEAK_OPS; k++) {
        const weak_op *o = &p->thread[t][k];
        int is_good;
        if (o->source) {
            places[k] = place_in(p->thread[t], k, places);
            is_good = CHECK(places[k].function) &
                      CHECK(strstr(o->source, macro_of(o)) != NULL);
        } else {
            is_good = !has_order(o) || CHECK(p == &publication);
        }
        if (!is_good)
            fprintf(stderr, "    %s, thread %d, operation %d: %s\n", p->name, t,
                    k, o->source ? o->source : "-");
    }
}

/* Each in the function that it names, and those of one thread in one function in the
 * order of its program. */
TEST(the_source_has_the_quoted_text)
{
    for (size_t i = 0; i < PROGRAMS; i++)
        for (int t = 0; t < WEAK_THREADS; t++)
            check_thread(programs[i], t);
    for (size_t i = 0; i < PUBLISHED; i++)
        for (int side = 0; side < 2; side++) {
            const char *at = published[i][side];
            int good = CHECK(place_of(at, 0).function) &
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
