/* to_strata.c: writes the native file: the columns as they stand in memory, strings, small tables
 * and the raw args, then the section table. Front to back, and the same trace always gives the
 * same bytes. The layout is in format/strata_file.h. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/vec.h"
#include "export/export.h"
#include "export/export_private.h"
#include "export/packer.h"
#include "format/strata_file.h"
#include "format/xxh64.h"
#include "trace/column.h"

/* Gathers records until a wave of blocks is full, compresses the wave in parallel,
 * writes it. Blocks do not depend on each other, so the bytes do not depend on the threads. */

struct args_out {
    uint64_t *src;   /* by row */
    uint64_t *index; /* by block: where it begins in the section; the last entry is the end */
    size_t n_index, cap_index;
    uint64_t plain_bytes;
};

struct gathering {
    struct args_out *a;
    struct file_out *out;
    struct buf plain; /* records not yet written */
    struct packer packer;
};

static int add_index(struct args_out *a, uint64_t offset, struct err *e)
{
    if (VEC_RESERVE(a->index, a->n_index, a->cap_index, 1)) return err_nomem(e);
    a->index[a->n_index++] = offset;
    return 0;
}

/* Compresses and writes the first blocks of what was gathered. */
static int args_out_write_wave(struct gathering *g, struct err *e)
{
    size_t used = (size_t)PACKER_WAVE * STRATA_ARGS_BLOCK;
    if (used > g->plain.n) used = g->plain.n;
    int n = packer_run(&g->packer, str_from(g->plain.p, used), e);
    if (n < 0) return n;
    for (int i = 0; i < n; i++) {
        struct str block = packer_get(&g->packer, i);
        TRY(file_out_write(g->out, block.p, block.n, e));
        TRY(add_index(g->a, g->a->index[g->a->n_index - 1] + block.n, e));
    }
    g->plain.n -= used;
    memmove(g->plain.p, g->plain.p + used, g->plain.n);
    return 0;
}

/* Appends one record: the length is patched in once the text stands behind it. */
static int args_out_add_record(struct gathering *g, const struct trace *t, row_t r, struct err *e)
{
    struct buf *b = &g->plain;
    uint32_t n = 0;
    size_t at = b->n;
    g->a->src[r] = g->a->plain_bytes;
    buf_add(b, &n, sizeof n);
    TRY(trace_args(t, r, b, e));
    if (!buf_ok(b)) return err_nomem(e);
    size_t text = b->n - at - sizeof n;
    if (text > STRATA_ARGS_MOST)
        return FAIL(e, ERR_LIMIT, "an event has %zu bytes of args; the format allows %d", text,
                    (int)STRATA_ARGS_MOST);
    if (str_is(str_from(b->p + at + sizeof n, text), "{}")) b->n -= text;
    n = (uint32_t)(b->n - at - sizeof n);
    memcpy(b->p + at, &n, sizeof n);
    g->a->plain_bytes += sizeof n + n;
    return 0;
}

static int args_out_add_records(struct gathering *g, const struct trace *t, const row_t *rows,
                                const struct export_options *o, struct err *e)
{
    for (row_t i = 0; i < t->n_rows; i++) {
        TRY(args_out_add_record(g, t, rows[i], e));
        while (g->plain.n >= (size_t)PACKER_WAVE * STRATA_ARGS_BLOCK)
            TRY(args_out_write_wave(g, e));
        if (o->progress && i % 65536 == 0) o->progress(o->progress_ctx, i, t->n_rows);
    }
    return g->plain.n ? args_out_write_wave(g, e) : 0;
}

/* Appends the blocks to `out` and fills `a`; args_out_done is due also after a failure. */
static int args_out_write(struct args_out *a, const struct trace *t, struct file_out *out,
                          const struct export_options *o, struct err *e)
{
    struct gathering g = {.a = a, .out = out};
    *a = (struct args_out){0};
    row_t *rows = order_by_src(t);
    a->src = mem_alloc(t->n_rows * sizeof *a->src);
    int rc = rows && a->src ? add_index(a, 0, e) : err_nomem(e);
    if (rc == 0) rc = packer_init(&g.packer, &packer_zstd, STRATA_ARGS_BLOCK, o->n_threads, e);
    if (rc == 0) rc = args_out_add_records(&g, t, rows, o, e);
    packer_done(&g.packer);
    buf_done(&g.plain);
    mem_free(rows);
    return rc;
}

static void args_out_done(struct args_out *a)
{
    mem_free(a->src);
    mem_free(a->index);
    *a = (struct args_out){0};
}

/* Gathers, terminates and sorts the strings of a trace. */

struct strings_out {
    uint64_t *offsets; /* n + 1 */
    uint32_t *order;   /* n */
    struct buf bytes;
    uint32_t n;
};

static struct str string_at(const struct strings_out *s, uint32_t id)
{
    return str_from(s->bytes.p + s->offsets[id], s->offsets[id + 1] - s->offsets[id] - 1);
}

static int by_text(const void *a, const void *b, void *ctx)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int c = str_cmp(string_at(ctx, x), string_at(ctx, y));
    return c ? c : (x > y) - (x < y);
}

static void strings_out_gather(struct strings_out *s, const struct trace *t, const bool *used)
{
    for (uint32_t i = 0; i < s->n; i++) {
        if (used[i]) buf_add_str(&s->bytes, trace_str(t, i));
        buf_addc(&s->bytes, '\0');
        s->offsets[i + 1] = s->bytes.n;
        s->order[i] = i;
    }
}

/* strings_out_done is due also after a failure. Ids stay what they are; a string that nothing in
 * the file refers to (a stripped secret) becomes empty. */
static int strings_out_init(struct strings_out *s, const struct trace *t,
                            const struct export_options *o, struct err *e)
{
    *s = (struct strings_out){.n = t->strings.n};
    s->offsets = mem_zalloc((size_t)s->n + 1, sizeof *s->offsets);
    s->order = mem_alloc(s->n * sizeof *s->order);
    bool *used = strip_strings(t, o);
    bool ok = s->offsets && s->order && used;
    if (ok) strings_out_gather(s, t, used);
    mem_free(used);
    if (!ok || !buf_ok(&s->bytes)) return err_nomem(e);
    qsort_r(s->order, s->n, sizeof *s->order, by_text, s);
    return 0;
}

static void strings_out_done(struct strings_out *s)
{
    mem_free(s->offsets);
    mem_free(s->order);
    buf_done(&s->bytes);
    *s = (struct strings_out){0};
}

struct writer {
    struct file_out out;
    struct strata_head head;
    struct strata_section sections[STRATA_MAX_SECTIONS];
    uint32_t n_sections;
    struct arena mem; /* tables in their disk form */
    const struct trace *t;
    const struct export_options *o;
};

static int to_strata_no_memory(struct err *e)
{
    return err_nomem(e);
}

static int to_strata_pad(struct writer *w, struct err *e)
{
    static const char zeros[STRATA_ALIGN];
    return file_out_write(&w->out, zeros, (0 - w->out.written) % STRATA_ALIGN, e);
}

/* Begins a section at the next boundary. Its size and checksum may be filled in later. */
static int begin_section(struct writer *w, struct strata_section s, struct err *e)
{
    TRY(to_strata_pad(w, e));
    s.offset = w->out.written;
    w->sections[w->n_sections++] = s;
    return 0;
}

static int put_section(struct writer *w, struct strata_section s, const void *items, struct err *e)
{
    size_t n = (size_t)s.n_items * s.item_bytes;
    s.checksum = xxh64(items, n);
    TRY(begin_section(w, s, e));
    return n ? file_out_write(&w->out, items, n, e) : 0;
}

#define PUT(w, section, items, n, e)                                                             \
    put_section(                                                                                 \
        (w),                                                                                     \
        (struct strata_section){.id = (section), .item_bytes = sizeof *(items), .n_items = (n)}, \
        (items), (e))

static int to_strata_put_columns(struct writer *w, const struct args_out *args, struct err *e)
{
    struct trace copy = *w->t; /* the column list wants a trace it could change */
    if (args->src) copy.src = args->src;
    for (int i = 0; i < trace_n_columns; i++) {
        const struct trace_column *c = &trace_columns[i];
        struct strata_section s = {
            .id = c->section, .item_bytes = c->item_bytes, .n_items = *column_n(c, &copy)};
        TRY(put_section(w, s, *column_items(c, &copy), e));
    }
    return 0;
}

static int to_strata_put_args(struct writer *w, struct args_out *a, struct err *e)
{
    if (!w->t->args) return 0;
    struct strata_section s = {.id = SECTION_ARGS_BLOCKS, .item_bytes = 1};
    TRY(begin_section(w, s, e));
    TRY(args_out_write(a, w->t, &w->out, w->o, e));
    w->sections[w->n_sections - 1].n_items = a->index[a->n_index - 1];
    return PUT(w, SECTION_ARGS_INDEX, a->index, a->n_index, e);
}

static int put_lanes(struct writer *w, struct err *e)
{
    const struct trace *t = w->t;
    struct strata_lane *lanes = arena_zalloc(&w->mem, t->n_lanes, sizeof *lanes);
    if (!lanes) return to_strata_no_memory(e);
    for (uint32_t i = 0; i < t->n_lanes; i++) {
        const struct lane *l = &t->lanes[i];
        lanes[i] = (struct strata_lane){
            .kind = l->kind,
            .process = l->process,
            .tid = l->tid,
            .sort_index = l->sort_index,
            .tid_text = l->tid_text,
            .name = l->name,
            .device = l->device,
            .stream = l->stream,
            .begin = l->begin,
            .end = l->end,
        };
    }
    return PUT(w, SECTION_LANES, lanes, t->n_lanes, e);
}

static int put_processes(struct writer *w, struct err *e)
{
    const struct trace *t = w->t;
    struct strata_process *ps = arena_zalloc(&w->mem, t->n_processes, sizeof *ps);
    if (!ps) return to_strata_no_memory(e);
    for (uint32_t i = 0; i < t->n_processes; i++) {
        const struct process *p = &t->processes[i];
        ps[i] = (struct strata_process){p->pid, p->sort_index, p->pid_text, p->name, p->labels, 0};
    }
    return PUT(w, SECTION_PROCESSES, ps, t->n_processes, e);
}

static int to_strata_put_devices(struct writer *w, struct err *e)
{
    const struct trace *t = w->t;
    struct strata_device *ds = arena_zalloc(&w->mem, t->n_devices, sizeof *ds);
    if (!ds) return to_strata_no_memory(e);
    for (uint32_t i = 0; i < t->n_devices; i++) {
        const struct device *d = &t->devices[i];
        ds[i] = (struct strata_device){
            .memory_bytes = d->memory_bytes,
            .id = d->id,
            .name = d->name,
            .major = d->major,
            .minor = d->minor,
            .n_sms = d->n_sms,
            .warp_size = d->warp_size,
            .max_threads_per_sm = d->max_threads_per_sm,
            .regs_per_sm = d->regs_per_sm,
            .shared_per_sm = d->shared_per_sm,
            .shared_per_block_optin = d->shared_per_block_optin,
        };
    }
    return PUT(w, SECTION_DEVICES, ds, t->n_devices, e);
}

static int to_strata_put_metas(struct writer *w, struct err *e)
{
    const struct trace *t = w->t;
    struct strata_meta *ms = arena_zalloc(&w->mem, t->n_metas, sizeof *ms);
    if (!ms) return to_strata_no_memory(e);
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->n_metas; i++)
        if (strip_keeps(t, &t->metas[i], w->o))
            ms[n++] = (struct strata_meta){t->metas[i].key, t->metas[i].value};
    return PUT(w, SECTION_METAS, ms, n, e);
}

static int put_summary(struct writer *w, const struct args_out *args, struct err *e)
{
    const struct trace *t = w->t;
    struct trace_counts counts;
    trace_count(t, &counts);
    struct strata_summary s = {
        .base_ns = t->base_ns,
        .begin_ns = t->begin_ns,
        .end_ns = t->end_ns,
        .window_begin_ns = t->window_begin_ns,
        .window_end_ns = t->window_end_ns,
        .source_bytes = t->source_bytes,
        .args_bytes = args->plain_bytes,
        .external_ids_usable = t->external_ids_usable,
        .step_marks = counts.step_marks,
        .unlinked = counts.unlinked,
    };
    memcpy(s.rows_by_kind, counts.by_kind, sizeof counts.by_kind);
    TRY(PUT(w, SECTION_SUMMARY, &s, 1, e));
    struct strata_cat *cats = arena_zalloc(&w->mem, t->n_cats, sizeof *cats);
    if (!cats) return to_strata_no_memory(e);
    for (uint32_t i = 0; i < t->n_cats; i++)
        cats[i] = (struct strata_cat){t->cats[i], counts.by_cat[i]};
    return PUT(w, SECTION_CATS, cats, t->n_cats, e);
}

static int put_damage(struct writer *w, struct err *e)
{
    const struct damage *d = &w->t->damage;
    struct strata_damage *ds = arena_zalloc(&w->mem, DAMAGE_REASONS, sizeof *ds);
    if (!ds) return to_strata_no_memory(e);
    uint32_t n = 0;
    for (int r = 0; r < DAMAGE_REASONS; r++) {
        if (!d->count[r]) continue;
        const char *name = damage_name(r);
        memcpy(ds[n].reason, name, strnlen(name, sizeof ds[n].reason - 1));
        ds[n].count = d->count[r];
        memcpy(ds[n++].place, d->place[r], sizeof d->place[r]);
    }
    return PUT(w, SECTION_DAMAGE, ds, n, e);
}

static int put_strings(struct writer *w, struct err *e)
{
    struct strings_out s;
    int rc = strings_out_init(&s, w->t, w->o, e);
    if (rc == 0) rc = PUT(w, SECTION_STRING_OFFSETS, s.offsets, (uint64_t)s.n + 1, e);
    if (rc == 0) rc = PUT(w, SECTION_STRING_BYTES, s.bytes.p, s.bytes.n, e);
    if (rc == 0) rc = PUT(w, SECTION_STRING_ORDER, s.order, s.n, e);
    strings_out_done(&s);
    return rc;
}

static int to_strata_put_head(struct writer *w, struct err *e)
{
    w->head = (struct strata_head){
        .major = STRATA_MAJOR, .minor = STRATA_MINOR, .byte_order = STRATA_BYTE_ORDER};
    memcpy(w->head.magic, STRATA_MAGIC, sizeof w->head.magic);
    return file_out_write(&w->out, &w->head, sizeof w->head, e);
}

static int put_foot(struct writer *w, struct err *e)
{
    TRY(to_strata_pad(w, e));
    size_t n_table = w->n_sections * sizeof *w->sections;
    struct strata_foot f = {
        .table_offset = w->out.written,
        .n_sections = w->n_sections,
        .table_checksum = xxh64(w->sections, n_table),
    };
    TRY(file_out_write(&w->out, w->sections, n_table, e));
    TRY(to_strata_pad(w, e));
    f.file_bytes = w->out.written + sizeof f;
    f.checksum = strata_file_checksum(&w->head, &f);
    memcpy(f.magic, STRATA_END_MAGIC, sizeof f.magic);
    return file_out_write(&w->out, &f, sizeof f, e);
}

static int to_strata_put_all(struct writer *w, struct args_out *args, struct err *e)
{
    TRY(to_strata_put_head(w, e));
    TRY(to_strata_put_args(w, args, e));
    TRY(to_strata_put_columns(w, args, e));
    TRY(put_lanes(w, e));
    TRY(put_processes(w, e));
    TRY(to_strata_put_devices(w, e));
    TRY(to_strata_put_metas(w, e));
    TRY(put_summary(w, args, e));
    TRY(put_damage(w, e));
    TRY(put_strings(w, e));
    return put_foot(w, e);
}

static int write_strata(const struct trace *t, const char *path, const struct export_options *o,
                        struct err *e)
{
    struct writer w = {.t = t, .o = o};
    struct args_out args = {0};
    arena_init(&w.mem);
    TRY(file_out_begin(&w.out, path, e));
    int rc = to_strata_put_all(&w, &args, e);
    if (rc == 0) rc = file_out_commit(&w.out, e);
    else file_out_abort(&w.out);
    args_out_done(&args);
    arena_done(&w.mem);
    return rc;
}

const struct exporter to_strata = {
    .name = "strata",
    .summary = "the native format: opens instantly and keeps everything",
    .extensions = ".strata",
    .next = {"strata report ", ""},
    .write = write_strata,
};
