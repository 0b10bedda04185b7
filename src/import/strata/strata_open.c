/* strata_open.c: opens a .strata file (format/strata_file.h) by pointing the columns of a trace
 * into the mapping; small tables are copied.
 *
 * Nothing in a file is believed. Opening proves what it uses: the sections (strata_private.h), row
 * columns of equal length, lanes that cover the rows. Strings and args are checked by their readers
 * when asked for. Checksums are always proved; what rows say of each other is not for `info`, which
 * does not use it.
 */
#include "import/importer.h"

#include <string.h>

#include "base/mem.h"
#include "import/strata/strata_private.h"
#include "trace/bounds.h"
#include "trace/column.h"
#include "trace/verify.h"

static int map_columns(struct trace *t, const struct strata_sections *f, struct err *e)
{
    for (int i = 0; i < trace_n_columns; i++) {
        const struct trace_column *col = &trace_columns[i];
        struct native_items items;
        bool first = i == 0 || trace_columns[i - 1].n_at != col->n_at;
        if (i > 0 && first && !strata_sections_has(f, col->section))
            continue; /* older than the table */
        TRY(strata_sections_find_table(f, col->section, col->item_bytes, &items, e));
        if (!first && items.n != *column_n(col, t))
            return FAIL(e, ERR_FORMAT, "damaged: column %s has the wrong length", col->name);
        *column_n(col, t) = (uint32_t)items.n;
        *column_items(col, t) = (void *)(uintptr_t)items.p;
    }
    return 0;
}

static int map_strings(struct trace *t, const struct strata_sections *f, struct err *e)
{
    struct native_items offsets, bytes, order;
    TRY(strata_sections_find_table(f, SECTION_STRING_ORDER, sizeof(uint32_t), &order, e));
    TRY(strata_sections_find(f, SECTION_STRING_OFFSETS, sizeof(uint64_t), &offsets, e));
    TRY(strata_sections_find(f, SECTION_STRING_BYTES, 1, &bytes, e));
    if (offsets.n != order.n + 1 || order.n == 0)
        return FAIL(e, ERR_FORMAT, "damaged: the string table has the wrong length");
    struct intern_view view = {offsets.p, order.p, bytes.p, bytes.n};
    intern_borrow(&t->strings, &view, (uint32_t)order.n);
    return 0;
}

static int strata_open_find_args(const struct strata_sections *f, struct strata_args_file *ret,
                                 struct err *e)
{
    struct native_items blocks, index, summary;
    TRY(strata_sections_find(f, SECTION_ARGS_BLOCKS, 1, &blocks, e));
    TRY(strata_sections_find(f, SECTION_ARGS_INDEX, sizeof(uint64_t), &index, e));
    TRY(strata_sections_find(f, SECTION_SUMMARY, sizeof(struct strata_summary), &summary, e));
    const struct strata_summary *s = summary.p;
    *ret = (struct strata_args_file){blocks.p, blocks.n, index.p, index.n, s->args_bytes};
    return 0;
}

static int map_args(struct trace *t, const struct strata_sections *f, struct err *e)
{
    struct strata_args_file args;
    if (!strata_sections_has(f, SECTION_ARGS_BLOCKS)) return 0; /* none were recorded */
    TRY(strata_open_find_args(f, &args, e));
    t->args = strata_args_new(&args);
    return t->args ? 0 : err_nomem(e);
}

static int check_args(const struct strata_sections *f, int n_threads, struct err *e)
{
    struct strata_args_file args;
    if (!strata_sections_has(f, SECTION_ARGS_BLOCKS)) return 0;
    TRY(strata_open_find_args(f, &args, e));
    return strata_args_check(&args, n_threads, e);
}

/* Room in memory for the items of a small table. */
static int make_table(const struct native_items *items, size_t size, void **ret_table,
                      uint32_t *ret_n, struct err *e)
{
    void *table = mem_zalloc(items->n, size);
    if (!table) return err_nomem(e);
    *ret_table = table;
    *ret_n = (uint32_t)items->n;
    return 0;
}

static int copy_lanes(struct trace *t, const struct strata_sections *f, struct err *e)
{
    struct native_items items;
    TRY(strata_sections_find_table(f, SECTION_LANES, sizeof(struct strata_lane), &items, e));
    TRY(make_table(&items, sizeof *t->lanes, (void **)&t->lanes, &t->n_lanes, e));
    const struct strata_lane *from = items.p;
    for (uint32_t i = 0; i < t->n_lanes; i++, from++) {
        t->lanes[i] = (struct lane){
            .kind = from->kind,
            .process = from->process,
            .tid = from->tid,
            .tid_text = from->tid_text,
            .name = from->name,
            .sort_index = from->sort_index,
            .device = from->device,
            .stream = from->stream,
            .begin = from->begin,
            .end = from->end,
        };
    }
    return 0;
}

static int copy_processes(struct trace *t, const struct strata_sections *f, struct err *e)
{
    struct native_items items;
    TRY(strata_sections_find_table(f, SECTION_PROCESSES, sizeof(struct strata_process), &items, e));
    TRY(make_table(&items, sizeof *t->processes, (void **)&t->processes, &t->n_processes, e));
    const struct strata_process *from = items.p;
    for (uint32_t i = 0; i < t->n_processes; i++, from++) {
        t->processes[i] = (struct process){
            .pid = from->pid,
            .pid_text = from->pid_text,
            .name = from->name,
            .labels = from->labels,
            .sort_index = from->sort_index,
        };
    }
    return 0;
}

static int copy_devices(struct trace *t, const struct strata_sections *f, struct err *e)
{
    struct native_items items;
    TRY(strata_sections_find_table(f, SECTION_DEVICES, sizeof(struct strata_device), &items, e));
    TRY(make_table(&items, sizeof *t->devices, (void **)&t->devices, &t->n_devices, e));
    const struct strata_device *from = items.p;
    for (uint32_t i = 0; i < t->n_devices; i++, from++) {
        t->devices[i] = (struct device){
            .id = from->id,
            .name = from->name,
            .memory_bytes = from->memory_bytes,
            .major = from->major,
            .minor = from->minor,
            .n_sms = from->n_sms,
            .warp_size = from->warp_size,
            .max_threads_per_sm = from->max_threads_per_sm,
            .regs_per_sm = from->regs_per_sm,
            .shared_per_sm = from->shared_per_sm,
            .shared_per_block_optin = from->shared_per_block_optin,
        };
        bounds_device(&t->devices[i]);
    }
    return 0;
}

static int copy_metas(struct trace *t, const struct strata_sections *f, struct err *e)
{
    struct native_items items;
    TRY(strata_sections_find_table(f, SECTION_METAS, sizeof(struct strata_meta), &items, e));
    TRY(make_table(&items, sizeof *t->metas, (void **)&t->metas, &t->n_metas, e));
    const struct strata_meta *from = items.p;
    for (uint32_t i = 0; i < t->n_metas; i++)
        t->metas[i] = (struct meta){from[i].key, from[i].value};
    return 0;
}

static int copy_cats(struct trace *t, const struct strata_sections *f, struct err *e)
{
    enum { MOST_CATS = sizeof t->counts.by_cat / sizeof *t->counts.by_cat };
    struct native_items items;
    TRY(strata_sections_find_table(f, SECTION_CATS, sizeof(struct strata_cat), &items, e));
    if (items.n > MOST_CATS) return FAIL(e, ERR_FORMAT, "damaged: too many categories");
    TRY(make_table(&items, sizeof *t->cats, (void **)&t->cats, &t->n_cats, e));
    const struct strata_cat *from = items.p;
    for (uint32_t i = 0; i < t->n_cats; i++) {
        t->cats[i] = from[i].text;
        t->counts.by_cat[i] = from[i].n_rows;
    }
    return 0;
}

static int copy_summary(struct trace *t, const struct strata_sections *f, struct err *e)
{
    struct native_items items;
    TRY(strata_sections_find(f, SECTION_SUMMARY, sizeof(struct strata_summary), &items, e));
    if (items.n != 1) return FAIL(e, ERR_FORMAT, "damaged: the summary is missing");
    const struct strata_summary *s = items.p;
    t->base_ns = s->base_ns;
    t->begin_ns = s->begin_ns;
    t->end_ns = s->end_ns;
    t->window_begin_ns = s->window_begin_ns;
    t->window_end_ns = s->window_end_ns;
    t->source_bytes = s->source_bytes;
    t->external_ids_usable = s->external_ids_usable;
    t->counts.step_marks = s->step_marks;
    t->counts.unlinked = s->unlinked;
    memcpy(t->counts.by_kind, s->rows_by_kind, sizeof t->counts.by_kind);
    t->counted = true;
    return 0;
}

/* Reasons this version does not know are left out. */
static int copy_damage(struct trace *t, const struct strata_sections *f, struct err *e)
{
    struct native_items items;
    TRY(strata_sections_find(f, SECTION_DAMAGE, sizeof(struct strata_damage), &items, e));
    const struct strata_damage *from = items.p;
    for (uint64_t i = 0; i < items.n && i < DAMAGE_REASONS; i++, from++) {
        struct str name = str_from(from->reason, strnlen(from->reason, sizeof from->reason));
        for (int r = 0; r < DAMAGE_REASONS; r++) {
            if (!str_is(name, damage_name(r))) continue;
            t->damage.count[r] = from->count;
            memcpy(t->damage.place[r], from->place, sizeof from->place);
        }
    }
    return 0;
}

static int strata_open_fill(struct trace *t, const struct strata_sections *f, struct err *e)
{
    TRY(map_columns(t, f, e));
    TRY(map_strings(t, f, e));
    TRY(copy_lanes(t, f, e));
    TRY(copy_processes(t, f, e));
    TRY(copy_devices(t, f, e));
    TRY(copy_metas(t, f, e));
    TRY(copy_cats(t, f, e));
    TRY(copy_summary(t, f, e));
    TRY(copy_damage(t, f, e));
    TRY(map_args(t, f, e));
    return trace_verify_lanes(t, e);
}

/* The trace of a file whose sections are known. Takes the mapping. */
static int make_trace(struct file_map *file, const struct strata_sections *f, const char *path,
                      struct trace **ret, struct err *e)
{
    struct trace *t = *ret = trace_new();
    if (!t) return err_nomem(e);
    t->mapping = *file;
    *file = (struct file_map){0};
    t->columns_owned = false;
    t->format = "strata";
    t->has_source = true;
    t->path = mem_strdup(path);
    return t->path ? strata_open_fill(t, f, e) : err_nomem(e);
}

static int strata_open_verify(const struct trace *t, const struct strata_sections *f,
                              const struct import_options *o, struct err *e)
{
    TRY(strata_sections_verify(f, o->n_threads, e));
    if (o->check_args) TRY(check_args(f, o->n_threads, e));
    return o->skip_rows ? 0 : trace_verify(t, o->n_threads, e);
}

static int open_native(struct file_map *file, const char *path, const struct import_options *o,
                       struct trace **ret, struct err *e)
{
    struct strata_sections f;
    struct trace *t = NULL;
    int rc = strata_sections_open(&f, file->p, file->n, e);
    if (rc == 0) rc = make_trace(file, &f, path, &t, e);
    if (rc == 0) rc = strata_open_verify(t, &f, o, e);
    file_unmap(file);
    if (rc < 0) trace_free(t);
    else *ret = t;
    return rc;
}

static bool strata_open_sniff(struct str head)
{
    return str_starts(head, STRATA_MAGIC);
}

const struct importer import_native = {"strata", strata_open_sniff, open_native, .inflates = false};
