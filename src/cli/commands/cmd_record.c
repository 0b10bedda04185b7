/* cmd_record.c: `strata record PID|RUN`: records a part of a program that runs already. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analyze/focus.h"
#include "analyze/steps/steps.h"
#include "base/human.h"
#include "base/jout.h"
#include "base/shell.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/recording/recordable.h"
#include "format/control.h"
#include "import/import.h"

enum {
    USUAL_MS = 5000,
    STEPS_MOST_MS = 600000, /* until then a loop has gone round a few times, or there is none */
    ANSWER_MS = 10000,
    FETCHED_MS = 300, /* what a device has done is in the files by then */
    LOOK_MS = 1000,
};

static const struct opt opts[] = {
    {"for", 0, "TIME", "how long (default 5s)", NULL},
    {"steps", 0, "N", "until the main loop has gone round N times", NULL},
    {"snapshot", 0, NULL, "of a process started with --keep: write out what it keeps", NULL},
    {"quiet", 'q', NULL, "no report, only the folder", NULL},
    {0},
};

static const char *const examples[] = {
    "strata record",
    "the processes that can be recorded: started with strata run --level standby or --keep",
    "strata record 4711 --for 10s",
    "ten seconds of a server that runs under strata run --level standby, then the report",
    "strata record strata_out/train/20261115_101502 --steps 10",
    "ten steps of all processes of a run",
    NULL,
};

#define DAY_NS (86400 * 1000000000LL)

struct session {
    struct recordables who;
    int *fds;
    int part; /* of the first process */
    uint32_t n_open;
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int unused)
{
    (void)unused;
    interrupted = 1;
}

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static int cmd_record_nobody(const char *what, struct err *e)
{
    return FAIL(e, ERR_USAGE,
                "%s: no process there waits to be recorded. Start the program with strata run "
                "--level standby -- COMMAND; strata record lists those that were",
                what);
}

static int find_who(const char *what, struct arena *mem, struct recordables *ret, struct err *e)
{
    char *end;
    struct stat st;
    long pid = strtol(what, &end, 10);
    if (stat(what, &st) == 0 && S_ISDIR(st.st_mode)) {
        TRY(recordables_of_run(what, mem, ret, e));
    } else if (pid > 0 && *end == 0) {
        TRY(recordables_of_pid(pid, mem, ret, e));
        if (!ret->n) return attach_process(pid, mem, ret, e);
    } else {
        return FAIL(e, ERR_USAGE, "%s is neither the number of a process nor the folder of a run",
                    what);
    }
    return ret->n ? 0 : cmd_record_nobody(what, e);
}

/* Sends the request to all, and reads the first line that each answers. */
static int cmd_record_ask_all(struct session *s, const char *request, char line[CONTROL_LINE],
                              struct err *e)
{
    for (uint32_t i = 0; i < s->who.n; i++) s->fds[i] = recordable_ask(&s->who.list[i], request);
    for (uint32_t i = 0; i < s->who.n; i++) {
        long pid = s->who.list[i].pid;
        if (s->fds[i] < 0) return FAIL(e, ERR_IO, "process %ld has ended", pid);
        if (!recordable_line(s->fds[i], line, CONTROL_LINE, ANSWER_MS))
            return FAIL(e, ERR_IO, "process %ld does not answer", pid);
        if (strncmp(line, "ok ", 3) != 0)
            return FAIL(e, ERR_USAGE, "process %ld: %s", pid,
                        strncmp(line, "error ", 6) == 0 ? line + 6 : line);
        if (i == 0) (void)(sscanf(line, "ok part=%d", &s->part) == 1);
    }
    s->n_open = s->who.n;
    return 0;
}

/* How many whole steps the recording holds by now, as `strata steps` would find them. */
static uint32_t steps_so_far(const struct session *s)
{
    struct trace *t = NULL;
    struct import_options o = {0};
    struct arena mem;
    struct context cx;
    if (import_open(s->who.list[0].run, &o, &t, NULL) < 0) return 0;
    uint32_t n = 0;
    if (focus_cut_part(&t, (uint32_t)s->part, NULL) == 0) {
        arena_init(&mem);
        context_init(&cx, t, &mem);
        if (context_need(&cx, &steps_pass, NULL) == 0) n = steps_of(&cx)->n_steps;
        context_done(&cx);
        arena_done(&mem);
    }
    trace_free(t);
    return n;
}

static void end_all(struct session *s)
{
    for (uint32_t i = 0; i < s->who.n; i++)
        if (s->fds[i] >= 0) (void)(send(s->fds[i], "end\n", 4, MSG_NOSIGNAL) == 4);
}

/* Until all have said that they ended, or are gone; at most that long. */
static void wait_for_ends(struct session *s, int ms)
{
    char line[CONTROL_LINE];
    uint64_t until = now_ms() + (uint64_t)ms;
    while (s->n_open && !interrupted && now_ms() < until) {
        struct pollfd p = {.events = POLLIN};
        uint32_t i = 0;
        while (s->fds[i] < 0) i++;
        p.fd = s->fds[i];
        if (poll(&p, 1, (int)(until - now_ms()) + 1) != 1) continue;
        (void)recordable_line(p.fd, line, sizeof line, ANSWER_MS);
        close(p.fd);
        s->fds[i] = -1;
        s->n_open--;
    }
}

/* A look at a recording takes time: they come further apart as it grows. */
static void wait_for_steps(struct session *s, long wanted)
{
    uint64_t until = now_ms() + STEPS_MOST_MS;
    uint64_t rest = LOOK_MS;
    while (s->n_open && !interrupted && now_ms() < until) {
        wait_for_ends(s, (int)rest);
        uint64_t began = now_ms();
        if (s->n_open && steps_so_far(s) > (uint32_t)wanted) return;
        rest = LOOK_MS + 2 * (now_ms() - began);
    }
}

static void listen_for_interrupt(void)
{
    struct sigaction a = {.sa_handler = on_interrupt};
    sigaction(SIGINT, &a, NULL);
    sigaction(SIGTERM, &a, NULL);
}

/* The report of what was recorded, by ourselves. */
static int show_report(const struct cli *cli, const char *folder, struct err *e)
{
    const char *argv[] = {"strata", "report", folder, cli->json ? "--json" : NULL, NULL};
    char *given[5];
    memcpy(given, argv, sizeof given);
    execv("/proc/self/exe", given);
    return FAIL(e, ERR_IO, "cannot show the report: %s", strerror(errno));
}

static int cmd_record_finish(struct cli *cli, const struct opts *o, const char *folder,
                             struct err *e)
{
    cli_say("recorded; strata report %s shows it", shell_word(folder).s);
    if (opt_has(o, "quiet")) return 0;
    return show_report(cli, folder, e);
}

static int cmd_record_record(struct cli *cli, const struct opts *o, struct session *s,
                             struct err *e)
{
    char line[CONTROL_LINE], request[64];
    int64_t ns = USUAL_MS * 1000000LL;
    long n_steps = 0;
    TRY(opt_time_ns(o, "for", 1000000, DAY_NS, &ns, e));
    long ms = (long)(ns / 1000000);
    if (opt_has(o, "steps")) TRY(opt_long(o, "steps", 1, 1000000, &n_steps, e));
    listen_for_interrupt();
    snprintf(request, sizeof request, "begin %ld\n", n_steps ? (long)STEPS_MOST_MS : ms);
    TRY(cmd_record_ask_all(s, request, line, e));
    if (n_steps) wait_for_steps(s, n_steps);
    else wait_for_ends(s, (int)ms);
    interrupted = 0;
    end_all(s);
    wait_for_ends(s, ANSWER_MS);
    usleep(FETCHED_MS * 1000);
    return cmd_record_finish(cli, o, s->who.list[0].run, e);
}

static int cmd_record_take_snapshot(struct cli *cli, const struct opts *o, struct session *s,
                                    struct err *e)
{
    char line[CONTROL_LINE];
    TRY(cmd_record_ask_all(s, "snapshot strata record\n", line, e));
    const char *folder = strstr(line, "folder=");
    if (!folder) return FAIL(e, ERR_IO, "unexpected answer: %s", line);
    return cmd_record_finish(cli, o, folder + 7, e);
}

static void cmd_record_list_json(struct cli *cli, const struct recordables *l)
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

static void cmd_record_list_text(struct cli *cli, const struct recordables *l)
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

/* Who can be recorded on this machine. */
static int cmd_record_list(struct cli *cli, struct err *e)
{
    struct arena mem;
    struct recordables l;
    arena_init(&mem);
    int rc = recordables_all(&mem, &l, e);
    if (rc == 0 && cli->json) cmd_record_list_json(cli, &l);
    else if (rc == 0 && l.n) cmd_record_list_text(cli, &l);
    else if (rc == 0)
        buf_adds(&cli->out, "no process here waits to be recorded; start one with\n"
                            "    strata run --level standby -- COMMAND\n");
    arena_done(&mem);
    return rc;
}

static int cmd_record_run(struct cli *cli, const struct opts *o, struct err *e)
{
    struct session s = {0};
    struct arena mem;
    if (!o->n_args) return cmd_record_list(cli, e);
    arena_init(&mem);
    int rc = find_who(o->args[0], &mem, &s.who, e);
    if (rc == 0 && !(s.fds = arena_zalloc(&mem, s.who.n, sizeof *s.fds))) rc = err_nomem(e);
    if (rc == 0)
        rc = opt_has(o, "snapshot") ? cmd_record_take_snapshot(cli, o, &s, e)
                                    : cmd_record_record(cli, o, &s, e);
    arena_done(&mem);
    return rc;
}

const struct cmd cmd_record = {
    .name = "record",
    .summary = "record a part of a program that runs already; list those that can be",
    .args = "[PID|RUN]",
    .about =
        "Switches the timeline of a running process on, and off again after a time, after a "
        "number of steps or at Ctrl-C, then shows the report. Start the process with strata run "
        "--level standby: it then waits to be recorded, at no cost. A process that was started "
        "without strata run is entered first, if it is your own: one of its threads is held for "
        "some milliseconds, and where that is not safe it is refused with the reason. Given "
        "the folder of a run, it records all processes of that run together. Any number of parts "
        "can be recorded: strata report RUN --part N shows each of them.\n"
        "Without operand it lists the processes of this machine that wait to be recorded or keep "
        "their last seconds (--keep), with what they are doing now, how many parts were recorded "
        "so far, and the folder of their run. Only your own processes are listed.",
    .examples = examples,
    .opts = opts,
    .group = GROUP_RECORD,
    .min_args = 0,
    .max_args = 1,
    .run = cmd_record_run,
};
