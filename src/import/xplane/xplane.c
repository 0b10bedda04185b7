/* xplane.c: see importer.h. */
#include "import/importer.h"

#include "base/jout.h"
#include "base/mem.h"
#include "base/search.h"
#include "import/xplane/xplane_private.h"
#include "trace/bounds.h"

struct xplane_args {
    struct args_source base;
    struct file_map file;
    struct xplanes planes;
};

static void xplane_args_free(struct args_source *self)
{
    struct xplane_args *a = (struct xplane_args *)self;
    xplanes_done(&a->planes);
    file_unmap(&a->file);
    mem_free(a);
}

/* The plane whose bytes hold `at`, or NULL. Planes are in file order. */
static const struct xplane *plane_at(const struct xplanes *x, const char *at)
{
    size_t i = 0;
    SEARCH_PAST(i, x->n, x->list[i].bytes.p <= at);
    return i ? &x->list[i - 1] : NULL;
}

static void xplane_put_value(struct buf *out, const struct xvalue *v)
{
    switch (v->kind) {
    case XVALUE_INT: buf_printf(out, "%lld", (long long)v->number); break;
    case XVALUE_UINT: buf_printf(out, "%llu", (unsigned long long)v->number); break;
    case XVALUE_TEXT: jout_quote(out, v->text); break;
    case XVALUE_REAL: {
        double real = pb_double(v->number);
        if (real - real == 0) buf_printf(out, "%.17g", real);
        else buf_adds(out, "null");
        break;
    }
    default: buf_adds(out, "null"); break;
    }
}

static void put_stats(const struct xplanes *x, const struct xplane *p, struct str event,
                      struct buf *out)
{
    enum { STATS = 4 };
    struct pb m = pb_open(event);
    struct pb_field f;
    bool any = false;
    while (buf_ok(out) && pb_next(&m, &f)) {
        if (f.number != STATS || f.type != PB_BYTES) continue;
        struct xvalue v = xplane_value(x, p, f.bytes);
        if (!v.name) continue;
        if (any) buf_addc(out, ',');
        any = true;
        jout_quote(out, v.name->text);
        buf_addc(out, ':');
        xplane_put_value(out, &v);
    }
}

/* The stats of the event whose field begins at `src`. */
static int xplane_args_read(struct args_source *self, uint64_t src, struct buf *out, struct err *e)
{
    const struct xplane_args *a = (const struct xplane_args *)self;
    uint64_t at = src < a->file.n ? src : a->file.n;
    const struct xplane *p = plane_at(&a->planes, a->file.p + at);
    struct pb m = {a->file.p + at, a->file.p + a->file.n, false};
    struct pb_field f;
    buf_addc(out, '{');
    if (p && pb_next(&m, &f)) put_stats(&a->planes, p, f.bytes, out);
    buf_addc(out, '}');
    return buf_status(out, e);
}

/* A device's plane says what it is. */
static int xplane_add_device(struct builder *b, const struct xplanes *x, const struct xplane *p,
                             int id)
{
    enum { STATS = 6 };
    struct device d = {.id = id};
    struct str name = str_c(""), vendor = str_c("");
    struct pb m = pb_open(p->bytes);
    struct pb_field f;
    while (pb_next(&m, &f)) {
        if (f.number != STATS || f.type != PB_BYTES) continue;
        struct xvalue v = xplane_value(x, p, f.bytes);
        int64_t n = xvalue_int(&v, 0);
        int32_t small = n < 0 || n > INT32_MAX ? 0 : (int32_t)n;
        switch (v.name ? v.name->stat : XSTAT_OTHER) {
        case XSTAT_CORES: d.n_sms = small; break;
        case XSTAT_MEMORY_SIZE: d.memory_bytes = n; break;
        case XSTAT_MAJOR: d.major = small; break;
        case XSTAT_MINOR: d.minor = small; break;
        case XSTAT_DEVICE_NAME: name = v.text; break;
        case XSTAT_VENDOR: vendor = v.text; break;
        default: break;
        }
    }
    d.name = builder_intern(b, name.n ? name : vendor);
    return d.name == STR_NONE ? ERR_NOMEM : builder_add_device(b, &d);
}

/* When the profile began; lines count from there where they do not count from 1970. */
static void xplane_set_base(struct trace *t, const struct xplanes *x, const struct xplane *p)
{
    enum { STATS = 6 };
    struct pb m = pb_open(p->bytes);
    struct pb_field f;
    while (pb_next(&m, &f)) {
        if (f.number != STATS || f.type != PB_BYTES) continue;
        struct xvalue v = xplane_value(x, p, f.bytes);
        int64_t ns = xvalue_int(&v, 0);
        if (v.name && v.name->stat == XSTAT_START_TIME && ns > 0 && bounds_ts(ns)) t->base_ns = ns;
    }
}

/* The bytes of a field; empty where there is none. */
static struct str xplane_field_of(struct str message, uint32_t number)
{
    struct pb m = pb_open(message);
    struct pb_field f;
    struct str ret = str_c("");
    while (pb_next(&m, &f))
        if (f.number == number && f.type == PB_BYTES) ret = f.bytes;
    return ret;
}

/* The HLO of each program that ran is a stat of an event that never happens. */
static int read_hlo(const struct xplane *p, struct source_list *out)
{
    enum { EVENT_NAMES = 4, ENTRY = 2, STATS = 5, BYTES = 6, HLO_MODULE = 1 };
    struct pb plane = pb_open(p->bytes);
    struct pb_field event, f;
    while (pb_next(&plane, &event)) {
        if (event.number != EVENT_NAMES || event.type != PB_BYTES) continue;
        struct pb stats = pb_open(xplane_field_of(event.bytes, ENTRY));
        while (pb_next(&stats, &f))
            if (f.number == STATS && f.type == PB_BYTES)
                TRY(hlo_sources(xplane_field_of(xplane_field_of(f.bytes, BYTES), HLO_MODULE), out));
    }
    return 0;
}

static int add_hlo(struct builder *b, const struct xplanes *x)
{
    struct source_list l;
    int rc = 0;
    source_list_init(&l);
    for (size_t i = 0; i < x->n && rc == 0; i++)
        if (str_is(x->list[i].name, "/host:metadata")) rc = read_hlo(&x->list[i], &l);
    int ended = source_list_end(&l, b);
    return rc < 0 ? rc : ended;
}

static int add_planes(struct builder *b, struct xrows *r)
{
    const struct xplanes *x = r->planes;
    TRY(add_hlo(b, x));
    for (size_t i = 0; i < x->n; i++) {
        int device = xplane_device(&x->list[i]);
        if (device >= 0) TRY(xplane_add_device(b, x, &x->list[i], device));
        if (str_is(x->list[i].name, "Task Environment"))
            xplane_set_base(builder_trace(b), x, &x->list[i]);
        TRY(xrows_add_plane(r, &x->list[i]));
    }
    return 0;
}

static int read_space(struct builder *b, struct xplane_args *a, struct err *e)
{
    struct xrows r = {.planes = &a->planes, .part = batch_new()};
    int rc = r.part ? xplanes_read(&a->planes, str_from(a->file.p, a->file.n)) : ERR_NOMEM;
    if (rc == 0) rc = add_planes(b, &r);
    if (rc == 0) rc = builder_copy_part(b, r.part, e);
    batch_free(r.part);
    buf_done(&r.scratch);
    map_done(&r.known);
    struct trace *t = builder_trace(b);
    for (uint64_t i = 0; i < a->planes.n_bad && i < DAMAGE_PLACES; i++)
        damage_note(&t->damage, DAMAGE_TRUNCATED, a->file.n);
    if (rc == 0 && builder_n_rows(b) == 0)
        return FAIL(e, ERR_FORMAT, "an XPlane profile without events of a host or a device");
    return err_grow(e, rc);
}

/* Rows in nanoseconds since 1970 need no base. */
static void drop_base(struct trace *t)
{
    int64_t year_2000_ns = 946684800000000000;
    if (t->n_rows && t->begin_ns != ID_NONE && t->begin_ns > year_2000_ns) t->base_ns = 0;
}

static int open_xplane(struct file_map *file, const char *path, const struct import_options *o,
                       struct trace **ret, struct err *e)
{
    struct xplane_args *a = mem_zalloc(1, sizeof *a);
    struct builder *b = a ? builder_new(e) : NULL;
    if (!b) {
        mem_free(a);
        file_unmap(file);
        return err_nomem(e);
    }
    a->base = (struct args_source){xplane_args_read, xplane_args_free};
    a->file = *file;
    struct trace *t = builder_trace(b);
    t->args = &a->base;
    t->format = "xplane";
    t->source_bytes = file->n;
    t->path = mem_strdup(path);
    *file = (struct file_map){0};
    int rc = t->path ? read_space(b, a, e) : err_nomem(e);
    if (rc < 0) {
        builder_free(b);
        return rc;
    }
    TRY(builder_freeze(b, o->n_threads, ret, e));
    drop_base(*ret);
    return 0;
}

/* XSpace: field 1 is a plane, which begins with its number or its name: a path, or "Task
 * Environment". */
bool xplane_sniff(struct str head)
{
    struct pb m = pb_open(head), plane;
    struct pb_field f;
    uint64_t n;
    if (head.n < 8 || *head.p != '\n') return false;
    m.p++;
    if (!pb_varint(&m, &n)) return false;
    plane = (struct pb){m.p, n < (uint64_t)(m.end - m.p) ? m.p + n : m.end, false};
    for (int i = 0; i < 3 && pb_next(&plane, &f); i++) {
        if (f.number == 1 && f.type != PB_VARINT) return false;
        if (f.number != 2 || f.type != PB_BYTES) continue;
        return str_starts(f.bytes, "/host:") || str_starts(f.bytes, "/device:") ||
               str_starts(f.bytes, "Task Environment") || str_starts(f.bytes, "/task:") ||
               str_starts(f.bytes, "#Chip");
    }
    return false;
}

const struct importer import_xplane = {"xplane", xplane_sniff, open_xplane, .inflates = false};
