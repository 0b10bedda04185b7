/* cmd_diff.c: `strata diff`: did the fix help, and why. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "cli/browser/browser.h"
#include "cli/input/input.h"
#include "cli/recording/run_folder.h"
#include "cli/show.h"
#include "report/compare/views_compare.h"

#define MOST_RUNS   64
#define PARTS_SHOWN 8

static const struct opt opts[] = {
    HTML_OPT,
    {"stages", 0, NULL, "compare runs by the stages in their timing.json, not their traces", NULL},
    {"limit", 'n', "N", "parts of the change (default 8) or stages (40) to show, 0 for all", NULL},
    {"fail-if-slower", 0, "PCT", "exit 1 if AFTER takes more than PCT % longer, for CI", NULL},
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
    "strata diff before1/timing.json before2/timing.json vs after1/timing.json",
    "runs by their stages; a folder of runs is as good",
    "strata diff main.json.gz pull.json.gz --fail-if-slower 5",
    "exits 1 if the wall clock is more than 5 % longer",
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
                quality_name(q->quality), q->problems[0].what);
}

static int cmd_diff_load(struct cli *cli, const struct opts *o, const char *path, struct run *r,
                         struct err *e)
{
    arena_init(&r->mem);
    context_init(&r->cx, NULL, &r->mem);
    TRY(cli_open_judged(cli, o, path, &r->t, &r->cx, e));
    TRY(context_need(&r->cx, &findings_pass, e));
    consistent_assert(&r->cx);
    return check_trust(o, path, &r->cx, e);
}

static void cmd_diff_unload(struct run *r)
{
    context_done(&r->cx);
    arena_done(&r->mem);
    trace_free(r->t);
}

/* Index of the run in the middle: the one that is shown in detail. */
static uint32_t cmd_diff_middle(const int64_t *walls, uint32_t n)
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

static int cmd_diff_measure(struct cli *cli, const struct opts *o, struct side *s, struct err *e)
{
    if (s->n > MOST_RUNS) return FAIL(e, ERR_USAGE, "at most %d traces per side", MOST_RUNS);
    for (uint32_t i = 0; i < s->n && s->n > 1; i++) {
        struct run r = {0};
        int rc = cmd_diff_load(cli, o, s->paths[i], &r, e);
        if (rc == 0) s->walls[i] = wall_of(&r.cx)->wall_ns;
        cmd_diff_unload(&r);
        if (rc < 0) return rc;
    }
    s->path = s->paths[cmd_diff_middle(s->walls, s->n)];
    TRY(cmd_diff_load(cli, o, s->path, &s->shown, e));
    if (s->n == 1) s->walls[0] = wall_of(&s->shown.cx)->wall_ns;
    return 0;
}

/* Both runs in the middle, on one page. */
static int cmd_diff_write_page(const struct view_diff *v, struct side *b, struct side *a,
                               const char *file, struct err *e)
{
    struct html_side sides[2] = {{&b->shown.cx, b->path}, {&a->shown.cx, a->path}};
    struct arena mem;
    struct buf doc;
    struct jout j;
    arena_init(&mem);
    buf_init(&doc);
    jout_init(&j, &doc, false);
    view_diff_json(&j, v);
    struct page p = {.kind = "diff", .title = a->path, .diff = buf_str(&doc)};
    int rc = buf_ok(&doc) ? html_write(&p, sides, 2, file, &mem, e) : err_nomem(e);
    if (rc == 0) html_tell(file);
    buf_done(&doc);
    arena_done(&mem);
    return rc;
}

static bool cmd_diff_is_one_file(const char *b, const char *a)
{
    struct stat x, y;
    return stat(b, &x) == 0 && stat(a, &y) == 0 && x.st_ino == y.st_ino && x.st_dev == y.st_dev;
}

static int cmd_diff_compare(struct cli *cli, const struct opts *o, struct side *b, struct side *a,
                            struct err *e)
{
    struct screen s;
    struct diff d;
    struct diff_stats stats;
    TRY(cmd_diff_measure(cli, o, b, e));
    TRY(cmd_diff_measure(cli, o, a, e));
    TRY(show_screen(cli, o, PARTS_SHOWN, &s, e));
    TRY(diff_run(&b->shown.cx, &a->shown.cx, &a->shown.mem, &d, e));
    consistent_assert_diff(&d);
    diff_stats(b->walls, b->n, a->walls, a->n, &stats);
    struct view_diff v = {&d, &stats, {b->path, a->path}};
    const char *file = opt_get(o, "html", NULL);
    if (file) TRY(cmd_diff_write_page(&v, b, a, file, e));
    if (b->n == 1 && a->n == 1 && cmd_diff_is_one_file(b->path, a->path))
        cli_say("both sides are the same file, %s", a->path);
    if (cli->json) view_diff_json(SHOW_JSON(cli), &v);
    else if (!file) view_diff_text(&s, &v);
    return compare_runs_gate(o, &stats, e);
}

static int cmd_diff_run(struct cli *cli, const struct opts *o, struct err *e)
{
    struct operands sides;
    TRY(html_check(o, e));
    if (compare_runs_are(o)) return compare_runs(cli, o, e);
    TRY(operands_split(o, &sides, e));
    struct side before = {.paths = sides.paths[0], .n = sides.n[0]},
                after = {.paths = sides.paths[1], .n = sides.n[1]};
    int rc = cmd_diff_compare(cli, o, &before, &after, e);
    cmd_diff_unload(&before.shown);
    cmd_diff_unload(&after.shown);
    return rc;
}

const struct cmd cmd_diff = {
    .name = "diff",
    .summary = "what changed between two traces or runs, and whether it is real",
    .args = "BEFORE AFTER | BEFORE ... vs AFTER ...",
    .about =
        "Compares two traces of the same program: wall time, stages, kernels, syncs. The change "
        "in wall time is split into parts that add up to it. Sync sites that are gone or new are "
        "named, and so is the reason for fewer kernels: fusion or CUDA graphs. With several "
        "traces per side it says whether the difference is real.\n"
        "Runs without a timeline, and timing.json files, are compared by their stages: calls, "
        "median time per call, peak memory. Every run is one sample per stage, its median call. "
        "A stage is faster or slower if the 99% interval of the ratio of both sides does not "
        "contain zero and the change is at least 1%. With fewer than three runs per side there "
        "is no verdict. A side is a timing.json, a run folder (with several ranks the slowest "
        "counts) or a folder of runs.\n"
        "--fail-if-slower compares the wall clock. With three or more runs per side the change "
        "must be more than noise, too.",
    .examples = examples,
    .opts = opts,
    .group = GROUP_DIAGNOSE,
    .min_args = 2,
    .max_args = -1,
    .run = cmd_diff_run,
};
