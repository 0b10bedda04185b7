/* open.c: opening a trace for a command: progress while it takes long, damage told once. */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/human.h"
#include "cli/cli.h"
#include "import/import.h"

static const char *shown_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

/* What the file lost, in one line; what was only repaired, in another. */
static void tell_damage(const struct trace *t, const char *path)
{
    const struct damage *d = &t->damage;
    if (d->count[DAMAGE_TRUNCATED]) {
        cli_say("%s: ends inside an event at byte %s (file cut short): %s events read",
                shown_name(path), human_count(d->place[DAMAGE_TRUNCATED][0]).s,
                human_count(t->n_rows + (uint64_t)t->n_flows).s);
    }
    for (int r = 0; r < DAMAGE_REASONS; r++) {
        if (r == DAMAGE_TRUNCATED || !d->count[r]) continue;
        cli_say("%s: %s %s, the first at byte %s", shown_name(path), human_count(d->count[r]).s,
                damage_text((enum damage_reason)r), human_count(d->place[r][0]).s);
    }
}

int cli_open_trace(struct cli *cli, const char *path, struct trace **ret, struct err *e)
{
    TRY(import_open(path, NULL, ret, e));
    tell_damage(*ret, path);
    return 0;
}
