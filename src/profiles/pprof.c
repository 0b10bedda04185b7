/* pprof.c: the protocol buffer of pprof (profile.proto of github.com/google/pprof; field numbers
 * are from there). Every frame is a location and a function; texts stand in one table. */
#include "base/intern.h"
#include "base/mem.h"
#include "export/clean.h"
#include "export/proto_out.h"
#include "profiles/profiles.h"

enum { /* of Profile */
       SAMPLE_TYPE = 1,
       SAMPLE = 2,
       LOCATION = 4,
       FUNCTION = 5,
       STRING_TABLE = 6,
       COMMENT = 13,
       DEFAULT_SAMPLE_TYPE = 14
};

struct making {
    const struct flame *f;
    struct buf *out, part, list, scratch;
    struct intern texts; /* ids are places in the table; 0 is "" as it has to be */
};

static uint32_t text_id(struct making *m, struct str s)
{
    str_id id = intern_add(&m->texts, clean_utf8(s, &m->scratch));
    if (id != STR_NONE) return id;
    m->out->failed = true;
    return 0;
}

static void end_part(struct making *m, uint32_t field)
{
    proto_bytes(m->out, field, buf_str(&m->part));
    if (!buf_ok(&m->part) || !buf_ok(&m->list)) m->out->failed = true;
    buf_reset(&m->part);
}

static void put_type(struct making *m, const char *type, const char *unit)
{
    proto_uint(&m->part, 1, text_id(m, str_c(type)));
    proto_uint(&m->part, 2, text_id(m, str_c(unit)));
    end_part(m, SAMPLE_TYPE);
}

/* Locations from the innermost; values in the order of the types. */
static void put_sample(struct making *m, uint32_t node)
{
    uint32_t stack[FLAME_DEEPEST], n = flame_stack(m->f, node, stack);
    buf_reset(&m->list);
    for (uint32_t i = n; i > 0; i--) proto_varint(&m->list, stack[i - 1] + (uint64_t)1);
    proto_bytes(&m->part, 1, buf_str(&m->list));
    buf_reset(&m->list);
    proto_varint(&m->list, m->f->nodes[node].count);
    proto_varint(&m->list, (uint64_t)m->f->nodes[node].self_ns);
    proto_bytes(&m->part, 2, buf_str(&m->list));
    end_part(m, SAMPLE);
}

static void pprof_put_frame(struct making *m, uint32_t i)
{
    const struct flame_frame *fr = &m->f->frames[i];
    int32_t line = fr->line > 0 ? fr->line : 0;
    buf_reset(&m->list);
    proto_uint(&m->list, 1, i + (uint64_t)1); /* Line: function_id, line */
    proto_int(&m->list, 2, line);
    proto_uint(&m->part, 1, i + (uint64_t)1); /* Location: id, line */
    proto_bytes(&m->part, 4, buf_str(&m->list));
    end_part(m, LOCATION);
    uint32_t name = text_id(m, fr->name), file = text_id(m, fr->file);
    proto_uint(&m->part, 1, i + (uint64_t)1); /* Function: id, name, system_name, filename, line */
    proto_uint(&m->part, 2, name);
    proto_uint(&m->part, 3, name);
    proto_uint(&m->part, 4, file);
    proto_int(&m->part, 5, line);
    end_part(m, FUNCTION);
}

static void pprof_put_all(struct making *m, const char *title)
{
    put_type(m, "samples", "count");
    put_type(m, flame_name(m->f->of), "nanoseconds");
    for (uint32_t i = 1; i < m->f->n; i++)
        if (m->f->nodes[i].self_ns) put_sample(m, i);
    for (uint32_t i = 0; i < m->f->n_frames; i++) pprof_put_frame(m, i);
    uint32_t comment = text_id(m, str_c(title)), type = text_id(m, str_c(flame_name(m->f->of)));
    for (uint32_t i = 0; i < m->texts.n; i++)
        proto_bytes(m->out, STRING_TABLE, intern_get(&m->texts, i));
    proto_uint(m->out, COMMENT, comment);
    proto_uint(m->out, DEFAULT_SAMPLE_TYPE, type);
}

static int pprof_put(const struct flame *f, const char *title, struct buf *out, struct err *e)
{
    struct making m = {.f = f, .out = out};
    if (intern_init(&m.texts)) return err_nomem(e);
    pprof_put_all(&m, title);
    intern_done(&m.texts);
    buf_done(&m.part);
    buf_done(&m.list);
    buf_done(&m.scratch);
    return buf_status(out, e);
}

const struct profile profile_pprof = {
    .name = "pprof",
    .extensions = ".pb.gz .pb .pprof .pprof.gz",
    .next = "go tool pprof -http=: %s",
    .put = pprof_put,
};
