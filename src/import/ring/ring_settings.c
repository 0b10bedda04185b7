/* ring_settings.c: see ring_set.h. Ranks agree on most settings, so each is kept once. */
#include <string.h>

#include "base/jout.h"
#include "import/ring/ring_set.h"

enum { RING_SETTINGS_MOST = 256 };

struct ring_settings {
    struct str list[RING_SETTINGS_MOST]; /* NAME=VALUE */
    size_t n;
};

static bool ring_settings_knows(const struct ring_settings *x, struct str s)
{
    for (size_t i = 0; i < x->n; i++)
        if (x->list[i].n == s.n && memcmp(x->list[i].p, s.p, s.n) == 0) return true;
    return false;
}

static void ring_settings_hear(struct ring_settings *x, const struct ring_process *p)
{
    size_t prefix = strlen(RING_FACT_SETTING);
    for (uint32_t id = 0; id < p->defs.n && x->n < RING_SETTINGS_MOST; id++) {
        struct str fact = defs_file_get(&p->defs, id, DEF_FACT, prefix + 1);
        if (!fact.p || !str_starts(fact, RING_FACT_SETTING)) continue;
        struct str said = str_from(fact.p + prefix, fact.n - prefix);
        if (memchr(said.p, '=', said.n) && !ring_settings_knows(x, said)) x->list[x->n++] = said;
    }
}

int ring_settings_add(struct builder *b, const struct ring_set *s)
{
    struct ring_settings x = {.n = 0};
    struct buf text;
    struct jout j;
    buf_init(&text);
    for (size_t i = 0; i < s->n_processes; i++) ring_settings_hear(&x, &s->processes[i]);
    jout_init(&j, &text, false);
    jout_arr(&j, NULL);
    for (size_t i = 0; i < x.n; i++) {
        struct str all = x.list[i];
        size_t n = (size_t)((const char *)memchr(all.p, '=', all.n) - all.p);
        jout_arr(&j, NULL);
        jout_str(&j, NULL, str_from(all.p, n));
        jout_str(&j, NULL, str_from(all.p + n + 1, all.n - n - 1));
        jout_end_arr(&j);
    }
    jout_end_arr(&j);
    int rc = buf_ok(&text) ? 0 : ERR_NOMEM;
    if (rc == 0 && x.n) rc = builder_add_meta(b, str_c(TRACE_META_SETTINGS), buf_str(&text));
    buf_done(&text);
    return rc;
}
