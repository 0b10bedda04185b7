/* cmd_doctor.c: `strata doctor`: what can be recorded here, what is missing, how to get it. */
#include "base/jout.h"
#include "cli/cli.h"
#include "cli/doctor.h"

static const char *const examples[] = {
    "strata doctor",
    "how a timeline would be recorded on this machine, and what is missing",
    "strata doctor --json | jq '.checks[] | select(.state == \"missing\")'",
    "only what is missing",
    NULL,
};

static const char *const states[] = {"ok", "absent", "missing"};
static const char *const marks[] = {"ok", "- ", "!!"};

static void show_json(struct cli *cli, const struct doctor *d)
{
    struct jout j;
    jout_init(&j, &cli->out, true);
    jout_obj(&j, NULL);
    jout_cstr(&j, "timeline", d->timeline);
    jout_arr(&j, "checks");
    for (int i = 0; i < d->n; i++) {
        const struct doctor_probe *c = &d->list[i];
        jout_obj(&j, NULL);
        jout_cstr(&j, "id", c->id);
        jout_cstr(&j, "state", states[c->state]);
        jout_cstr(&j, "found", c->found);
        if (c->remedy) jout_cstr(&j, "remedy", c->remedy);
        else jout_null(&j, "remedy");
        jout_end_obj(&j);
    }
    jout_end_arr(&j);
    jout_end_obj(&j);
}

static const char *verdict(const struct doctor *d)
{
    switch (d->timeline[0]) {
    case 'c': return "a timeline can be recorded here: kernels, copies and syncs through CUPTI";
    case 't':
        return "no NVIDIA GPU here: a timeline shows operators and Python; torch.profiler records "
               "other devices";
    default: return "stages can be recorded here; a timeline needs a GPU or torch";
    }
}

/* Wraps text to the width of the screen; later lines are indented under the first. */
static void put_wrapped(struct cli *cli, struct str text, int indent)
{
    int at = indent;
    while (text.n) {
        size_t n = 0;
        while (n < text.n && text.p[n] != ' ') n++;
        if (at > indent && at + (int)n + 1 > cli->width) {
            buf_printf(&cli->out, "\n%*s", indent, "");
            at = indent;
        } else if (at > indent) {
            buf_adds(&cli->out, " ");
            at++;
        }
        buf_add(&cli->out, text.p, n);
        at += (int)n;
        if (n < text.n) n++;
        text = str_from(text.p + n, text.n - n);
    }
    buf_adds(&cli->out, "\n");
}

static void show_text(struct cli *cli, const struct doctor *d)
{
    buf_printf(&cli->out, "%s\n\n", verdict(d));
    for (int i = 0; i < d->n; i++) {
        const struct doctor_probe *c = &d->list[i];
        struct buf line;
        buf_init(&line);
        buf_printf(&line, "%s: %s", c->what, c->found);
        if (c->remedy && c->state != DOCTOR_OK) buf_printf(&line, ". To fix: %s", c->remedy);
        buf_printf(&cli->out, "  %s  ", marks[c->state]);
        put_wrapped(cli, buf_str(&line), 6);
        buf_done(&line);
    }
    buf_adds(&cli->out, "\nnext: strata run --level timeline -- python pipe.py\n");
}

static int run(struct cli *cli, const struct opts *o, struct err *e)
{
    struct arena mem;
    struct doctor d;
    arena_init(&mem);
    int rc = doctor_run(&d, &mem, e);
    if (rc == 0 && cli->json) show_json(cli, &d);
    else if (rc == 0) show_text(cli, &d);
    arena_done(&mem);
    return rc;
}

const struct cmd cmd_doctor = {
    .name = "doctor",
    .summary = "what can be recorded on this machine, and what is missing",
    .args = "",
    .about =
        "Looks for devices, their drivers and what recording needs (CUPTI, the library that is\n"
        "loaded into programs, a Python whose line numbers can be read), and says what is missing\n"
        "and how to get it. It starts none of your programs and changes nothing.",
    .examples = examples,
    .group = GROUP_RECORD,
    .min_args = 0,
    .max_args = 0,
    .run = run,
};
