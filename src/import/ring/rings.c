/* rings.c: see rings.h. Turns every ring of a run into rows of one trace. */
#include "import/ring/rings.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/pool.h"
#include "base/vec.h"
#include "import/ring/ring_device.h"
#include "import/ring/ring_process.h"
#include "import/ring/ring_set.h"
#include "import/ring/source_list.h"

bool rings_in(const char *folder)
{
    char path[RING_SET_PATH];
    return ring_set_locate(folder, path);
}

static int rings_add_pause(struct ring_process *p, int64_t ns)
{
    if (VEC_RESERVE(p->pauses_ns, p->n_pauses, p->cap_pauses, 1)) return ERR_NOMEM;
    size_t i = p->n_pauses++;
    for (; i && p->pauses_ns[i - 1] > ns; i--) p->pauses_ns[i] = p->pauses_ns[i - 1];
    p->pauses_ns[i] = ns;
    return 0;
}

/* With the clock known: pauses, and the last moment of the process. */
static int collect_times(struct ring_process *p, const struct ring_file *f)
{
    struct ring_cursor c;
    struct ring_entry e;
    ring_cursor_init(&c, f, 0);
    while (ring_cursor_next(&c, &e)) {
        bool device = ring_device_takes(e.r.kind);
        int64_t ns = device ? ring_device_end_ns(p, &e) : ring_process_ns(p, e.r.ticks);
        if (ns > p->end_ns) p->end_ns = ns;
        if (e.r.kind == RING_PAUSE) TRY(rings_add_pause(p, ns));
    }
    return 0;
}

/* Trace time begins when the first process does. Processes that share a boot share the monotonic
 * clock, and with it one offset to wall-clock time, so that stepping the latter does not tear them
 * apart. */
static int64_t set_offsets(struct ring_set *s)
{
    int64_t base = INT64_MAX;
    for (size_t i = 0; i < s->n_processes; i++) {
        struct ring_process *p = &s->processes[i];
        const struct proc_head *h = &p->proc.head;
        p->offset_ns = (int64_t)(h->start_real_ns - h->start_mono_ns);
        for (size_t k = 0; k < i; k++)
            if (h->boot[0] && strcmp(s->processes[k].proc.head.boot, h->boot) == 0) {
                p->offset_ns = s->processes[k].offset_ns;
                break;
            }
        int64_t start = (int64_t)h->start_mono_ns + p->offset_ns;
        if (h->pid && start < base) base = start;
    }
    if (base == INT64_MAX) base = 0;
    for (size_t i = 0; i < s->n_processes; i++) s->processes[i].offset_ns -= base;
    return base;
}

static int rings_label_process(struct batch *part, const struct ring_process *p)
{
    const struct proc_head *h = &p->proc.head;
    struct str name = proc_file_string(&p->proc, h->name);
    if (!name.n) name = str_c(h->program);
    struct batch_key pid = p->pid;
    struct intern *strings = batch_strings(part);
    if (p->pid_text) pid.text = intern_add(strings, str_c(p->pid_text));
    TRY(batch_add_label(part, LABEL_PROCESS_NAME, pid, pid, intern_add(strings, name), 0));
    if (h->rank < 0) return 0;
    char rank[32];
    snprintf(rank, sizeof rank, "rank %d", h->rank);
    TRY(batch_add_label(part, LABEL_PROCESS_LABELS, pid, pid, intern_add(strings, str_c(rank)), 0));
    return batch_add_label(part, LABEL_PROCESS_SORT, pid, pid, 0, h->rank);
}

/* The rank of a process: of any of its recorders that knows one. */
static int rings_rank_of(const struct ring_set *s, const struct ring_process *p)
{
    const struct proc_head *h = &p->proc.head;
    int rank = h->rank;
    for (size_t i = 0; i < s->n_processes && rank < 0; i++) {
        const struct proc_head *x = &s->processes[i].proc.head;
        if (x->pid == h->pid && strcmp(x->host, h->host) == 0) rank = x->rank;
    }
    return rank;
}

static bool rings_is_wanted(const struct ring_set *s, uint32_t ring, const struct import_options *o)
{
    return !o || !o->one_rank || rings_rank_of(s, &s->processes[s->owner[ring]]) == o->rank;
}

static int make_part(struct ring_set *s, uint32_t ring, struct batch **ret, struct err *e)
{
    struct ring_process *p = &s->processes[s->owner[ring]];
    struct batch *part = batch_new();
    int rc = part ? rings_label_process(part, p) : ERR_NOMEM;
    struct ring_source from = {&s->rings[ring], s->blocks ? &s->blocks[ring] : NULL, ring};
    if (rc == 0) rc = ring_rows_add(part, p, &from);
    if (rc < 0) {
        batch_free(part);
        return rc == ERR_NOMEM ? err_nomem(e) : FAIL(e, rc, "too many open ranges");
    }
    *ret = part;
    return 0;
}

/* Python's functions stand before everything else: of two rows with the same times the first
 * encloses the second. */
static int rings_add_parts(struct builder *b, struct ring_set *s, const struct import_options *o,
                           struct batch **parts, struct err *e)
{
    for (uint32_t i = 0; i < s->n_rings; i++)
        if (rings_is_wanted(s, i, o)) TRY(make_part(s, i, &parts[i], e));
    TRY(ring_stacks_add(b, s, e));
    for (uint32_t i = 0; i < s->n_rings; i++) {
        struct batch *part = parts[i];
        parts[i] = NULL;
        if (part) TRY(builder_add_part(b, part, e));
    }
    return 0;
}

static int rings_add_rows(struct builder *b, struct ring_set *s, const struct import_options *o,
                          struct err *e)
{
    struct batch **parts = mem_zalloc(s->n_rings ? s->n_rings : 1, sizeof *parts);
    if (!parts) return err_nomem(e);
    ring_stacks_begin(s);
    int rc = rings_add_parts(b, s, o, parts, e);
    for (size_t i = 0; i < s->n_rings; i++)
        if (parts[i]) batch_free(parts[i]);
    mem_free(parts);
    return rc;
}

/* Values of metadata are JSON. */
static bool rings_is_number(struct str s)
{
    size_t n = 0;
    while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9') n++;
    return s.n > 0 && s.n < 16 && n == s.n;
}

/* Versions, named as torch.profiler names them in its traces. */
static int add_versions(struct builder *b, const struct ring_process *p)
{
    static const char *const keys[] = {"cupti_version", "cuda_driver_version"};
    for (uint32_t id = 0; id < p->defs.n; id++) {
        struct str fact = defs_file_get(&p->defs, id, DEF_FACT, 1);
        for (size_t i = 0; fact.p && i < sizeof keys / sizeof *keys; i++) {
            size_t n = strlen(keys[i]);
            if (!str_starts(fact, keys[i]) || fact.n < n + 2 || fact.p[n] != '=') continue;
            struct str value = str_from(fact.p + n + 1, fact.n - n - 1);
            if (rings_is_number(value)) TRY(builder_add_meta(b, str_c(keys[i]), value));
        }
    }
    return 0;
}

/* The first process that knows the versions speaks for all: they are those of the machine. */
static int find_devices(struct builder *b, const struct ring_set *s, struct err *e)
{
    bool known = false;
    if (ring_devices_add(b, s) < 0) return err_nomem(e);
    for (size_t i = 0; i < s->n_processes && !known; i++) {
        uint32_t before = builder_trace(b)->n_metas;
        if (add_versions(b, &s->processes[i]) < 0) return err_nomem(e);
        known = builder_trace(b)->n_metas > before;
    }
    return 0;
}

/* Up to the next tab; `rest` goes behind it. */
static struct str next_part(struct str *rest)
{
    size_t n = 0;
    while (n < rest->n && rest->p[n] != '\t') n++;
    struct str ret = str_from(rest->p, n);
    n += n < rest->n;
    *rest = str_from(rest->p + n, rest->n - n);
    return ret;
}

/* What compilers said of their kernels. */
static int add_sources(struct builder *b, const struct ring_set *s, struct err *e)
{
    struct source_list l;
    source_list_init(&l);
    for (size_t i = 0; i < s->n_processes; i++)
        for (uint32_t id = 0; id < s->processes[i].defs.n; id++) {
            struct str text = defs_file_get(&s->processes[i].defs, id, DEF_SOURCE, 1);
            if (!text.p) continue;
            struct source source = {.module = next_part(&text)};
            source.kernel = next_part(&text);
            source.op = next_part(&text);
            source.place = next_part(&text);
            if (source.place.n) source_list_add(&l, &source);
        }
    return source_list_end(&l, b) < 0 ? err_nomem(e) : 0;
}

/* Those who read the trace are to know what recording it cost. */
static int note_recorder(struct builder *b, const struct ring_set *s, struct err *e)
{
    bool timeline = false;
    for (size_t i = 0; i < s->n_processes; i++) timeline |= s->processes[i].defs.n > 0;
    if (timeline && builder_add_meta(b, str_c(TRACE_META_RECORDED), str_c("1")) < 0)
        return err_nomem(e);
    return 0;
}

/* Who it is, in the words of torch.profiler. */
static int note_rank(struct builder *b, const struct ring_set *s, const struct import_options *o,
                     struct err *e)
{
    char text[128];
    const struct proc_head *h = NULL;
    for (size_t i = 0; i < s->n_processes && o && o->one_rank; i++)
        if (s->processes[i].proc.head.rank == o->rank) h = &s->processes[i].proc.head;
    if (!h) return 0;
    snprintf(text, sizeof text, "{\"rank\": %d, \"world_size\": %d}", h->rank,
             h->world > 0 ? h->world : 0);
    if (builder_add_meta(b, str_c("distributedInfo"), str_c(text)) < 0) return err_nomem(e);
    for (const char *c = h->host; *c; c++) /* a name needs no escapes */
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_", *c))
            return 0;
    snprintf(text, sizeof text, "\"%.64s\"", h->host);
    return builder_add_meta(b, str_c("hostname"), str_c(text)) < 0 ? err_nomem(e) : 0;
}

static int rings_read_all(struct ring_set *s, struct trace *t, struct err *e)
{
    TRY(ring_set_clocks(s, e));
    t->base_ns = set_offsets(s);
    for (size_t i = 0; i < s->n_rings; i++)
        if (collect_times(&s->processes[s->owner[i]], &s->rings[i]) < 0) return err_nomem(e);
    return 0;
}

/* Pauses, from the blocks that have some, and the last moment of each process. */
static int collect_from_blocks(struct ring_set *s, uint32_t ring)
{
    struct ring_process *p = &s->processes[s->owner[ring]];
    const struct ring_blocks *b = &s->blocks[ring];
    for (size_t i = 0; i < b->n; i++) {
        const struct ring_summary *x = &b->list[i];
        uint64_t last = x->end_ticks > x->spans_end_ticks ? x->end_ticks : x->spans_end_ticks;
        if (last && ring_process_ns(p, last) > p->end_ns) p->end_ns = ring_process_ns(p, last);
        struct ring_cursor c;
        struct ring_entry e;
        if (x->n_pauses) ring_cursor_block(&c, &s->rings[ring], x->number);
        while (x->n_pauses && ring_cursor_next(&c, &e))
            if (e.r.kind == RING_PAUSE) TRY(rings_add_pause(p, ring_process_ns(p, e.r.ticks)));
    }
    return 0;
}

static int read_part(struct ring_set *s, struct trace *t, const struct import_options *o,
                     struct err *e)
{
    struct ring_extent whole;
    TRY(ring_set_blocks(s, e));
    t->base_ns = set_offsets(s);
    TRY(ring_window_choose(s, o, &whole, e));
    for (uint32_t i = 0; i < s->n_rings; i++)
        if (collect_from_blocks(s, i) < 0) return err_nomem(e);
    t->part = (struct trace_part){.whole_begin_ns = whole.begin_ns,
                                  .whole_end_ns = whole.end_ns,
                                  .name = STR_NONE,
                                  .n_records = ring_set_records(s)};
    return 0;
}

static bool rings_is_long(const struct ring_set *s, const struct import_options *o)
{
    return o && (o->span || (o->most_records && ring_set_records(s) > o->most_records));
}

static int rings_fill(struct builder *b, struct ring_set *s, const struct import_options *o,
                      struct err *e)
{
    struct trace *t = builder_trace(b);
    for (size_t i = 0; i < s->n_processes; i++) s->processes[i].only_ranges = o && o->only_ranges;
    if (ring_devices_number(s) < 0) return err_nomem(e);
    TRY(rings_is_long(s, o) ? read_part(s, t, o, e) : rings_read_all(s, t, e));
    for (size_t i = 0; i < s->n_processes && !(o && o->only_ranges); i++)
        if (ring_cframes_resolve(&s->processes[i], &s->mem) < 0) return err_nomem(e);
    TRY(rings_add_rows(b, s, o, e));
    TRY(note_rank(b, s, o, e));
    TRY(note_recorder(b, s, e));
    TRY(add_sources(b, s, e));
    if (ring_settings_add(b, s) < 0) return err_nomem(e);
    TRY(find_devices(b, s, e));
    for (size_t i = 0; i < s->n_processes && !(o && o->only_ranges); i++)
        TRY(ring_nodes_add(b, &s->processes[i], e));
    for (uint32_t i = 0; i < s->n_bad; i++) damage_note(&t->damage, DAMAGE_BAD_EVENT, 0);
    for (size_t i = 0; i < s->n_processes; i++)
        t->damage.count[DAMAGE_LOST_RECORDS] += s->processes[i].n_lost;
    return 0;
}

int rings_open(const char *folder, const struct import_options *o, struct trace **ret,
               struct err *e)
{
    struct ring_set *s;
    char extent[RINGS_EXTENT] = "\"\""; /* from before they are read: they may grow meanwhile */
    rings_extent(folder, extent);
    TRY(ring_set_open(folder, &s, e));
    struct builder *b = builder_new(e);
    int rc = b ? 0 : ERR_NOMEM;
    if (b) {
        struct trace *t = builder_trace(b);
        t->args = ring_args_make(s); /* from here on the trace frees the set */
        t->format = "strata recording";
        t->path = mem_strdup(folder);
        rc = t->path && builder_add_meta(b, str_c(TRACE_META_EXTENT), str_c(extent)) == 0
                 ? rings_fill(b, s, o, e)
                 : err_nomem(e);
    } else {
        ring_set_free(s);
    }
    if (rc < 0) {
        builder_free(b);
        return rc;
    }
    return builder_freeze(b, o && o->n_threads > 0 ? o->n_threads : pool_size(), ret, e);
}

int rings_pieces(const char *folder, uint64_t most, struct arena *mem, struct import_pieces *ret,
                 struct err *e)
{
    struct ring_set *s;
    struct ring_pieces found = {0};
    TRY(ring_set_open(folder, &s, e));
    *ret = (struct import_pieces){.n_records = ring_set_records(s)};
    int rc = ring_set_blocks(s, e);
    if (rc == 0) {
        set_offsets(s);
        rc = ring_window_pieces(s, most, mem, &found, e);
    }
    ret->list = found.list;
    ret->n = found.n;
    ring_set_free(s);
    return rc;
}
