/* open.c: opens a trace for a command: shows progress if it takes long, reports damage once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/focus.h"
#include "base/human.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/pick_trace.h"
#include "cli/progress.h"
#include "cli/whole.h"
#include "import/import.h"

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
    return reason != DAMAGE_LOST_RECORDS && !str_ends(str_c(t->format), "sqlite") &&
           strcmp(t->format, "rocprofv3 json") != 0;
}

/* At most two lines, whatever the number of reasons: the cut, then the rest. A .strata file
 * remembers the damage of its source. */
static void tell_damage(const struct trace *t, const char *path)
{
    char shown[128], name[160];
    snprintf(name, sizeof name, "%s%s", strcmp(t->format, "strata") == 0 ? "the source of " : "",
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
    cli_say("%s: %s: %s%s%s; strata lint lists all", name, damage_text((enum damage_reason)first),
            human_count(d->count[first]).s, where, more);
}

uint64_t cli_most_records(void)
{
    const char *text = getenv("STRATA_MOST_RECORDS");
    long long n = text ? strtoll(text, NULL, 10) : 0;
    return n > 0 ? (uint64_t)n : CLI_MOST_RECORDS;
}

static int open_picked(const char *path, const struct import_options *asked, struct trace **ret,
                       struct err *e)
{
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    struct reading r = {.base.tell = tell_progress};
    struct import_options o = *asked;
    progress_begin(&r.progress, "reading", name);
    if (!o.progress) o.progress = &r.base;
    int rc = import_open(path, &o, ret, e);
    progress_end(&r.progress);
    if (rc == 0) tell_damage(*ret, name);
    return rc;
}

static int open_trace(const char *path, struct import_options o, struct trace **ret, struct err *e)
{
    struct arena mem;
    const char *picked;
    arena_init(&mem);
    int rc = pick_trace(path, &mem, &picked, e);
    if (rc == 0) rc = open_picked(picked, &o, ret, e);
    arena_done(&mem);
    return rc;
}

int cli_open_trace(struct cli *cli, const char *path, struct trace **ret, struct err *e)
{
    struct import_options o = {.progress = cli->watch, .given = &cli->given};
    return open_trace(path, o, ret, e);
}

int cli_open_shown(struct cli *cli, const char *path, struct trace **ret, struct err *e)
{
    return open_trace(path, (struct import_options){.most_records = cli_most_records()}, ret, e);
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
    ret->o.has_at = opt_has(o, "at");
    if (ret->o.has_at) TRY(units_time_ns(opt_get(o, "at", ""), "--at", &ret->o.at_ns, e));
    if (ret->o.has_at && (ret->number || opt_has(o, "whole")))
        return FAIL(e, ERR_USAGE, "--at shows one part; leave out --part and --whole");
    if (!ret->number && !opt_has(o, "whole")) ret->o.most_records = cli_most_records();
    return 0;
}

static int reduce(const struct opts *o, const struct asked *asked, struct trace **t, struct err *e)
{
    if (asked->number) return focus_cut_part(t, (uint32_t)asked->number, e);
    if (asked->o.has_at && !(*t)->part.n_records)
        return FAIL(e, ERR_USAGE,
                    "--at shows a part of a recording with more than %s records; this one is "
                    "shown as a whole",
                    human_count(cli_most_records()).s);
    return opt_has(o, "whole") ? 0 : focus_cut(t, e);
}

int cli_open_rank(struct cli *cli, const char *path, int rank, struct trace **ret, struct err *e)
{
    if (rank < 0) return cli_open_trace(cli, path, ret, e);
    struct import_options o = {.one_rank = true, .rank = rank};
    return open_picked(path, &o, ret, e);
}

int cli_open_part(struct cli *cli, const struct opts *o, const char *path, struct trace **ret,
                  struct err *e)
{
    struct asked asked;
    TRY(read_asked(o, &asked, e));
    if (opt_has(o, "whole")) TRY(whole_refuse(path, e));
    asked.o.progress = cli->watch;
    asked.o.given = &cli->given;
    TRY(open_trace(path, asked.o, ret, e));
    int rc = reduce(o, &asked, ret, e);
    if (rc < 0) {
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
    return open_trace(path, o, ret, e);
}
