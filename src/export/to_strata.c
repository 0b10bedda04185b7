/* to_strata.c: writes the native file: the columns as they stand in memory, strings, small tables
 * and the raw args, then the section table. Front to back, and the same trace always gives the
 * same bytes. The layout is in format/strata_file.h. */
#include <string.h>

#include "base/file.h"
#include "export/args_out.h"
#include "export/export.h"
#include "export/strings_out.h"
#include "export/strip.h"
#include "format/strata_file.h"
#include "format/xxh64.h"
#include "trace/column.h"

struct writer {
    struct file_out out;
    struct strata_head head;
    struct strata_section sections[STRATA_MAX_SECTIONS];
    uint32_t n_sections;
    struct arena mem; /* tables in their disk form */
    const struct trace *t;
    const struct export_options *o;
};

static int no_memory(struct err *e)
{
    return err_nomem(e);
}

static int pad(struct writer *w, struct err *e)
{
    static const char zeros[STRATA_ALIGN];
    return file_out_write(&w->out, zeros, (0 - w->out.written) % STRATA_ALIGN, e);
}

/* Begins a section at the next boundary. Its size and checksum may be filled in later. */
static int begin_section(struct writer *w, struct strata_section s, struct err *e)
{
    TRY(pad(w, e));
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

static int put_columns(struct writer *w, const struct args_out *args, struct err *e)
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

static int put_args(struct writer *w, struct args_out *a, struct err *e)
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
    if (!lanes) return no_memory(e);
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
    if (!ps) return no_memory(e);
    for (uint32_t i = 0; i < t->n_processes; i++) {
        const struct process *p = &t->processes[i];
        ps[i] = (struct strata_process){p->pid, p->sort_index, p->pid_text, p->name, p->labels, 0};
    }
    return PUT(w, SECTION_PROCESSES, ps, t->n_processes, e);
}

static int put_devices(struct writer *w, struct err *e)
{
    const struct trace *t = w->t;
    struct strata_device *ds = arena_zalloc(&w->mem, t->n_devices, sizeof *ds);
    if (!ds) return no_memory(e);
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

static int put_metas(struct writer *w, struct err *e)
{
    const struct trace *t = w->t;
    struct strata_meta *ms = arena_zalloc(&w->mem, t->n_metas, sizeof *ms);
    if (!ms) return no_memory(e);
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
    if (!cats) return no_memory(e);
    for (uint32_t i = 0; i < t->n_cats; i++)
        cats[i] = (struct strata_cat){t->cats[i], counts.by_cat[i]};
    return PUT(w, SECTION_CATS, cats, t->n_cats, e);
}

static int put_damage(struct writer *w, struct err *e)
{
    const struct damage *d = &w->t->damage;
    struct strata_damage *ds = arena_zalloc(&w->mem, DAMAGE_REASONS, sizeof *ds);
    if (!ds) return no_memory(e);
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

static int put_head(struct writer *w, struct err *e)
{
    w->head = (struct strata_head){
        .major = STRATA_MAJOR, .minor = STRATA_MINOR, .byte_order = STRATA_BYTE_ORDER};
    memcpy(w->head.magic, STRATA_MAGIC, sizeof w->head.magic);
    return file_out_write(&w->out, &w->head, sizeof w->head, e);
}

static int put_foot(struct writer *w, struct err *e)
{
    TRY(pad(w, e));
    size_t n_table = w->n_sections * sizeof *w->sections;
    struct strata_foot f = {
        .table_offset = w->out.written,
        .n_sections = w->n_sections,
        .table_checksum = xxh64(w->sections, n_table),
    };
    TRY(file_out_write(&w->out, w->sections, n_table, e));
    TRY(pad(w, e));
    f.file_bytes = w->out.written + sizeof f;
    f.checksum = strata_file_checksum(&w->head, &f);
    memcpy(f.magic, STRATA_END_MAGIC, sizeof f.magic);
    return file_out_write(&w->out, &f, sizeof f, e);
}

static int put_all(struct writer *w, struct args_out *args, struct err *e)
{
    TRY(put_head(w, e));
    TRY(put_args(w, args, e));
    TRY(put_columns(w, args, e));
    TRY(put_lanes(w, e));
    TRY(put_processes(w, e));
    TRY(put_devices(w, e));
    TRY(put_metas(w, e));
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
    int rc = put_all(&w, &args, e);
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
