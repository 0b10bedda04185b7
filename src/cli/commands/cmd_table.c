/* cmd_table.c: `strata table`: the numbers of key_averages(). */
#include <stdlib.h>
#include <string.h>

#include "analyze/ops/op_table.h"
#include "analyze/quality/integrity.h"
#include "base/pool.h"
#include "cli/input/input.h"
#include "cli/show.h"
#include "report/lists/views_kernels.h"

static const struct opt opts[] = {
    {"sort", 's', "KEY",
     "largest first: self_gpu, gpu, gpu_avg, self_cpu, cpu, cpu_avg, calls, gpu_mem, self_gpu_mem, "
     "cpu_mem, self_cpu_mem, flops, or torch's name for it; first: in order of appearance",
     NULL},
    {"limit", 'n', "N", "number of rows to show, 0 for all (default 40; all with --json)", NULL},
    {"by", 'b', "WHAT", "split rows of the same name by this", "shape|stack|module"},
    {"depth", 0, "N", "number of frames that --by stack compares (default 5)", NULL},
    {"wide", 'w', NULL, "show every column: averages, shares, memory, FLOPs", NULL},
    {"python", 0, NULL, "include Python functions as rows, as torch 2.12 and 2.13 do", NULL},
    PART_OPT,
    {0},
};

static const char *const examples[] = {
    "strata table trace.json.gz",
    "operators and kernels, most device time first",
    "strata table trace.json.gz --sort self_cpu_time_total --limit 10",
    "the ten operators that keep the CPU busiest",
    "strata table trace.json.gz --by shape --sort gpu",
    "which input shapes cost the most (needs record_shapes=True)",
    "strata table trace.json.gz --json | jq '.rows[] | select(.device == \"cuda\")'",
    "kernels and copies only",
    NULL,
};

static enum op_by cmd_table_by_of(const struct opts *o)
{
    const char *word = opt_get(o, "by", "name");
    if (strcmp(word, "shape") == 0) return OP_BY_SHAPE;
    if (strcmp(word, "stack") == 0) return OP_BY_STACK;
    return strcmp(word, "module") == 0 ? OP_BY_MODULE : OP_BY_NAME;
}

static int cmd_table_find_key(const struct opts *o, const struct op_sort_key **ret, struct err *e)
{
    const char *word = opt_get(o, "sort", NULL);
    *ret = word ? op_sort_find(word) : NULL;
    if (!word || *ret) return 0;
    const char *words[32];
    int n = 0;
    while (n < 32 && op_sort_word(n)) words[n] = op_sort_word(n), n++;
    const char *near = opt_nearest(word, words, n);
    if (near) return FAIL(e, ERR_USAGE, "unknown sort key '%s'. Did you mean '%s'?", word, near);
    return FAIL(e, ERR_USAGE, "unknown sort key '%s'; see strata table --help", word);
}

/* A table sorted by memory or FLOPs shows them. */
static enum view_table_focus focus_of(const struct op_sort_key *key)
{
    const char *word = key ? op_sort_name(key) : "";
    if (strcmp(word, "flops") == 0) return FOCUS_FLOPS;
    if (!strstr(word, "_mem")) return FOCUS_TIME;
    return strstr(word, "cpu") ? FOCUS_CPU_MEMORY : FOCUS_DEVICE_MEMORY;
}

/* Grouping by something that was not recorded changes nothing: say how to record it. */
static void warn_missing(const struct trace *t, enum op_by by)
{
    bool has_shapes = false;
    for (uint32_t i = 0; i < t->n_ops && !has_shapes; i++) has_shapes = t->ops[i].dims != STR_NONE;
    if (by == OP_BY_SHAPE && !has_shapes)
        cli_say("the trace has no input shapes; record with %s",
                trace_meta(t, TRACE_META_RECORDED).p
                    ? "strata run --ops shapes, or see kernels --by shape"
                    : "record_shapes=True");
    if ((by == OP_BY_STACK || by == OP_BY_MODULE) && !t->n_py)
        cli_say("the trace has no Python stacks; record with with_stack=True");
}

static int cmd_table_show(struct cli *cli, const struct opts *o, struct context *cx, struct err *e)
{
    const struct op_sort_key *key;
    struct screen s;
    long depth = 5;
    TRY(cmd_table_find_key(o, &key, e));
    TRY(show_screen(cli, o, cli->json ? 0 : 40, &s, e));
    TRY(opt_long(o, "depth", 1, OP_STACK_MAX, &depth, e));
    struct op_table_opts how = {.by = cmd_table_by_of(o),
                                .stack_depth = (int)depth,
                                .python = opt_has(o, "python"),
                                .n_threads = pool_size()};
    struct view_table_opts view = {
        .by = how.by, .focus = focus_of(key), .wide = opt_has(o, "wide"), .sorted = key != NULL};
    struct op_table table;
    warn_missing(cx->t, how.by);
    if (cli->json) TRY(context_need(cx, &integrity_pass, e));
    TRY(op_table_run(cx->t, &how, cx->mem, &table, e));
    TRY(op_table_sort(&table, key, cx->mem, e));
    if (cli->json) view_table_json(SHOW_JSON(cli), NULL, cx, &table, &view, s.limit);
    else view_table_text(&s, cx, &table, &view);
    return 0;
}

static int cmd_table_run(struct cli *cli, const struct opts *o, struct err *e)
{
    bool done;
    TRY(whole_show(cli, o, WHOLE_TABLE, &done, e));
    return done ? 0 : show_part(cli, o, cmd_table_show, e);
}

const struct cmd cmd_table = {
    .name = "table",
    .summary = "time and memory by operator and kernel, as key_averages() counts it",
    .args = "TRACE",
    .about =
        "Prints the table of torch.profiler's key_averages() from the trace alone: calls, self and "
        "total time on the CPU and the device, averages, shares and memory.\n"
        "Self time excludes the time of direct children. An operator's GPU total includes the work "
        "its children launched. Operators, calls and kernels are separate rows, so columns do not "
        "add up to the wall time.\n"
        "Without --sort, rows are sorted by self GPU time, then by self CPU time; the device-side "
        "copies of labels, which are spans and not work, come last.",
    .examples = examples,
    .opts = opts,
    .group = GROUP_NUMBERS,
    .min_args = 1,
    .max_args = 1,
    .run = cmd_table_run,
    .show = cmd_table_show,
};
