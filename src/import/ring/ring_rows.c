/* ring_rows.c: see ring_set.h.
 *
 * Ranges of the thread itself nest and close in order: a stack. Ranges of tasks (coroutines that
 * take turns on the thread) close in any order: each carries an id and its parent's, and goes to a
 * lane of its own kind, the parent's if the parent is innermost there, else one that is free. */
#include "import/ring/ring_set.h"

#include <stdio.h>

#include "base/mem.h"
#include "base/vec.h"
#include "import/op_range.h"
#include "import/ring/ring_device.h"
#include "import/ring/ring_inputs.h"

enum {
    MOST_OPEN = 1 << 16,      /* ranges open at once on one thread */
    FREE_RANGES = UINT16_MAX, /* instead of the number of a lane */
};

struct open_range {
    int64_t ts_ns;
    uint64_t src;
    uint64_t task;             /* its id, tasks only */
    uint64_t module;           /* as in stack_span */
    uint32_t lane;             /* tasks only: which of the lanes for tasks, from 1 */
    struct ring_inputs inputs; /* operators only */
    str_id name;
    uint8_t cat;
    uint8_t kind; /* enum row_kind */
    uint8_t flags;
};

struct thread {
    struct batch *part;
    struct ring_process *p;
    uint32_t ring;
    struct batch_key pid, tid;
    struct open_range *open; /* of the thread itself, innermost last */
    size_t n_open, cap_open;
    struct open_range *tasks; /* in the order they began */
    size_t n_tasks, cap_tasks;
    uint32_t *lane_load; /* tasks open on each of their lanes */
    size_t n_lanes, cap_lanes;
    struct open_range step;
    bool in_step;
    size_t next_pause;
    int64_t now_ns;
    uint64_t n_missing;
    struct ring_device device;
};

int64_t ring_process_ns(const struct ring_process *p, uint64_t ticks)
{
    return (int64_t)tick_map_ns(&p->clock, ticks) + p->offset_ns;
}

bool ring_process_clip(const struct ring_process *p, int64_t *begin_ns, int64_t *end_ns)
{
    const struct ring_window *w = &p->window;
    if (*begin_ns >= w->end_ns || *end_ns < w->begin_ns) return false;
    if (*end_ns == w->begin_ns && *begin_ns < *end_ns) return false;
    if (*begin_ns < w->begin_ns) *begin_ns = w->begin_ns;
    if (*end_ns > w->end_ns) *end_ns = w->end_ns;
    return true;
}

static str_id ring_rows_intern(struct thread *t, uint32_t id)
{
    struct str s = proc_file_string(&t->p->proc, id);
    return s.n || !id ? intern_add(batch_strings(t->part), s)
                      : intern_add(batch_strings(t->part), str_c("(name lost)"));
}

static struct batch_key task_lane(struct thread *t, uint32_t lane)
{
    char text[64];
    if (lane == FREE_RANGES) snprintf(text, sizeof text, "%lld ranges", (long long)t->tid.number);
    else snprintf(text, sizeof text, "%lld tasks %u", (long long)t->tid.number, lane);
    return (struct batch_key){ID_NONE, intern_add(batch_strings(t->part), str_c(text))};
}

/* Python's functions are to be laid around what the thread did. */
static int note_span(struct thread *t, int64_t begin_ns, int64_t end_ns, bool called,
                     uint64_t module)
{
    struct stack_span span = {begin_ns, end_ns, t->tid.number, t->p->twin, called, module};
    if (!ring_process_clip(t->p, &span.begin_ns, &span.end_ns)) return 0;
    return t->p->stacks ? stack_rows_span(t->p->stacks, &span) : 0;
}

static int add_range(struct thread *t, const struct open_range *o, int64_t end_ns, uint8_t flags)
{
    int64_t begin_ns = o->ts_ns;
    if (end_ns < begin_ns) end_ns = begin_ns;
    if (t->p->only_ranges && o->kind == KIND_OP && !(flags & ROW_UNFINISHED)) return 0;
    if (o->name == STR_NONE || !ring_process_clip(t->p, &begin_ns, &end_ns)) return 0;
    if (!o->lane) TRY(note_span(t, begin_ns, end_ns, o->kind == KIND_OP, o->module));
    struct batch_row row = {
        .ts_ns = begin_ns,
        .dur_ns = end_ns - begin_ns,
        .name = o->name,
        .kind = o->kind,
        .cat = o->cat,
        .phase = 'X',
        .flags = flags | o->flags,
        .src = o->src,
        .pid = t->pid,
        .tid = o->lane ? task_lane(t, o->lane) : t->tid,
    };
    if (row.tid.number == ID_NONE && row.tid.text == STR_NONE) return ERR_NOMEM;
    struct op_info op;
    if (o->kind == KIND_OP && ring_inputs_known(&o->inputs)) {
        TRY(ring_inputs_fill(&o->inputs, &t->p->defs, batch_strings(t->part), &op));
        row.aux = &op;
    }
    return batch_add(t->part, &row);
}

static int end_step(struct thread *t, int64_t at_ns, uint8_t flags)
{
    if (!t->in_step) return 0;
    t->in_step = false;
    return add_range(t, &t->step, at_ns, flags);
}

static int note_error(struct thread *t, uint64_t src, uint16_t name)
{
    if (!name) return 0;
    uint32_t *slot = map_at(&t->p->error_at, src);
    if (!slot) return ERR_NOMEM;
    *slot = name;
    return 0;
}

/* Categories are the user's own words, but for those of our own recorders. */
static enum row_kind ring_rows_kind_of(struct str category)
{
    enum row_kind kind = cat_kind(category);
    if (kind == KIND_OP || kind == KIND_PYTHON) return kind;
    bool other = str_is(category, RING_LIBRARY) || str_is(category, RING_COLLECTIVE) ||
                 str_is(category, RING_LAUNCHED) || str_is(category, RING_HOST);
    return other ? KIND_OTHER : KIND_ANNOTATION;
}

static bool is_resumed(struct ring_record r)
{
    return (r.kind == RING_BEGIN || r.kind == RING_TASK_BEGIN) && r.type;
}

/* Ranges of XLA carry everything in one text. A compiled function that runs is a stage, as module
 * calls are. */
static int begin_library(struct thread *t, const struct ring_entry *e, struct open_range *ret)
{
    struct str name;
    enum xla_range what = xla_name(proc_file_string(&t->p->proc, e->r.name), &name);
    if (what == XLA_NONE) return 0;
    ret->name = intern_add(batch_strings(t->part), name);
    if (what == XLA_MODULE) {
        ret->cat = batch_cat(t->part, str_c(RING_DERIVED));
        ret->kind = KIND_ANNOTATION;
    }
    return ret->name == STR_NONE ? ERR_NOMEM : 0;
}

static int ring_rows_begin(struct thread *t, const struct ring_entry *e, struct open_range *ret)
{
    struct str category = proc_file_string(&t->p->proc, e->r.category);
    *ret = (struct open_range){
        .ts_ns = t->now_ns,
        .src = RING_SRC(t->ring, e->number),
        .name = ring_rows_intern(t, e->r.name),
        .cat = batch_cat(t->part, category.n ? category : str_c("user_annotation")),
        .kind = ring_rows_kind_of(category),
        .flags = (is_resumed(e->r) ? ROW_RESUMED : 0) | (category.n ? 0 : ROW_STAGE),
    };
    if (ret->name == STR_NONE) return ERR_NOMEM;
    if (str_is(category, RING_DERIVED))
        ret->module = module_token(proc_file_string(&t->p->proc, e->r.name));
    return str_is(category, RING_LIBRARY) ? begin_library(t, e, ret) : 0;
}

static int thread_begin(struct thread *t, const struct ring_entry *e)
{
    if (t->n_open >= MOST_OPEN || VEC_RESERVE(t->open, t->n_open, t->cap_open, 1))
        return t->n_open >= MOST_OPEN ? ERR_LIMIT : ERR_NOMEM;
    TRY(ring_rows_begin(t, e, &t->open[t->n_open]));
    t->n_open++;
    return 0;
}

static int thread_end(struct thread *t, const struct ring_entry *e)
{
    if (!t->n_open) {
        damage_note(batch_damage(t->part), DAMAGE_UNMATCHED_END, e->number);
        return 0;
    }
    struct open_range *o = &t->open[--t->n_open];
    TRY(note_error(t, o->src, e->r.name));
    return add_range(t, o, t->now_ns, e->r.name ? ROW_FAILED : 0);
}

static bool ring_rows_innermost(const struct thread *t, size_t task)
{
    for (size_t i = task + 1; i < t->n_tasks; i++)
        if (t->tasks[i].lane == t->tasks[task].lane) return false;
    return true;
}

/* The lane of the parent while it is innermost there, else the lowest that is free; 0 when out of
 * memory. */
static uint32_t choose_lane(struct thread *t, uint64_t parent)
{
    for (size_t i = t->n_tasks; parent && i-- > 0;)
        if (t->tasks[i].task == parent && ring_rows_innermost(t, i)) return t->tasks[i].lane;
    size_t lane = 0;
    while (lane < t->n_lanes && t->lane_load[lane]) lane++;
    if (lane == t->n_lanes) {
        if (VEC_RESERVE(t->lane_load, t->n_lanes, t->cap_lanes, 1)) return 0;
        t->lane_load[t->n_lanes++] = 0;
    }
    return (uint32_t)lane + 1;
}

static int task_begin(struct thread *t, const struct ring_entry *e)
{
    if (t->n_tasks >= MOST_OPEN || VEC_RESERVE(t->tasks, t->n_tasks, t->cap_tasks, 1))
        return t->n_tasks >= MOST_OPEN ? ERR_LIMIT : ERR_NOMEM;
    struct open_range *o = &t->tasks[t->n_tasks];
    TRY(ring_rows_begin(t, e, o));
    o->lane = choose_lane(t, e->value >> 32);
    if (!o->lane) return ERR_NOMEM;
    o->task = e->value & UINT32_MAX;
    t->lane_load[o->lane - 1]++;
    t->n_tasks++;
    return 0;
}

static int close_task(struct thread *t, size_t i, int64_t at_ns, uint8_t flags)
{
    struct open_range o = t->tasks[i];
    t->lane_load[o.lane - 1]--;
    t->n_tasks--;
    for (; i < t->n_tasks; i++) t->tasks[i] = t->tasks[i + 1];
    return add_range(t, &o, at_ns, flags);
}

static int task_end(struct thread *t, const struct ring_entry *e)
{
    for (size_t i = t->n_tasks; i-- > 0;) {
        if (t->tasks[i].task != e->value) continue;
        TRY(note_error(t, t->tasks[i].src, e->r.name));
        return close_task(t, i, t->now_ns, e->r.name ? ROW_FAILED : 0);
    }
    damage_note(batch_damage(t->part), DAMAGE_UNMATCHED_END, e->number);
    return 0;
}

static int ring_rows_close_all(struct thread *t, int64_t at_ns, uint8_t flags)
{
    while (t->n_open) TRY(add_range(t, &t->open[--t->n_open], at_ns, flags));
    while (t->n_tasks) TRY(close_task(t, t->n_tasks - 1, at_ns, flags));
    return end_step(t, at_ns, flags);
}

static int add_point(struct thread *t, const struct ring_entry *e, enum row_kind kind, char phase)
{
    struct str category = proc_file_string(&t->p->proc, e->r.category);
    if (!ring_process_shows(t->p, t->now_ns)) return 0;
    bool of_process = str_is(proc_file_string(&t->p->proc, e->r.name), RING_RESIDENT);
    struct batch_row row = {
        .ts_ns = t->now_ns,
        .name = ring_rows_intern(t, e->r.name),
        .kind = kind,
        .cat = batch_cat(t->part, category.n ? category : str_c(kind_name(kind))),
        .phase = phase,
        .src = RING_SRC(t->ring, e->number),
        .pid = t->pid,
        .tid = of_process ? t->pid : t->tid, /* whichever thread has looked */
    };
    return batch_add(t->part, &row);
}

static int begin_step(struct thread *t, const struct ring_entry *e)
{
    TRY(end_step(t, t->now_ns, 0));
    TRY(ring_rows_begin(t, e, &t->step));
    char name[40];
    snprintf(name, sizeof name, "ProfilerStep#%llu", (unsigned long long)e->value);
    t->step.name = intern_add(batch_strings(t->part), str_c(name));
    t->in_step = true;
    return t->step.name == STR_NONE ? ERR_NOMEM : 0;
}

static int ring_rows_set_thread(struct thread *t, const struct ring_entry *e)
{
    /* Another thread took the ring over: the one before ended with these still open. */
    if (t->tid.number != (int64_t)e->value) TRY(ring_rows_close_all(t, t->now_ns, ROW_UNFINISHED));
    t->tid = (struct batch_key){(int64_t)e->value, 0};
    if (!e->r.name) return 0;
    return batch_add_label(t->part, LABEL_THREAD_NAME, t->pid, t->tid,
                           ring_rows_intern(t, e->r.name), 0);
}

static int add_stack(struct thread *t, const struct ring_entry *e)
{
    struct stack_seen seen = {
        .begin_ns = t->now_ns,
        .end_ns = t->now_ns,
        .src = RING_SRC(t->ring, e->number),
        .tid = t->tid.number,
        .process = t->p->twin,
        .stack = ring_id(e->r),
        .defs = t->p->number,
    };
    if (e->r.kind == RING_STACK) {
        seen.end_ns = ring_process_ns(t->p, e->value);
        seen.exact = true;
    } else {
        seen.tid = (int64_t)e->value;
    }
    if (!ring_process_clip(t->p, &seen.begin_ns, &seen.end_ns)) return 0;
    return t->p->stacks ? stack_rows_see(t->p->stacks, &seen) : 0;
}

/* A range that may have begun on another thread stands on a lane of its own. */
static int add_free_range(struct thread *t, const struct ring_entry *e)
{
    struct open_range o;
    TRY(ring_rows_begin(t, e, &o));
    o.ts_ns = ring_process_ns(t->p, e->value);
    o.lane = FREE_RANGES;
    return add_range(t, &o, t->now_ns, 0);
}

static int ring_rows_add_record(struct thread *t, const struct ring_entry *e)
{
    switch ((enum ring_kind)e->r.kind) {
    case RING_BEGIN: return thread_begin(t, e);
    case RING_END: return thread_end(t, e);
    case RING_TASK_BEGIN: return task_begin(t, e);
    case RING_TASK_END: return task_end(t, e);
    case RING_INSTANT: return add_point(t, e, KIND_INSTANT, 'i');
    case RING_COUNTER: return add_point(t, e, KIND_COUNTER, 'C');
    case RING_STEP: return begin_step(t, e);
    case RING_THREAD: return ring_rows_set_thread(t, e);
    case RING_STACK:
    case RING_STACK_OF: return add_stack(t, e);
    case RING_RANGE: return add_free_range(t, e);
    case RING_SHAPES:
        if (t->n_open) t->open[t->n_open - 1].inputs = ring_inputs_of(e);
        return 0;
    default: return 0; /* clocks, args, pauses; or newer than we are */
    }
}

/* Ranges that were open when the process paused end there, on every thread. */
static int pass_pauses(struct thread *t)
{
    const struct ring_process *p = t->p;
    for (; t->next_pause < p->n_pauses && p->pauses_ns[t->next_pause] <= t->now_ns; t->next_pause++)
        TRY(ring_rows_close_all(t, p->pauses_ns[t->next_pause], 0));
    return 0;
}

static int add_entry(struct thread *t, const struct ring_entry *e)
{
    if (e->r.kind == RING_CLOCK) return 0; /* noted just after the record that follows it */
    if (t->p->only_ranges && e->r.kind >= RING_CALL && e->r.kind <= RING_STACK_OF) return 0;
    if (e->r.kind == RING_CALL)
        TRY(note_span(t, ring_process_ns(t->p, e->value), ring_process_ns(t->p, e->r.ticks), true,
                      0));
    if (ring_device_takes(e->r.kind)) return ring_device_add(&t->device, e, t->tid);
    t->now_ns = ring_process_ns(t->p, e->r.ticks);
    TRY(pass_pauses(t));
    return ring_rows_add_record(t, e);
}

static int ring_rows_add_records(struct thread *t, struct ring_cursor *c)
{
    struct ring_entry e;
    while (ring_cursor_next(c, &e)) TRY(add_entry(t, &e));
    return 0;
}

/* After the last record: what is still open ends with the process, or goes on beyond the window. */
static int end_records(struct thread *t)
{
    bool beyond = t->p->window.end_ns < t->p->end_ns;
    TRY(ring_device_end(&t->device));
    t->now_ns = beyond ? t->p->window.end_ns : t->p->end_ns;
    TRY(pass_pauses(t));
    return ring_rows_close_all(t, t->now_ns, beyond ? 0 : ROW_UNFINISHED);
}

/* A range that was open and is not known by name any more; its end will come. */
static int begin_unknown(struct thread *t)
{
    if (VEC_RESERVE(t->open, t->n_open, t->cap_open, 1)) return ERR_NOMEM;
    t->open[t->n_open++] = (struct open_range){.name = STR_NONE};
    return 0;
}

/* Record number `i` once more: it began something that is still open. */
static int begin_again(struct thread *t, const struct ring_file *f, uint64_t i)
{
    struct ring_cursor c;
    struct ring_entry e;
    ring_cursor_init(&c, f, i);
    bool found = i < f->n_written && ring_cursor_next(&c, &e) && e.number == i;
    bool begins =
        found && (e.r.kind == RING_BEGIN || e.r.kind == RING_TASK_BEGIN || e.r.kind == RING_STEP);
    return begins ? add_entry(t, &e) : begin_unknown(t);
}

/* As things stood at the begin of a block. */
static int ring_rows_restore(struct thread *t, const struct ring_file *f,
                             const struct ring_summary *s)
{
    struct ring_entry thread = {.r.name = (uint16_t)s->thread_name, .value = s->thread};
    t->n_open = t->n_tasks = 0;
    t->in_step = false;
    for (size_t i = 0; i < t->n_lanes; i++) t->lane_load[i] = 0;
    if (s->thread) TRY(ring_rows_set_thread(t, &thread));
    if (s->step) TRY(begin_again(t, f, s->step - 1));
    for (uint32_t i = 0; i < s->n_open && i < RING_INDEX_OPEN; i++)
        TRY(begin_again(t, f, s->open[i]));
    for (uint32_t i = RING_INDEX_OPEN; i < s->n_open && i < MOST_OPEN; i++) TRY(begin_unknown(t));
    return 0;
}

/* Blocks [*ret_from, *ret_to) whose records in the order of the thread the window needs: from the
 * last that begins before it. */
static void find_ordered(const struct ring_process *p, const struct ring_blocks *b,
                         size_t *ret_from, size_t *ret_to)
{
    *ret_from = *ret_to = 0;
    bool any = false;
    for (size_t i = 0; i < b->n; i++) {
        const struct ring_summary *s = &b->list[i];
        if (s->begin_ticks > s->end_ticks) continue;
        int64_t ns = ring_process_ns(p, s->begin_ticks);
        if (ns >= p->window.end_ns) continue;
        if (!any || ns <= p->window.begin_ns) *ret_from = i;
        *ret_to = i + 1;
        any = true;
    }
}

static bool has_spans(const struct ring_process *p, const struct ring_summary *s)
{
    return s->spans_begin_ticks <= s->spans_end_ticks &&
           ring_process_ns(p, s->spans_begin_ticks) < p->window.end_ns &&
           ring_process_ns(p, s->spans_end_ticks) >= p->window.begin_ns;
}

static bool is_needed(const struct ring_process *p, const struct ring_summary *s, bool ordered)
{
    return (ordered && s->begin_ticks <= s->end_ticks) || has_spans(p, s);
}

uint64_t ring_rows_count(const struct ring_process *p, const struct ring_blocks *b)
{
    size_t from, to;
    uint64_t n = 0;
    find_ordered(p, b, &from, &to);
    for (size_t i = 0; i < b->n; i++) n += is_needed(p, &b->list[i], i >= from && i < to);
    return n;
}

bool ring_rows_agree(const struct ring_process *p, const struct ring_blocks *b,
                     const struct ring_file *f)
{
    size_t from, to;
    find_ordered(p, b, &from, &to);
    for (size_t i = 0; i < b->n; i++)
        if (is_needed(p, &b->list[i], i >= from && i < to) && !ring_blocks_agree(b, f, i))
            return false;
    return true;
}

static bool ring_rows_is_span(enum ring_kind kind)
{
    return ring_device_takes(kind) || kind == RING_STACK || kind == RING_RANGE;
}

/* Of blocks from before or after: spans that reach into the window, which were written late. */
static int add_spans(struct thread *t, const struct ring_source *from, size_t i)
{
    struct ring_cursor c;
    struct ring_entry e;
    const struct ring_summary *s = &from->blocks->list[i];
    t->tid = (struct batch_key){(int64_t)s->thread, 0};
    ring_cursor_block(&c, from->file, s->number);
    while (ring_cursor_next(&c, &e)) {
        if (e.r.kind == RING_THREAD) t->tid = (struct batch_key){(int64_t)e.value, 0};
        if (!ring_rows_is_span(e.r.kind)) continue;
        size_t pause = t->next_pause;
        TRY(add_entry(t, &e));
        t->next_pause = pause;
    }
    return ring_device_end(&t->device);
}

static int add_ordered(struct thread *t, const struct ring_source *from, size_t begin, size_t end)
{
    struct ring_cursor c;
    if (begin < end) TRY(ring_rows_restore(t, from->file, &from->blocks->list[begin]));
    for (size_t i = begin; i < end; i++) {
        if (!is_needed(t->p, &from->blocks->list[i], true)) continue;
        ring_cursor_block(&c, from->file, from->blocks->list[i].number);
        TRY(ring_rows_add_records(t, &c));
    }
    return end_records(t);
}

static int add_window(struct thread *t, const struct ring_source *from)
{
    const struct ring_blocks *b = from->blocks;
    size_t begin, end;
    find_ordered(t->p, b, &begin, &end);
    TRY(add_ordered(t, from, begin, end));
    for (size_t i = 0; i < b->n; i++)
        if ((i < begin || i >= end) && has_spans(t->p, &b->list[i])) TRY(add_spans(t, from, i));
    return 0;
}

static int ring_rows_add_whole(struct thread *t, const struct ring_source *from)
{
    struct ring_cursor c;
    ring_cursor_init(&c, from->file, 0);
    TRY(ring_rows_add_records(t, &c));
    t->n_missing = c.n_missing;
    return end_records(t);
}

/* What is known to be missing; in blocks that are not read, by their summaries. */
static uint64_t count_lost(const struct thread *t, const struct ring_source *from)
{
    const struct ring_file *f = from->file;
    uint64_t missing = t->n_missing, dropped = from->blocks ? 0 : t->device.n_dropped;
    for (size_t i = 0; from->blocks && i < from->blocks->n; i++) {
        missing += from->blocks->list[i].n_missing;
        dropped += from->blocks->list[i].n_dropped;
    }
    missing += f->first;
    /* A snapshot has no losses of its own: what was overwritten, before it was taken or meanwhile,
     * is not missing. */
    if (f->n_overwritten && !f->n_lost) missing = f->first - f->n_overwritten;
    return (missing > f->n_lost ? missing : f->n_lost) + dropped;
}

int ring_rows_add(struct batch *part, struct ring_process *p, const struct ring_source *from)
{
    struct thread t = {.part = part, .p = p, .ring = from->number, .pid = p->pid, .tid = {0, 0}};
    if (p->pid_text) t.pid.text = intern_add(batch_strings(part), str_c(p->pid_text));
    int rc = p->pid_text && t.pid.text == STR_NONE ? ERR_NOMEM : 0;
    if (rc == 0) rc = ring_device_init(&t.device, part, p, from->number);
    if (rc == 0) rc = from->blocks ? add_window(&t, from) : ring_rows_add_whole(&t, from);
    p->n_lost += count_lost(&t, from);
    mem_free(t.open);
    mem_free(t.tasks);
    mem_free(t.lane_load);
    ring_device_done(&t.device);
    return rc;
}
