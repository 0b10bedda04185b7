/* timing.c: see timing.h. */
#include "format/timing.h"

#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/jdoc.h"
#include "base/jout.h"
#include "base/stats.h"

static int64_t ns_of_ms(double ms)
{
    return ms >= 0 && ms < 9e12 ? (int64_t)llround(ms * 1e6) : -1;
}

static int64_t get_ns(const struct jdoc *d, const char *key)
{
    return ns_of_ms(jdoc_number(d, key, -1));
}

static uint64_t get_count(const struct jdoc *d, const char *key)
{
    double v = jdoc_number(d, key, 0);
    return v > 0 && v < 9e18 ? (uint64_t)v : 0;
}

/* A rank or a number of ranks; -1 for what is none. */
static int get_rank(const struct jdoc *d, const char *key)
{
    double v = jdoc_number(d, key, -1);
    return v >= 0 && v < 1e9 ? (int)v : -1;
}

static int64_t get_bytes(const struct jdoc *d, const char *key)
{
    double v = jdoc_number(d, key, -1);
    return v >= 0 && v < 9e18 ? (int64_t)v : -1;
}

static void read_peak(const struct jdoc *memory, struct timing_stage *s)
{
    const struct jdoc *devices = jdoc_get(memory, "devices");
    s->peak_bytes = get_bytes(memory, "rss_peak_bytes");
    for (uint32_t i = 0; devices && i < devices->n; i++) {
        int64_t peak = get_bytes(&devices->items[i], "peak_reserved_bytes");
        if (peak < 0 || (s->peak_on_device && peak <= s->peak_bytes)) continue;
        s->peak_bytes = peak;
        s->peak_on_device = true;
    }
}

static void timing_read_stage(const struct jdoc *d, const char *path, struct timing_stage *s)
{
    const char *slash = strrchr(path, '/');
    *s = (struct timing_stage){
        .path = path,
        .name = jdoc_text(d, "name", slash ? slash + 1 : path),
        .count = get_count(d, "count"),
        .errors = get_count(d, "errors"),
        .unfinished = get_count(d, "unfinished"),
        .total_ns = get_ns(d, "duration_ms"),
        .self_ns = get_ns(d, "self_ms"),
        .first_ns = get_ns(d, "first_ms"),
        .median_ns = get_ns(d, "median_ms"),
        .p95_ns = get_ns(d, "p95_ms"),
        .min_ns = get_ns(d, "min_ms"),
        .max_ns = get_ns(d, "max_ms"),
        .std_ns = jdoc_number(d, "std_ms", -1) * 1e6,
        .gpu_ns = get_ns(d, "gpu_ms"),
        .gpu_median_ns = get_ns(d, "gpu_median_ms"),
        .active_ns = get_ns(d, "active_ms"),
        .awaited_ns = get_ns(d, "awaited_ms"),
        .document = d,
    };
    read_peak(jdoc_get(d, "memory"), s);
}

static int timing_read_document(const struct jdoc *d, struct arena *mem, struct timing *ret,
                                struct err *e)
{
    const struct jdoc *stages = jdoc_get(d, "stages");
    if (!stages || stages->kind != JDOC_OBJECT)
        return FAIL(e, ERR_FORMAT, "not a timing.json: it has no stages");
    if (jdoc_number(d, "schema", 1) > TIMING_SCHEMA)
        return FAIL(e, ERR_VERSION, "was written by a newer strata");
    ret->stages = arena_zalloc(mem, stages->n, sizeof *ret->stages);
    if (!ret->stages) return err_nomem(e);
    for (uint32_t i = 0; i < stages->n; i++) {
        if (stages->items[i].kind != JDOC_OBJECT) continue;
        timing_read_stage(&stages->items[i], stages->keys[i].p, &ret->stages[ret->n_stages++]);
    }
    const struct jdoc *recovered = jdoc_get(d, "recovered"), *running = jdoc_get(d, "running");
    ret->pipeline = jdoc_text(d, "pipeline", "");
    ret->host = jdoc_text(d, "host", "");
    ret->timestamp = jdoc_text(d, "timestamp", "");
    ret->pid = (int64_t)get_count(d, "pid");
    ret->rank = get_rank(d, "rank");
    ret->world = get_rank(d, "world_size");
    ret->wall_ns = get_ns(d, "wall_clock_ms");
    ret->total_ns = get_ns(d, "total_stages_ms");
    ret->lost_records = get_count(d, "lost_records");
    ret->recovered = recovered && recovered->yes;
    ret->running = running && running->yes;
    ret->document = d;
    return 0;
}

int timing_read(const char *path, struct arena *mem, struct timing *ret, struct err *e)
{
    struct file_map f;
    TRY(file_map_found(&f, path, e));
    struct jdoc *d = arena_zalloc(mem, 1, sizeof *d);
    struct timing t = {.file = arena_strdup(mem, str_c(path))};
    int rc = t.file && d ? jdoc_parse(str_from(f.p, f.n), mem, d, e) : ERR_NOMEM;
    if (rc == 0) rc = timing_read_document(d, mem, &t, e);
    file_unmap(&f);
    if (rc < 0) err_at(e, path, ERR_NO_OFFSET);
    if (rc == 0) *ret = t;
    return rc;
}

bool timing_is_head(struct str head)
{
    return str_has(head, "\"wall_clock_ms\"") && !str_has(head, "\"traceEvents\"");
}

bool timing_is(const char *path)
{
    enum { SNIFFED = 4096 };
    struct file_map f;
    if (file_map_found(&f, path, NULL) < 0) return false;
    struct str head = str_from(f.p, f.n < SNIFFED ? f.n : SNIFFED);
    bool yes = timing_is_head(head);
    file_unmap(&f);
    return yes;
}

const struct timing_stage *timing_find(const struct timing *t, const char *path)
{
    for (uint32_t i = 0; i < t->n_stages; i++)
        if (strcmp(t->stages[i].path, path) == 0) return &t->stages[i];
    return NULL;
}

static void timing_put_ms(struct jout *j, const char *key, int64_t ns)
{
    if (ns >= 0) jout_num(j, key, (double)ns / 1e6, 6);
}

static void put_document(struct jout *j, const char *key, const struct jdoc *d)
{
    switch (d->kind) {
    case JDOC_NULL: jout_null(j, key); return;
    case JDOC_BOOL: jout_bool(j, key, d->yes); return;
    case JDOC_STRING: jout_str(j, key, d->text); return;
    case JDOC_NUMBER:
        if (d->number == rint(d->number) && fabs(d->number) < 9e15)
            jout_int(j, key, (int64_t)d->number);
        else jout_num(j, key, d->number, 6);
        return;
    case JDOC_ARRAY:
        jout_arr(j, key);
        for (uint32_t i = 0; i < d->n; i++) put_document(j, NULL, &d->items[i]);
        jout_end_arr(j);
        return;
    case JDOC_OBJECT:
        jout_obj(j, key);
        for (uint32_t i = 0; i < d->n; i++) put_document(j, d->keys[i].p, &d->items[i]);
        jout_end_obj(j);
    }
}

/* What the document has besides the keys of this NULL-terminated list. */
static void put_others(struct jout *j, const struct jdoc *d, const char *const *known)
{
    for (uint32_t i = 0; d && d->kind == JDOC_OBJECT && i < d->n; i++) {
        const char *const *k = known;
        while (*k && strcmp(*k, d->keys[i].p) != 0) k++;
        if (!*k) put_document(j, d->keys[i].p, &d->items[i]);
    }
}

static const char *const stage_keys[] = {
    "name",       "path",      "count",         "duration_ms", "percentage", "self_ms", "mean_ms",
    "first_ms",   "median_ms", "p95_ms",        "min_ms",      "max_ms",     "std_ms",  "errors",
    "unfinished", "gpu_ms",    "gpu_median_ms", "active_ms",   "awaited_ms", NULL,
};

static const char *const top_keys[] = {
    "schema",     "pipeline",      "timestamp",
    "host",       "pid",           "rank",
    "world_size", "wall_clock_ms", "total_stages_ms",
    "num_stages", "lost_records",  "recovered",
    "running",    "stages",        NULL,
};

static void print_stage(struct jout *j, const struct timing_stage *s, int64_t wall_ns)
{
    jout_obj(j, s->path);
    jout_cstr(j, "name", s->name);
    jout_cstr(j, "path", s->path);
    jout_uint(j, "count", s->count);
    timing_put_ms(j, "duration_ms", s->total_ns);
    jout_num(j, "percentage", stats_pct((double)s->total_ns, (double)wall_ns), 3);
    timing_put_ms(j, "self_ms", s->self_ns);
    if (s->count) jout_num(j, "mean_ms", (double)s->total_ns / (double)s->count / 1e6, 6);
    timing_put_ms(j, "first_ms", s->first_ns);
    timing_put_ms(j, "median_ms", s->median_ns);
    timing_put_ms(j, "p95_ms", s->p95_ns);
    timing_put_ms(j, "min_ms", s->min_ns);
    timing_put_ms(j, "max_ms", s->max_ns);
    if (s->std_ns >= 0) jout_num(j, "std_ms", s->std_ns / 1e6, 6);
    if (s->errors) jout_uint(j, "errors", s->errors);
    if (s->unfinished) jout_uint(j, "unfinished", s->unfinished);
    timing_put_ms(j, "active_ms", s->active_ns);
    timing_put_ms(j, "awaited_ms", s->awaited_ns);
    timing_put_ms(j, "gpu_ms", s->gpu_ns);
    timing_put_ms(j, "gpu_median_ms", s->gpu_median_ns);
    if (!s->document && s->peak_bytes >= 0) {
        jout_obj(j, "memory");
        jout_int(j, "rss_peak_bytes", s->peak_bytes);
        jout_end_obj(j);
    }
    put_others(j, s->document, stage_keys);
    jout_end_obj(j);
}

void timing_print(const struct timing *t, struct buf *out)
{
    struct jout j;
    jout_init(&j, out, true);
    jout_obj(&j, NULL);
    jout_int(&j, "schema", TIMING_SCHEMA);
    jout_cstr(&j, "pipeline", t->pipeline);
    if (t->timestamp && t->timestamp[0]) jout_cstr(&j, "timestamp", t->timestamp);
    jout_cstr(&j, "host", t->host);
    jout_int(&j, "pid", t->pid);
    jout_int(&j, "rank", t->rank);
    jout_int(&j, "world_size", t->world);
    timing_put_ms(&j, "wall_clock_ms", t->wall_ns);
    timing_put_ms(&j, "total_stages_ms", t->total_ns);
    jout_uint(&j, "num_stages", t->n_stages);
    jout_uint(&j, "lost_records", t->lost_records);
    jout_bool(&j, "recovered", t->recovered);
    put_others(&j, t->document, top_keys);
    jout_obj(&j, "stages");
    for (uint32_t i = 0; i < t->n_stages; i++) print_stage(&j, &t->stages[i], t->wall_ns);
    jout_end_obj(&j);
    jout_end_obj(&j);
    buf_addc(out, '\n');
}
