/* snapshot_mark.c: see snapshot_mark.h. */
#include "trace/snapshot_mark.h"

#include <string.h>

#include "format/ring.h"

#define ENDS_WITHIN_NS 5000000000 /* writing the files out takes a moment */
#define SLOW           "slow: "

/* "strata.snapshot 20000: WHY" */
static bool read_mark(struct str name, struct snapshot_mark *ret)
{
    size_t at = strlen(RING_SNAPSHOT);
    int64_t ms = 0;
    if (!str_starts(name, RING_SNAPSHOT)) return false;
    for (; at < name.n && name.p[at] >= '0' && name.p[at] <= '9' && ms < 100000000; at++)
        ms = ms * 10 + (name.p[at] - '0');
    if (at + 2 > name.n || name.p[at] != ':') return false;
    ret->keep_ns = ms * 1000000;
    ret->why = (struct str){name.p + at + 2, name.n - at - 2};
    ret->slow = str_starts(ret->why, SLOW);
    ret->before = ret->slow && str_has(ret->why, RING_SNAPSHOT_BEFORE);
    if (ret->slow) ret->why = (struct str){ret->why.p + strlen(SLOW), ret->why.n - strlen(SLOW)};
    return true;
}

bool snapshot_mark_find(const struct trace *t, struct snapshot_mark *ret)
{
    bool found = false;
    struct snapshot_mark s = {0};
    if (t->part.snapshot) {
        ret->at_ns = t->part.snapshot_at_ns;
        ret->row = ROW_NONE;
        return read_mark(trace_str(t, t->part.snapshot_name), ret);
    }
    for (row_t r = 0; r < t->n_rows; r++) {
        if (t->phase[r] != 'i' || !read_mark(trace_name(t, r), &s)) continue;
        s.at_ns = t->ts_ns[r];
        s.row = r;
        if (!found || s.at_ns > ret->at_ns) *ret = s;
        found = true;
    }
    return found && t->end_ns - ret->at_ns < ENDS_WITHIN_NS;
}
