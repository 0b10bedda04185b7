/* native.c: opens a .strata file (format/strata_file.h) by pointing the columns of a trace into the
 * mapping.
 *
 * Nothing in a file is believed. Opening proves what it uses: head, foot and section table by
 * checksum, every section inside the file, aligned, of the expected item size, row columns equally
 * long. Strings and args are checked by their readers when asked for. What rows say of each other
 * is proved by verify, which only `info` does without. */
#include "import/native.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/pool.h"
#include "format/strata_file.h"
#include "format/xxh64.h"
#include "import/native_args.h"
#include "trace/check.h"
#include "trace/column.h"

#define MOST_ITEMS (UINT32_MAX - 1)

struct contents {
    const char *p; /* the file */
    const struct strata_section *sections;
    uint64_t n_sections;
    uint64_t end; /* where the section table begins: sections end before it */
};

static int check_head(const struct strata_head *h, struct err *e)
{
    if (h->byte_order != STRATA_BYTE_ORDER)
        return FAIL(e, ERR_UNSUPPORTED, "written on a machine with another byte order");
    if (h->major != STRATA_MAJOR)
        return FAIL(e, ERR_VERSION, "written in version %u of the format, this strata reads %d",
                    h->major, STRATA_MAJOR);
    return 0;
}

static int check_foot(const struct strata_head *h, const struct strata_foot *f, uint64_t n,
                      struct err *e)
{
    if (memcmp(f->magic, STRATA_END_MAGIC, sizeof f->magic) != 0)
        return FAIL(e, ERR_FORMAT, "cut short: the end of the file is missing (%" PRIu64 " bytes)",
                    n);
    if (f->checksum != strata_file_checksum(h, f))
        return FAIL(e, ERR_FORMAT, "damaged: the checksum of the file's end does not match");
    if (f->file_bytes != n)
        return FAIL(e, ERR_FORMAT, "damaged: %" PRIu64 " bytes long, expected %" PRIu64, n,
                    f->file_bytes);
    return 0;
}

/* Reads the table of contents. */
static int read_contents(struct contents *c, const char *p, uint64_t n, struct err *e)
{
    const struct strata_head *h = (const void *)p;
    if (n < sizeof *h) return FAIL(e, ERR_FORMAT, "cut short: only %" PRIu64 " bytes", n);
    TRY(check_head(h, e));
    if (n < sizeof *h + sizeof(struct strata_foot) || n % sizeof(uint64_t))
        return FAIL(e, ERR_FORMAT, "cut short: only %" PRIu64 " bytes", n);
    const struct strata_foot *f = (const void *)(p + n - sizeof *f);
    TRY(check_foot(h, f, n, e));
    uint64_t at = f->table_offset, room = n - sizeof *f;
    if (at % STRATA_ALIGN || at > room || f->n_sections > STRATA_MAX_SECTIONS ||
        f->n_sections * sizeof *c->sections > room - at)
        return FAIL(e, ERR_FORMAT, "damaged: the section table lies outside the file");
    *c = (struct contents){p, (const void *)(p + at), f->n_sections, at};
    if (xxh64(c->sections, c->n_sections * sizeof *c->sections) != f->table_checksum)
        return FAIL(e, ERR_FORMAT, "damaged: the checksum of the section table does not match");
    return 0;
}

/* The section `id`, proved to lie inside the file and to hold items of `item_bytes`. */
static int find_section(const struct contents *c, uint32_t id, size_t item_bytes,
                        const struct strata_section **ret, struct err *e)
{
    for (uint64_t i = 0; i < c->n_sections; i++) {
        const struct strata_section *s = &c->sections[i];
        if (s->id != id) continue;
        if (s->item_bytes != item_bytes || s->offset % STRATA_ALIGN || s->offset > c->end ||
            s->n_items > (c->end - s->offset) / item_bytes)
            return FAIL(e, ERR_FORMAT, "damaged: section %u lies outside the file", id);
        *ret = s;
        return 0;
    }
    return FAIL(e, ERR_FORMAT, "damaged: section %u is missing", id);
}

/* The same for a table whose items are numbered with 32 bits. */
static int find_table(const struct contents *c, uint32_t id, size_t item_bytes,
                      const struct strata_section **ret, struct err *e)
{
    TRY(find_section(c, id, item_bytes, ret, e));
    if ((*ret)->n_items > MOST_ITEMS)
        return FAIL(e, ERR_LIMIT, "section %u has too many items", id);
    return 0;
}

static const void *items_of(const struct contents *c, const struct strata_section *s)
{
    return c->p + s->offset;
}

static bool has_section(const struct contents *c, uint32_t id)
{
    for (uint64_t i = 0; i < c->n_sections; i++)
        if (c->sections[i].id == id) return true;
    return false;
}

static int map_columns(struct trace *t, const struct contents *c, struct err *e)
{
    for (int i = 0; i < trace_n_columns; i++) {
        const struct trace_column *col = &trace_columns[i];
        const struct strata_section *s;
        bool first = i == 0 || trace_columns[i - 1].n_at != col->n_at;
        if (i > 0 && first && !has_section(c, col->section)) continue; /* older than the table */
        TRY(find_table(c, col->section, col->item_bytes, &s, e));
        if (!first && s->n_items != *column_n(col, t))
            return FAIL(e, ERR_FORMAT, "damaged: column %s has another length", col->name);
        *column_n(col, t) = (uint32_t)s->n_items;
        *column_items(col, t) = (void *)(uintptr_t)items_of(c, s);
    }
    return 0;
}

static int map_strings(struct trace *t, const struct contents *c, struct err *e)
{
    const struct strata_section *offsets, *bytes, *order;
    TRY(find_table(c, SECTION_STRING_ORDER, sizeof(uint32_t), &order, e));
    TRY(find_section(c, SECTION_STRING_OFFSETS, sizeof(uint64_t), &offsets, e));
    TRY(find_section(c, SECTION_STRING_BYTES, 1, &bytes, e));
    if (offsets->n_items != order->n_items + 1 || order->n_items == 0)
        return FAIL(e, ERR_FORMAT, "damaged: the string table has another length");
    struct intern_view view = {items_of(c, offsets), items_of(c, order), items_of(c, bytes),
                               bytes->n_items};
    intern_borrow(&t->strings, &view, (uint32_t)order->n_items);
    return 0;
}

static int map_args(struct trace *t, const struct contents *c, uint64_t plain_bytes, struct err *e)
{
    const struct strata_section *blocks, *index;
    if (!has_section(c, SECTION_ARGS_BLOCKS)) return 0; /* none were recorded */
    TRY(find_section(c, SECTION_ARGS_BLOCKS, 1, &blocks, e));
    TRY(find_section(c, SECTION_ARGS_INDEX, sizeof(uint64_t), &index, e));
    struct native_args_file f = {items_of(c, blocks), blocks->n_items, items_of(c, index),
                                 index->n_items, plain_bytes};
    t->args = native_args_new(&f);
    return t->args ? 0 : FAIL(e, ERR_NOMEM, "out of memory");
}

/* Room for the items of a small table in memory, at *ret_items. */
static int make_table(const struct strata_section *s, size_t size, void **ret_items,
                      uint32_t *ret_n, struct err *e)
{
    void *items = mem_zalloc(s->n_items, size);
    if (!items) return FAIL(e, ERR_NOMEM, "out of memory");
    *ret_items = items;
    *ret_n = (uint32_t)s->n_items;
    return 0;
}

static int copy_lanes(struct trace *t, const struct contents *c, struct err *e)
{
    const struct strata_section *s;
    const struct strata_lane *from;
    TRY(find_table(c, SECTION_LANES, sizeof *from, &s, e));
    TRY(make_table(s, sizeof *t->lanes, (void **)&t->lanes, &t->n_lanes, e));
    from = items_of(c, s);
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

static int copy_processes(struct trace *t, const struct contents *c, struct err *e)
{
    const struct strata_section *s;
    const struct strata_process *from;
    TRY(find_table(c, SECTION_PROCESSES, sizeof *from, &s, e));
    TRY(make_table(s, sizeof *t->processes, (void **)&t->processes, &t->n_processes, e));
    from = items_of(c, s);
    for (uint32_t i = 0; i < t->n_processes; i++, from++)
        t->processes[i] =
            (struct process){from->pid, from->pid_text, from->name, from->labels, from->sort_index};
    return 0;
}

static int copy_devices(struct trace *t, const struct contents *c, struct err *e)
{
    const struct strata_section *s;
    const struct strata_device *from;
    TRY(find_table(c, SECTION_DEVICES, sizeof *from, &s, e));
    TRY(make_table(s, sizeof *t->devices, (void **)&t->devices, &t->n_devices, e));
    from = items_of(c, s);
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
    }
    return 0;
}

static int copy_metas(struct trace *t, const struct contents *c, struct err *e)
{
    const struct strata_section *s;
    const struct strata_meta *from;
    TRY(find_table(c, SECTION_METAS, sizeof *from, &s, e));
    TRY(make_table(s, sizeof *t->metas, (void **)&t->metas, &t->n_metas, e));
    from = items_of(c, s);
    for (uint32_t i = 0; i < t->n_metas; i++)
        t->metas[i] = (struct meta){from[i].key, from[i].value};
    return 0;
}

static int copy_cats(struct trace *t, const struct contents *c, struct err *e)
{
    const struct strata_section *s;
    const struct strata_cat *from;
    TRY(find_table(c, SECTION_CATS, sizeof *from, &s, e));
    if (s->n_items > 256) return FAIL(e, ERR_FORMAT, "damaged: more than 256 categories");
    TRY(make_table(s, sizeof *t->cats, (void **)&t->cats, &t->n_cats, e));
    from = items_of(c, s);
    for (uint32_t i = 0; i < t->n_cats; i++) {
        t->cats[i] = from[i].text;
        t->counts.by_cat[i] = from[i].n_rows;
    }
    return 0;
}

static int copy_summary(struct trace *t, const struct contents *c, uint64_t *ret_args_bytes,
                        struct err *e)
{
    const struct strata_section *section;
    const struct strata_summary *s;
    TRY(find_section(c, SECTION_SUMMARY, sizeof *s, &section, e));
    if (section->n_items != 1) return FAIL(e, ERR_FORMAT, "damaged: no summary");
    s = items_of(c, section);
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
    *ret_args_bytes = s->args_bytes;
    return 0;
}

/* Reasons this version does not know are left out. */
static int copy_damage(struct trace *t, const struct contents *c, struct err *e)
{
    const struct strata_section *s;
    const struct strata_damage *from;
    TRY(find_section(c, SECTION_DAMAGE, sizeof *from, &s, e));
    from = items_of(c, s);
    for (uint64_t i = 0; i < s->n_items && i < DAMAGE_REASONS; i++, from++) {
        struct str name = str_from(from->reason, strnlen(from->reason, sizeof from->reason));
        for (int r = 0; r < DAMAGE_REASONS; r++) {
            if (!str_is(name, damage_name(r))) continue;
            t->damage.count[r] = from->count;
            memcpy(t->damage.place[r], from->place, sizeof from->place);
        }
    }
    return 0;
}

static int fill(struct trace *t, const struct contents *c, struct err *e)
{
    uint64_t args_bytes = 0;
    TRY(map_columns(t, c, e));
    TRY(map_strings(t, c, e));
    TRY(copy_lanes(t, c, e));
    TRY(copy_processes(t, c, e));
    TRY(copy_devices(t, c, e));
    TRY(copy_metas(t, c, e));
    TRY(copy_cats(t, c, e));
    TRY(copy_summary(t, c, &args_bytes, e));
    TRY(copy_damage(t, c, e));
    TRY(map_args(t, c, args_bytes, e));
    return trace_check_lanes(t, e);
}

/* The trace of a file whose table of contents is sound. Takes the mapping. */
static int make_trace(struct file_map *f, const struct contents *c, const char *path,
                      struct trace **ret, struct err *e)
{
    struct trace *t = *ret = trace_new();
    if (!t) return FAIL(e, ERR_NOMEM, "out of memory");
    t->mapping = *f;
    *f = (struct file_map){0};
    t->columns_owned = false;
    t->format = "strata";
    t->path = mem_strdup(path);
    return t->path ? fill(t, c, e) : FAIL(e, ERR_NOMEM, "out of memory");
}

struct checksums {
    const struct contents *c;
    bool bad[STRATA_MAX_SECTIONS];
};

static void check_section(void *ctx, int item, int worker)
{
    struct checksums *k = ctx;
    const struct strata_section *s = &k->c->sections[item];
    (void)worker;
    if (s->id == SECTION_ARGS_BLOCKS) return;
    bool fits = s->item_bytes && s->offset <= k->c->end &&
                s->n_items <= (k->c->end - s->offset) / s->item_bytes;
    k->bad[item] = !fits || xxh64(items_of(k->c, s), s->n_items * s->item_bytes) != s->checksum;
}

/* Checksums of all sections, then what the rows say of each other. */
static int verify(const struct trace *t, const struct contents *c, int n_threads, struct err *e)
{
    struct checksums k = {.c = c};
    pool_run(n_threads, (int)c->n_sections, check_section, &k);
    for (uint64_t i = 0; i < c->n_sections; i++)
        if (k.bad[i])
            return FAIL(e, ERR_FORMAT, "damaged: the checksum of section %u does not match",
                        c->sections[i].id);
    return trace_check(t, n_threads, e);
}

static int open_native(struct file_map *f, const char *path, const struct import_options *o,
                       struct trace **ret, struct err *e)
{
    struct contents c;
    struct trace *t = NULL;
    int rc = read_contents(&c, f->p, f->n, e);
    if (rc == 0) rc = make_trace(f, &c, path, &t, e);
    if (rc == 0 && !o->skip_rows) rc = verify(t, &c, o->n_threads, e);
    file_unmap(f);
    if (rc < 0) trace_free(t);
    else *ret = t;
    return rc;
}

static bool sniff(struct str head)
{
    return str_starts(head, STRATA_MAGIC);
}

const struct importer import_native = {"strata", sniff, open_native};
