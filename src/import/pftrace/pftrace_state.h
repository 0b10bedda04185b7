/* pftrace_state.h: what the packets of a Perfetto trace refer to, gathered in one pass in file
 * order: sequences with their interned texts and defaults, tracks, clocks.
 *
 *     packet ─> sequence ─> state (from one reset of it to the next) ─> texts by interning id
 *        │                                        default track
 *        └─> track_event ─> track ─> process and thread
 *
 * The pass looks at the outside of each packet only. Those with an event are handed on with their
 * time, ready to be decoded by any thread: what they need does not change any more. */
#ifndef STRATA_IMPORT_PFTRACE_PFTRACE_STATE_H
#define STRATA_IMPORT_PFTRACE_PFTRACE_STATE_H

#include "base/map.h"
#include "base/protobuf.h"
#include "import/json/event.h"
#include "trace/trace.h"

/* Which table of InternedData a text belongs to: its field number there. */
enum pf_table {
    PF_CATEGORIES = 1,
    PF_NAMES = 2,
    PF_ARG_NAMES = 3,
    PF_LOCATIONS = 4,
    PF_STAGES = 24, /* also hardware queues */
    PF_ARG_TEXTS = 29,
    PF_KERNELS = 30,     /* as written: 1000 */
    PF_LAUNCH_ARGS = 31, /* as written: 1001 */
};

struct pf_text {
    const char *at; /* the packet that brings it: those before do not know it */
    struct scan_text text;
    const struct event_arg_key *arg; /* of an arg's name that we read, or NULL */
    uint32_t number;                 /* line of a location, category of a stage */
    struct scan_text other;          /* function of a location */
};

/* A sequence between two resets of what it has interned. */
struct pf_state {
    uint32_t sequence;
    uint64_t begin; /* offset of its first packet */
    struct map texts;
    uint64_t track; /* of events that name none */
    uint32_t clock; /* of packets that name none; 0: the trace's */
};

struct pf_clock {
    uint32_t id;
    bool incremental; /* times are differences to the packet before */
    uint64_t unit_ns;
    int64_t last_ns, to_trace_ns;
};

struct pf_sequence {
    uint64_t id;
    uint32_t state; /* the current one */
    struct pf_clock *clocks;
    size_t n_clocks, cap_clocks;
    uint32_t first_state, n_states; /* in by_sequence */
};

struct pf_track {
    uint64_t uuid, parent;
    struct str name, process_name, thread_name, labels, description;
    bool is_process, is_thread, is_counter;
    int64_t pid, tid, sort_index;
    uint64_t multiplier;
    bool incremental;                     /* counter values are differences */
    struct event_id place_pid, place_tid; /* where its events go; see pf_place */
    bool has_pid;
};

/* A packet with an event. */
struct pf_packet {
    const char *begin; /* of the packet with its tag: its offset names the event */
    struct str event;  /* the message with the event */
    int64_t ts_ns;
    uint64_t track; /* of an event that names none */
    uint32_t state;
    bool is_stage; /* a GpuRenderStageEvent, else a TrackEvent */
};

struct pf_survey {
    const char *text, *end;
    const char *at; /* packets before are done */
    struct pf_state *states;
    struct pf_sequence *sequences;
    struct pf_text *texts;
    struct pf_track *tracks;
    size_t n_states, n_sequences, n_texts, n_tracks;
    size_t cap_states, cap_sequences, cap_texts, cap_tracks;
    struct map sequence_at, track_at;
    uint32_t *by_sequence;      /* states of each sequence together, in file order */
    struct pf_clock clocks[64]; /* the built-in ones, by id */
    uint32_t primary_clock;
    int64_t base_ns;     /* wall-clock time at zero of the trace's clock, 0 when not known */
    bool places_changed; /* a track that was placed before belongs elsewhere */
    size_t n_placed;     /* tracks that pf_place has seen */
    struct map missing;  /* uuid -> 0: parents that were not there when a track was placed */
    bool tracks_known;   /* all were read before: what they say last counts */
    uint64_t n_compressed;
    uint64_t n_foreign; /* packets of kinds that hold no events of ours */
    struct damage damage;
};

void pf_survey_init(struct pf_survey *s, struct str text);
void pf_survey_done(struct pf_survey *s);

/* Starts over at the first packet. Tracks stay known, and count as complete if all were read. */
int pf_survey_rewind(struct pf_survey *s) MUST_USE;

/* Moves over packets until `most` with an event are in `packets` or about `bytes` of text are
 * done; returns how many are, or an error code. At the end s->at == s->end. */
int pf_survey_fill(struct pf_survey *s, struct pf_packet *packets, int most,
                   uint64_t bytes) MUST_USE;

/* Says of every new track where its events go. Due before events are decoded. */
int pf_place(struct pf_survey *s) MUST_USE;

/* Where texts are searched for: as a packet of that state sees them. */
struct pf_view {
    const struct pf_survey *survey;
    uint32_t state;
    const char *packet;
};

/* The text `iid` of a table, or NULL. */
const struct pf_text *pf_find(const struct pf_view *v, enum pf_table table, uint64_t iid);

/* The track, or NULL. */
const struct pf_track *pf_find_track(const struct pf_survey *s, uint64_t uuid);

/* Once all packets were seen: so that pf_state_at can look for states. */
int pf_index_states(struct pf_survey *s) MUST_USE;

/* The state that a packet which begins at `offset` was written in, MAP_NONE when there is none. */
uint32_t pf_state_at(const struct pf_survey *s, uint64_t sequence, uint64_t offset);

struct scan_text pf_scan_text(struct str s);

#endif
