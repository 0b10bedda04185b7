/* stage_match.c: see stages.h. */
#include "analyze/stages/stages.h"

#include "base/pattern.h"

static bool stage_match_matches(const struct pattern *re, const struct stage *s)
{
    struct str path = str_c(s->path), leaf = path;
    if (path.n >= s->name.n) leaf = str_from(path.p + path.n - s->name.n, s->name.n);
    return pattern_matches(re, leaf) || pattern_matches(re, path);
}

/* One byte per stage; *ret_labelled when one of them is a person's. */
static uint8_t *find_hits(const struct stages *all, const struct pattern *re, struct arena *mem,
                          bool *ret_labelled)
{
    uint8_t *hit = arena_zalloc(mem, (size_t)all->n + 1, 1);
    for (uint32_t i = 0; hit && i < all->n; i++) {
        hit[i] = !all->list[i].backward && stage_match_matches(re, &all->list[i]);
        *ret_labelled |= hit[i] && all->list[i].user;
    }
    return hit;
}

static bool is_inside_hit(const struct stage_tree *t, uint32_t call, const uint8_t *hit)
{
    for (call = t->calls[call].parent; call != STAGE_NONE; call = t->calls[call].parent)
        if (hit[t->calls[call].node]) return true;
    return false;
}

int stage_match_derived(const struct context *cx, const char *pattern, struct arena *mem,
                        struct stage_matches *ret, struct err *e)
{
    const struct stages *all = stages_of(cx);
    const struct stage_tree *t = &all->tree;
    struct pattern re;
    bool labelled = false;
    *ret = (struct stage_matches){0};
    TRY(pattern_init(&re, pattern, e));
    uint8_t *hit = find_hits(all, &re, mem, &labelled);
    pattern_done(&re);
    ret->calls = arena_zalloc(mem, (size_t)t->n_calls + 1, sizeof *ret->calls);
    if (!hit || !ret->calls) return err_nomem(e);
    for (uint32_t c = 0; c < t->n_calls && !labelled; c++)
        if (hit[t->calls[c].node] && !is_inside_hit(t, c, hit)) ret->calls[ret->n++] = &t->calls[c];
    return 0;
}
