/* cut.c: see cut.h. The rows that stay go through a builder again: nesting and links follow from
 * them, and are made in one place only. */
#include "trace/cut.h"

#include "format/ring.h"
#include "trace/build.h"

struct cutting {
    const struct trace *t;
    struct batch *part;
    uint8_t cats[256]; /* of the part, by category of the trace */
    int64_t begin_ns, end_ns;
    const struct span_set *out;  /* time that is taken out, or NULL */
    const struct span_set *in;   /* threads during this time are all that is kept, or NULL */
    bool launched;               /* ... with the work that they launched then */
    const struct span_set *drop; /* what threads began and ended then, and launched, is left out */
    bool by_launch;              /* work of devices goes with its launch */
};

/* The part's strings are the trace's, with the same ids. A file may hold a string twice: what it
 * does not use is written as "". */
static int copy_strings(struct cutting *c)
{
    for (str_id id = 1; id < c->t->strings.n; id++)
        if (intern_append(batch_strings(c->part), trace_str(c->t, id)) != id) return ERR_NOMEM;
    for (uint32_t i = 0; i < c->t->n_cats && i < 256; i++)
        c->cats[i] = batch_cat(c->part, trace_str(c->t, c->t->cats[i]));
    return 0;
}

static struct batch_key pid_of(const struct process *p)
{
    return (struct batch_key){p->pid, p->pid_text};
}

static struct batch_key tid_of(const struct lane *l)
{
    return (struct batch_key){l->tid, l->tid_text};
}

static int copy_labels(struct cutting *c)
{
    static const struct batch_key nobody = {0};
    for (uint32_t i = 0; i < c->t->n_processes; i++) {
        const struct process *p = &c->t->processes[i];
        struct batch_key pid = pid_of(p);
        TRY(batch_add_label(c->part, LABEL_PROCESS_NAME, pid, nobody, p->name, 0));
        TRY(batch_add_label(c->part, LABEL_PROCESS_LABELS, pid, nobody, p->labels, 0));
        TRY(batch_add_label(c->part, LABEL_PROCESS_SORT, pid, nobody, 0, p->sort_index));
    }
    for (uint32_t i = 0; i < c->t->n_lanes; i++) {
        const struct lane *l = &c->t->lanes[i];
        struct batch_key pid = pid_of(&c->t->processes[l->process]);
        TRY(batch_add_label(c->part, LABEL_THREAD_NAME, pid, tid_of(l), l->name, 0));
        TRY(batch_add_label(c->part, LABEL_THREAD_SORT, pid, tid_of(l), 0, l->sort_index));
    }
    return 0;
}

/* The entry of row `r` in its side table, without the links; a call needs room for that. */
static const void *aux_of(const struct trace *t, row_t r, struct call_info *call)
{
    if (t->aux[r] == UINT32_MAX) return NULL;
    switch (kind_table((enum row_kind)t->kind[r])) {
    case TABLE_OP: return trace_op(t, r);
    case TABLE_CALL:
        *call = *trace_call(t, r);
        call->first_gpu = call->n_gpu = 0;
        return call;
    case TABLE_GPU: return trace_gpu(t, r);
    case TABLE_PY: return trace_py(t, r);
    case TABLE_MEM: return trace_mem(t, r);
    case TABLE_ASYNC: return trace_async(t, r);
    case TABLE_NONE: break;
    }
    return NULL;
}

bool trace_cut_is_deep_end(const struct trace *t, row_t r)
{
    return t->phase[r] == 'i' && str_is(trace_name(t, r), RING_DEPTH_ENDS);
}

/* Of the recorder, not of the program: they stay where the time around them is taken out. */
static bool cut_is_mark(const struct trace *t, row_t r)
{
    struct str name = trace_name(t, r);
    return t->phase[r] == 'i' &&
           (str_is(name, RING_DEPTH_ENDS) || str_starts(name, RING_SNAPSHOT) ||
            str_is(name, RECORDED_PART_BEGINS) || str_is(name, RECORDED_PART_ENDS));
}

/* The span that row `r` has in the part; false when it has none. */
static bool span_in_part(const struct cutting *c, row_t r, int64_t *ret_ts, int64_t *ret_dur)
{
    const struct trace *t = c->t;
    enum lane_kind lane = t->lanes[t->lane[r]].kind;
    int64_t ts = t->ts_ns[r], end = trace_end_ns(t, r);
    bool cut = lane != LANE_STREAM && lane != LANE_GPU_NOTE;
    if (t->kind[r] == KIND_MEMORY && ts < c->begin_ns) ts = end = c->begin_ns;
    bool mark = (c->drop || c->by_launch) && cut_is_mark(t, r); /* also before the first span */
    *ret_ts = ts;
    *ret_dur = end - ts;
    if (mark) return true;
    if (ts >= c->end_ns || (ts < c->begin_ns && (!cut || end <= c->begin_ns))) return false;
    if (ts < c->begin_ns) ts = c->begin_ns;
    if (cut && end > c->end_ns) end = c->end_ns;
    *ret_ts = ts;
    *ret_dur = end - ts;
    return true;
}

/* The moment `ns` after time was taken out: later by as much as is taken out behind it. */
static int64_t cut_moved(const struct cutting *c, int64_t ns)
{
    return ns + span_set_ns(c->out, (struct span){ns, c->end_ns});
}

static bool cut_is_out(const struct cutting *c, int64_t ns)
{
    return span_set_ns(c->out, (struct span){ns, ns + 1}) > 0;
}

/* Moves work of a device with its launch; false where that is taken out. */
static bool cut_move_work(const struct cutting *c, row_t r, int64_t *ts)
{
    row_t launch = trace_launch_of(c->t, r);
    int64_t from = launch == ROW_NONE ? *ts : c->t->ts_ns[launch];
    *ts += cut_moved(c, from) - from;
    return !cut_is_out(c, from);
}

/* Takes time out of the span of row `r`; false when nothing of it is left. */
static bool cut_take_out(const struct cutting *c, row_t r, int64_t *ts, int64_t *dur)
{
    const struct trace *t = c->t;
    uint32_t n = 0;
    if (c->by_launch && t->lanes[t->lane[r]].kind == LANE_STREAM) return cut_move_work(c, r, ts);
    int64_t end = cut_moved(c, *ts + *dur), begin = cut_moved(c, *ts);
    bool inside = span_set_ns(c->out, (struct span){*ts, *ts + (*dur ? *dur : 1)}) > 0;
    bool launches = !c->by_launch && trace_call(t, r) && trace_launched(t, r, &n) && n > 0;
    *ts = begin - (launches && inside && end == begin); /* in what is open, which may end there */
    *dur = end - begin;
    bool stays = launches || t->kind[r] == KIND_MEMORY || cut_is_mark(t, r);
    return *dur > 0 || !inside || stays;
}

/* The time in which a thread did row `r`, or launched it; of no length where that is not known. */
static struct span cut_done_in(const struct trace *t, row_t r)
{
    if (t->lanes[t->lane[r]].kind != LANE_THREAD) r = trace_launch_of(t, r);
    if (r == ROW_NONE) return (struct span){0, 0};
    return (struct span){t->ts_ns[r], t->ts_ns[r] + (t->dur_ns[r] ? t->dur_ns[r] : 1)};
}

static bool cut_drops(const struct cutting *c, row_t r)
{
    if (!c->drop || c->t->kind[r] == KIND_MEMORY || cut_is_mark(c->t, r)) return false;
    struct span s = cut_done_in(c->t, r);
    return span_ns(s) > 0 && span_set_ns(c->drop, s) == span_ns(s);
}

/* Whether the row is all or in part of what is kept. */
static bool cut_keeps(const struct cutting *c, row_t r)
{
    const struct trace *t = c->t;
    if (!c->in) return !cut_drops(c, r);
    if (!c->launched && t->lanes[t->lane[r]].kind != LANE_THREAD) return false;
    return span_set_ns(c->in, cut_done_in(t, r)) > 0;
}

static int copy_rows(struct cutting *c)
{
    const struct trace *t = c->t;
    for (row_t r = 0; r < t->n_rows; r++) {
        int64_t ts, dur;
        if (!cut_keeps(c, r) || !span_in_part(c, r, &ts, &dur)) continue;
        if (c->out && !cut_take_out(c, r, &ts, &dur)) continue;
        const struct lane *l = &t->lanes[t->lane[r]];
        struct call_info call;
        struct batch_row row = {
            .ts_ns = ts,
            .dur_ns = dur,
            .name = t->name[r],
            .kind = (enum row_kind)t->kind[r],
            .cat = c->cats[t->cat[r]],
            .phase = t->phase[r],
            .flags = t->flags[r] & (uint8_t)~ROW_CROSSES,
            .src = t->src[r],
            .pid = pid_of(&t->processes[l->process]),
            .tid = tid_of(l),
            .on_device = l->kind == LANE_STREAM,
            .aux = aux_of(t, r, &call),
        };
        TRY(batch_add(c->part, &row));
    }
    return 0;
}

static int copy_part(struct cutting *c)
{
    TRY(copy_strings(c));
    TRY(copy_labels(c));
    return copy_rows(c);
}

static int copy_facts(struct builder *b, const struct trace *t)
{
    for (uint32_t i = 0; i < t->n_metas; i++)
        TRY(builder_add_meta(b, trace_str(t, t->metas[i].key), trace_str(t, t->metas[i].value)));
    for (uint32_t i = 0; i < t->n_devices; i++) {
        struct device d = t->devices[i];
        d.name = builder_intern(b, trace_str(t, d.name));
        if (d.name == STR_NONE) return ERR_NOMEM;
        TRY(builder_add_device(b, &d));
    }
    return 0;
}

/* What a trace owns and the part goes on using. */
static void cut_hand_over(struct trace *from, struct trace *to)
{
    to->path = from->path;
    to->args = from->args;
    to->mapping = from->mapping; /* args may lie in it */
    from->path = NULL;
    from->args = NULL;
    from->mapping = (struct file_map){0};
    to->format = from->format;
    to->without_bytes = from->without_bytes;
    to->has_source = from->has_source;
    to->base_ns = from->base_ns;
    to->source_bytes = from->source_bytes;
    to->damage = from->damage;
    to->captures = from->captures;
    to->deep = from->deep;
    from->captures = from->deep = NULL;
    bool again = from->part.whole_end_ns > from->part.whole_begin_ns; /* a part of a part */
    to->part =
        (struct trace_part){.whole_begin_ns = again ? from->part.whole_begin_ns : from->begin_ns,
                            .whole_end_ns = again ? from->part.whole_end_ns : from->end_ns,
                            .n_records = from->part.n_records,
                            .rests = from->part.rests,
                            .name = STR_NONE};
}

int trace_cut(struct trace **t, int64_t begin_ns, int64_t end_ns, struct err *e)
{
    return trace_cut_without(t, (struct span){begin_ns, end_ns}, NULL, e);
}

/* The rows that stay, as a trace. */
static int cut_build(struct cutting *c, struct trace **ret, struct err *e)
{
    struct builder *b = builder_new(e);
    if (!b) return ERR_NOMEM;
    c->part = batch_new();
    int rc = c->part ? copy_part(c) : ERR_NOMEM;
    if (rc == 0) rc = builder_copy_part(b, c->part, e);
    if (rc == 0) rc = copy_facts(b, c->t);
    batch_free(c->part);
    if (rc < 0) {
        builder_free(b);
        return err_grow(e, rc);
    }
    return builder_freeze(b, 1, ret, e);
}

static int cut_replace(struct trace **t, struct cutting *c, struct err *e)
{
    struct trace *ret = NULL;
    TRY(cut_build(c, &ret, e));
    cut_hand_over(*t, ret);
    trace_free(*t);
    *t = ret;
    return 0;
}

int trace_cut_without(struct trace **t, struct span window, const struct span_set *out,
                      struct err *e)
{
    struct cutting c = {.t = *t, .begin_ns = window.begin_ns, .end_ns = window.end_ns, .out = out};
    return cut_replace(t, &c, e);
}

int trace_cut_launched(struct trace **t, const struct span_set *out, struct err *e)
{
    struct trace_part before = (*t)->part;
    struct cutting c = {
        .t = *t, .begin_ns = (*t)->begin_ns, .end_ns = (*t)->end_ns + 1, .out = out, .drop = out};
    TRY(cut_replace(t, &c, e));
    (*t)->part = before;
    return 0;
}

int trace_copy_launched(const struct trace *t, const struct span_set *in, struct trace **ret,
                        struct err *e)
{
    struct cutting c = {
        .t = t, .begin_ns = t->begin_ns, .end_ns = t->end_ns + 1, .in = in, .launched = true};
    return cut_build(&c, ret, e);
}

/* Not a part: all that was recorded. */
int trace_splice(struct trace **t, const struct span_set *out, struct err *e)
{
    bool part = (*t)->part.whole_end_ns > (*t)->part.whole_begin_ns;
    struct cutting c = {.t = *t,
                        .begin_ns = (*t)->begin_ns,
                        .end_ns = (*t)->end_ns + 1,
                        .out = out,
                        .by_launch = true};
    TRY(cut_replace(t, &c, e));
    if (!part) (*t)->part.whole_begin_ns = (*t)->part.whole_end_ns = 0;
    return 0;
}

int trace_copy_threads(const struct trace *t, const struct span_set *in, struct trace **ret,
                       struct err *e)
{
    struct cutting c = {.t = t, .begin_ns = t->begin_ns, .end_ns = t->end_ns + 1, .in = in};
    return cut_build(&c, ret, e);
}
