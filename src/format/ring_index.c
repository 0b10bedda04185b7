/* ring_index.c: see ring_index.h. Runs in the recorded process too, once per block. */
#include "format/ring_index.h"

#include <string.h>

#include "format/xxh64.h"

static void drop_open(struct ring_state *s, uint32_t i)
{
    s->n_open--;
    memmove(&s->open[i], &s->open[i + 1], (s->n_open - i) * sizeof *s->open);
}

static void ring_index_push(struct ring_state *s, uint64_t number, uint64_t task)
{
    if (s->n_open == RING_STATE_OPEN) s->n_deeper++;
    else s->open[s->n_open++] = (struct ring_state_open){number, task};
}

/* Closes the innermost range of the thread (task 0), or the one of this task. */
static void ring_index_pop(struct ring_state *s, uint64_t task)
{
    if (s->n_deeper && !task) {
        s->n_deeper--;
        return;
    }
    for (uint32_t i = s->n_open; i-- > 0;)
        if (s->open[i].task == task) {
            drop_open(s, i);
            return;
        }
    if (s->n_deeper) s->n_deeper--;
}

static void ring_index_close_all(struct ring_state *s)
{
    s->n_open = s->n_deeper = 0;
    s->step = 0;
}

static void ring_index_widen(uint64_t *begin, uint64_t *end, uint64_t from, uint64_t to)
{
    if (from < *begin) *begin = from;
    if (to > *end) *end = to;
}

static void see_span(struct ring_summary *b, uint64_t from, uint64_t to)
{
    if (from && to && from <= to)
        ring_index_widen(&b->spans_begin_ticks, &b->spans_end_ticks, from, to);
}

/* Records that have two times, or whose value is one; true when it was one of them. */
static bool see_timed(struct ring_summary *b, const struct ring_record *r, uint64_t value)
{
    switch ((enum ring_kind)r->kind) {
    case RING_CALL:
        b->n_calls++;
        see_span(b, value, r->ticks);
        return true;
    case RING_WORK:
        b->n_work++;
        see_span(b, r->ticks, value);
        if (r->ticks && value > r->ticks) b->work_ticks += value - r->ticks;
        return true;
    case RING_OVERHEAD: see_span(b, r->ticks, value); return true;
    case RING_RANGE:
        b->n_ranges++;
        see_span(b, value, r->ticks);
        return true;
    case RING_STACK:
        b->n_stacks++;
        see_span(b, r->ticks, value);
        return true;
    case RING_MEMORY: see_span(b, r->ticks, r->ticks); return true;
    case RING_CLOCK:
        b->clock_ticks = r->ticks;
        b->clock_mono_ns = value;
        return true;
    case RING_DROPPED: b->n_dropped += value < UINT32_MAX ? value : 0; return true;
    case RING_WORK_BYTES:
    case RING_WORK_NODE:
    case RING_MEMORY_BYTES: return true;
    default: return false;
    }
}

static void ring_index_set_thread(struct ring_state *s, const struct ring_record *r,
                                  uint64_t thread)
{
    if (s->thread != thread) ring_index_close_all(s);
    s->thread = thread;
    if (r->name) s->thread_name = r->name;
}

/* Records in the order of the thread. */
static void see_ordered(struct ring_state *s, struct ring_summary *b, const struct ring_record *r,
                        uint64_t value, uint64_t number)
{
    if (r->ticks) ring_index_widen(&b->begin_ticks, &b->end_ticks, r->ticks, r->ticks);
    switch ((enum ring_kind)r->kind) {
    case RING_BEGIN:
        b->n_ranges++;
        ring_index_push(s, number, 0);
        break;
    case RING_TASK_BEGIN:
        b->n_ranges++;
        ring_index_push(s, number, value & UINT32_MAX);
        break;
    case RING_END: ring_index_pop(s, 0); break;
    case RING_TASK_END: ring_index_pop(s, value & UINT32_MAX); break;
    case RING_STEP:
        b->n_steps++;
        s->step = number + 1;
        break;
    case RING_PAUSE:
        b->n_pauses++;
        ring_index_close_all(s);
        break;
    case RING_INSTANT: b->n_marks++; break;
    case RING_STACK_OF: b->n_stacks++; break;
    case RING_THREAD: ring_index_set_thread(s, r, value); break;
    default: break;
    }
}

static void ring_index_start(const struct ring_state *s, uint64_t number, struct ring_summary *b)
{
    *b = (struct ring_summary){
        .number = number,
        .thread = s->thread,
        .thread_name = s->thread_name,
        .step = s->step,
        .n_open = s->n_open + s->n_deeper,
        .begin_ticks = UINT64_MAX,
        .spans_begin_ticks = UINT64_MAX,
    };
    for (uint32_t i = 0; i < s->n_open && i < RING_INDEX_OPEN; i++) b->open[i] = s->open[i].number;
}

void ring_summarize(struct ring_state *s, const struct ring_record *slots, uint32_t n,
                    uint64_t number, struct ring_summary *ret)
{
    uint64_t first = number * RING_BLOCK;
    uint16_t check = ring_check(first);
    ring_index_start(s, number, ret);
    for (uint32_t i = 0; i < n; i++) {
        const struct ring_record *r = &slots[i];
        if (r->check != check) ret->n_missing++;
        if (r->check != check || r->kind == RING_PAD || r->kind == RING_VALUE) continue;
        uint64_t value = 0;
        if (r->kind >= RING_WIDE) {
            if (i + 1 >= n || r[1].kind != RING_VALUE || r[1].check != check) continue;
            value = r[1].ticks;
        }
        if (!see_timed(ret, r, value)) see_ordered(s, ret, r, value, first + i);
    }
    ret->check = xxh64(ret, offsetof(struct ring_summary, check));
}

void ring_state_from(struct ring_state *s, const struct ring_summary *from)
{
    uint32_t known = from->n_open < RING_INDEX_OPEN ? from->n_open : RING_INDEX_OPEN;
    *s = (struct ring_state){
        .thread = from->thread, .thread_name = from->thread_name, .step = from->step};
    for (uint32_t i = 0; i < known; i++) s->open[i].number = from->open[i];
    s->n_open = known;
    s->n_deeper = from->n_open - known;
}

bool ring_summary_is(const struct ring_summary *s, uint64_t number)
{
    return s->number == number && s->check == xxh64(s, offsetof(struct ring_summary, check));
}
