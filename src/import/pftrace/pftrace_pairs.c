/* pftrace_pairs.c: see pftrace_private.h. */
#include "import/pftrace/pftrace_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"

void pf_pairs_init(struct pf_pairs *p, struct builder *b, bool keep)
{
    *p = (struct pf_pairs){.builder = b, .keep = keep};
}

void pf_pairs_done(struct pf_pairs *p)
{
    for (size_t i = 0; i < p->n_tracks; i++) mem_free(p->tracks[i].begins);
    mem_free(p->tracks);
    mem_free(p->marks);
}

static struct pf_open *open_of(struct pf_pairs *p, uint32_t track)
{
    size_t i = track == MAP_NONE ? 0 : (size_t)track + 1;
    if (i >= p->n_tracks) {
        if (VEC_RESERVE(p->tracks, p->n_tracks, p->cap_tracks, i + 1 - p->n_tracks)) return NULL;
        while (p->n_tracks <= i) p->tracks[p->n_tracks++] = (struct pf_open){.last_ns = INT64_MIN};
    }
    return &p->tracks[i];
}

static void pftrace_pairs_unmatched(struct pf_pairs *p, uint64_t src)
{
    damage_note(&builder_trace(p->builder)->damage, DAMAGE_UNMATCHED_END, src);
}

static int pftrace_pairs_pair(struct pf_pairs *p, const struct pf_mark *m)
{
    struct pf_open *o = open_of(p, m->track);
    if (!o) return ERR_NOMEM;
    if (m->ts_ns < o->last_ns) p->unordered = true;
    o->last_ns = m->ts_ns;
    if (m->row != UINT32_MAX) {
        if (VEC_RESERVE(o->begins, o->n, o->cap, 1)) return ERR_NOMEM;
        o->begins[o->n++] = *m;
    } else if (o->n) {
        builder_end_row(p->builder, o->begins[--o->n].row, m->ts_ns, true);
    } else {
        pftrace_pairs_unmatched(p, m->src);
    }
    return 0;
}

int pf_pairs_add(struct pf_pairs *p, const struct pf_mark *marks, size_t n, uint32_t first_row)
{
    if (p->keep && VEC_RESERVE(p->marks, p->n_marks, p->cap_marks, n)) return ERR_NOMEM;
    for (size_t i = 0; i < n; i++) {
        struct pf_mark m = marks[i];
        if (m.row != UINT32_MAX) m.row += first_row;
        if (p->keep) p->marks[p->n_marks++] = m;
        else TRY(pftrace_pairs_pair(p, &m));
    }
    return 0;
}

/* The end of the marks from `i` on that are all begins, or all ends. */
static size_t run_end(const struct pf_pairs *p, size_t i)
{
    bool begins = p->marks[i].row != UINT32_MAX;
    while (i < p->n_marks && (p->marks[i].row != UINT32_MAX) == begins) i++;
    return i;
}

/* Whether the n begins at `b` and the n ends behind them belong together one by one: PyTorch writes
 * all begins of a kind of event, then all ends in the same order. That time goes back in between is
 * the sign of it; a writer that goes with the time never does. */
static bool is_in_columns(const struct pf_pairs *p, size_t b, size_t n)
{
    const struct pf_mark *begins = p->marks + b, *ends = begins + n;
    int64_t last_begin = INT64_MIN, first_end = INT64_MAX;
    for (size_t i = 0; i < n; i++) {
        if (begins[i].track != ends[i].track || ends[i].ts_ns < begins[i].ts_ns) return false;
        if (begins[i].ts_ns > last_begin) last_begin = begins[i].ts_ns;
        if (ends[i].ts_ns < first_end) first_end = ends[i].ts_ns;
    }
    return first_end < last_begin;
}

/* Joins what is written in columns, which keeps apart what ends where the next begins; the other
 * marks stay. */
static void pair_columns(struct pf_pairs *p)
{
    size_t kept = 0;
    for (size_t i = 0, next; i < p->n_marks; i = next) {
        size_t n = run_end(p, i) - i;
        bool begins = p->marks[i].row != UINT32_MAX;
        next = i + n;
        if (begins && next < p->n_marks && run_end(p, next) - next == n && is_in_columns(p, i, n)) {
            for (size_t k = 0; k < n; k++)
                builder_end_row(p->builder, p->marks[i + k].row, p->marks[next + k].ts_ns, true);
            next += n;
            continue;
        }
        memmove(p->marks + kept, p->marks + i, n * sizeof *p->marks);
        kept += n;
    }
    p->n_marks = kept;
}

static int by_track_and_time(const void *a, const void *b)
{
    const struct pf_mark *x = a, *y = b;
    if (x->track != y->track) return x->track < y->track ? -1 : 1;
    if (x->ts_ns != y->ts_ns) return x->ts_ns < y->ts_ns ? -1 : 1;
    return x->src < y->src ? -1 : x->src > y->src;
}

int pf_pairs_end(struct pf_pairs *p)
{
    pair_columns(p);
    if (p->n_marks) qsort(p->marks, p->n_marks, sizeof *p->marks, by_track_and_time);
    for (size_t i = 0; i < p->n_marks; i++) TRY(pftrace_pairs_pair(p, &p->marks[i]));
    for (size_t i = 0; i < p->n_tracks; i++) {
        struct pf_open *o = &p->tracks[i];
        while (o->n) {
            const struct pf_mark *m = &o->begins[--o->n];
            builder_end_row(p->builder, m->row, o->last_ns, false);
            pftrace_pairs_unmatched(p, m->src);
        }
    }
    return 0;
}
