/* pftrace_event.h: events of a Perfetto trace as rows: each becomes what it would be in a Kineto
 * trace, so that both have one meaning from there on. */
#ifndef STRATA_IMPORT_PFTRACE_EVENT_H
#define STRATA_IMPORT_PFTRACE_EVENT_H

#include "import/kineto.h"
#include "import/pftrace_state.h"

/* Category of the instants that hold what a JSON trace has beside its events. */
#define PF_META "strata_meta"

/* The begin or end of a slice, to be joined with its other end by whoever sees all of them. */
struct pf_mark {
    int64_t ts_ns;
    uint32_t track; /* index into the survey's tracks; tracks nobody described share UINT32_MAX */
    uint32_t row;   /* of the part, of a begin; UINT32_MAX of an end */
    uint64_t src;
};

struct pf_meta {
    struct str key, value;
};

/* One worker's way from packets to rows. */
struct pf_reader {
    const struct pf_survey *survey;
    struct kineto kineto;
    struct scan scan;
    struct event event;
    struct pf_view view; /* of the packet at hand */
    struct buf raw[3];   /* JSON of nested values: dims, types, concrete inputs */
    struct pf_mark *marks;
    size_t n_marks, cap_marks;
    struct pf_meta *metas;
    size_t n_metas, cap_metas;
    uint32_t n_rows;   /* added to the part */
    uint64_t *unknown; /* tracks that events name and nobody has described so far */
    size_t n_unknown, cap_unknown;
};

void pf_reader_init(struct pf_reader *r, const struct pf_survey *s);
void pf_reader_done(struct pf_reader *r);

/* What follows goes into `part`, which is empty; marks and metas start over. */
void pf_reader_begin(struct pf_reader *r, struct part *part);

/* Adds what the packet says. 0 or ERR_NOMEM. */
int pf_reader_add(struct pf_reader *r, const struct pf_packet *p) MUST_USE;

#endif
