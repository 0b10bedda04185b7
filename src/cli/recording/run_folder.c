/* run_folder.c: see run_folder.h. */
#include "cli/recording/run_folder.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analyze/compare/timings.h"
#include "analyze/compare/workers.h"
#include "base/file.h"
#include "base/folder.h"
#include "cli/input/input.h"
#include "cli/ranks/ranks.h"
#include "cli/show.h"
#include "import/import.h"
#include "report/run/views_run.h"

/* The file of the process, or NULL. */
static struct timing *own_file(const struct timing_run *run, const struct ring_facts *f)
{
    for (uint32_t i = 0; i < run->n; i++)
        if (run->list[i].pid == f->pid && strcmp(run->list[i].host, f->host) == 0)
            return &run->list[i];
    return NULL;
}

/* Whether the process has written all that there is to say. */
static bool has_own(const struct timing_run *run, const struct ring_facts *f)
{
    const struct timing *file = own_file(run, f);
    return file && !file->running;
}

/* The process of the trace that these facts belong to. */
static uint32_t run_folder_find_process(const struct trace *t, const struct ring_facts *f)
{
    for (uint32_t i = 0; i < t->n_processes; i++) {
        const struct process *p = &t->processes[i];
        if (f->pid_text ? str_is(trace_str(t, p->pid_text), f->pid_text) : p->pid == f->pid)
            return i;
    }
    return UINT32_MAX;
}

bool run_folder_was_cut(const struct trace *t, const struct ring_facts *f)
{
    uint32_t process = f->ended || f->running ? UINT32_MAX : run_folder_find_process(t, f);
    for (uint32_t i = 0; process != UINT32_MAX && i < t->n_lanes; i++) {
        if (t->lanes[i].process != process) continue;
        for (row_t r = t->lanes[i].begin; r < t->lanes[i].end; r++)
            if (t->flags[r] & ROW_UNFINISHED) return true;
    }
    return false;
}

static const char *run_folder_when(int64_t real_ns, struct arena *mem)
{
    time_t seconds = (time_t)(real_ns / 1000000000);
    struct tm t;
    char text[32] = "";
    if (gmtime_r(&seconds, &t)) strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &t);
    return arena_printf(mem, "%s+00:00", text);
}

/* timing.json, with the rank if there is one, or with the process number if that name is taken. */
static const char *run_folder_file_name(const char *folder, const struct ring_facts *f,
                                        struct arena *mem)
{
    const char *path = f->rank >= 0 ? arena_printf(mem, "%s/timing_rank%d.json", folder, f->rank)
                                    : arena_printf(mem, "%s/timing.json", folder);
    if (!path || access(path, F_OK) < 0) return path;
    return arena_printf(mem, "%s/timing_pid%lld.json", folder, (long long)f->pid);
}

static int write_timing(const char *path, const struct timing *t, struct err *e)
{
    struct buf out;
    buf_init(&out);
    timing_print(t, &out);
    int rc = buf_ok(&out) ? file_write_whole(path, out.p, out.n, e) : err_nomem(e);
    buf_done(&out);
    return rc;
}

/* The recordings of a folder. */
struct recorded {
    const char *folder;
    struct trace *t;
    struct ring_survey survey;
    struct arena *mem;
};

/* Adds up what a process recorded since its own file starts, if it has one. n_stages is 0 where
 * there is nothing. */
static int run_folder_add_up(const struct recorded *in, const struct ring_facts *f,
                             const struct timing *file, struct timing *ret, struct err *e)
{
    const struct trace *t = in->t;
    int64_t start_ns = file ? timing_start_ns(file) : -1;
    struct timing_rows_of of = {
        .process = run_folder_find_process(t, f),
        .since_ns = INT64_MIN,
        .begin_ns = f->start_real_ns - t->base_ns,
        .named = file != NULL,
        .stages = file && trace_timeline_is_ours(t),
    };
    if (start_ns >= 0) of.since_ns = start_ns - t->base_ns;
    *ret = (struct timing){
        .pipeline = f->name[0] ? f->name : f->program,
        .host = f->host,
        .timestamp = run_folder_when(f->start_real_ns, in->mem),
        .pid = f->pid,
        .rank = f->rank,
        .world = f->world,
        .lost_records = f->n_lost,
        .recovered = run_folder_was_cut(t, f),
    };
    return of.process == UINT32_MAX ? 0 : timing_rows_run(t, &of, in->mem, ret, e);
}

static int catch_up(const struct recorded *in, const struct ring_facts *f, struct timing *file,
                    struct err *e)
{
    struct timing rings;
    TRY(run_folder_add_up(in, f, file, &rings, e));
    if (rings.n_stages && !f->n_lost) /* a full ring has lost its oldest: the file knows more */
        return timing_catch_up(file, &rings, in->mem, e);
    file->recovered = rings.recovered;
    return 0;
}

static int recover_one(const struct recorded *in, const struct ring_facts *f, struct timing *file,
                       const char **ret_path, struct err *e)
{
    struct timing timing;
    if (file) {
        TRY(catch_up(in, f, file, e));
        file->running = false;
        timing = *file;
    } else {
        TRY(run_folder_add_up(in, f, NULL, &timing, e));
    }
    if (!timing.n_stages) return 0;
    const char *path = file ? file->file : run_folder_file_name(in->folder, f, in->mem);
    if (!path) return err_nomem(e);
    TRY(write_timing(path, &timing, e));
    *ret_path = path;
    return 0;
}

/* Only what timing files are made of. */
static int open_ranges(struct recorded *in, struct err *e)
{
    struct import_options o = {.only_ranges = true};
    return rings_open(in->folder, &o, &in->t, e);
}

int run_folder_recover(const char *path, struct trace *whole, struct arena *mem,
                       struct run_folder_made *ret, struct err *e)
{
    struct recorded in = {.folder = path, .mem = mem, .t = whole};
    struct timing_run run;
    *ret = (struct run_folder_made){0};
    if (!rings_in(path)) return 0;
    TRY(rings_survey(path, mem, &in.survey, e));
    TRY(timing_run_read(path, mem, &run, e));
    bool needed = false;
    for (uint32_t i = 0; i < in.survey.n; i++) needed |= !has_own(&run, &in.survey.list[i]);
    if (!needed) return 0;
    ret->paths = arena_zalloc(mem, in.survey.n, sizeof *ret->paths);
    if (!ret->paths) return err_nomem(e);
    if (!whole) TRY(open_ranges(&in, e));
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < in.survey.n; i++) {
        const struct ring_facts *f = &in.survey.list[i];
        const char *made = NULL;
        if (has_own(&run, f) || f->running) continue;
        rc = recover_one(&in, f, own_file(&run, f), &made, e);
        if (made) ret->paths[ret->n++] = made;
    }
    if (!whole) trace_free(in.t);
    return rc;
}

/* Whether the recordings know more of the process than its file does. */
static bool run_folder_is_behind(const struct timing_run *run, const struct ring_facts *f)
{
    const struct timing *file = own_file(run, f);
    return file ? file->running : f->running;
}

/* Brings what is known of a process up to what it has recorded; it may have no file yet. */
static int catch_up_one(const struct recorded *in, const struct ring_facts *f,
                        struct timing_run *run, struct err *e)
{
    struct timing *file = own_file(run, f);
    if (file) {
        TRY(catch_up(in, f, file, e));
        file->running = f->running;
        return 0;
    }
    struct timing *made = &run->list[run->n];
    TRY(run_folder_add_up(in, f, NULL, made, e));
    made->file = in->folder;
    made->running = true;
    run->n += made->n_stages > 0;
    return 0;
}

static int catch_up_all(struct recorded *in, struct timing_run *run, struct err *e)
{
    struct timing *list = arena_zalloc(in->mem, run->n + in->survey.n, sizeof *list);
    if (!list) return err_nomem(e);
    if (run->n) memcpy(list, run->list, run->n * sizeof *list);
    run->list = list;
    TRY(open_ranges(in, e));
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < in->survey.n; i++)
        if (run_folder_is_behind(run, &in->survey.list[i]))
            rc = catch_up_one(in, &in->survey.list[i], run, e);
    trace_free(in->t);
    return rc;
}

int run_folder_read(const char *path, struct arena *mem, struct timing_run *ret, struct err *e)
{
    struct recorded in = {.folder = path, .mem = mem};
    TRY(timing_run_read(path, mem, ret, e));
    if (!rings_in(path)) return 0;
    TRY(rings_survey(path, mem, &in.survey, e));
    bool behind = false;
    for (uint32_t i = 0; i < in.survey.n; i++)
        behind |= run_folder_is_behind(ret, &in.survey.list[i]);
    return behind ? catch_up_all(&in, ret, e) : 0;
}

bool run_folder_has_trace(const char *path, struct arena *mem)
{
    struct folder_list found;
    return pick_traces(path, mem, &found, NULL) == 0;
}

/* Where timelines were recorded, they say better than the sums of stages who waits for whom. */
static int run_folder_show_text(struct cli *cli, const char *path, const struct screen *s,
                                const struct ranks *ranks, const struct view_ranks *traced,
                                struct err *e)
{
    struct read_ranks r = {0};
    struct picked_list p = {0};
    struct arena mem;
    char *paths[] = {(char *)(uintptr_t)path};
    arena_init(&mem);
    bool look = !traced && ranks->n > 1 && rings_in(path);
    int rc = look ? pick_ranks_of(paths, 1, &mem, &p, e) : 0;
    bool several = rc == 0 && p.n > 1 && p.list[0].rank >= 0;
    if (several) rc = read_ranks(cli, &p, &r, e);
    if (rc == 0 && several && r.set.n_list) traced = &r.view;
    bool more = run_folder_has_trace(path, &mem) &&
                (ranks->n == 1 || traced || pick_trace_has_timeline(path, &mem));
    if (rc == 0) view_run_text(s, ranks, traced, more);
    if (several) read_ranks_done(&r);
    arena_done(&mem);
    return rc;
}

int run_folder_show(struct cli *cli, const char *path, const struct screen *s,
                    const struct view_ranks *traced, struct err *e)
{
    struct arena mem;
    arena_init(&mem);
    struct timing_run run;
    struct ranks ranks;
    int rc = run_folder_read(path, &mem, &run, e);
    if (rc == 0 && !run.n) {
        err_at(e, path, ERR_NO_OFFSET);
        rc = FAIL(e, ERR_FORMAT, "cannot read any of its %u timing files", run.n_bad);
    }
    if (rc == 0) rc = workers_fold(&run, &mem, e);
    if (rc == 0) rc = ranks_run(run.list, run.n, &mem, &ranks, e);
    if (rc == 0) ranks.n_workers = run.n_workers;
    if (rc == 0 && cli->json) view_run_json(SHOW_JSON(cli), &ranks);
    else if (rc == 0) rc = run_folder_show_text(cli, path, s, &ranks, traced, e);
    if (rc == 0 && run.n_bad)
        cli_say("%s: left out %u unreadable timing file%s", path, run.n_bad,
                run.n_bad == 1 ? "" : "s");
    arena_done(&mem);
    return rc;
}

static int read_one(const char *path, struct arena *mem, struct timing *ret, struct err *e)
{
    int rc = timing_read(path, mem, ret, e);
    if (rc != ERR_FORMAT || !pick_trace_is(path)) return rc;
    err_init(e);
    err_at(e, path, ERR_NO_OFFSET);
    return FAIL(e, ERR_FORMAT,
                "is a trace, not a timing.json; give traces on both sides, or timing.json");
}

/* That of a folder of one run: the slowest rank. False when there is none. */
static int read_folder(const char *path, struct arena *mem, struct timing *ret, bool *found,
                       struct err *e)
{
    struct timing_run run;
    TRY(run_folder_read(path, mem, &run, e));
    *found = run.n > 0;
    for (uint32_t i = 0; i < run.n; i++)
        if (i == 0 || run.list[i].wall_ns > ret->wall_ns) *ret = run.list[i];
    return 0;
}

static int add_run(const struct timing *t, struct timing *runs, uint32_t most, uint32_t *n,
                   struct err *e)
{
    if (*n == most) return FAIL(e, ERR_LIMIT, "more than %u runs per side", most);
    runs[(*n)++] = *t;
    return 0;
}

int run_folder_timings(const char *path, struct arena *mem, struct timing *runs, uint32_t most,
                       uint32_t *n, struct err *e)
{
    struct timing t;
    struct folder_list inside;
    uint32_t before = *n;
    bool found = true;
    if (!folder_is(path)) TRY(read_one(path, mem, &t, e));
    else TRY(read_folder(path, mem, &t, &found, e));
    if (found) return add_run(&t, runs, most, n, e);
    TRY(folder_list_run(path, mem, &inside, e));
    for (uint32_t i = 0; i < inside.n; i++) {
        if (!folder_is(inside.paths[i])) continue;
        TRY(read_folder(inside.paths[i], mem, &t, &found, e));
        if (found) TRY(add_run(&t, runs, most, n, e));
    }
    if (*n > before) return 0;
    err_at(e, path, ERR_NO_OFFSET);
    return FAIL(e, ERR_FORMAT, "the folder has no timing.json and no recording of stages");
}
