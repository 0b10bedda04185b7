/* pftrace_private.h: from messages of Perfetto to events. */
#ifndef STRATA_IMPORT_PFTRACE_PFTRACE_PRIVATE_H
#define STRATA_IMPORT_PFTRACE_PFTRACE_PRIVATE_H

#include "base/buf.h"
#include "import/bytes/plain.h"
#include "import/json/kineto.h"
#include "import/pftrace/pftrace_state.h"
#include "trace/build.h"

/* pftrace_args.c: the args of an event of a Perfetto trace, read again on request. */

/* Holds the file, its text and what its packets refer to for as long as the trace lives. */
struct pf_args {
    struct args_source base;
    struct file_map file;
    struct import_options options;
    struct plain *plain; /* NULL before it is opened */
    bool cut;            /* compressed, and its end is missing */
    struct pf_survey survey;
};

/* Takes the file over, also on failure, which is NULL: out of memory. */
struct pf_args *pf_args_new(struct file_map *file, const struct import_options *o);

/* pftrace_event.c: events of a Perfetto trace as rows: each becomes what it would be in a Kineto
 * trace, so that both have one meaning from there on. */

/* Category of the instants that hold what a JSON trace has beside its events. */
#define PF_META "strata_meta"

/* The begin or end of a slice, to be joined with its other end by the code that sees all of them.
 */
struct pf_mark {
    int64_t ts_ns;
    uint32_t
        track; /* index into the survey's tracks; tracks without a description share UINT32_MAX */
    uint32_t row; /* of the part, of a begin; UINT32_MAX of an end */
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
    uint64_t *unknown; /* tracks that events name, without a description so far */
    size_t n_unknown, cap_unknown;
};

void pf_reader_init(struct pf_reader *r, const struct pf_survey *s);
void pf_reader_done(struct pf_reader *r);

/* What follows goes into `part`, which is empty; marks and metas start over. */
void pf_reader_begin(struct pf_reader *r, struct batch *part);

/* Adds what the packet says. 0 or ERR_NOMEM. */
int pf_reader_add(struct pf_reader *r, const struct pf_packet *p) MUST_USE;

/* pftrace_pairs.c: joins the begins and ends of slices, each track by itself, in time order.
 *
 * Most writers put the events of a track into the file in time order: then an end closes the latest
 * open begin as it comes. Where one does not, all marks are kept and sorted first. */

struct pf_pairs {
    struct builder *builder;
    bool keep; /* sort before pairing */
    struct pf_open {
        struct pf_mark *begins;
        size_t n, cap;
        int64_t last_ns;
    } * tracks; /* by index; [0] for tracks without a description */
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

/* pftrace_value.c: the debug annotations of a Perfetto trace: names and values of any depth. */

enum pf_kind { PF_NOTHING, PF_INT, PF_UINT, PF_BOOL, PF_REAL, PF_STRING, PF_JSON, PF_NESTED };

struct pf_value {
    struct str name;
    const struct event_arg_key *arg; /* which of the args we read it is, or NULL */
    enum pf_kind kind;
    uint64_t number;   /* as it is on the wire */
    struct str text;   /* of PF_STRING and PF_JSON */
    struct str nested; /* of PF_NESTED: the whole annotation */
};

struct pf_value pf_read_value(const struct pf_view *at, struct str bytes);

/* False where the value is nothing of that kind. */
bool pf_value_int(const struct pf_value *v, int64_t *ret);
bool pf_value_real(const struct pf_value *v, double *ret);
bool pf_value_dim3(const struct pf_view *at, const struct pf_value *v, uint32_t ret[3]);

/* Appends the value as JSON. */
void pf_value_json(const struct pf_view *at, const struct pf_value *v, int depth, struct buf *out);

#endif
