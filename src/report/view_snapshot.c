/* view_snapshot.c: see view_snapshot.h. */
#include "report/view_snapshot.h"

#include <stdlib.h>

#include "analyze/names/frame.h"
#include "base/human.h"
#include "base/jout.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/stats.h"
#include "report/cells.h"

enum { WHERE_WIDTH = 58, STACK_SHOWN = 16, ROUNDS_SHOWN = 12, STUCK_SHOWN = 5 };

/* ---- places */

static void put_frame(struct buf *out, const struct snapshot *s, uint32_t frame)
{
    const struct snap_frame *f = &s->frames[frame];
    struct str file = frame_path(intern_get(&s->strings, f->file));
    struct str function = intern_get(&s->strings, f->function);
    if (f->line > 0) buf_printf(out, STR_FMT ":%d ", STR_ARG(file), f->line);
    buf_add_str(out, function);
}

static void put_where(struct buf *out, const struct held *h, uint32_t stack)
{
    if (stack == HELD_BEFORE_STACK) buf_adds(out, "(allocated before the recording)");
    else if (!h->s->stacks[stack].n) buf_adds(out, "(no stack)");
    else put_frame(out, h->s, h->user[stack]);
}

static void cell_where(struct text_table *t, int col, const struct held *h, uint32_t stack)
{
    struct buf where = {0};
    put_where(&where, h, stack);
    text_table_cell(t, col, cell_text(buf_str(&where), WHERE_WIDTH).s);
    if (!buf_ok(&where)) t->failed = true;
    buf_done(&where);
}

static enum held_category category_of(const struct held *h, uint32_t stack)
{
    return stack == HELD_BEFORE_STACK ? HELD_BEFORE : h->categories[stack];
}

/* ---- text */

/* By the line that asked, where several stacks end there: the frames below it belong to torch. */
static uint64_t line_key(const struct held *h, uint32_t stack)
{
    if (stack == HELD_BEFORE_STACK) return UINT64_MAX;
    return (uint64_t)h->user[stack] << 8 | h->categories[stack];
}

static int larger(const void *a, const void *b)
{
    const struct held_by *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
    return x->stack < y->stack ? -1 : x->stack > y->stack;
}

/* A copy with one entry per line, largest first; NULL when out of memory. */
static struct held_by *by_line(const struct held *h, const struct held_by *by, uint32_t *n)
{
    struct held_by *lines = mem_zalloc((size_t)*n + 1, sizeof *lines);
    struct map of = {0};
    uint32_t n_lines = 0;
    bool ok = lines != NULL;
    for (uint32_t i = 0; i < *n && ok; i++) {
        uint32_t *slot = map_at(&of, line_key(h, by[i].stack));
        if (!(ok = slot != NULL)) break;
        if (*slot == MAP_NONE) {
            *slot = n_lines;
            lines[n_lines++] = (struct held_by){.stack = by[i].stack};
        }
        lines[*slot].bytes += by[i].bytes;
        lines[*slot].blocks += by[i].blocks;
    }
    map_done(&of);
    if (ok && n_lines) qsort(lines, n_lines, sizeof *lines, larger);
    if (!ok) mem_free(lines);
    *n = n_lines;
    return ok ? lines : NULL;
}

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
        text_table_cell(&t, 3, held_category_name(category_of(h, by[i].stack)));
        cell_where(&t, 4, h, by[i].stack);
    }
    text_table_print(&t, s->out, 2, s->width, s->color);
    if (t.failed) s->out->failed = true;
    text_table_done(&t);
    screen_more(s, n);
}

/* Bytes by the line that asked for them; `title` heads the column. */
static void show_holders(const struct screen *s, const struct held *h, const struct held_by *by,
                         uint32_t n, const char *title)
{
    struct held_by *lines = by_line(h, by, &n);
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
    put_where(&where, h, m->asked_stack);
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
    else buf_adds(s->out, "  not fragmentation: less was free in segments than was asked for\n");
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
                   "  %s lies between blocks in use, in %s segment%s: nobody but this "
                   "process can use it\n",
                   human_bytes(p->free_bytes - p->empty_bytes).s, human_count(p->n_stuck).s,
                   p->n_stuck == 1 ? "" : "s");
    if (used > p->requested_bytes)
        buf_printf(s->out, "  %s is lost to rounding up\n",
                   human_bytes(used - p->requested_bytes).s);
    for (uint32_t i = 0; i < p->n_stuck && i < STUCK_SHOWN && i < s->limit; i++) {
        const struct snap_segment *g = &h->s->segments[p->stuck[i].segment];
        struct buf where = {0};
        put_where(&where, h, h->s->blocks[p->stuck[i].largest_used].stack);
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
    buf_printf(s->out, "growth: %s per round, in each of %u rounds (%s to %s)\n",
               human_bytes(g->per_round_bytes).s, g->n_rounds - 1, human_bytes(g->levels[1]).s,
               human_bytes(g->levels[g->n_rounds - 1]).s);
    show_holders(s, h, g->by, g->n, "grew");
}

static void show_device(const struct screen *s, const struct held *h, const struct held_device *d)
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
        show_device(s, h, &h->devices[i]);
    }
}

/* ---- JSON */

static void json_stack(struct jout *j, const struct held *h, uint32_t stack)
{
    struct buf text = {0};
    bool known = stack != HELD_BEFORE_STACK && h->s->stacks[stack].n;
    if (!known) {
        jout_null(j, "source");
        return;
    }
    const struct snap_stack *k = &h->s->stacks[stack];
    const struct snap_frame *f = &h->s->frames[h->user[stack]];
    jout_obj(j, "source");
    jout_str(j, "file", frame_path(intern_get(&h->s->strings, f->file)));
    jout_int(j, "line", f->line);
    jout_str(j, "function", intern_get(&h->s->strings, f->function));
    jout_end_obj(j);
    jout_arr(j, "stack");
    for (uint32_t i = 0; i < k->n && i < STACK_SHOWN; i++) {
        buf_reset(&text);
        put_frame(&text, h->s, h->s->stack_frames[k->first + i]);
        jout_str(j, NULL, buf_str(&text));
    }
    jout_end_arr(j);
    if (!buf_ok(&text)) j->out->failed = true;
    buf_done(&text);
}

static void json_holders(struct jout *j, const char *key, const struct held *h,
                         const struct held_by *by, uint32_t n)
{
    jout_arr(j, key);
    for (uint32_t i = 0; i < n; i++) {
        jout_obj(j, NULL);
        jout_int(j, "bytes", by[i].bytes);
        jout_uint(j, "blocks", by[i].blocks);
        jout_cstr(j, "category", held_category_name(category_of(h, by[i].stack)));
        json_stack(j, h, by[i].stack);
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

static void json_moment(struct jout *j, const char *key, const struct held *h,
                        const struct held_moment *m, uint32_t most)
{
    jout_obj(j, key);
    if (m->event == HELD_NEVER) jout_null(j, "event");
    else jout_uint(j, "event", m->event);
    jout_us(j, "at_us", m->since_us * 1000);
    jout_int(j, "held_bytes", m->live_bytes);
    jout_int(j, "reserved_bytes", m->reserved_bytes);
    if (m->asked_bytes) {
        jout_int(j, "asked_bytes", m->asked_bytes);
        jout_int(j, "device_free_bytes", m->device_free_bytes);
        jout_bool(j, "fragmented", m->reserved_bytes - m->live_bytes >= m->asked_bytes);
        json_stack(j, h, m->asked_stack);
    }
    jout_obj(j, "categories");
    for (int c = 0; c < HELD_CATEGORIES; c++)
        if (m->categories[c])
            jout_int(j, held_category_name((enum held_category)c), m->categories[c]);
    jout_end_obj(j);
    json_holders(j, "holders", h, m->by, m->n < most ? m->n : most);
    jout_end_obj(j);
}

static void json_space(struct jout *j, const struct held *h, const struct held_space *p,
                       uint32_t most)
{
    jout_obj(j, "space");
    jout_int(j, "reserved_bytes", p->reserved_bytes);
    jout_int(j, "active_bytes", p->active_bytes);
    jout_int(j, "awaiting_free_bytes", p->awaiting_bytes);
    jout_int(j, "requested_bytes", p->requested_bytes);
    jout_int(j, "free_bytes", p->free_bytes);
    jout_int(j, "free_in_empty_segments_bytes", p->empty_bytes);
    jout_int(j, "largest_free_bytes", p->largest_free);
    jout_uint(j, "segments", p->n_segments);
    jout_arr(j, "partly_used");
    for (uint32_t i = 0; i < p->n_stuck && i < most; i++) {
        const struct snap_segment *g = &h->s->segments[p->stuck[i].segment];
        jout_obj(j, NULL);
        jout_int(j, "size_bytes", g->size);
        jout_int(j, "free_bytes", p->stuck[i].free_bytes);
        jout_uint(j, "blocks", g->n_blocks);
        jout_cstr(j, "pool", g->large ? "large" : "small");
        json_stack(j, h, h->s->blocks[p->stuck[i].largest_used].stack);
        jout_end_obj(j);
    }
    jout_end_arr(j);
    jout_end_obj(j);
}

static void json_growth(struct jout *j, const struct held *h, const struct held_growth *g)
{
    jout_obj(j, "growth");
    jout_bool(j, "judged", g->found);
    jout_bool(j, "grows", g->found && g->grows);
    jout_uint(j, "rounds", g->n_rounds);
    jout_int(j, "per_round_bytes", g->found && g->grows ? g->per_round_bytes : 0);
    jout_arr(j, "levels_bytes");
    for (uint32_t i = 0; i < g->n_rounds; i++) jout_int(j, NULL, g->levels[i]);
    jout_end_arr(j);
    json_holders(j, "holders", h, g->by, g->n);
    jout_end_obj(j);
}

static void json_head(struct jout *j, const struct held *h)
{
    jout_cstr(j, "format", "torch memory snapshot");
    jout_uint(j, "bytes", h->s->source_bytes);
    jout_bool(j, "has_stacks", h->s->has_stacks);
    jout_uint(j, "events", h->s->n_events);
    jout_uint(j, "segments", h->s->n_segments);
    jout_uint(j, "blocks", h->s->n_blocks);
}

void view_snapshot_info_json(struct buf *out, const struct held *h)
{
    struct jout j;
    jout_init(&j, out, true);
    jout_obj(&j, NULL);
    json_head(&j, h);
    jout_uint(&j, "devices", h->n_devices);
    jout_end_obj(&j);
}

void view_snapshot_json(struct buf *out, const struct held *h, uint32_t most)
{
    struct jout j;
    jout_init(&j, out, true);
    jout_obj(&j, NULL);
    json_head(&j, h);
    jout_arr(&j, "devices");
    for (uint32_t i = 0; i < h->n_devices; i++) {
        const struct held_device *d = &h->devices[i];
        jout_obj(&j, NULL);
        jout_int(&j, "device", d->device);
        jout_uint(&j, "events", d->n_events);
        jout_us(&j, "span_us", d->span_us * 1000);
        jout_int(&j, "before_bytes", d->before_bytes);
        json_moment(&j, "peak", h, &d->peak, most);
        json_moment(&j, "now", h, &d->now, most);
        jout_uint(&j, "ooms", d->n_ooms);
        jout_arr(&j, "out_of_memory");
        for (uint32_t k = 0; k < d->n_oom_moments; k++) json_moment(&j, NULL, h, &d->ooms[k], most);
        jout_end_arr(&j);
        json_space(&j, h, &d->space, most);
        json_growth(&j, h, &d->growth);
        jout_end_obj(&j);
    }
    jout_end_arr(&j);
    jout_end_obj(&j);
}
