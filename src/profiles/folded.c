/* folded.c: one line per stack: frames from the outermost, joined by semicolons, and nanoseconds.
 * For flamegraph.pl, inferno and whatever else reads folded stacks. */
#include "export/clean.h"
#include "profiles/profiles.h"

/* What ends a frame or a line, or commands a terminal, must not stand in one. */
static void put_safe(struct buf *out, const struct flame_frame *f, struct buf text[2])
{
    buf_reset(&text[0]);
    profile_frame(&text[0], f);
    struct str s = clean_shown(buf_str(&text[0]), &text[1]);
    size_t from = out->n;
    buf_add_str(out, s);
    if (!buf_ok(&text[0]) || !buf_ok(&text[1])) out->failed = true;
    for (size_t i = from; i < out->n; i++) {
        if (out->p[i] == ';') out->p[i] = ':';
        else if ((unsigned char)out->p[i] < ' ') out->p[i] = ' ';
    }
}

static int folded_put(const struct flame *f, const char *title, struct buf *out, struct err *e)
{
    uint32_t stack[FLAME_DEEPEST];
    struct buf text[2] = {{0}, {0}};
    (void)title;
    for (uint32_t i = 1; i < f->n; i++) {
        if (!f->nodes[i].self_ns) continue;
        uint32_t n = flame_stack(f, i, stack);
        for (uint32_t k = 0; k < n; k++) {
            if (k) buf_addc(out, ';');
            put_safe(out, &f->frames[stack[k]], text);
        }
        buf_printf(out, " %lld\n", (long long)f->nodes[i].self_ns);
    }
    buf_done(&text[0]);
    buf_done(&text[1]);
    return buf_status(out, e);
}

const struct profile profile_folded = {
    .name = "folded",
    .extensions = ".folded .folded.gz .collapsed .txt",
    .next = "flamegraph.pl --countname ns %s > flame.svg",
    .put = folded_put,
};
