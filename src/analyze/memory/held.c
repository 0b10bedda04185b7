/* held.c: see held.h. */
#include "analyze/memory/held.h"

#include <stdlib.h>

#include "analyze/memory/held_private.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"

/* ---- lives */

struct making {
    const struct snapshot *s;
    struct held_device *d;
    struct held_lives *l;
    struct map live; /* lives that go on, by address */
    size_t cap;
    struct err *e;
};

static const struct snap_event *held_event_of(const struct snapshot *s, const struct held_device *d,
                                              uint32_t i)
{
    return &s->events[d->first_event + i];
}

static int add_life(struct making *m, struct held_life life, uint32_t *ret)
{
    size_t n = m->l->n;
    if (VEC_RESERVE(m->l->list, n, m->cap, 1)) return err_nomem(m->e);
    *ret = m->l->n;
    m->l->list[m->l->n++] = life;
    return 0;
}

/* A slot of an address that is free again. */
enum { ENDED = UINT32_MAX - 1 };

static int begin_life(struct making *m, const struct snap_event *ev, uint32_t i)
{
    uint32_t *slot = map_at(&m->live, ev->addr), id;
    if (!slot) return err_nomem(m->e);
    if (*slot != MAP_NONE && *slot != ENDED) m->l->list[*slot].until = i; /* its end was not seen */
    TRY(add_life(m, (struct held_life){ev->size, i, HELD_NEVER, ev->stack}, &id));
    *slot = id;
    return 0;
}

static int end_life(struct making *m, const struct snap_event *ev, uint32_t i)
{
    uint32_t *slot = map_at(&m->live, ev->addr), id;
    if (!slot) return err_nomem(m->e);
    if (*slot == ENDED) return 0; /* freed twice: the file contradicts itself */
    if (*slot != MAP_NONE) m->l->list[*slot].until = i;
    else TRY(add_life(m, (struct held_life){ev->size, HELD_NEVER, i, HELD_BEFORE_STACK}, &id));
    *slot = ENDED;
    return 0;
}

/* What is in use at the end and was not made by any event: it was there before. */
static int add_older(struct making *m)
{
    uint32_t id;
    for (size_t i = 0; i < m->s->n_blocks; i++) {
        const struct snap_block *b = &m->s->blocks[i];
        if (b->state == SNAP_INACTIVE || m->s->segments[b->segment].device != m->d->device)
            continue;
        uint32_t known = map_find(&m->live, b->addr);
        if (known != MAP_NONE && known != ENDED) continue;
        uint32_t stack = b->stack ? b->stack : HELD_BEFORE_STACK;
        int64_t size = b->requested ? b->requested : b->size;
        TRY(add_life(m, (struct held_life){size, HELD_NEVER, HELD_NEVER, stack}, &id));
    }
    return 0;
}

static int make_lives(struct making *m)
{
    for (uint32_t i = 0; i < m->d->n_events; i++) {
        const struct snap_event *ev = held_event_of(m->s, m->d, i);
        if (ev->action == SNAP_ALLOC) TRY(begin_life(m, ev, i));
        else if (ev->action == SNAP_FREE_COMPLETED) TRY(end_life(m, ev, i));
    }
    return add_older(m);
}

/* ---- levels */

static void find_levels(const struct snapshot *s, struct held_device *d, struct held_lives *l)
{
    int64_t level = 0, reserved = d->space.reserved_bytes;
    for (uint32_t i = 0; i < l->n; i++) {
        if (l->list[i].from == HELD_NEVER) d->before_bytes += l->list[i].size;
        else l->level[l->list[i].from] += l->list[i].size;
        if (l->list[i].until != HELD_NEVER) l->level[l->list[i].until] -= l->list[i].size;
    }
    level = d->before_bytes;
    for (uint32_t i = 0; i < d->n_events; i++) l->level[i] = level += l->level[i];
    for (uint32_t i = d->n_events; i > 0; i--) {
        const struct snap_event *ev = held_event_of(s, d, i - 1);
        l->reserved[i - 1] = reserved > 0 ? reserved : 0;
        if (ev->action == SNAP_SEGMENT_ALLOC) reserved -= ev->size;
        else if (ev->action == SNAP_SEGMENT_FREE) reserved += ev->size;
    }
}

/* ---- moments */

static int held_larger(const void *a, const void *b)
{
    const struct held_by *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
    return x->stack < y->stack ? -1 : x->stack > y->stack;
}

static bool is_live(const struct held_life *l, uint32_t event)
{
    bool begun = l->from == HELD_NEVER || event == HELD_NEVER || l->from <= event;
    return begun && (l->until == HELD_NEVER || (event != HELD_NEVER && l->until > event));
}

int held_add_up(const struct held *h, const struct held_lives *l, uint32_t event,
                struct held_sum *ret, struct err *e)
{
    size_t n_stacks = h->s->n_stacks + 1; /* the last: before the recording */
    struct held_by *by = mem_zalloc(n_stacks, sizeof *by);
    if (!by) return err_nomem(e);
    uint32_t n = 0;
    for (uint32_t i = 0; i < l->n; i++) {
        if (!is_live(&l->list[i], event)) continue;
        bool before = l->list[i].stack == HELD_BEFORE_STACK;
        struct held_by *b = &by[before ? n_stacks - 1 : l->list[i].stack];
        n += !b->blocks;
        b->stack = l->list[i].stack;
        b->blocks++;
        b->bytes += l->list[i].size;
    }
    *ret = (struct held_sum){arena_zalloc(h->mem, (size_t)n + 1, sizeof *ret->by), 0};
    for (size_t i = 0; ret->by && i < n_stacks; i++)
        if (by[i].blocks) ret->by[ret->n++] = by[i];
    mem_free(by);
    if (!ret->by) return err_nomem(e);
    if (n) qsort(ret->by, n, sizeof *ret->by, held_larger);
    return 0;
}

static int held_look_at(const struct held *h, const struct held_lives *l, uint32_t event,
                        struct held_moment *ret, struct err *e)
{
    const struct held_device *d = l->d;
    struct held_sum sum;
    TRY(held_add_up(h, l, event, &sum, e));
    *ret = (struct held_moment){.event = event, .by = sum.by, .n = sum.n};
    for (uint32_t i = 0; i < ret->n; i++) {
        uint32_t stack = ret->by[i].stack;
        int c = stack == HELD_BEFORE_STACK ? HELD_BEFORE : h->categories[stack];
        ret->categories[c] += ret->by[i].bytes;
        ret->live_bytes += ret->by[i].bytes;
    }
    ret->reserved_bytes = event == HELD_NEVER ? d->space.reserved_bytes : l->reserved[event];
    if (event == HELD_NEVER || !d->n_events) return 0;
    const struct snap_event *ev = held_event_of(h->s, d, event), *first = held_event_of(h->s, d, 0);
    if (ev->time_us > first->time_us) ret->since_us = ev->time_us - first->time_us;
    if (ev->action != SNAP_OOM) return 0;
    ret->asked_bytes = ev->size;
    ret->asked_stack = ev->stack;
    ret->device_free_bytes = ev->device_free;
    return 0;
}

/* The first ones, and the last. */
static int look_at_ooms(const struct held *h, const struct held_lives *l, struct err *e)
{
    struct held_device *d = l->d;
    uint32_t last = HELD_NEVER;
    for (uint32_t i = 0; i < d->n_events; i++) {
        if (held_event_of(h->s, d, i)->action != SNAP_OOM) continue;
        last = i;
        if (d->n_ooms++ < HELD_MOST_OOMS)
            TRY(held_look_at(h, l, i, &d->ooms[d->n_oom_moments++], e));
    }
    if (d->n_ooms > HELD_MOST_OOMS) TRY(held_look_at(h, l, last, &d->ooms[HELD_MOST_OOMS - 1], e));
    return 0;
}

static uint32_t held_highest(const struct held_device *d, const struct held_lives *l)
{
    uint32_t best = HELD_NEVER;
    for (uint32_t i = 0; i < d->n_events; i++)
        if (best == HELD_NEVER || l->level[i] > l->level[best]) best = i;
    return best == HELD_NEVER || l->level[best] < d->before_bytes ? HELD_NEVER : best;
}

static int judge_device(const struct held *h, struct held_lives *l, struct err *e)
{
    struct held_device *d = l->d;
    find_levels(h->s, d, l);
    if (d->n_events) {
        int64_t span =
            held_event_of(h->s, d, d->n_events - 1)->time_us - held_event_of(h->s, d, 0)->time_us;
        d->span_us = span > 0 ? span : 0;
    }
    TRY(held_look_at(h, l, HELD_NEVER, &d->now, e));
    TRY(held_look_at(h, l, held_highest(d, l), &d->peak, e));
    TRY(look_at_ooms(h, l, e));
    return held_growth_run(h, l, e);
}

static int run_device(struct held *h, struct held_device *d, struct arena *mem, struct err *e)
{
    struct held_lives l = {.d = d};
    struct making m = {.s = h->s, .d = d, .l = &l, .e = e};
    l.level = arena_zalloc(mem, (size_t)d->n_events + 1, sizeof *l.level);
    l.reserved = arena_zalloc(mem, (size_t)d->n_events + 1, sizeof *l.reserved);
    if (!l.level || !l.reserved) return err_nomem(e);
    int rc = held_space_run(h->s, mem, d, e);
    if (rc == 0) rc = make_lives(&m);
    map_done(&m.live);
    if (rc == 0) rc = judge_device(h, &l, e);
    mem_free(l.list);
    return rc;
}

static bool held_is_used(const struct snapshot *s, const struct held_device *d)
{
    for (size_t i = 0; i < s->n_segments; i++)
        if (s->segments[i].device == d->device) return true;
    return d->n_events > 0;
}

int held_run(const struct snapshot *s, struct arena *mem, struct held *ret, struct err *e)
{
    *ret = (struct held){.s = s, .mem = mem};
    ret->devices = arena_zalloc(mem, (size_t)s->n_devices + 1, sizeof *ret->devices);
    if (!ret->devices) return err_nomem(e);
    TRY(held_stacks_run(s, mem, ret, e));
    uint32_t at = 0;
    for (uint32_t i = 0; i < s->n_devices; i++) {
        struct held_device d = {.device = (int32_t)i, .first_event = at};
        while (at < s->n_events && s->events[at].device == (int32_t)i) at++;
        d.n_events = at - d.first_event;
        if (!held_is_used(s, &d)) continue;
        ret->devices[ret->n_devices] = d;
        TRY(run_device(ret, &ret->devices[ret->n_devices++], mem, e));
    }
    return 0;
}

/* ---- by line */

/* By the line that asked, where several stacks end there: the frames below it belong to torch. */
static uint64_t held_line_key(const struct held *h, uint32_t stack)
{
    if (stack == HELD_BEFORE_STACK) return UINT64_MAX;
    return (uint64_t)h->user[stack] << 8 | h->categories[stack];
}

static int held_line_larger(const void *a, const void *b)
{
    const struct held_by *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
    return x->stack < y->stack ? -1 : x->stack > y->stack;
}

struct held_by *held_by_line(const struct held *h, const struct held_by *by, uint32_t *n)
{
    struct held_by *lines = mem_zalloc((size_t)*n + 1, sizeof *lines);
    struct map of = {0};
    uint32_t n_lines = 0;
    bool ok = lines != NULL;
    for (uint32_t i = 0; i < *n && ok; i++) {
        uint32_t *slot = map_at(&of, held_line_key(h, by[i].stack));
        if (!(ok = slot != NULL)) break;
        if (*slot == MAP_NONE) {
            *slot = n_lines;
            lines[n_lines++] = (struct held_by){.stack = by[i].stack};
        }
        lines[*slot].bytes += by[i].bytes;
        lines[*slot].blocks += by[i].blocks;
    }
    map_done(&of);
    if (ok && n_lines) qsort(lines, n_lines, sizeof *lines, held_line_larger);
    if (!ok) mem_free(lines);
    *n = n_lines;
    return ok ? lines : NULL;
}
