/* pftrace_out.h: the inside of the Perfetto writer, for to_pftrace.c, pftrace_tracks.c and
 * pftrace_notes.c only.
 *
 * A file is a run of packets, all of one sequence. Texts are interned: the packet that first uses
 * one carries it along. */
#ifndef STRATA_EXPORT_PFTRACE_OUT_H
#define STRATA_EXPORT_PFTRACE_OUT_H

#include "base/map.h"
#include "export/export.h"
#include "export/proto_out.h"
#include "export/sink.h"
#include "export/tracks.h"

enum { PF_OUT_DEPTH = 8 }; /* values nested deeper are written as text */

struct pf_out {
    const struct trace *t;
    const struct export_options *o;
    struct sink sink;
    struct tracks tracks;
    struct buf packet, event, note, value, interned, scratch, args;
    struct buf nested[PF_OUT_DEPTH]; /* messages inside the note, by depth */
    bool *named, *has_cat;           /* by string and by category: written before */
    struct intern keys;              /* names of args written so far; the id is the interning id */
    struct map counters;             /* hash of process and name -> 0: counters that have a track */
    int64_t shift_ns;                /* added to every time: no time may be negative */
    bool any;                        /* a packet was written */
};

/* Writes the packet with what has gathered in o->event (if any) and o->interned. `ts_ns` may be
 * ID_NONE. */
int pf_out_event(struct pf_out *o, int64_t ts_ns, struct err *e) MUST_USE;

/* Writes o->event as the description of a track. */
int pf_out_track(struct pf_out *o, struct err *e) MUST_USE;

/* Track ids: of a row's thread (one of the tracks it may need), of a process. */
uint64_t pf_out_uuid(const struct pf_out *o, lane_id lane, uint8_t track);

/* The descriptions of all processes and threads. */
int pf_out_tracks(struct pf_out *o, struct err *e) MUST_USE;

/* The track of a counter, described when it is first met. */
int pf_out_counter(struct pf_out *o, row_t r, uint64_t *ret_uuid, struct err *e) MUST_USE;

/* Appends the members of a JSON object to o->event as debug annotations. */
int pf_out_notes(struct pf_out *o, struct str args) MUST_USE;

/* The first number among the members, or 0. */
double pf_out_number(struct str args);

/* Everything beside the events, as one instant. */
int pf_out_metas(struct pf_out *o, struct err *e) MUST_USE;

#endif
