/* strings_out.c: gathers, terminates and sorts the strings of a trace. */
#include "export/strings_out.h"

#include <stdlib.h>

#include "base/mem.h"
#include "export/strip.h"

static struct str string_at(const struct strings_out *s, uint32_t id)
{
    return str_from(s->bytes.p + s->offsets[id], s->offsets[id + 1] - s->offsets[id] - 1);
}

static int by_text(const void *a, const void *b, void *ctx)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int c = str_cmp(string_at(ctx, x), string_at(ctx, y));
    return c ? c : (x > y) - (x < y);
}

static void gather(struct strings_out *s, const struct trace *t, const bool *used)
{
    for (uint32_t i = 0; i < s->n; i++) {
        if (used[i]) buf_add_str(&s->bytes, trace_str(t, i));
        buf_addc(&s->bytes, '\0');
        s->offsets[i + 1] = s->bytes.n;
        s->order[i] = i;
    }
}

int strings_out_init(struct strings_out *s, const struct trace *t, const struct export_options *o,
                     struct err *e)
{
    *s = (struct strings_out){.n = t->strings.n};
    s->offsets = mem_zalloc((size_t)s->n + 1, sizeof *s->offsets);
    s->order = mem_alloc(s->n * sizeof *s->order);
    bool *used = strip_strings(t, o);
    bool ok = s->offsets && s->order && used;
    if (ok) gather(s, t, used);
    mem_free(used);
    if (!ok || !buf_ok(&s->bytes)) return err_nomem(e);
    qsort_r(s->order, s->n, sizeof *s->order, by_text, s);
    return 0;
}

void strings_out_done(struct strings_out *s)
{
    mem_free(s->offsets);
    mem_free(s->order);
    buf_done(&s->bytes);
    *s = (struct strings_out){0};
}
