/* attention.c: see kernel_fix.h. */
#include "analyze/findings/kernel_fix.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/findings/findings_constants.h"
#include "base/mem.h"
#include "base/vec.h"

/* Kernels before the first product, at most: the operands are converted and laid out, two of them
 * scaled, and the mask is made. */
enum part { PART_COPY, PART_SCALE, PART_MASK, PARTS, PART_NONE = PARTS };

static const uint8_t most[PARTS] = {[PART_COPY] = 6, [PART_SCALE] = 2, [PART_MASK] = 8};

static enum part attention_math_part_of(struct str name)
{
    static const struct {
        const char *word;
        enum part part;
    } words[] = {{"copy_kernel", PART_COPY},  {"MulFunctor", PART_SCALE},
                 {"FillFunctor", PART_MASK},  {"triu_tril", PART_MASK},
                 {"where_kernel", PART_MASK}, {"masked_fill", PART_MASK}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_has(name, words[i].word)) return words[i].part;
    return PART_NONE;
}

bool attention_is_math(const struct trace *t, struct attention_rows a)
{
    for (row_t r = a.begin; r < a.end; r++)
        if (str_has(trace_name(t, r), "isneginf")) return true;
    return false;
}

struct attention_rows attention_whole_math(const struct trace *t, struct attention_rows a,
                                           struct attention_rows stream)
{
    uint8_t n[PARTS] = {0};
    while (a.begin > stream.begin) {
        enum part p = attention_math_part_of(trace_name(t, a.begin - 1));
        if (p == PART_NONE || n[p] == most[p]) break;
        n[p]++;
        a.begin--;
    }
    bool converts = n[PART_COPY] >= 3; /* each operand: so is the result */
    if (converts && a.end < stream.end && attention_math_part_of(trace_name(t, a.end)) == PART_COPY)
        a.end++;
    return a;
}

static uint32_t attention_calls_launch_of(const struct context *cx, row_t r)
{
    row_t row = trace_launch_of(cx->t, r);
    return row == ROW_NONE ? SIM_NONE : sim_find_call(model_of(cx), row);
}

/* Whether the calls after `kept`, up to `last`, are `n` launches, and allocations at most. */
static bool nothing_else(const struct sim_model *m, uint32_t kept, uint32_t last, uint32_t n)
{
    for (uint32_t c = kept; c != last;) {
        c = m->calls[c].next;
        if (c == SIM_NONE) return false;
        const struct sim_call *call = &m->calls[c];
        if (call->n_work > n) return false;
        if (call->n_work) n -= call->n_work;
        else if (call->wait != SIM_WAIT_NOTHING && !call_allocates(call->kind)) return false;
    }
    return n == 0;
}

static int attention_calls_push(struct attention_calls *x, const struct sim_call *from,
                                const struct sim_call *to, bool whole, struct err *e)
{
    if (VEC_RESERVE(x->spans, x->n, x->cap, 1)) return err_nomem(e);
    x->spans[x->n++] = (struct sim_cut){.thread = from->thread,
                                        .begin_ns = whole ? from->begin_ns : from->end_ns,
                                        .end_ns = to->end_ns};
    return 0;
}

int attention_calls_add(struct attention_calls *x, const struct context *cx, const row_t *rows,
                        uint32_t n, struct err *e)
{
    const struct sim_model *m = model_of(cx);
    uint32_t kept = SIM_NONE, last = SIM_NONE;
    if (n <= attention_launches_kept) return 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t c = attention_calls_launch_of(cx, rows[i]);
        if (c == SIM_NONE || m->calls[c].n_work != 1) return 0;
        if (i && (c <= last || m->calls[c].thread != m->calls[last].thread)) return 0;
        if (i < attention_launches_kept) kept = c;
        last = c;
    }
    if (!nothing_else(m, kept, last, n - attention_launches_kept)) return 0;
    return attention_calls_push(x, &m->calls[kept], &m->calls[last], false, e);
}

static int by_thread_and_time(const void *a, const void *b)
{
    const struct sim_cut *x = a, *y = b;
    if (x->thread != y->thread) return x->thread < y->thread ? -1 : 1;
    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* What is not allocated need not be freed. Which call frees what is not recorded. As many of
 * those that follow some allocations go, the last ones: the first may wait for the device, whatever
 * it frees. `s` are the spans of the thread, in order. */
static int drop_frees(struct attention_calls *x, const struct sim_model *m, uint32_t thread,
                      size_t s, size_t end, struct err *e)
{
    uint32_t made = 0, gone = 0, freed = 0;
    for (uint32_t c = m->threads[thread].first_call; c != SIM_NONE; c = m->calls[c].next) {
        const struct sim_call *call = &m->calls[c];
        while (s < end && x->spans[s].end_ns <= call->begin_ns) s++;
        if (call->kind == CALL_ALLOC) {
            if (freed) made = gone = freed = 0;
            made++;
            gone += s < end && x->spans[s].begin_ns <= call->begin_ns;
        } else if (call->kind == CALL_FREE) {
            bool goes = freed + gone >= made && freed < made;
            freed++;
            if (goes) TRY(attention_calls_push(x, call, call, true, e));
        }
    }
    return 0;
}

int attention_calls_into(struct attention_calls *x, const struct context *cx, struct finding *f,
                         struct err *e)
{
    const struct sim_model *m = model_of(cx);
    size_t n = x->n, end;
    if (n == 0) return 0;
    qsort(x->spans, n, sizeof *x->spans, by_thread_and_time);
    for (size_t s = 0; s < n; s = end) {
        for (end = s; end < n && x->spans[end].thread == x->spans[s].thread;) end++;
        TRY(drop_frees(x, m, x->spans[s].thread, s, end, e));
    }
    struct sim_cut *spans = arena_alloc(cx->mem, x->n * sizeof *spans);
    if (!spans) return err_nomem(e);
    memcpy(spans, x->spans, x->n * sizeof *spans);
    f->edits[f->n_edits++] =
        (struct sim_edit){.kind = EDIT_DROP_SPANS, .spans = spans, .n_spans = (uint32_t)x->n};
    return 0;
}

void attention_calls_done(struct attention_calls *x)
{
    mem_free(x->spans);
    *x = (struct attention_calls){0};
}
