/* snapshot_read.c: see snapshot_read.h. Values of a pickle may stand in many places: stacks and
 * frames are examined once each, and what is visited is counted, so that a small file cannot
 * pretend to be a large one. */
#include "import/snapshot/snapshot_read.h"

#include <string.h>

#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/seed.h"
#include "base/vec.h"
#include "import/bytes/inflate.h"
#include "import/snapshot/pickle.h"

enum { SNIFFED = 4096, MOST_DEVICES = 1024, MOST_DEPTH = 1024 };

#define MOST_INFLATED ((size_t)4 << 30)

struct reader {
    struct snapshot *s;
    struct err *e;
    struct map frame_of, stack_of; /* by content; pickle_list.seen is 1 + what became of one */
    struct map text_of;            /* strings by address of their bytes */
    size_t cap_frames, cap_stacks, cap_stack_frames, cap_segments, cap_blocks, cap_events;
    uint64_t visits, most_visits;
};

/* Looking into a dict takes as long as it has entries: one of more than a few counts as several. */
static int snapshot_read_visit(struct reader *r, const struct pickle_value *v)
{
    r->visits += 1 + (v->kind == PICKLE_DICT ? v->list->n / 64 : 0);
    if (r->visits <= r->most_visits) return 0;
    return FAIL(r->e, ERR_FORMAT, "the snapshot repeats its parts beyond its size");
}

/* ---- texts, frames, stacks */

static int take_text(struct reader *r, struct str text, str_id *ret)
{
    uint64_t key = (uint64_t)(uintptr_t)text.p ^ (uint64_t)text.n << 48;
    uint32_t *known = map_at(&r->text_of, key);
    if (!known) return err_nomem(r->e);
    if (*known == MAP_NONE) {
        str_id id = intern_add(&r->s->strings, text);
        if (id == STR_NONE) return err_nomem(r->e);
        *known = id;
    }
    *ret = *known;
    return 0;
}

static bool snapshot_read_same_frame(const struct snap_frame *a, const struct snap_frame *b)
{
    return a->file == b->file && a->function == b->function && a->line == b->line;
}

/* The id of a frame, which is new if there is none like it. */
static int snapshot_read_find_frame(struct reader *r, const struct snap_frame *f, uint32_t *ret)
{
    struct snapshot *s = r->s;
    uint64_t key =
        seed_hash(f->file) ^ seed_hash(~((uint64_t)f->function << 32 | (uint32_t)f->line));
    for (;; key++) {
        uint32_t *known = map_at(&r->frame_of, key);
        if (!known) return err_nomem(r->e);
        if (*known != MAP_NONE && snapshot_read_same_frame(&s->frames[*known], f)) {
            *ret = *known;
            return 0;
        }
        if (*known != MAP_NONE) continue;
        if (VEC_RESERVE(s->frames, s->n_frames, r->cap_frames, 1)) return err_nomem(r->e);
        *ret = *known = (uint32_t)s->n_frames;
        s->frames[s->n_frames++] = *f;
        return 0;
    }
}

static int snapshot_read_take_frame(struct reader *r, const struct pickle_value *v, uint32_t *ret)
{
    if (v->kind != PICKLE_DICT) return FAIL(r->e, ERR_FORMAT, "a frame that is not a dict");
    struct snap_frame f = {0};
    if (v->list->seen) {
        *ret = v->list->seen - 1;
        return 0;
    }
    TRY(take_text(r, pickle_text(v, "filename"), &f.file));
    TRY(take_text(r, pickle_text(v, "name"), &f.function));
    int64_t line = pickle_int(v, "line", 0);
    f.line = line > 0 && line < INT32_MAX ? (int32_t)line : 0;
    TRY(snapshot_read_find_frame(r, &f, ret));
    v->list->seen = *ret + 1;
    return 0;
}

static bool same_stack(const struct snapshot *s, uint32_t id, uint32_t first, uint32_t n)
{
    return s->stacks[id].n == n && memcmp(s->stack_frames + s->stacks[id].first,
                                          s->stack_frames + first, n * sizeof(uint32_t)) == 0;
}

/* The stack of the last `n` stack_frames, which are given back if it is known already. */
static int snapshot_read_find_stack(struct reader *r, uint32_t n, uint32_t *ret)
{
    struct snapshot *s = r->s;
    uint32_t first = (uint32_t)(s->n_stack_frames - n);
    uint64_t key = n;
    for (uint32_t i = 0; i < n; i++) key = seed_hash(key ^ s->stack_frames[first + i]) + i;
    for (;; key++) {
        uint32_t *known = map_at(&r->stack_of, key);
        if (!known) return err_nomem(r->e);
        if (*known == MAP_NONE) {
            if (VEC_RESERVE(s->stacks, s->n_stacks, r->cap_stacks, 1)) return err_nomem(r->e);
            *ret = *known = (uint32_t)s->n_stacks;
            s->stacks[s->n_stacks++] = (struct snap_stack){first, n};
            return 0;
        }
        if (!same_stack(s, *known, first, n)) continue;
        *ret = *known;
        s->n_stack_frames = first;
        return 0;
    }
}

static int take_stack(struct reader *r, const struct pickle_value *owner, uint32_t *ret)
{
    const struct pickle_value *v = pickle_get(owner, "frames");
    struct snapshot *s = r->s;
    uint32_t n;
    const struct pickle_value *frames = pickle_items(v, &n);
    *ret = 0;
    if (!n) return 0;
    s->has_stacks = true;
    if (v->list->seen) {
        *ret = v->list->seen - 1;
        return 0;
    }
    if (n > MOST_DEPTH) n = MOST_DEPTH; /* the innermost ones */
    if (s->n_stack_frames + n > UINT32_MAX - 1) return FAIL(r->e, ERR_LIMIT, "too many stacks");
    if (VEC_RESERVE(s->stack_frames, s->n_stack_frames, r->cap_stack_frames, n))
        return err_nomem(r->e);
    for (uint32_t i = 0; i < n; i++) {
        TRY(snapshot_read_visit(r, &frames[i]));
        TRY(snapshot_read_take_frame(r, &frames[i], &s->stack_frames[s->n_stack_frames + i]));
    }
    s->n_stack_frames += n;
    TRY(snapshot_read_find_stack(r, n, ret));
    v->list->seen = *ret + 1;
    return 0;
}

/* ---- segments and blocks */

static enum snap_state state_of(struct str s)
{
    if (str_starts(s, "active_allocated")) return SNAP_ACTIVE;
    return str_is(s, "inactive") ? SNAP_INACTIVE : SNAP_AWAITING_FREE;
}

/* Sizes are those of a device: anything else would make sums overflow. */
static int64_t snapshot_read_size_of(const struct pickle_value *v, const char *key)
{
    int64_t n = pickle_int(v, key, 0);
    return n < 0 ? 0 : n > (int64_t)1 << 50 ? (int64_t)1 << 50 : n;
}

static int snapshot_read_take_block(struct reader *r, const struct pickle_value *v, uint64_t addr)
{
    struct snapshot *s = r->s;
    TRY(snapshot_read_visit(r, v));
    struct snap_block b = {.addr = (uint64_t)pickle_int(v, "address", (int64_t)addr),
                           .size = snapshot_read_size_of(v, "size"),
                           .requested = snapshot_read_size_of(v, "requested_size"),
                           .segment = (uint32_t)s->n_segments,
                           .state = state_of(pickle_text(v, "state"))};
    TRY(take_stack(r, v, &b.stack));
    if (VEC_RESERVE(s->blocks, s->n_blocks, r->cap_blocks, 1)) return err_nomem(r->e);
    s->blocks[s->n_blocks++] = b;
    return 0;
}

static int32_t snapshot_read_device_of(struct reader *r, int64_t device)
{
    int32_t d = device >= 0 && device < MOST_DEVICES ? (int32_t)device : 0;
    if ((uint32_t)d >= r->s->n_devices) r->s->n_devices = (uint32_t)d + 1;
    return d;
}

static int take_segment(struct reader *r, const struct pickle_value *v)
{
    struct snapshot *s = r->s;
    uint32_t n;
    TRY(snapshot_read_visit(r, v));
    const struct pickle_value *blocks = pickle_items(pickle_get(v, "blocks"), &n);
    struct snap_segment g = {.addr = (uint64_t)pickle_int(v, "address", 0),
                             .size = snapshot_read_size_of(v, "total_size"),
                             .stream = pickle_int(v, "stream", 0),
                             .device = snapshot_read_device_of(r, pickle_int(v, "device", 0)),
                             .first_block = (uint32_t)s->n_blocks,
                             .large = str_is(pickle_text(v, "segment_type"), "large"),
                             .expandable = pickle_int(v, "is_expandable", 0) != 0};
    TRY(take_stack(r, v, &g.stack));
    uint64_t at = g.addr; /* older torch wrote no addresses of blocks: they follow each other */
    for (uint32_t i = 0; i < n; i++) {
        TRY(snapshot_read_take_block(r, &blocks[i], at));
        at += (uint64_t)s->blocks[s->n_blocks - 1].size;
    }
    g.n_blocks = (uint32_t)(s->n_blocks - g.first_block);
    if (VEC_RESERVE(s->segments, s->n_segments, r->cap_segments, 1)) return err_nomem(r->e);
    s->segments[s->n_segments++] = g;
    return 0;
}

/* ---- events */

static enum snap_action action_of(struct str s)
{
    static const struct {
        const char *name;
        enum snap_action action;
    } all[] = {{"alloc", SNAP_ALLOC},
               {"free_completed", SNAP_FREE_COMPLETED},
               {"free_requested", SNAP_FREE_REQUESTED},
               {"segment_alloc", SNAP_SEGMENT_ALLOC},
               {"segment_map", SNAP_SEGMENT_ALLOC},
               {"segment_free", SNAP_SEGMENT_FREE},
               {"segment_unmap", SNAP_SEGMENT_FREE},
               {"oom", SNAP_OOM}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (str_is(s, all[i].name)) return all[i].action;
    return SNAP_OTHER;
}

/* Microseconds since 1970, so that nanoseconds of it fit. */
static int64_t snapshot_read_time_of(const struct pickle_value *v)
{
    int64_t us = pickle_int(v, "time_us", 0);
    return us < 0 || us > (int64_t)4e15 ? 0 : us;
}

static int take_event(struct reader *r, const struct pickle_value *v, int32_t device)
{
    struct snapshot *s = r->s;
    TRY(snapshot_read_visit(r, v));
    struct snap_event ev = {.addr = (uint64_t)pickle_int(v, "addr", 0),
                            .size = snapshot_read_size_of(v, "size"),
                            .time_us = snapshot_read_time_of(v),
                            .device_free = snapshot_read_size_of(v, "device_free"),
                            .device = device,
                            .action = action_of(pickle_text(v, "action"))};
    TRY(take_stack(r, v, &ev.stack));
    if (VEC_RESERVE(s->events, s->n_events, r->cap_events, 1)) return err_nomem(r->e);
    s->events[s->n_events++] = ev;
    return 0;
}

static int take_events(struct reader *r, const struct pickle_value *all)
{
    uint32_t n_devices, n;
    const struct pickle_value *devices = pickle_items(all, &n_devices);
    for (uint32_t d = 0; d < n_devices && d < MOST_DEVICES; d++) {
        const struct pickle_value *events = pickle_items(&devices[d], &n);
        TRY(snapshot_read_visit(r, &devices[d]));
        if (n) snapshot_read_device_of(r, d);
        for (uint32_t i = 0; i < n; i++) TRY(take_event(r, &events[i], (int32_t)d));
    }
    return 0;
}

/* ---- the whole */

static int snapshot_read_take_snapshot(struct reader *r, const struct pickle_value *top)
{
    uint32_t n;
    const struct pickle_value *listed = pickle_get(top, "segments");
    const struct pickle_value *traces = pickle_get(top, "device_traces");
    if (!listed && !traces && top->kind == PICKLE_LIST) listed = top; /* memory_snapshot() itself */
    if (!listed && !traces)
        return FAIL(r->e, ERR_FORMAT,
                    "a pickle, but not a memory snapshot: it has neither segments nor "
                    "device_traces");
    const struct pickle_value *segments = pickle_items(listed, &n);
    for (uint32_t i = 0; i < n; i++) TRY(take_segment(r, &segments[i]));
    return take_events(r, traces);
}

static int read_into(struct reader *r, struct str bytes)
{
    struct arena mem;
    struct pickle_value top;
    arena_init(&mem);
    int rc = pickle_read(bytes, &mem, &top, r->e);
    if (rc == 0) rc = snapshot_read_take_snapshot(r, &top);
    arena_done(&mem);
    return rc;
}

int snapshot_read_bytes(struct str bytes, struct snapshot **ret, struct err *e)
{
    struct snapshot *s = mem_zalloc(1, sizeof *s);
    struct reader r = {.s = s, .e = e, .most_visits = bytes.n};
    if (!s) return err_nomem(e);
    s->source_bytes = bytes.n;
    int rc = intern_init(&s->strings) ? err_nomem(e) : 0;
    /* stack 0: none */
    if (rc == 0 && VEC_RESERVE(s->stacks, s->n_stacks, r.cap_stacks, 1)) rc = err_nomem(e);
    if (rc == 0) s->stacks[s->n_stacks++] = (struct snap_stack){0};
    if (rc == 0) rc = read_into(&r, bytes);
    map_done(&r.frame_of);
    map_done(&r.stack_of);
    map_done(&r.text_of);
    if (rc < 0) snapshot_free(s);
    else *ret = s;
    return rc;
}

/* ---- files */

bool snapshot_is(struct str head)
{
    bool pickle =
        head.n > 2 && (unsigned char)head.p[0] == 0x80 && head.p[1] >= 2 && head.p[1] <= 5;
    return pickle && (str_has(head, "segments") || str_has(head, "device_traces") ||
                      str_has(head, "segment_type"));
}

/* The plain bytes: those of the file, or inflated into `buf`. */
static int plain_bytes(const struct file_map *f, size_t most, struct buf *buf, struct str *ret,
                       struct err *e)
{
    struct str in = str_from(f->p ? f->p : "", f->n);
    const struct codec *codec = f->n ? codec_find(in) : NULL;
    *ret = in;
    if (!codec) return 0;
    TRY(inflate_all(codec, in, most, buf, NULL, e));
    *ret = buf_str(buf);
    return 0;
}

bool snapshot_is_in(const struct file_map *f)
{
    struct buf text = {0};
    struct str head;
    struct err ignored;
    err_init(&ignored);
    bool yes = plain_bytes(f, SNIFFED, &text, &head, &ignored) == 0 &&
               snapshot_is(str_from(head.p, head.n < SNIFFED ? head.n : SNIFFED));
    buf_done(&text);
    return yes;
}

int snapshot_read(const struct file_map *f, struct snapshot **ret, struct err *e)
{
    struct buf text = {0};
    struct str bytes;
    int rc = plain_bytes(f, MOST_INFLATED, &text, &bytes, e);
    if (rc == 0) rc = snapshot_read_bytes(bytes, ret, e);
    buf_done(&text);
    return rc;
}
