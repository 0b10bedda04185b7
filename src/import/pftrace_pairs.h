/* pftrace_pairs.h: joins the begins and ends of slices, each track by itself, in time order.
 *
 * Most writers put the events of a track into the file in time order: then an end closes the latest
 * open begin as it comes. Where one does not, all marks are kept and sorted first. */
#ifndef STRATA_IMPORT_PFTRACE_PAIRS_H
#define STRATA_IMPORT_PFTRACE_PAIRS_H

#include "import/pftrace_event.h"
#include "trace/build.h"

struct pf_pairs {
    struct builder *builder;
    bool keep; /* sort before pairing */
    struct pf_open {
        struct pf_mark *begins;
        size_t n, cap;
        int64_t last_ns;
    } * tracks; /* by index; [0] for tracks nobody has described */
    size_t n_tracks, cap_tracks;
    struct pf_mark *marks;
    size_t n_marks, cap_marks;
    bool unordered; /* a track's times go back: start over with `keep` */
};

void pf_pairs_init(struct pf_pairs *p, struct builder *b, bool keep);
void pf_pairs_done(struct pf_pairs *p);

/* The marks of one part, whose rows begin at `first_row` of the builder. 0 or ERR_NOMEM. */
int pf_pairs_add(struct pf_pairs *p, const struct pf_mark *marks, size_t n,
                 uint32_t first_row) MUST_USE;

/* Ends what is still open where its track ends. */
int pf_pairs_end(struct pf_pairs *p) MUST_USE;

#endif
