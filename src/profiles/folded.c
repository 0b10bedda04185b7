/* folded.c: one line per stack: frames from the outermost, joined by semicolons, and nanoseconds.
 * For flamegraph.pl, inferno and whatever else reads folded stacks. */
#include "profiles/profiles.h"

/* What ends a frame or a line must not stand in one. */
static void put_safe(struct buf *out, const struct flame_frame *f)
{
    size_t from = out->n;
    profile_frame(out, f);
    if (!buf_ok(out)) return;
    for (size_t i = from; i < out->n; i++) {
        if (out->p[i] == ';') out->p[i] = ':';
        else if ((unsigned char)out->p[i] < ' ') out->p[i] = ' ';
    }
}

static int put(const struct flame *f, const char *title, struct buf *out, struct err *e)
{
    uint32_t stack[FLAME_DEEPEST];
    (void)title;
    for (uint32_t i = 1; i < f->n; i++) {
        if (!f->nodes[i].self_ns) continue;
        uint32_t n = flame_stack(f, i, stack);
        for (uint32_t k = 0; k < n; k++) {
            if (k) buf_addc(out, ';');
            put_safe(out, &f->frames[stack[k]]);
        }
        buf_printf(out, " %lld\n", (long long)f->nodes[i].self_ns);
    }
    return buf_ok(out) ? 0 : err_nomem(e);
}

const struct profile profile_folded = {
    .name = "folded",
    .extensions = ".folded .folded.gz .collapsed .txt",
    .next = "flamegraph.pl --countname ns %s > flame.svg",
    .put = put,
};
