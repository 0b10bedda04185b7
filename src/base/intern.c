/* intern.c: hash, probe, compare; bytes live in an arena and never move. */
#include "base/intern.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/seed.h"
#include "base/vec.h"

#define LARGEST (UINT32_MAX - 2)

bool intern_init(struct intern *t)
{
    *t = (struct intern){0};
    arena_init(&t->bytes);
    t->mask = 255;
    t->slots = mem_zalloc(t->mask + 1, sizeof *t->slots);
    if (!t->slots || intern_add(t, str_c("")) != 0) {
        intern_done(t);
        return true;
    }
    return false;
}

bool intern_reset(struct intern *t)
{
    arena_done(&t->bytes);
    t->n = 0;
    memset(t->slots, 0, ((size_t)t->mask + 1) * sizeof *t->slots);
    return intern_add(t, str_c("")) != 0;
}

void intern_done(struct intern *t)
{
    arena_done(&t->bytes);
    mem_free(t->strs);
    mem_free(t->hashes);
    mem_free(t->slots);
    *t = (struct intern){0};
}

void intern_borrow(struct intern *t, const struct intern_view *view, uint32_t n)
{
    intern_done(t);
    t->view = *view;
    t->n = n;
}

struct str intern_view_get(const struct intern_view *v, str_id id)
{
    uint64_t begin = v->offsets[id], end = v->offsets[(size_t)id + 1];
    if (begin >= end || end > v->n_bytes || v->bytes[end - 1]) return (struct str){"", 0};
    return str_from(v->bytes + begin, (size_t)(end - begin - 1));
}

/* Binary search in the sorted ids of a borrowed table. */
static str_id view_find(const struct intern *t, struct str s)
{
    uint32_t i = 0;
    SEARCH_PAST(i, t->n, str_cmp(intern_get(t, t->view.order[i]), s) < 0);
    str_id id = i < t->n ? t->view.order[i] : STR_NONE;
    return id < t->n && str_eq(intern_get(t, id), s) ? id : STR_NONE;
}

uint64_t intern_hash(struct str s)
{
    uint64_t h = seed_of_process() ^ s.n, by = 0x9fb21c651e98df25u ^ h << 1;
    const char *p = s.p;
    size_t n = s.n;
    while (n >= 8) {
        uint64_t w;
        memcpy(&w, p, 8);
        h = seed_fold(h ^ w, by);
        p += 8;
        n -= 8;
    }
    if (n) {
        uint64_t w = 0;
        memcpy(&w, p, n);
        h = seed_fold(h ^ w, by);
    }
    return seed_hash(h);
}

uint64_t intern_hash_words(struct str s)
{
    uint64_t h = 0;
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9') h = map_mix(h * 257 + (unsigned char)s.p[i] + 1);
    return h;
}

static bool grow_slots(struct intern *t)
{
    uint32_t mask = t->mask * 2 + 1;
    uint32_t *slots = mem_zalloc((size_t)mask + 1, sizeof *slots);
    if (!slots) return true;
    for (uint32_t id = 0; id < t->n; id++) {
        uint32_t i = (uint32_t)t->hashes[id] & mask;
        while (slots[i]) i = (i + 1) & mask;
        slots[i] = id + 1;
    }
    mem_free(t->slots);
    t->slots = slots;
    t->mask = mask;
    return false;
}

/* The slot that holds `s`, or the empty one where it belongs. */
static uint32_t *intern_probe(const struct intern *t, struct str s, uint64_t hash)
{
    uint32_t i = (uint32_t)hash & t->mask;
    for (;; i = (i + 1) & t->mask) {
        uint32_t id = t->slots[i];
        if (!id) return &t->slots[i];
        if (t->hashes[id - 1] == hash && str_eq(t->strs[id - 1], s)) return &t->slots[i];
    }
}

static bool reserve_one(struct intern *t)
{
    size_t cap = t->cap;
    if (t->n < cap) return false;
    if (VEC_RESERVE(t->strs, t->n, t->cap, 1)) return true;
    if (VEC_RESERVE(t->hashes, t->n, cap, 1)) {
        t->cap = t->n; /* strs is larger than hashes now; the smaller capacity rules */
        return true;
    }
    return false;
}

/* `slot` is where the hash table gets to know it; NULL: nowhere. */
static str_id intern_do_append(struct intern *t, struct str s, uint64_t hash, uint32_t *slot)
{
    char *copy = arena_strdup(&t->bytes, s);
    if (!copy) return STR_NONE;
    t->strs[t->n] = str_from(copy, s.n);
    t->hashes[t->n] = hash;
    t->n++;
    if (slot) *slot = t->n;
    return t->n - 1;
}

str_id intern_add_hashed(struct intern *t, struct str s, uint64_t hash)
{
    if (t->view.offsets) return STR_NONE;
    uint32_t *slot = intern_probe(t, s, hash);
    if (*slot) return *slot - 1;
    if (t->n >= LARGEST || reserve_one(t)) return STR_NONE;
    if (t->n >= t->mask / 2) {
        if (grow_slots(t)) return STR_NONE;
        slot = intern_probe(t, s, hash);
    }
    return intern_do_append(t, s, hash, slot);
}

str_id intern_append(struct intern *t, struct str s)
{
    uint64_t hash = intern_hash(s);
    if (t->view.offsets || t->n >= LARGEST || reserve_one(t)) return STR_NONE;
    if (t->n >= t->mask / 2 && grow_slots(t)) return STR_NONE;
    uint32_t *slot = intern_probe(t, s, hash);
    return intern_do_append(t, s, hash, *slot ? NULL : slot);
}

str_id intern_add(struct intern *t, struct str s)
{
    return intern_add_hashed(t, s, intern_hash(s));
}

str_id intern_find(const struct intern *t, struct str s)
{
    if (t->view.offsets) return view_find(t, s);
    uint32_t *slot = intern_probe(t, s, intern_hash(s));
    return *slot ? *slot - 1 : STR_NONE;
}
