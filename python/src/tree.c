/* tree.c: see tree.h. */
#include "tree.h"

#include "base/map.h"
#include "base/vec.h"

static struct stage_node *nodes;
static size_t n_nodes, cap_nodes;
static struct map by_place; /* parent and name -> node */
static uint64_t chance = 0x9e3779b97f4a7c15u;

bool tree_init(void)
{
    if (n_nodes) return false;
    if (VEC_RESERVE(nodes, n_nodes, cap_nodes, 64)) return true;
    nodes[n_nodes++] = (struct stage_node){0};
    return false;
}

struct stage_node *tree_node(uint32_t node)
{
    return &nodes[node];
}

uint32_t tree_size(void)
{
    return (uint32_t)n_nodes;
}

static uint32_t add_child(uint32_t parent, uint32_t name)
{
    if (n_nodes >= TREE_MOST_NODES || VEC_RESERVE(nodes, n_nodes, cap_nodes, 1)) return TREE_ROOT;
    uint32_t *slot = map_at(&by_place, (uint64_t)parent << 32 | name);
    if (!slot) return TREE_ROOT;
    uint32_t node = (uint32_t)n_nodes++;
    nodes[node] = (struct stage_node){.name = name, .parent = parent};
    return *slot = node;
}

uint32_t tree_child(uint32_t parent, uint32_t name)
{
    uint32_t node = nodes[parent].last_child; /* likely to come again */
    if (node && nodes[node].name == name) return node;
    node = map_find(&by_place, (uint64_t)parent << 32 | name);
    if (node == MAP_NONE) node = add_child(parent, name);
    nodes[parent].last_child = node;
    return node;
}

static uint64_t next_chance(void)
{
    chance ^= chance << 13;
    chance ^= chance >> 7;
    chance ^= chance << 17;
    return chance;
}

/* Every duration while there is room; then each call takes the place of a random one with the
 * chance that keeps the choice fair. */
static void tree_add_sample(struct stage_node *s, uint64_t ticks)
{
    if (s->n_samples < TREE_SAMPLES) {
        size_t cap = s->cap_samples;
        if (VEC_RESERVE(s->samples, s->n_samples, cap, 1)) return;
        s->cap_samples = (uint32_t)cap;
        s->samples[s->n_samples++] = ticks;
        return;
    }
    uint64_t place = (next_chance() >> 32) * (s->n_calls & UINT32_MAX) >> 32;
    if (place < TREE_SAMPLES) s->samples[place] = ticks;
}

void tree_add_call(uint32_t node, const struct stage_call *c)
{
    struct stage_node *s = &nodes[node];
    if (node == TREE_ROOT) return;
    if (c->recursion) {
        s->n_recursions++;
        return;
    }
    if (c->failed) {
        s->n_errors++;
        s->error_total += c->ticks;
        return;
    }
    if (s->n_calls++ == 0) s->first = s->least = c->ticks;
    if (c->ticks < s->least) s->least = c->ticks;
    if (c->ticks > s->most) s->most = c->ticks;
    s->total += c->ticks;
    s->inner += c->inner;
    s->active += c->active;
    s->awaited += c->awaited;
    s->square_sum += (double)c->ticks * (double)c->ticks;
    tree_add_sample(s, c->ticks);
}

void tree_reset(void)
{
    for (size_t i = 0; i < n_nodes; i++) {
        struct stage_node *s = &nodes[i];
        struct stage_node kept = {.name = s->name,
                                  .parent = s->parent,
                                  .last_child = s->last_child,
                                  .samples = s->samples,
                                  .cap_samples = s->cap_samples};
        *s = kept;
    }
}
