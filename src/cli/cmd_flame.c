/* cmd_flame.c: `strata flame`: time by stack, as a flame graph or for other tools. */
#include <string.h>

#include "base/human.h"
#include "cli/html.h"
#include "cli/show.h"
#include "profiles/profiles.h"
#include "report/view_flame.h"

static const struct opt opts[] = {
    {"of", 0, "WHAT", "which time: gpu (default), cpu, idle of the GPU, wait of the CPU",
     "gpu|cpu|idle|wait"},
    {"output", 'o', "FILE", "output file; - is standard output", NULL},
    {"to", 0, "FORMAT", "html, folded, speedscope or pprof (default: from FILE's name)",
     "html|folded|speedscope|pprof"},
    {"limit", 0, "N", "number of lines of the tree, 0 for all (default 40)", NULL},
    PART_OPT,
    {0},
};

static const char *const examples[] = {
    "strata flame trace.json.gz -o flame.html",
    "a flame graph of GPU time by the Python stack that launched it",
    "strata flame trace.json.gz --of idle",
    "what the CPU did while the GPU was idle, as a tree",
    "strata flame trace.json.gz --of cpu -o cpu.speedscope.json",
    "for speedscope.app; .folded is for flamegraph.pl, .pb.gz for pprof",
    NULL,
};

/* What is narrower than a pixel of the widest screens is not drawn. */
enum { LEAST_SHARE = 20000 };

static int write_page(const struct flame *f, const char *title, const char *file, struct arena *mem,
                      struct err *e)
{
    struct buf doc = {0};
    int rc = view_flame_json(&doc, f, f->nodes[0].total_ns / LEAST_SHARE, mem, e);
    struct page p = {.viewer = str_from(page_viewer, page_viewer_bytes),
                     .kind = "flame",
                     .title = title,
                     .flame = buf_str(&doc)};
    if (rc == 0 && !buf_ok(&doc)) rc = err_nomem(e);
    if (rc == 0) rc = page_write(&p, file, e);
    if (rc == 0) html_tell(file);
    buf_done(&doc);
    return rc;
}

static int write_file(const struct flame *f, const struct opts *o, const char *file,
                      struct arena *mem, struct err *e)
{
    const char *to = opt_get(o, "to", NULL), *title = strrchr(o->args[0], '/');
    bool html = to ? strcmp(to, "html") == 0 : str_ends(str_c(file), ".html");
    title = title && title[1] ? title + 1 : o->args[0];
    if (html) return write_page(f, title, file, mem, e);
    const struct profile *p = to ? profile_find(to) : profile_for_path(file);
    if (!p)
        return FAIL(e, ERR_USAGE,
                    "cannot tell the format from '%s'; use --to html, folded, speedscope or pprof",
                    file);
    TRY(profile_write(p, f, title, file, e));
    if (strcmp(file, "-") == 0) return 0;
    char next[640];
    snprintf(next, sizeof next, p->next, file);
    cli_say("wrote %s (%s of time): %s", file, human_time(f->nodes[0].total_ns).s, next);
    return 0;
}

static int show(struct cli *cli, const struct opts *o, struct context *cx, struct err *e)
{
    enum flame_of of = FLAME_GPU;
    struct flame f;
    struct screen s;
    const char *file = opt_get(o, "output", opt_has(o, "to") ? "-" : NULL);
    TRY(show_screen(cli, o, 40, &s, e));
    if (!flame_find(opt_get(o, "of", "gpu"), &of))
        return FAIL(e, ERR_USAGE, "unknown kind of time");
    TRY(flame_run(cx, of, cx->mem, &f, e));
    if (f.nodes[0].total_ns <= 0)
        return FAIL(e, ERR_USAGE, "the trace has no %s%s", flame_words(of),
                    of == FLAME_CPU ? "" : ": --of cpu shows what its threads do");
    if (file) return write_file(&f, o, file, cx->mem, e);
    if (cli->json) return view_flame_json(&cli->out, &f, 0, cx->mem, e);
    view_flame_text(&s, &f, cx->mem);
    static const struct screen_next next[] = {{"flame %s -o flame.html", "the same as a picture"}};
    screen_next(&s, next, 1);
    return 0;
}

static int run(struct cli *cli, const struct opts *o, struct err *e)
{
    const char *file = opt_get(o, "output", ""), *to = opt_get(o, "to", "");
    if (strcmp(to, "html") == 0 || (!to[0] && str_ends(str_c(file), ".html")))
        TRY(page_check_viewer(e));
    return show_part_untold(cli, o, show, e);
}

const struct cmd cmd_flame = {
    .name = "flame",
    .summary = "flame graphs: GPU, CPU, idle and waiting time by Python stack",
    .args = "TRACE",
    .about =
        "Adds up time by stack: Python functions, labels, operators and calls, outermost first. "
        "Device work counts for the stack that launched it; idle time of the GPU for what the "
        "launching thread did until it launched the work that ended the gap, and for the way from "
        "there to the device; waiting is the CPU time inside calls that wait.\n"
        "Without a file it prints the tree of what matters. With one it writes a page that opens "
        "offline, folded stacks (flamegraph.pl, inferno), speedscope's JSON or pprof's protocol "
        "buffer, by the end of the file's name: .html, .folded, .speedscope.json, .pb.gz.\n"
        "Python frames need a trace with stacks (with_stack=True, or strata run --level timeline).",
    .examples = examples,
    .opts = opts,
    .group = GROUP_DIAGNOSE,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
