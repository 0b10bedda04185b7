/* ring_args.c: see ring_set.h. */
#include "import/ring/ring_set.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jout.h"
#include "import/ring/ring_inputs.h"

enum { MOST_INSIDE = 1 << 16 }; /* records of an operator that are searched for its end */

static double ring_args_number_of(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* The shortest text that reads back as the same number. */
static void ring_args_put_number(struct jout *j, const char *key, uint64_t bits)
{
    char text[40];
    double v = ring_args_number_of(bits);
    if (!isfinite(v)) {
        jout_null(j, key);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (strtod(text, NULL) == v) break;
    }
    jout_raw(j, key, str_c(text));
}

static void ring_args_put_value(struct jout *j, const struct ring_process *p,
                                const struct ring_entry *e)
{
    char key[RING_TEXT_MAX + 1];
    struct str name = proc_file_string(&p->proc, e->r.name);
    memcpy(key, name.p, name.n);
    key[name.n] = 0;
    if (e->r.type == RING_INT) jout_int(j, key, (int64_t)e->value);
    else if (e->r.type == RING_NUM) ring_args_put_number(j, key, e->value);
    else if (e->r.type == RING_TEXT)
        jout_str(j, key, proc_file_string(&p->proc, (uint32_t)e->value));
}

/* Under the names that torch's own profiler gives them. */
static void ring_args_put_inputs(struct jout *j, const struct ring_process *p,
                                 const struct ring_entry *e)
{
    static const char *const keys[] = {"Input Dims", "Input type", "Concrete Inputs"};
    struct ring_inputs in = ring_inputs_of(e);
    struct str texts[3];
    ring_inputs_texts(&in, &p->defs, texts);
    for (int i = 0; i < 3; i++)
        if (texts[i].n) jout_raw(j, keys[i], texts[i]);
    if (in.sequence != ID_NONE) jout_int(j, "Sequence number", in.sequence);
}

/* Where the tensors of one operator are put. */
struct ring_args_tensors {
    struct jout *j;
    enum ring_tensor open; /* the list that is open, or 0 */
};

static void ring_args_close_tensors(struct ring_args_tensors *t)
{
    if (t->open) jout_end_arr(t->j);
    t->open = 0;
}

/* [storage, layout, version], -1 where the last is not known. */
static void ring_args_put_tensor(struct ring_args_tensors *t, const struct ring_entry *e)
{
    bool out = e->r.type == RING_TENSOR_OUT;
    if (e->r.type != t->open) {
        ring_args_close_tensors(t);
        jout_arr(t->j, out ? "Output Tensors" : "Input Tensors");
        t->open = out ? RING_TENSOR_OUT : RING_TENSOR_IN;
    }
    jout_arr(t->j, NULL);
    jout_int(t->j, NULL, (int64_t)(e->value & INT64_MAX));
    jout_int(t->j, NULL, e->extra);
    jout_int(t->j, NULL, ring_id(e->r) == RING_NO_VERSION ? -1 : (int64_t)ring_id(e->r));
    jout_end_arr(t->j);
}

/* What the operator returns stands before its end. */
static void ring_args_put_outputs(struct ring_args_tensors *t, struct ring_cursor *c,
                                  const struct ring_entry *next)
{
    struct ring_entry e = *next;
    int open = 1;
    for (int i = 0; i < MOST_INSIDE; i++) {
        if (e.r.kind == RING_BEGIN) open++;
        else if (e.r.kind == RING_END) open--;
        else if (e.r.kind == RING_TENSOR && open == 1 && e.r.type == RING_TENSOR_OUT)
            ring_args_put_tensor(t, &e);
        if (!open || e.r.kind == RING_PAUSE || !ring_cursor_next(c, &e)) break;
    }
    ring_args_close_tensors(t);
}

/* The args stand directly after their record, but for notes of the clock. */
static void ring_args_put_args(struct jout *j, const struct ring_process *p, struct ring_cursor *c)
{
    struct ring_args_tensors t = {.j = j};
    struct ring_entry e;
    bool whole = false; /* all that its tensors are */
    while (ring_cursor_next(c, &e)) {
        bool tensor = e.r.kind == RING_TENSOR && e.r.type != RING_TENSOR_OUT;
        if (!tensor && e.r.kind != RING_CLOCK) ring_args_close_tensors(&t);
        if (e.r.kind == RING_ARG) {
            ring_args_put_value(j, p, &e);
        } else if (e.r.kind == RING_SHAPES) {
            ring_args_put_inputs(j, p, &e);
        } else if (tensor && e.r.type == RING_TENSOR_LISTS) {
            ring_args_close_tensors(&t);
            jout_int(j, "Input Lists", (int64_t)(e.value & INT64_MAX));
            whole = true;
        } else if (tensor) {
            ring_args_put_tensor(&t, &e);
        } else if (e.r.kind != RING_CLOCK) {
            if (whole) ring_args_put_outputs(&t, c, &e);
            return;
        }
    }
    ring_args_close_tensors(&t);
}

static int read_args(struct args_source *self, uint64_t src, struct buf *out, struct err *e)
{
    struct ring_set *s = (struct ring_set *)self;
    if (RING_SRC_RING(src) >= s->n_rings) return FAIL(e, ERR_INTERNAL, "no such ring");
    struct ring_process *p = &s->processes[s->owner[RING_SRC_RING(src)]];
    struct ring_cursor c;
    ring_cursor_init(&c, &s->rings[RING_SRC_RING(src)], RING_SRC_NUMBER(src));
    struct jout j;
    jout_init(&j, out, false);
    jout_obj(&j, NULL);
    struct ring_entry first;
    if (ring_cursor_next(&c, &first)) {
        if (first.r.kind == RING_COUNTER) ring_args_put_number(&j, "value", first.value);
        ring_args_put_args(&j, p, &c);
    }
    uint32_t error = map_find(&p->error_at, src);
    if (error != MAP_NONE) jout_str(&j, "error", proc_file_string(&p->proc, error));
    jout_end_obj(&j);
    return buf_status(out, e);
}

static void ring_args_free_args(struct args_source *self)
{
    ring_set_free((struct ring_set *)self);
}

struct args_source *ring_args_make(struct ring_set *s)
{
    s->args = (struct args_source){.read = read_args, .free = ring_args_free_args};
    return &s->args;
}
