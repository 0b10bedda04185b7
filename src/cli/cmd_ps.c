/* cmd_ps.c: `strata ps`: which processes can be recorded while they run. */
#include "base/human.h"
#include "base/jout.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/recordable.h"

static const char *const examples[] = {
    "strata ps",
    "processes that were started with strata run --level standby or --keep, or entered before",
    NULL,
};

static void show_json(struct cli *cli, const struct recordables *l)
{
    struct jout j;
    jout_init(&j, &cli->out, true);
    jout_obj(&j, NULL);
    jout_arr(&j, "processes");
    for (uint32_t i = 0; i < l->n; i++) {
        const struct recordable *r = &l->list[i];
        jout_obj(&j, NULL);
        jout_int(&j, "pid", r->pid);
        jout_cstr(&j, "program", r->program);
        jout_cstr(&j, "state", r->state);
        jout_int(&j, "parts", r->n_parts);
        jout_cstr(&j, "run", r->run);
        jout_end_obj(&j);
    }
    jout_end_arr(&j);
    jout_end_obj(&j);
}

static void show_text(struct cli *cli, const struct recordables *l)
{
    struct text_table tt;
    text_table_init(&tt);
    text_table_col(&tt, "pid", TEXT_RIGHT);
    text_table_col(&tt, "program", TEXT_LEFT);
    text_table_col(&tt, "state", TEXT_LEFT);
    text_table_col(&tt, "parts", TEXT_RIGHT);
    text_table_col(&tt, "run", TEXT_LEFT);
    for (uint32_t i = 0; i < l->n; i++) {
        const struct recordable *r = &l->list[i];
        char name[100];
        text_table_row(&tt, TEXT_PLAIN);
        text_table_cellf(&tt, 0, "%ld", r->pid);
        text_table_cell(&tt, 1, human_cut(str_c(r->program), 24, name, sizeof name));
        text_table_cell(&tt, 2, r->state);
        text_table_cellf(&tt, 3, "%d", r->n_parts);
        text_table_cell(&tt, 4, human_cut(str_c(r->run), 90, name, sizeof name));
    }
    text_table_print(&tt, &cli->out, 0, cli->width, cli->color);
    text_table_done(&tt);
}

static int run(struct cli *cli, const struct opts *o, struct err *e)
{
    struct arena mem;
    struct recordables l;
    (void)o;
    arena_init(&mem);
    int rc = recordables_all(&mem, &l, e);
    if (rc == 0 && cli->json) show_json(cli, &l);
    else if (rc == 0 && l.n) show_text(cli, &l);
    else if (rc == 0)
        buf_adds(&cli->out, "no process here waits to be recorded; start one with\n"
                            "    strata run --level standby -- COMMAND\n");
    arena_done(&mem);
    return rc;
}

const struct cmd cmd_ps = {
    .name = "ps",
    .summary = "processes that can be recorded while they run",
    .args = "",
    .about =
        "Lists the processes of this machine that wait to be recorded (strata run --level "
        "standby)\n"
        "or keep their last seconds (--keep), with what they are doing now, how many parts were\n"
        "recorded so far, and the folder of their run. strata record PID records one of them. "
        "Only\n"
        "your own processes are listed.",
    .examples = examples,
    .group = GROUP_RECORD,
    .min_args = 0,
    .max_args = 0,
    .run = run,
};
