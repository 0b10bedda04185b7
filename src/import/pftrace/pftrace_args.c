/* pftrace_args.c: see pftrace_private.h. */
#include "import/pftrace/pftrace_private.h"

#include "base/jout.h"
#include "base/mem.h"

static void pftrace_args_args_free(struct args_source *self)
{
    struct pf_args *a = (struct pf_args *)self;
    pf_survey_done(&a->survey);
    plain_close(a->plain);
    file_unmap(&a->file);
    mem_free(a);
}

struct member {
    struct buf *out;
    bool any;
};

static void pftrace_args_put_key(struct member *m, struct str key)
{
    if (m->any) buf_addc(m->out, ',');
    m->any = true;
    jout_quote(m->out, key);
    buf_addc(m->out, ':');
}

/* SourceLocation, by itself or interned. */
static void put_location(struct member *m, struct str file, struct str function, uint64_t line)
{
    pftrace_args_put_key(m, str_c("source"));
    buf_addc(m->out, '{');
    buf_adds(m->out, "\"file\":");
    jout_quote(m->out, file);
    buf_adds(m->out, ",\"function\":");
    jout_quote(m->out, function);
    buf_printf(m->out, ",\"line\":%llu}", (unsigned long long)line);
}

static void put_inline_location(struct member *m, struct str bytes)
{
    struct pb p = pb_open(bytes);
    struct pb_field f;
    struct str file = str_c(""), function = str_c("");
    uint64_t line = 0;
    while (pb_next(&p, &f)) {
        if (f.number == 2) file = f.bytes;
        else if (f.number == 3) function = f.bytes;
        else if (f.number == 4) line = f.value;
    }
    put_location(m, file, function, line);
}

static void pftrace_args_put_counter(struct member *m, const struct pb_field *f)
{
    pftrace_args_put_key(m, str_c("value"));
    if (f->number == 30) buf_printf(m->out, "%lld", (long long)f->value);
    else buf_printf(m->out, "%.17g", pb_double(f->value));
}

static void put_event(const struct pf_view *at, struct str bytes, struct member *m)
{
    enum { ANNOTATION = 4, VALUE = 30, LOCATION = 33, LOCATION_IID = 34, DOUBLE_VALUE = 44 };
    struct pb p = pb_open(bytes);
    struct pb_field f;
    while (buf_ok(m->out) && pb_next(&p, &f)) {
        if (f.number == ANNOTATION && f.type == PB_BYTES) {
            struct pf_value v = pf_read_value(at, f.bytes);
            pftrace_args_put_key(m, v.name);
            pf_value_json(at, &v, 0, m->out);
        } else if (f.number == LOCATION && f.type == PB_BYTES) {
            put_inline_location(m, f.bytes);
        } else if (f.number == LOCATION_IID) {
            const struct pf_text *t = pf_find(at, PF_LOCATIONS, f.value);
            if (t)
                put_location(m, str_from(t->text.p, t->text.n), str_from(t->other.p, t->other.n),
                             t->number);
        } else if ((f.number == VALUE && f.type == PB_VARINT) ||
                   (f.number == DOUBLE_VALUE && f.type == PB_FIXED64)) {
            pftrace_args_put_counter(m, &f);
        }
    }
}

/* ExtraData of a GpuRenderStageEvent. */
static void pftrace_args_put_stage(struct str bytes, struct member *m)
{
    enum { EXTRA = 6 };
    struct pb p = pb_open(bytes), q;
    struct pb_field f, g;
    while (pb_next(&p, &f)) {
        if (f.number != EXTRA || f.type != PB_BYTES) continue;
        struct str name = str_c(""), value = str_c("");
        for (q = pb_open(f.bytes); pb_next(&q, &g);) *(g.number == 1 ? &name : &value) = g.bytes;
        pftrace_args_put_key(m, name);
        jout_quote(m->out, value);
    }
}

static int pftrace_args_args_read(struct args_source *self, uint64_t src, struct buf *out,
                                  struct err *e)
{
    enum { SEQUENCE = 10, EVENT = 11, STAGE = 53 };
    const struct pf_survey *s = &((struct pf_args *)self)->survey;
    struct str event = {NULL, 0}, stage = {NULL, 0};
    uint64_t sequence = 0, n = (uint64_t)(s->end - s->text);
    struct member m = {.out = out};
    struct pb p = {s->text + (src < n ? src : n), s->end, false};
    struct pb_field f;
    if (pb_next(&p, &f)) p = pb_open(f.bytes); /* the packet */
    while (pb_next(&p, &f)) {
        if (f.number == SEQUENCE) sequence = f.value;
        else if (f.number == EVENT) event = f.bytes;
        else if (f.number == STAGE) stage = f.bytes;
    }
    buf_addc(out, '{');
    struct pf_view at = {s, pf_state_at(s, sequence, src), s->text + (src < n ? src : n)};
    if (event.p && at.state != MAP_NONE) put_event(&at, event, &m);
    else if (stage.p) pftrace_args_put_stage(stage, &m);
    buf_addc(out, '}');
    return buf_status(out, e);
}

struct pf_args *pf_args_new(struct file_map *file, const struct import_options *o)
{
    struct pf_args *a = mem_zalloc(1, sizeof *a);
    if (!a) {
        file_unmap(file);
        return NULL;
    }
    a->base = (struct args_source){pftrace_args_args_read, pftrace_args_args_free};
    a->file = *file;
    a->options = *o;
    a->options.progress = NULL;
    *file = (struct file_map){0};
    return a;
}
