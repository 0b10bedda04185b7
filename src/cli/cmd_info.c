/* cmd_info.c: `strata info`: what is in a trace. */
#include <sys/stat.h>

#include "cli/look.h"
#include "cli/show.h"
#include "report/view_info.h"
#include "report/view_part.h"
#include "report/view_snapshot.h"

static const char *const examples[] = {
    "strata info trace.json.gz",
    "versions, devices, what was recorded, and what is damaged",
    "strata info trace.json.gz --json | jq .recorder",
    "whether stacks, shapes and memory were recorded",
    NULL,
};

static const struct opt opts[] = {{0}};

static int show(struct cli *cli, const struct opts *o, struct context *cx, struct err *e)
{
    struct census c;
    struct screen s;
    struct stat st;
    TRY(show_screen(cli, o, 0, &s, e));
    TRY(census_run(cx->t, cx->mem, &c, e));
    int64_t bytes = stat(o->args[0], &st) == 0 && S_ISREG(st.st_mode) ? st.st_size : -1;
    size_t before = cli->out.n;
    if (!cli->json) view_part_text(&cli->out, cx->t);
    if (cli->out.n > before) buf_addc(&cli->out, '\n');
    if (cli->json) view_info_json(&cli->out, cx->t, &c, bytes);
    else view_info_text(&s, cx->t, &c, bytes);
    return 0;
}

static int show_snapshot(struct cli *cli, const struct opts *o, const struct snapshot *p,
                         struct err *e)
{
    struct held h;
    struct arena mem;
    struct screen s;
    TRY(show_screen(cli, o, 0, &s, e));
    arena_init(&mem);
    int rc = held_run(p, &mem, &h, e);
    static const struct screen_next next[] = {{"memory %s", "who holds the memory"}};
    if (rc == 0 && cli->json) view_snapshot_info_json(&cli->out, &h);
    else if (rc == 0) {
        view_snapshot_info_text(&s, &h);
        screen_next(&s, next, 1);
    }
    arena_done(&mem);
    return rc;
}

static int run(struct cli *cli, const struct opts *o, struct err *e)
{
    struct snapshot *p;
    TRY(cli_look(cli, o->args[0], &p, e));
    int rc = p ? show_snapshot(cli, o, p, e) : show_summary(cli, o, show, e);
    cli_look_end(cli, p);
    return rc;
}

const struct cmd cmd_info = {
    .name = "info",
    .summary = "what is in a trace: versions, devices, events, damage",
    .args = "TRACE",
    .about =
        "Shows what a file contains: format and size, the versions that wrote it, devices, what "
        "the "
        "recorder was asked to record, events by category, threads and streams, and any damage.\n"
        "Unknown metadata is listed by name only, because it may hold whole environments with "
        "secrets. A .strata file of any size takes milliseconds.",
    .examples = examples,
    .opts = opts,
    .group = GROUP_FILES,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
