/* host_uploads.c: see host_uploads.h. */
#include "analyze/findings/host_uploads.h"

#include "analyze/findings/findings_constants.h"
#include "analyze/gaps/launch_delay.h"
#include "analyze/names/copy.h"
#include "analyze/names/host_cause.h"
#include "analyze/names/number_type.h"
#include "analyze/names/shapes.h"
#include "analyze/names/view_op.h"
#include "analyze/ops/op_work.h"

/* Inputs of an operator that count. */
#define MOST_INPUTS 8

/* The operators of a thread before an upload, back to the call before. */
struct host_upload {
    const struct context *cx;
    row_t work;       /* the copy */
    row_t around;     /* the outermost operator that makes it */
    row_t begin, end; /* rows of the thread in that time */
    int64_t call_ns;  /* when the upload is called */
    int64_t return_ns;
    struct shape made;
    row_t first, longest; /* operators that compute; ROW_NONE where there is none */
    int64_t ns;           /* of all that compute */
    uint32_t n;
    double bytes;      /* that are inputs of these, and nothing that they have made */
    double made_bytes; /* that they have made, and read again */
    double device_ns;  /* that they would take on the GPU */
};

/* ---- texts of operators ---- */

static struct str host_uploads_text(const struct trace *t, str_id id)
{
    return id == STR_NONE ? str_c("") : trace_str(t, id);
}

static bool host_uploads_mentions(const struct trace *t, row_t r, const struct shape *s)
{
    const struct op_info *op = t->kind[r] == KIND_OP ? trace_op(t, r) : NULL;
    return op && (shape_is_in(host_uploads_text(t, op->dims), s) ||
                  shape_is_in(host_uploads_text(t, op->concrete), s));
}

/* The shape of what is uploaded, from the innermost operator around the call; false where that is
 * not known, or a number. */
static bool host_uploads_shape(const struct trace *t, row_t call, struct shape *ret)
{
    row_t op = trace_up(t, call, KIND_OP);
    const struct op_info *info = op == ROW_NONE ? NULL : trace_op(t, op);
    if (!info || info->dims == STR_NONE) return false;
    return shape_read(trace_str(t, info->dims), 0, ret) && ret->rank > 0;
}

/* Operators that pick rows out of a table, which stays where it is. */
static bool host_uploads_looks_up(struct str name)
{
    static const char *const names[] = {"aten::embedding", "aten::index_select",   "aten::index",
                                        "aten::gather",    "aten::take_along_dim", NULL};
    for (const char *const *n = names; *n; n++)
        if (str_is(name, *n)) return true;
    return false;
}

/* ---- what would be uploaded instead ---- */

/* Whether operators since the first one that computes have made a tensor of that shape. */
static bool host_uploads_is_made(const struct host_upload *u, row_t op, const struct shape *s)
{
    for (row_t r = u->first; r < op; r++)
        if (host_uploads_mentions(u->cx->t, r, s)) return true;
    return false;
}

/* Counts the bytes of the inputs of an operator: of those that none before it has made, and of the
 * others. */
static void host_uploads_inputs(struct host_upload *u, row_t r)
{
    const struct trace *t = u->cx->t;
    const struct op_info *op = trace_op(t, r);
    struct str dims = host_uploads_text(t, op ? op->dims : STR_NONE);
    struct str types = host_uploads_text(t, op ? op->types : STR_NONE);
    for (int i = host_uploads_looks_up(trace_name(t, r)); i < MOST_INPUTS; i++) {
        struct shape s;
        if (!shape_is_tensor(types, dims, i) || !shape_read(dims, i, &s)) continue;
        bool made = u->first != r && host_uploads_is_made(u, r, &s);
        struct str type = shape_text(types, i);
        double each = type.p ? number_bytes(number_type_of(type)) : 0;
        *(made ? &u->made_bytes : &u->bytes) += shape_elements(&s) * (each > 0 ? each : 4);
    }
}

/* How long an operator takes on the GPU: what it moves, at the rate of the memory. */
static double host_uploads_device_ns(const struct host_upload *u, row_t r)
{
    struct op_work w;
    double bytes = op_work_of(u->cx->t, r, &w) ? w.read + w.written : 0;
    double ns = roofline_ns(&roofline_of(u->cx)->ceilings, PRECISIONS, 0, bytes);
    return ns > spare_products_least_ns ? ns : spare_products_least_ns;
}

/* ---- one upload ---- */

static bool host_uploads_computes(const struct context *cx, row_t r)
{
    struct str name = trace_name(cx->t, r);
    return cx->t->kind[r] == KIND_OP && !view_op_is(name) && !str_has(name, "pin_memory") &&
           host_causes_around(host_causes_of(cx), r) == ROW_NONE;
}

static void host_uploads_count(struct host_upload *u, row_t r)
{
    const struct trace *t = u->cx->t;
    if (u->first == ROW_NONE) u->first = r;
    if (u->longest == ROW_NONE || t->dur_ns[r] > t->dur_ns[u->longest]) u->longest = r;
    u->ns += t->dur_ns[r];
    u->n++;
    if (u->n <= (uint32_t)host_uploads_reach_ops) host_uploads_inputs(u, r);
    u->device_ns += host_uploads_device_ns(u, r);
}

/* Counts what computes from row `from` on; what stands inside an operator belongs to it, unless
 * that is the one which uploads. */
static void host_uploads_read(struct host_upload *u, row_t from)
{
    const struct trace *t = u->cx->t;
    int64_t done = INT64_MIN;
    u->first = u->longest = ROW_NONE;
    u->ns = u->n = 0;
    u->bytes = u->made_bytes = u->device_ns = 0;
    for (row_t r = from; r < u->end; r++) {
        if (t->ts_ns[r] < done || trace_end_ns(t, r) > u->call_ns) continue;
        if (!host_uploads_computes(u->cx, r)) continue;
        done = trace_end_ns(t, r);
        host_uploads_count(u, r);
    }
}

/* The outermost operator around the upload. */
static row_t host_uploads_around(const struct trace *t, row_t call)
{
    row_t top = ROW_NONE;
    for (row_t r = call; r != ROW_NONE; r = t->parent[r])
        if (t->kind[r] == KIND_OP) top = r;
    return top;
}

/* Whether an operator before that one has to do with the tensor that is uploaded. */
static bool host_uploads_is_linked(const struct host_upload *u)
{
    for (row_t r = u->begin; r < u->around; r++)
        if (host_uploads_mentions(u->cx->t, r, &u->made)) return true;
    return false;
}

/* From the first operator that computes to the upload, but for what launching them takes. */
static struct span host_uploads_span(const struct host_upload *u)
{
    int64_t launching = (int64_t)(u->n + 1) * launch_delays_of(u->cx)->usual_ns;
    return (struct span){u->cx->t->ts_ns[u->first] + launching, u->call_ns};
}

static bool host_uploads_matters(const struct host_upload *u)
{
    if (u->first == ROW_NONE) return false;
    struct span all = {u->cx->t->ts_ns[u->first], u->call_ns}, gone = host_uploads_span(u);
    return span_ns(gone) >= host_stretch_ns &&
           (double)u->ns >= host_uploads_share * (double)span_ns(all);
}

/* The call takes as much less as the copy: a copy of pageable memory is the CPU's work. */
static int host_uploads_shorten(const struct host_upload *u, lane_id thread, double keep,
                                struct spare *spare, struct err *e)
{
    double ns = (double)(u->return_ns - u->call_ns);
    struct span gone = {u->call_ns + (int64_t)(keep * ns), u->return_ns};
    return keep < 1 ? spare_cut(spare, u->cx, thread, gone, e) : 0;
}

/* Silence after the operator that uploads, in which the memory of all that was made is given back:
 * as long as that takes at most, less than what a launch needs. */
static int host_uploads_free(const struct host_upload *u, lane_id thread, double bytes,
                             struct spare *spare, struct err *e)
{
    const struct trace *t = u->cx->t;
    int64_t end = trace_end_ns(t, u->around);
    row_t next = trace_lower_bound(t, thread, end);
    if (next >= t->lanes[thread].end) return 0;
    int64_t silence = t->ts_ns[next] - end - launch_delays_of(u->cx)->usual_ns;
    double most = host_uploads_free_page_ns * bytes / host_uploads_page_bytes;
    if ((double)silence > most) silence = (int64_t)most;
    return silence > 0 ? spare_cut(spare, u->cx, thread, (struct span){end, end + silence}, e) : 0;
}

static int host_uploads_add(const struct host_upload *u, lane_id thread, struct host_uploads *ret,
                            struct err *e)
{
    const struct trace *t = u->cx->t;
    double now = (double)t->dur_ns[u->work], is = kernel_copied_bytes(t, u->work);
    double then = is > 0 ? now * u->bytes / is : now;
    double more = then + u->device_ns - now, gone = (double)span_ns(host_uploads_span(u));
    if (more > host_uploads_back_share * gone) return 0;
    TRY(spare_cut(&ret->spare, u->cx, thread, host_uploads_span(u), e));
    TRY(kernel_fix_add(&ret->spare.fix, u->cx, u->work, then + u->device_ns, e));
    TRY(host_uploads_shorten(u, thread, then < now ? then / now : 1, &ret->spare, e));
    TRY(host_uploads_free(u, thread, u->made_bytes + is, &ret->spare, e));
    if (ret->longest == ROW_NONE || t->dur_ns[u->longest] > t->dur_ns[ret->longest])
        ret->longest = u->longest;
    ret->n++;
    ret->operators_ns += u->ns;
    ret->bytes += (int64_t)is;
    ret->inputs_bytes += u->bytes;
    return 0;
}

/* ---- all of them ---- */

/* The copy to the device that a call makes; ROW_NONE where it makes something else. */
static row_t host_uploads_copy(const struct sim_model *m, const struct sim_call *c)
{
    if (c->n_work != 1) return ROW_NONE;
    row_t work = m->works[m->works_by_call[c->first_work]].row;
    return copy_of(m->t, work).way == COPY_TO_DEVICE ? work : ROW_NONE;
}

/* A call that uploads, and the time of its thread since the call before. */
static int host_uploads_look(const struct context *cx, const struct sim_call *c, int64_t since_ns,
                             struct host_uploads *ret, struct err *e)
{
    const struct trace *t = cx->t;
    lane_id lane = t->lane[c->row];
    struct host_upload u = {.cx = cx,
                            .work = host_uploads_copy(model_of(cx), c),
                            .call_ns = c->begin_ns,
                            .return_ns = c->end_ns};
    u.around = host_uploads_around(t, c->row);
    if (u.work == ROW_NONE || u.around == ROW_NONE || !host_uploads_shape(t, c->row, &u.made))
        return 0;
    u.begin = trace_lower_bound(t, lane, since_ns);
    u.end = c->row;
    if (u.end <= u.begin || u.end - u.begin > (uint32_t)host_uploads_reach_rows) return 0;
    host_uploads_read(&u, host_uploads_is_linked(&u) ? u.begin : u.around);
    return host_uploads_matters(&u) ? host_uploads_add(&u, lane, ret, e) : 0;
}

int host_uploads_find(const struct context *cx, struct host_uploads *ret, struct err *e)
{
    const struct sim_model *m = model_of(cx);
    *ret = (struct host_uploads){.longest = ROW_NONE};
    for (uint32_t i = 0; i < m->n_threads; i++) {
        int64_t since = m->begin_ns;
        for (uint32_t c = m->threads[i].first_call; c != SIM_NONE; c = m->calls[c].next) {
            if (m->calls[c].begin_ns - since >= host_stretch_ns)
                TRY(host_uploads_look(cx, &m->calls[c], since, ret, e));
            since = m->calls[c].end_ns;
        }
    }
    return 0;
}
