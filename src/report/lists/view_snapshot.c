/* view_snapshot.c: see views_memory.h. */
#include "report/lists/views_memory.h"

#include <stdlib.h>

#include "analyze/names/frame.h"
#include "base/human.h"
#include "base/jout.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/stats.h"
#include "report/cells.h"
#include "results/result_json.h"

enum { WHERE_WIDTH = 58, STACK_SHOWN = 16, ROUNDS_SHOWN = 12, STUCK_SHOWN = 5 };

/* ---- places */

static void view_snapshot_put_frame(struct buf *out, const struct snapshot *s, uint32_t frame)
{
    const struct snap_frame *f = &s->frames[frame];
    struct str file = frame_path(intern_get(&s->strings, f->file));
    struct str function = intern_get(&s->strings, f->function);
    if (f->line > 0) buf_printf(out, STR_FMT ":%d ", STR_ARG(file), f->line);
    buf_add_str(out, f->line > 0 ? function : held_function_name(function));
}

static void view_snapshot_put_where(struct buf *out, const struct held *h, uint32_t stack)
{
    if (stack == HELD_BEFORE_STACK) buf_adds(out, "(allocated before the recording)");
    else if (!h->s->stacks[stack].n) buf_adds(out, "(no stack)");
    else view_snapshot_put_frame(out, h->s, h->user[stack]);
}

static void view_snapshot_cell_where(struct text_table *t, int col, const struct held *h,
                                     uint32_t stack)
{
    struct buf where = {0};
    view_snapshot_put_where(&where, h, stack);
    text_table_cell(t, col, cell_text(buf_str(&where), WHERE_WIDTH).s);
    if (!buf_ok(&where)) t->failed = true;
    buf_done(&where);
}

static enum held_category view_snapshot_category_of(const struct held *h, uint32_t stack)
{
    return stack == HELD_BEFORE_STACK ? HELD_BEFORE : h->categories[stack];
}

/* ---- text */

static void put_holders(const struct screen *s, const struct held *h, const struct held_by *by,
                        uint32_t n, const char *title)
{
    struct text_table t;
    int64_t all = 0;
    for (uint32_t i = 0; i < n; i++) all += by[i].bytes;
    text_table_init(&t);
    text_table_col(&t, title, TEXT_RIGHT);
    text_table_col(&t, "share", TEXT_RIGHT);
    text_table_col(&t, "blocks", TEXT_RIGHT);
    text_table_col(&t, "what", TEXT_LEFT);
    text_table_col(&t, "line", TEXT_LEFT);
    for (uint32_t i = 0; i < n && i < s->limit; i++) {
        text_table_row(&t, TEXT_PLAIN);
        text_table_cell(&t, 0, human_bytes(by[i].bytes).s);
        text_table_cell(&t, 1, human_pct(stats_pct(by[i].bytes, all)).s);
        screen_count(&t, 2, by[i].blocks);
        text_table_cell(&t, 3, held_category_name(view_snapshot_category_of(h, by[i].stack)));
        view_snapshot_cell_where(&t, 4, h, by[i].stack);
    }
    screen_table(s, &t);
    if (t.failed) s->out->failed = true;
    text_table_done(&t);
    screen_more(s, n);
}

/* Bytes by the line that asked for them; `title` heads the column. */
static void show_holders(const struct screen *s, const struct held *h, const struct held_by *by,
                         uint32_t n, const char *title)
{
    struct held_by *lines = held_by_line(h, by, &n);
    if (lines) put_holders(s, h, lines, n, title);
    else s->out->failed = true;
    mem_free(lines);
}

static void show_categories(const struct screen *s, const struct held_moment *m)
{
    const char *comma = "  ";
    for (int pass = 0; pass < HELD_CATEGORIES; pass++) {
        int64_t most = -1;
        int which = 0;
        /* largest first: few enough for the simple way */
        for (int c = 0; c < HELD_CATEGORIES; c++) {
            int larger = 0;
            for (int k = 0; k < HELD_CATEGORIES; k++)
                larger += m->categories[k] > m->categories[c] ||
                          (m->categories[k] == m->categories[c] && k < c);
            if (larger == pass) which = c, most = m->categories[c];
        }
        if (most <= 0) break;
        if (pass && pass % 3 == 0) comma = ",\n  ";
        buf_printf(s->out, "%s%s %s", comma, held_category_words((enum held_category)which),
                   human_bytes(most).s);
        comma = ", ";
    }
    buf_addc(s->out, '\n');
}

static void say_moment(const struct screen *s, const struct held_device *d,
                       const struct held_moment *m)
{
    buf_printf(s->out, "%s held of %s reserved", human_bytes(m->live_bytes).s,
               human_bytes(m->reserved_bytes).s);
    if (m->event == HELD_NEVER) buf_adds(s->out, ", at the snapshot\n");
    else
        buf_printf(s->out, ", %s after the first event (%s of %s)\n",
                   human_time(m->since_us * 1000).s, human_count(m->event + (uint64_t)1).s,
                   human_count(d->n_events).s);
}

static void show_oom(const struct screen *s, const struct held *h, const struct held_moment *m,
                     const struct held_moment *peak)
{
    int64_t unused = m->reserved_bytes - m->live_bytes;
    struct buf where = {0};
    view_snapshot_put_where(&where, h, m->asked_stack);
    buf_printf(s->out, "memory ran out after %s: %s asked for", human_time(m->since_us * 1000).s,
               human_bytes(m->asked_bytes).s);
    if (m->device_free_bytes)
        buf_printf(s->out, ", %s free on the device", human_bytes(m->device_free_bytes).s);
    buf_printf(s->out, ", %s free in segments\n  at %s\n", human_bytes(unused > 0 ? unused : 0).s,
               buf_ok(&where) ? buf_c(&where) : "");
    if (!buf_ok(&where)) s->out->failed = true;
    buf_done(&where);
    if (unused >= m->asked_bytes)
        buf_adds(s->out, "  fragmentation: enough was free in segments, but not in one piece. "
                         "PYTORCH_ALLOC_CONF=\n  expandable_segments:True lets segments grow "
                         "instead.\n");
    else if (m->device_free_bytes >= m->asked_bytes)
        buf_adds(s->out, "  the device had enough: the process is limited "
                         "(set_per_process_memory_fraction)\n");
    else
        buf_adds(s->out, "  not fragmentation: the segments had less free memory than was "
                         "requested\n");
    if (m->live_bytes == peak->live_bytes && m->n == peak->n) {
        buf_adds(s->out, "  held by the same as at the peak\n");
        return;
    }
    show_categories(s, m);
    show_holders(s, h, m->by, m->n, "held");
}

static void show_space(const struct screen *s, const struct held *h, const struct held_device *d)
{
    const struct held_space *p = &d->space;
    if (!p->n_segments) return;
    buf_printf(s->out, "unused at the snapshot: %s of %s in %s segment%s (%s), largest block %s\n",
               human_bytes(p->free_bytes).s, human_bytes(p->reserved_bytes).s,
               human_count(p->n_segments).s, p->n_segments == 1 ? "" : "s",
               human_pct(stats_pct(p->free_bytes, p->reserved_bytes)).s,
               human_bytes(p->largest_free).s);
    int64_t used = p->active_bytes + p->awaiting_bytes;
    if (p->empty_bytes)
        buf_printf(s->out,
                   "  %s lies in segments without a block in use: torch.cuda.empty_cache() "
                   "gives it back\n",
                   human_bytes(p->empty_bytes).s);
    if (p->free_bytes > p->empty_bytes)
        buf_printf(s->out,
                   "  %s is free between blocks in use, in %s segment%s: only this process can use "
                   "it\n",
                   human_bytes(p->free_bytes - p->empty_bytes).s, human_count(p->n_stuck).s,
                   p->n_stuck == 1 ? "" : "s");
    if (used > p->requested_bytes)
        buf_printf(s->out, "  %s is lost to rounding up\n",
                   human_bytes(used - p->requested_bytes).s);
    for (uint32_t i = 0; i < p->n_stuck && i < STUCK_SHOWN && i < s->limit; i++) {
        const struct snap_segment *g = &h->s->segments[p->stuck[i].segment];
        struct buf where = {0};
        view_snapshot_put_where(&where, h, h->s->blocks[p->stuck[i].largest_used].stack);
        buf_printf(s->out, "    %s free of %s, held open by %s\n",
                   human_bytes(p->stuck[i].free_bytes).s, human_bytes(g->size).s,
                   cell_text(buf_str(&where), WHERE_WIDTH).s);
        if (!buf_ok(&where)) s->out->failed = true;
        buf_done(&where);
    }
}

static void show_growth(const struct screen *s, const struct held *h, const struct held_device *d)
{
    const struct held_growth *g = &d->growth;
    if (!g->found) {
        if (d->n_events)
            buf_adds(s->out,
                     "growth: no rounds of equal allocations found, so it cannot be judged\n");
        return;
    }
    if (!g->grows) {
        buf_printf(s->out, "growth: none; the level is the same in each of %u rounds (%s)\n",
                   g->n_rounds, human_bytes(g->levels[g->n_rounds - 1]).s);
        return;
    }
    if (g->as_layers)
        buf_printf(s->out,
                   "growth: cannot be judged: %u rounds in a row add %s each (%s to %s), as the "
                   "layers of one pass do, or steps that keep what they compute\n",
                   g->n_rounds - 1, human_bytes(g->per_round_bytes).s, human_bytes(g->levels[1]).s,
                   human_bytes(g->levels[g->n_rounds - 1]).s);
    else
        buf_printf(s->out, "growth: %s per round, in each of %u rounds (%s to %s)\n",
                   human_bytes(g->per_round_bytes).s, g->n_rounds - 1, human_bytes(g->levels[1]).s,
                   human_bytes(g->levels[g->n_rounds - 1]).s);
    show_holders(s, h, g->by, g->n, "grew");
}

static void view_snapshot_show_device(const struct screen *s, const struct held *h,
                                      const struct held_device *d)
{
    const struct held_moment *peak = &d->peak;
    buf_printf(s->out, "GPU %d peak: ", d->device);
    say_moment(s, d, peak);
    if (!d->n_events)
        buf_adds(s->out, "  no history: record with torch.cuda.memory._record_memory_history()\n");
    if (d->before_bytes && d->n_events)
        buf_printf(s->out, "  %s of it was there before the first event that is recorded\n",
                   human_bytes(d->before_bytes).s);
    show_categories(s, peak);
    if (h->s->has_stacks && peak->categories[HELD_UNKNOWN] * 20 > peak->live_bytes)
        buf_adds(s->out,
                 "  no stack: asked for by a thread without Python, as in the backward pass; "
                 "stacks=\"all\" records it\n");
    show_holders(s, h, peak->by, peak->n, "held");
    for (uint32_t i = 0; i < d->n_oom_moments; i++) {
        buf_addc(s->out, '\n');
        show_oom(s, h, &d->ooms[i], peak);
    }
    if (d->n_ooms > d->n_oom_moments)
        buf_printf(s->out,
                   "  it ran out %s times in total; the first ones and the last are shown\n",
                   human_count(d->n_ooms).s);
    buf_addc(s->out, '\n');
    show_space(s, h, d);
    show_growth(s, h, d);
}

void view_snapshot_info_text(const struct screen *s, const struct held *h)
{
    const struct snapshot *p = h->s;
    buf_printf(
        s->out, "%s   PyTorch memory snapshot   %s   %u device%s   %s events   %s segment%s\n",
        strcmp(s->path, "-") == 0 ? "standard input" : s->path,
        human_bytes((int64_t)p->source_bytes).s, h->n_devices, h->n_devices == 1 ? "" : "s",
        human_count(p->n_events).s, human_count(p->n_segments).s, p->n_segments == 1 ? "" : "s");
    if (!p->has_stacks)
        buf_adds(s->out, "  without stacks: torch.cuda.memory._record_memory_history() records "
                         "them\n");
}

void view_snapshot_text(const struct screen *s, const struct held *h)
{
    view_snapshot_info_text(s, h);
    if (!h->n_devices) buf_adds(s->out, "  it is empty: no segment, no event\n");
    for (uint32_t i = 0; i < h->n_devices; i++) {
        buf_addc(s->out, '\n');
        view_snapshot_show_device(s, h, &h->devices[i]);
    }
}

/* ---- JSON */

struct snapshot_shown {
    const struct held *h;
    uint32_t most; /* rows of a list */
};

static const struct snapshot_shown *shown_with(const struct rows *r)
{
    return r->with;
}

static const struct held *held_with(const struct rows *r)
{
    return shown_with(r)->h;
}

static uint32_t at_most(uint32_t n, uint32_t most)
{
    return n < most ? n : most;
}

/* ---- stacks */

static bool stack_known(const struct held *h, uint32_t stack)
{
    return stack != HELD_BEFORE_STACK && h->s->stacks[stack].n;
}

static struct value stack_source(const struct held *h, uint32_t stack)
{
    if (!stack_known(h, stack)) return value_none();
    const struct snap_frame *f = &h->s->frames[h->user[stack]];
    return value_place(
        (struct frame){.file = frame_path(intern_get(&h->s->strings, f->file)),
                       .line = f->line,
                       .function = held_function_name(intern_get(&h->s->strings, f->function))});
}

static struct rows stack_rows(const struct rows *r, uint32_t stack)
{
    const struct held *h = held_with(r);
    if (!stack_known(h, stack)) return (struct rows){0};
    const struct snap_stack *k = &h->s->stacks[stack];
    return (struct rows){
        .list = h->s->stack_frames + k->first, .n = at_most(k->n, STACK_SHOWN), .with = r->with};
}

static struct value stack_frame(const struct rows *r, uint32_t i)
{
    buf_reset(r->text);
    view_snapshot_put_frame(r->text, held_with(r)->s, *(const uint32_t *)rows_at(r, i));
    return value_text(buf_str(r->text));
}

/* clang-format off */
static const struct field frame_fields[] = {FIELD_GET(TEXT, "", "", stack_frame, "")};
static const struct result result_stack = RESULT("stack", "frames, innermost first", frame_fields, uint32_t);
/* clang-format on */

/* ---- holders */

static const struct held_by *holder_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static struct rows holder_stack(const struct rows *r, uint32_t i)
{
    return stack_rows(r, holder_at(r, i)->stack);
}

VALUE_OF(holder_category,
         value_cstr(held_category_name(view_snapshot_category_of(held_with(r),
                                                                 holder_at(r, i)->stack))))
VALUE_OF(holder_source, stack_source(held_with(r), holder_at(r, i)->stack))

/* clang-format off */
static const struct field holder_fields[] = {
    FIELD(BYTES, "bytes", "", struct held_by, bytes, "bytes held"),
    FIELD(COUNT, "blocks", "", struct held_by, blocks, "in so many blocks"),
    FIELD_GET(WORD, "category", "", holder_category, "what for, as in `categories`"),
    FIELD_GET(PLACE, "source", "", holder_source, "innermost line of the user's code"),
    FIELD_IN(LIST, "stack", "", &result_stack, holder_stack, "frames, innermost first", .sparse = true),
};
static const struct result result_holders = RESULT("holders", "who holds memory, by stack", holder_fields, struct held_by);
/* clang-format on */

/* ---- moments */

static const struct held_moment *moment_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static struct rows moment_stack(const struct rows *r, uint32_t i)
{
    if (!moment_at(r, i)->asked_bytes) return (struct rows){0};
    return stack_rows(r, moment_at(r, i)->asked_stack);
}

static void moment_categories(struct jout *j, const struct rows *r, uint32_t i)
{
    const struct held_moment *m = moment_at(r, i);
    for (int c = 0; c < HELD_CATEGORIES; c++)
        if (m->categories[c])
            jout_int(j, held_category_name((enum held_category)c), m->categories[c]);
}

static struct value moment_fragmented(const struct rows *r, uint32_t i)
{
    const struct held_moment *m = moment_at(r, i);
    if (!m->asked_bytes) return value_none();
    return value_int(m->reserved_bytes - m->live_bytes >= m->asked_bytes);
}

VALUE_OF(moment_event,
         moment_at(r, i)->event == HELD_NEVER ? value_none() : value_int(moment_at(r, i)->event))
VALUE_OF(moment_time, value_int(moment_at(r, i)->since_us * 1000))
VALUE_OF(moment_free, moment_at(r, i)->asked_bytes ? value_int(moment_at(r, i)->device_free_bytes)
                                                   : value_none())
VALUE_OF(moment_source, moment_at(r, i)->asked_bytes
                            ? stack_source(held_with(r), moment_at(r, i)->asked_stack)
                            : value_none())
ROWS_OF(moment_holders, .list = moment_at(r, i)->by,
        .n = at_most(moment_at(r, i)->n, shown_with(r)->most), .with = r->with)

/* clang-format off */
static const struct field moment_fields[] = {
    FIELD_GET(COUNT, "event", "", moment_event, "after which event, from 0; null: at the snapshot", .null = NULL_SOMETIMES),
    FIELD_GET(NS, "at_us", "", moment_time, "since the first event"),
    FIELD(BYTES, "held_bytes", "", struct held_moment, live_bytes, "bytes held, as asked for, before the allocator rounds up"),
    FIELD(BYTES, "reserved_bytes", "", struct held_moment, reserved_bytes, "bytes the allocator holds"),
    FIELD(BYTES, "asked_bytes", "", struct held_moment, asked_bytes, "when it ran out: bytes asked for", .null = NULL_ZERO, .sparse = true),
    FIELD_GET(BYTES, "device_free_bytes", "", moment_free, "what the device had left then", .null = NULL_SOMETIMES, .sparse = true),
    FIELD_GET(FLAG, "fragmented", "", moment_fragmented, "whether as much was free in segments", .null = NULL_SOMETIMES, .sparse = true),
    FIELD_GET(PLACE, "source", "", moment_source, "who asked: innermost line of the user's code", .sparse = true),
    FIELD_IN(LIST, "stack", "", &result_stack, moment_stack, "who asked: frames, innermost first", .sparse = true),
    FIELD_PUT(MAP, "categories", "", moment_categories, "bytes by what they are for: `weights`, `optimizer`, `backward`, `forward`, `workspace`, `communication`, `other`, `unknown`, `before`"),
    FIELD_IN(LIST, "holders", "", &result_holders, moment_holders, "who holds them, by stack, largest first"),
};
static const struct result result_moment = RESULT("moment", "who holds what at one moment", moment_fields, struct held_moment);
/* clang-format on */

/* ---- what is left between blocks */

static const struct held_segment *stuck_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static const struct snap_segment *stuck_segment(const struct rows *r, uint32_t i)
{
    return &held_with(r)->s->segments[stuck_at(r, i)->segment];
}

static uint32_t stuck_stack_of(const struct rows *r, uint32_t i)
{
    return held_with(r)->s->blocks[stuck_at(r, i)->largest_used].stack;
}

static struct rows stuck_stack(const struct rows *r, uint32_t i)
{
    return stack_rows(r, stuck_stack_of(r, i));
}

VALUE_OF(stuck_size, value_int(stuck_segment(r, i)->size))
VALUE_OF(stuck_blocks, value_int(stuck_segment(r, i)->n_blocks))
VALUE_OF(stuck_pool, value_cstr(stuck_segment(r, i)->large ? "large" : "small"))
VALUE_OF(stuck_source, stack_source(held_with(r), stuck_stack_of(r, i)))
ROWS_OF(space_stuck, .list = ((const struct held_space *)rows_at(r, i))->stuck,
        .n = at_most(((const struct held_space *)rows_at(r, i))->n_stuck, shown_with(r)->most),
        .with = r->with)

/* clang-format off */
static const struct field stuck_fields[] = {
    FIELD_GET(BYTES, "size_bytes", "", stuck_size, "its size"),
    FIELD(BYTES, "free_bytes", "", struct held_segment, free_bytes, "free between blocks that are in use"),
    FIELD_GET(COUNT, "blocks", "", stuck_blocks, "its blocks"),
    FIELD_GET(WORD, "pool", "", stuck_pool, "`large`, `small`"),
    FIELD_GET(PLACE, "source", "", stuck_source, "who holds its largest block"),
    FIELD_IN(LIST, "stack", "", &result_stack, stuck_stack, "the same: frames, innermost first", .sparse = true),
};
static const struct result result_stuck = RESULT("partly_used", "segments that are partly used", stuck_fields, struct held_segment);

static const struct field space_fields[] = {
    FIELD(BYTES, "reserved_bytes", "", struct held_space, reserved_bytes, "bytes the allocator holds"),
    FIELD(BYTES, "active_bytes", "", struct held_space, active_bytes, "of them, in use"),
    FIELD(BYTES, "awaiting_free_bytes", "", struct held_space, awaiting_bytes, "of them, waiting for a stream"),
    FIELD(BYTES, "requested_bytes", "", struct held_space, requested_bytes, "asked for, before rounding up"),
    FIELD(BYTES, "free_bytes", "", struct held_space, free_bytes, "free in segments"),
    FIELD(BYTES, "free_in_empty_segments_bytes", "", struct held_space, empty_bytes, "of those, in segments without any block in use"),
    FIELD(BYTES, "largest_free_bytes", "", struct held_space, largest_free, "the largest free block"),
    FIELD(COUNT, "segments", "", struct held_space, n_segments, "segments"),
    FIELD_IN(LIST, "partly_used", "", &result_stuck, space_stuck, "segments that are partly used, most free bytes first"),
};
static const struct result result_space = RESULT("space", "what the allocator holds", space_fields, struct held_space);
/* clang-format on */

/* ---- growth */

static const struct held_growth *growth_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static bool growth_grows(const struct held_growth *g)
{
    return g->found && g->grows && !g->as_layers;
}

VALUE_OF(growth_judged, value_int(growth_at(r, i)->found && !growth_at(r, i)->as_layers))

VALUE_OF(growth_grows_of, value_int(growth_grows(growth_at(r, i))))
VALUE_OF(growth_per_round,
         value_int(growth_grows(growth_at(r, i)) ? growth_at(r, i)->per_round_bytes : 0))
ROWS_OF(growth_levels, .list = growth_at(r, i)->levels, .n = growth_at(r, i)->n_rounds)
ROWS_OF(growth_holders, .list = growth_at(r, i)->by, .n = growth_at(r, i)->n, .with = r->with)

/* clang-format off */
static const struct field level_fields[] = {FIELD_BARE(BYTES, int64_t)};
static const struct result result_levels_bytes = RESULT("levels_bytes", "by round", level_fields, int64_t);

static const struct field growth_fields[] = {
    FIELD_GET(FLAG, "judged", "", growth_judged, "rounds of a loop were found"),
    FIELD_GET(FLAG, "grows", "", growth_grows_of, "memory grows from round to round"),
    FIELD(COUNT, "rounds", "", struct held_growth, n_rounds, "how many there are"),
    FIELD_GET(BYTES, "per_round_bytes", "", growth_per_round, "by how much, median"),
    FIELD_IN(LIST, "levels_bytes", "", &result_levels_bytes, growth_levels, "bytes at the same point of each round"),
    FIELD_IN(LIST, "holders", "", &result_holders, growth_holders, "what grew from the second round to the last"),
};
static const struct result result_growth = RESULT("growth", "what grows from round to round", growth_fields, struct held_growth);
/* clang-format on */

/* ---- the documents */

static const struct held *snapshot_at(const struct rows *r, uint32_t i)
{
    return ((const struct snapshot_shown *)rows_at(r, i))->h;
}

VALUE_OF(device_span, value_int(((const struct held_device *)rows_at(r, i))->span_us * 1000))
ROWS_OF(device_ooms, .list = ((const struct held_device *)rows_at(r, i))->ooms,
        .n = ((const struct held_device *)rows_at(r, i))->n_oom_moments, .with = r->with)
VALUE_OF(snapshot_format, value_cstr("torch memory snapshot"))
VALUE_OF(snapshot_bytes, value_int((int64_t)snapshot_at(r, i)->s->source_bytes))
VALUE_OF(snapshot_has_stacks, value_int(snapshot_at(r, i)->s->has_stacks))
VALUE_OF(snapshot_events, value_int((int64_t)snapshot_at(r, i)->s->n_events))
VALUE_OF(snapshot_segments, value_int((int64_t)snapshot_at(r, i)->s->n_segments))
VALUE_OF(snapshot_blocks, value_int((int64_t)snapshot_at(r, i)->s->n_blocks))
VALUE_OF(snapshot_n_devices, value_int(snapshot_at(r, i)->n_devices))
ROWS_OF(snapshot_devices, .list = snapshot_at(r, i)->devices, .n = snapshot_at(r, i)->n_devices,
        .with = rows_at(r, i))

/* clang-format off */
static const struct field device_fields[] = {
    FIELD(INT, "device", "", struct held_device, device, "its number"),
    FIELD(COUNT, "events", "", struct held_device, n_events, "its events"),
    FIELD_GET(NS, "span_us", "", device_span, "from the first to the last"),
    FIELD(BYTES, "before_bytes", "", struct held_device, before_bytes, "held before the first"),
    FIELD_SUB("peak", &result_moment, struct held_device, peak, "when most was held"),
    FIELD_SUB("now", &result_moment, struct held_device, now, "at the snapshot"),
    FIELD(COUNT, "ooms", "", struct held_device, n_ooms, "how often it ran out"),
    FIELD_IN(LIST, "out_of_memory", "", &result_moment, device_ooms, "when it ran out: the first times, and the last"),
    FIELD_SUB("space", &result_space, struct held_device, space, "what the allocator holds at the snapshot"),
    FIELD_SUB("growth", &result_growth, struct held_device, growth, "what grows from round to round"),
};
static const struct result result_snapshot_devices = RESULT("devices", "devices of a snapshot", device_fields, struct held_device);

#define SNAPSHOT_HEAD \
    FIELD_GET(TEXT, "format", "", snapshot_format, "`torch memory snapshot`"), \
    FIELD_GET(BYTES, "bytes", "", snapshot_bytes, "size of the file"), \
    FIELD_GET(FLAG, "has_stacks", "", snapshot_has_stacks, "whether it says who allocated"), \
    FIELD_GET(COUNT, "events", "", snapshot_events, "events in it"), \
    FIELD_GET(COUNT, "segments", "", snapshot_segments, "segments in it"), \
    FIELD_GET(COUNT, "blocks", "", snapshot_blocks, "blocks in it")

static const struct field snapshot_fields[] = {
    SNAPSHOT_HEAD,
    FIELD_IN(LIST, "devices", "", &result_snapshot_devices, snapshot_devices, "devices that hold or did something"),
};
const struct result document_snapshot = RESULT("memory", "who holds memory in a snapshot", snapshot_fields, struct snapshot_shown);

static const struct field snapshot_info_fields[] = {
    SNAPSHOT_HEAD,
    FIELD_GET(COUNT, "devices", "", snapshot_n_devices, "devices that hold or did something"),
};
const struct result document_snapshot_info = RESULT("info", "what is in a snapshot", snapshot_info_fields, struct snapshot_shown);
/* clang-format on */

void view_snapshot_info_json(struct jout *j, const struct held *h)
{
    document_json(j, NULL, NULL, &document_snapshot_info, &(struct snapshot_shown){h, 0}, NULL);
}

void view_snapshot_json(struct jout *j, const struct held *h, uint32_t most)
{
    document_json(j, NULL, NULL, &document_snapshot, &(struct snapshot_shown){h, most}, NULL);
}
