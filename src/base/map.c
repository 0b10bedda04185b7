/* map.c: linear probing at a load of at most five eighths. */
#include "base/map.h"

#include "base/mem.h"
#include "base/seed.h"

void map_init(struct map *m)
{
    *m = (struct map){0};
}

void map_done(struct map *m)
{
    mem_free(m->slots);
    map_init(m);
}

static struct map_slot *map_probe(const struct map *m, uint64_t key)
{
    size_t i = (size_t)seed_hash(key) & m->mask;
    while (m->slots[i].value != MAP_NONE && m->slots[i].key != key) i = (i + 1) & m->mask;
    return &m->slots[i];
}

static bool map_resize(struct map *m, size_t cap)
{
    struct map_slot *slots = mem_grow(NULL, cap, sizeof *slots);
    if (!slots) return true;
    for (size_t i = 0; i < cap; i++) slots[i] = (struct map_slot){0, MAP_NONE};
    struct map old = *m;
    m->slots = slots;
    m->mask = cap - 1;
    m->n = 0;
    for (size_t i = 0; old.slots && i <= old.mask; i++) {
        if (old.slots[i].value == MAP_NONE) continue; /* asked for, never filled */
        *map_probe(m, old.slots[i].key) = old.slots[i];
        m->n++;
    }
    mem_free(old.slots);
    return false;
}

bool map_reserve(struct map *m, size_t n)
{
    size_t cap = m->slots ? m->mask + 1 : 16;
    if (n > SIZE_MAX / 32) return true;
    while (cap * 5 / 8 <= n) cap *= 2;
    return m->slots && cap == m->mask + 1 ? false : map_resize(m, cap);
}

uint32_t map_find(const struct map *m, uint64_t key)
{
    return m->slots ? map_probe(m, key)->value : MAP_NONE;
}

uint32_t *map_at(struct map *m, uint64_t key)
{
    if (map_reserve(m, m->n + 1)) return NULL;
    struct map_slot *s = map_probe(m, key);
    if (s->value == MAP_NONE) {
        s->key = key;
        m->n++;
    }
    return &s->value;
}
