/* flame_out.c: see browser.h. */
#include "cli/browser/browser.h"

#include <string.h>

#include "base/human.h"
#include "cli/show.h"
#include "profiles/profiles.h"
#include "report/lists/views_kernels.h"

/* What is narrower than a pixel of the widest screens is not drawn. */
enum { LEAST_SHARE = 20000 };

static int flame_out_put(struct buf *out, const struct flame *f, struct arena *mem, struct err *e)
{
    return view_flame_json(out, f, f->nodes[0].total_ns / LEAST_SHARE, mem, e);
}

/* The other kinds of time that the trace has, as a list: the page switches between them. */
static int flame_out_put_others(struct buf *out, struct context *cx, enum flame_of shown,
                                struct err *e)
{
    char before = '[';
    for (int of = 0; of < FLAME_KINDS; of++) {
        struct flame f;
        if (of == (int)shown) continue;
        TRY(flame_run(cx, (enum flame_of)of, cx->mem, &f, e));
        if (f.nodes[0].total_ns <= 0) continue;
        buf_addc(out, before);
        TRY(flame_out_put(out, &f, cx->mem, e));
        before = ',';
    }
    buf_adds(out, before == '[' ? "[]" : "]");
    return 0;
}

static int flame_out_write_page(struct context *cx, const struct flame *f, const char *title,
                                const char *file, struct err *e)
{
    struct buf doc = {0}, others = {0};
    int rc = flame_out_put(&doc, f, cx->mem, e);
    if (rc == 0) rc = flame_out_put_others(&others, cx, f->of, e);
    struct page p = {.viewer = str_from(page_viewer, page_viewer_bytes),
                     .kind = "flame",
                     .title = title,
                     .flame = buf_str(&doc),
                     .flames = buf_str(&others)};
    if (rc == 0 && (!buf_ok(&doc) || !buf_ok(&others))) rc = err_nomem(e);
    if (rc == 0) rc = page_write(&p, file, e);
    if (rc == 0) html_tell(file);
    buf_done(&doc);
    buf_done(&others);
    return rc;
}

static int flame_out_write_file(struct context *cx, const struct flame *f, const struct opts *o,
                                const char *file, struct err *e)
{
    const char *to = opt_get(o, "to", NULL), *title = strrchr(o->args[0], '/');
    bool html = to ? strcmp(to, "flame") == 0 : str_ends(str_c(file), ".html");
    title = title && title[1] ? title + 1 : o->args[0];
    if (html) return flame_out_write_page(cx, f, title, file, e);
    const struct profile *p = to ? profile_find(to) : profile_for_path(file);
    if (!p) return FAIL(e, ERR_USAGE, "cannot tell the format from '%s'; use --to", file);
    TRY(profile_write(p, f, title, file, e));
    if (strcmp(file, "-") == 0) return 0;
    char next[640];
    snprintf(next, sizeof next, p->next, file);
    cli_say("wrote %s (%s of time): %s", file, human_time(f->nodes[0].total_ns).s, next);
    return 0;
}

static int flame_out_show(struct cli *cli, const struct opts *o, struct context *cx, struct err *e)
{
    enum flame_of of = FLAME_GPU;
    struct flame f;
    struct screen s;
    bool tree = strcmp(opt_get(o, "to", ""), "flame") == 0;
    const char *file = opt_get(o, "output", tree ? NULL : "-");
    TRY(show_screen(cli, o, 40, &s, e));
    if (!flame_find(opt_get(o, "of", "gpu"), &of))
        return FAIL(e, ERR_USAGE, "unknown kind of time");
    TRY(flame_run(cx, of, cx->mem, &f, e));
    if (f.nodes[0].total_ns <= 0)
        return FAIL(e, ERR_USAGE, "the trace has no %s%s", flame_words(of),
                    of == FLAME_CPU ? "" : ": --of cpu shows what its threads do");
    if (file) return flame_out_write_file(cx, &f, o, file, e);
    if (cli->json) {
        TRY(view_flame_json(&cli->out, &f, 0, cx->mem, e));
        buf_addc(&cli->out, '\n');
        return 0;
    }
    view_flame_text(&s, &f, cx->mem);
    static const struct screen_next next[] = {{"export %s -o flame.html", "the same as a picture"}};
    screen_next(&s, next, 1);
    return 0;
}

bool flame_out_is(const struct opts *o)
{
    const char *to = opt_get(o, "to", NULL), *file = opt_get(o, "output", "");
    if (to) return strcmp(to, "flame") == 0 || profile_find(to);
    return str_ends(str_c(file), ".html") || profile_for_path(file);
}

int flame_out(struct cli *cli, const struct opts *o, struct err *e)
{
    const char *file = opt_get(o, "output", NULL), *to = opt_get(o, "to", "");
    if (file && (strcmp(to, "flame") == 0 || (!to[0] && str_ends(str_c(file), ".html"))))
        TRY(page_check_viewer(e));
    return show_judged_quiet(cli, o, flame_out_show, e);
}
