/* pftrace_pairs.c: see pftrace_pairs.h. */
#include "import/pftrace_pairs.h"

#include <stdlib.h>

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

static void unmatched(struct pf_pairs *p, uint64_t src)
{
    damage_note(&builder_trace(p->builder)->damage, DAMAGE_UNMATCHED_END, src);
}

static int pair(struct pf_pairs *p, const struct pf_mark *m)
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
        unmatched(p, m->src);
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
        else TRY(pair(p, &m));
    }
    return 0;
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
    if (p->n_marks) qsort(p->marks, p->n_marks, sizeof *p->marks, by_track_and_time);
    for (size_t i = 0; i < p->n_marks; i++) TRY(pair(p, &p->marks[i]));
    for (size_t i = 0; i < p->n_tracks; i++) {
        struct pf_open *o = &p->tracks[i];
        while (o->n) {
            const struct pf_mark *m = &o->begins[--o->n];
            builder_end_row(p->builder, m->row, o->last_ns, false);
            unmatched(p, m->src);
        }
    }
    return 0;
}
