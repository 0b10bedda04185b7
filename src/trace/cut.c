/* cut.c: see cut.h. The rows that stay go through a builder again: nesting and links follow from
 * them, and are made in one place only. */
#include "trace/cut.h"

#include "trace/build.h"

struct cutting {
    const struct trace *t;
    struct part *part;
    uint8_t cats[256]; /* of the part, by category of the trace */
    int64_t begin_ns, end_ns;
};

/* The part's strings are the trace's, with the same ids. A file may hold a string twice: what it
 * does not use is written as "". */
static int copy_strings(struct cutting *c)
{
    for (str_id id = 1; id < c->t->strings.n; id++)
        if (intern_append(part_strings(c->part), trace_str(c->t, id)) != id) return ERR_NOMEM;
    for (uint32_t i = 0; i < c->t->n_cats && i < 256; i++)
        c->cats[i] = part_cat(c->part, trace_str(c->t, c->t->cats[i]));
    return 0;
}

static struct part_key pid_of(const struct process *p)
{
    return (struct part_key){p->pid, p->pid_text};
}

static struct part_key tid_of(const struct lane *l)
{
    return (struct part_key){l->tid, l->tid_text};
}

static int copy_labels(struct cutting *c)
{
    static const struct part_key nobody = {0};
    for (uint32_t i = 0; i < c->t->n_processes; i++) {
        const struct process *p = &c->t->processes[i];
        struct part_key pid = pid_of(p);
        TRY(part_add_label(c->part, LABEL_PROCESS_NAME, pid, nobody, p->name, 0));
        TRY(part_add_label(c->part, LABEL_PROCESS_LABELS, pid, nobody, p->labels, 0));
        TRY(part_add_label(c->part, LABEL_PROCESS_SORT, pid, nobody, 0, p->sort_index));
    }
    for (uint32_t i = 0; i < c->t->n_lanes; i++) {
        const struct lane *l = &c->t->lanes[i];
        struct part_key pid = pid_of(&c->t->processes[l->process]);
        TRY(part_add_label(c->part, LABEL_THREAD_NAME, pid, tid_of(l), l->name, 0));
        TRY(part_add_label(c->part, LABEL_THREAD_SORT, pid, tid_of(l), 0, l->sort_index));
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

/* The span that row `r` has in the part; false when it has none. */
static bool span_in_part(const struct cutting *c, row_t r, int64_t *ret_ts, int64_t *ret_dur)
{
    const struct trace *t = c->t;
    enum lane_kind lane = t->lanes[t->lane[r]].kind;
    int64_t ts = t->ts_ns[r], end = trace_end_ns(t, r);
    bool cut = lane != LANE_STREAM && lane != LANE_GPU_NOTE;
    if (t->kind[r] == KIND_MEMORY && ts < c->begin_ns) ts = end = c->begin_ns;
    if (ts >= c->end_ns || (ts < c->begin_ns && (!cut || end <= c->begin_ns))) return false;
    if (ts < c->begin_ns) ts = c->begin_ns;
    if (cut && end > c->end_ns) end = c->end_ns;
    *ret_ts = ts;
    *ret_dur = end - ts;
    return true;
}

static int copy_rows(struct cutting *c)
{
    const struct trace *t = c->t;
    for (row_t r = 0; r < t->n_rows; r++) {
        int64_t ts, dur;
        if (!span_in_part(c, r, &ts, &dur)) continue;
        const struct lane *l = &t->lanes[t->lane[r]];
        struct call_info call;
        struct part_row row = {
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
        TRY(part_add(c->part, &row));
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
static void hand_over(struct trace *from, struct trace *to)
{
    to->path = from->path;
    to->args = from->args;
    to->mapping = from->mapping; /* args may lie in it */
    from->path = NULL;
    from->args = NULL;
    from->mapping = (struct file_map){0};
    to->format = from->format;
    to->base_ns = from->base_ns;
    to->source_bytes = from->source_bytes;
    to->damage = from->damage;
    bool again = from->part.whole_end_ns > from->part.whole_begin_ns; /* a part of a part */
    to->part =
        (struct trace_part){.whole_begin_ns = again ? from->part.whole_begin_ns : from->begin_ns,
                            .whole_end_ns = again ? from->part.whole_end_ns : from->end_ns,
                            .n_records = from->part.n_records,
                            .name = STR_NONE};
}

int trace_cut(struct trace **t, int64_t begin_ns, int64_t end_ns, struct err *e)
{
    struct trace *ret = NULL;
    struct builder *b = builder_new(e);
    if (!b) return ERR_NOMEM;
    struct cutting c = {.t = *t, .part = part_new(), .begin_ns = begin_ns, .end_ns = end_ns};
    int rc = c.part ? copy_part(&c) : ERR_NOMEM;
    if (rc == 0) rc = builder_copy_part(b, c.part, e);
    if (rc == 0) rc = copy_facts(b, *t);
    part_free(c.part);
    if (rc < 0) {
        builder_free(b);
        return err_grow(e, rc);
    }
    TRY(builder_freeze(b, 1, &ret, e));
    hand_over(*t, ret);
    trace_free(*t);
    *t = ret;
    return 0;
}
