/* cmd_diff.c: `strata diff`: did the fix help, and why. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/consistent.h"
#include "cli/html.h"
#include "cli/show.h"
#include "cli/sides.h"
#include "report/view_diff.h"

#define MOST_RUNS   64
#define PARTS_SHOWN 8

static const struct opt opts[] = {
    HTML_OPT,
    {"limit", 0, "N", "number of parts of the change to show, 0 for all (default 8)", NULL},
    {"allow-untrusted", 0, NULL, "compare a trace that is cut short, empty or unusable too", NULL},
    PART_OPT,
    {0},
};

static const char *const examples[] = {
    "strata diff before.json.gz after.json.gz",
    "what changed, and what the change in wall time consists of",
    "strata diff before1.json.gz before2.json.gz vs after1.json.gz after2.json.gz",
    "with several runs per side: is the difference real or noise?",
    "strata diff before.json.gz after.json.gz --html diff.html",
    "both timelines in one page, step by step",
    NULL,
};

/* One trace, diagnosed. */
struct run {
    struct trace *t;
    struct arena mem;
    struct context cx;
};

/* What a doubtful trace lacks would be taken for a change. */
static int check_trust(const struct opts *o, const char *path, const struct context *cx,
                       struct err *e)
{
    const struct integrity *q = integrity_of(cx);
    if (q->quality < QUALITY_DOUBTFUL || opt_has(o, "allow-untrusted")) return 0;
    err_at(e, path, ERR_NO_OFFSET);
    return FAIL(e, ERR_FORMAT,
                "cannot be compared, its quality is %s: %s; --allow-untrusted "
                "compares it anyway",
                quality_name(q->quality), q->doubts[0].what);
}

static int load(struct cli *cli, const struct opts *o, const char *path, struct run *r,
                struct err *e)
{
    arena_init(&r->mem);
    TRY(cli_open_part(cli, o, path, &r->t, e));
    context_init(&r->cx, r->t, &r->mem);
    TRY(context_need(&r->cx, &findings_pass, e));
    consistent_assert(&r->cx);
    return check_trust(o, path, &r->cx, e);
}

static void unload(struct run *r)
{
    context_done(&r->cx);
    arena_done(&r->mem);
    trace_free(r->t);
}

/* Index of the run in the middle: the one that is shown in detail. */
static uint32_t middle(const int64_t *walls, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t below = 0;
        for (uint32_t k = 0; k < n; k++)
            below += walls[k] < walls[i] || (walls[k] == walls[i] && k < i);
        if (below == (n - 1) / 2) return i;
    }
    return 0;
}

/* Operands of one side. */
struct side {
    char **paths;
    uint32_t n;
    int64_t walls[MOST_RUNS];
    struct run shown; /* the run in the middle */
    const char *path;
};

static int measure(struct cli *cli, const struct opts *o, struct side *s, struct err *e)
{
    if (s->n > MOST_RUNS) return FAIL(e, ERR_USAGE, "at most %d traces per side", MOST_RUNS);
    for (uint32_t i = 0; i < s->n && s->n > 1; i++) {
        struct run r = {0};
        int rc = load(cli, o, s->paths[i], &r, e);
        if (rc == 0) s->walls[i] = wall_of(&r.cx)->wall_ns;
        unload(&r);
        if (rc < 0) return rc;
    }
    s->path = s->paths[middle(s->walls, s->n)];
    TRY(load(cli, o, s->path, &s->shown, e));
    if (s->n == 1) s->walls[0] = wall_of(&s->shown.cx)->wall_ns;
    return 0;
}

/* Both runs in the middle, on one page. */
static int write_page(const struct view_diff *v, struct side *b, struct side *a, const char *file,
                      struct err *e)
{
    struct html_side sides[2] = {{&b->shown.cx, b->path}, {&a->shown.cx, a->path}};
    struct arena mem;
    struct buf doc;
    arena_init(&mem);
    buf_init(&doc);
    view_diff_json(&doc, v);
    struct page p = {.kind = "diff", .title = a->path, .diff = buf_str(&doc)};
    int rc = buf_ok(&doc) ? html_write(&p, sides, 2, file, &mem, e) : err_nomem(e);
    if (rc == 0) html_tell(file);
    buf_done(&doc);
    arena_done(&mem);
    return rc;
}

static int compare(struct cli *cli, const struct opts *o, struct side *b, struct side *a,
                   struct err *e)
{
    struct screen s;
    struct diff d;
    struct diff_stats stats;
    TRY(measure(cli, o, b, e));
    TRY(measure(cli, o, a, e));
    TRY(show_screen(cli, o, PARTS_SHOWN, &s, e));
    TRY(diff_run(&b->shown.cx, &a->shown.cx, &a->shown.mem, &d, e));
    consistent_assert_diff(&d);
    diff_stats(b->walls, b->n, a->walls, a->n, &stats);
    struct view_diff v = {&d, &stats, {b->path, a->path}};
    const char *file = opt_get(o, "html", NULL);
    if (file) TRY(write_page(&v, b, a, file, e));
    if (cli->json) view_diff_json(&cli->out, &v);
    else if (!file) view_diff_text(&s, &v);
    return 0;
}

static int run(struct cli *cli, const struct opts *o, struct err *e)
{
    struct sides sides;
    TRY(html_check(o, e));
    TRY(sides_split(o, &sides, e));
    struct side before = {.paths = sides.paths[0], .n = sides.n[0]},
                after = {.paths = sides.paths[1], .n = sides.n[1]};
    int rc = compare(cli, o, &before, &after, e);
    unload(&before.shown);
    unload(&after.shown);
    return rc;
}

const struct cmd cmd_diff = {
    .name = "diff",
    .summary = "what changed between two traces, and whether it is real",
    .args = "BEFORE AFTER | BEFORE ... vs AFTER ...",
    .about = "Compares two traces of the same program: wall time, stages, kernels, syncs. The "
             "change in wall\n"
             "time is split into parts that add up to it. Sync sites that are gone or new are "
             "named, and so\n"
             "is the reason for fewer kernels: fusion or CUDA graphs. With several traces per side "
             "it says\n"
             "whether the difference is real.",
    .examples = examples,
    .opts = opts,
    .group = GROUP_DIAGNOSE,
    .min_args = 2,
    .max_args = -1,
    .run = run,
};
