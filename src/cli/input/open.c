/* open.c: opens a trace for a command: shows progress if it takes long, reports damage once. */
#include <stdio.h>

#include <stdlib.h>
#include <string.h>

#include "analyze/focus.h"
#include "analyze/recorded/recorded.h"
#include "analyze/rests.h"
#include "base/folder.h"
#include "base/human.h"
#include "cli/cli.h"
#include "cli/input/input.h"
#include "import/import.h"
#include "import/ring/rings.h"
#include "import/snapshot/snapshot_read.h"
#include "trace/cut.h"
#include "trace/trace.h"

int snapshot_open(struct cli *cli, const char *path, struct snapshot **ret, struct err *e)
{
    struct file_map f;
    *ret = NULL;
    if (folder_is(path)) return 0;
    TRY(file_map(&f, path, e));
    if (!snapshot_is_in(&f)) {
        cli->given = f;
        return 0;
    }
    int rc = snapshot_read(&f, ret, e);
    file_unmap(&f);
    if (rc < 0) err_at(e, path, ERR_NO_OFFSET);
    return rc;
}

void snapshot_open_end(struct cli *cli, struct snapshot *p)
{
    file_unmap(&cli->given);
    snapshot_free(p);
}

struct reading {
    struct import_progress base;
    struct progress progress;
};

static void tell_progress(struct import_progress *self, uint64_t done, uint64_t total)
{
    progress_tell(&((struct reading *)self)->progress, done, total);
}

static void tell_cut(const struct trace *t, const char *name)
{
    uint64_t at = t->damage.place[DAMAGE_TRUNCATED][0];
    bool inside = at < t->source_bytes;
    cli_say("%s: ends %s at byte %s (file cut short): %s events read%s", name,
            inside ? "inside an event" : "before its closing bracket",
            human_count(t->source_bytes).s, human_count((uint64_t)t->n_rows + t->n_flows).s,
            inside ? ", the last one lost" : "");
}

/* A database has rows instead of bytes, and lost records have no place. */
static bool has_byte(const struct trace *t, int reason)
{
    return reason != DAMAGE_LOST_RECORDS && !t->without_bytes;
}

/* At most two lines, whatever the number of reasons: the cut, then the rest. A .strata file
 * remembers the damage of its source. */
static void tell_damage(const struct trace *t, const char *path)
{
    char shown[128], name[160];
    snprintf(name, sizeof name, "%s%s", t->has_source ? "the source of " : "",
             human_cut(str_c(path), 60, shown, sizeof shown));
    const struct damage *d = &t->damage;
    if (d->count[DAMAGE_TRUNCATED]) tell_cut(t, name);
    int reasons = 0, first = -1;
    for (int r = 0; r < DAMAGE_REASONS; r++) {
        if (r == DAMAGE_TRUNCATED || !d->count[r]) continue;
        if (first < 0) first = r;
        reasons++;
    }
    if (first < 0) return;
    char more[64] = "";
    if (reasons > 1)
        snprintf(more, sizeof more, ", and %d other kind%s of damage", reasons - 1,
                 reasons == 2 ? "" : "s");
    char where[64] = "";
    if (has_byte(t, first))
        snprintf(where, sizeof where, " (first at byte %s)", human_count(d->place[first][0]).s);
    cli_say("%s: %s: %s%s%s; strata info --lint lists all", name,
            damage_text((enum damage_reason)first), human_count(d->count[first]).s, where, more);
}

uint64_t cli_most_records(void)
{
    const char *text = getenv("STRATA_TEST_MOST_RECORDS");
    long long n = text ? strtoll(text, NULL, 10) : 0;
    return n > 0 ? (uint64_t)n : CLI_MOST_RECORDS;
}

static int open_picked(struct cli *cli, const char *path, const struct import_options *asked,
                       struct trace **ret, struct err *e)
{
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    struct reading r = {.base.tell = tell_progress};
    struct import_options o = *asked;
    progress_begin(&r.progress, "reading", name);
    if (!o.progress) o.progress = &r.base;
    int rc = import_open(path, &o, ret, e);
    progress_end(&r.progress);
    if (rc < 0) return rc;
    tell_damage(*ret, name);
    cli->out.most += trace_text_budget(*ret);
    return 0;
}

static int open_trace(struct cli *cli, const char *path, struct import_options o,
                      struct trace **ret, struct err *e)
{
    struct arena mem;
    const char *picked;
    arena_init(&mem);
    int rc = pick_trace(path, &mem, &picked, e);
    if (rc == 0) rc = open_picked(cli, picked, &o, ret, e);
    arena_done(&mem);
    return rc;
}

int cli_open_trace(struct cli *cli, const char *path, struct trace **ret, struct err *e)
{
    struct import_options o = {.progress = cli->watch, .given = &cli->given};
    return open_trace(cli, path, o, ret, e);
}

int cli_open_shown(struct cli *cli, const char *path, struct trace **ret, struct err *e)
{
    return open_trace(cli, path, (struct import_options){.most_records = cli_most_records()}, ret,
                      e);
}

/* Which part of the recording the user asks for. */
struct asked {
    long number; /* of a part that strata.timeline recorded, or 0 */
    struct import_options o;
};

static int read_asked(const struct opts *o, struct asked *ret, struct err *e)
{
    *ret = (struct asked){0};
    if (opt_has(o, "part")) TRY(opt_long(o, "part", 1, 1000000, &ret->number, e));
    if (opt_has(o, "rank")) {
        long rank = 0;
        TRY(opt_long(o, "rank", 0, INT32_MAX, &rank, e));
        ret->o.one_rank = true;
        ret->o.rank = (int)rank;
    }
    ret->o.has_at = opt_has(o, "at");
    if (ret->o.has_at) TRY(opt_time_ns(o, "at", 0, INT64_MAX, &ret->o.at_ns, e));
    if (ret->o.has_at && (ret->number || opt_has(o, "whole")))
        return FAIL(e, ERR_USAGE, "--at shows one part; leave out --part and --whole");
    if (!ret->number && !opt_has(o, "whole")) ret->o.most_records = cli_most_records();
    return 0;
}

static int open_reduce(const struct opts *o, const struct asked *asked, struct trace **t,
                       struct err *e)
{
    if (asked->o.one_rank && !(*t)->n_rows)
        return FAIL(e, ERR_USAGE, "rank %d has recorded nothing there", asked->o.rank);
    if (asked->number) return focus_cut_part(t, (uint32_t)asked->number, e);
    if (asked->o.has_at && !(*t)->part.n_records)
        return FAIL(e, ERR_USAGE,
                    "--at shows a part of a recording with more than %s records; this one is "
                    "shown as a whole",
                    human_count(cli_most_records()).s);
    return opt_has(o, "whole") ? rests_cut(t, e) : focus_cut(t, e);
}

/* Rests of the recorder are not idle time. */
static int open_without_rests(struct trace **t, struct err *e)
{
    int rc = rests_cut(t, e);
    if (rc < 0) {
        trace_free(*t);
        *t = NULL;
    }
    return rc;
}

int cli_open_recorded(struct cli *cli, const char *path, struct trace **ret, struct err *e)
{
    TRY(cli_open_trace(cli, path, ret, e));
    return open_without_rests(ret, e);
}

int cli_open_rank(struct cli *cli, const char *path, int rank, struct trace **ret, struct err *e)
{
    if (rank < 0) return cli_open_recorded(cli, path, ret, e);
    struct import_options o = {.one_rank = true, .rank = rank};
    TRY(open_picked(cli, path, &o, ret, e));
    return open_without_rests(ret, e);
}

int cli_open_part(struct cli *cli, const struct opts *o, const char *path, struct trace **ret,
                  struct err *e)
{
    struct asked asked;
    TRY(read_asked(o, &asked, e));
    if (opt_has(o, "whole")) TRY(whole_refuse(path, e));
    asked.o.progress = cli->watch;
    asked.o.given = &cli->given;
    if (asked.o.one_rank && !rings_in(path))
        return FAIL(e, ERR_USAGE, "--rank takes one rank of a run folder; %s is none", path);
    TRY(open_trace(cli, path, asked.o, ret, e));
    int rc = opt_has(o, "whole") ? 0 : trace_cut_deep(ret, e);
    if (rc == 0) rc = open_reduce(o, &asked, ret, e);
    if (rc < 0) {
        trace_free(*ret);
        *ret = NULL;
    }
    return rc;
}

int cli_open_judged(struct cli *cli, const struct opts *o, const char *path, struct trace **ret,
                    struct context *cx, struct err *e)
{
    TRY(cli_open_part(cli, o, path, ret, e));
    context_init(cx, *ret, cx->mem);
    if (opt_has(o, "whole") || opt_has(o, "part") || opt_has(o, "at")) return 0;
    int rc = recorded_cut(ret, cx, e);
    if (rc < 0) {
        context_done(cx);
        trace_free(*ret);
        *ret = NULL;
    }
    return rc;
}

int cli_open_summary(struct cli *cli, const char *path, struct trace **ret, struct err *e)
{
    struct import_options o = {.skip_rows = true,
                               .check_args = true,
                               .most_records = cli_most_records(),
                               .given = &cli->given};
    return open_trace(cli, path, o, ret, e);
}
