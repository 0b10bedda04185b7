/* rings.h: a run folder, or the rings folder in it, as a trace. */
#ifndef STRATA_IMPORT_RING_RINGS_H
#define STRATA_IMPORT_RING_RINGS_H

#include "import/importer.h"

/* Whether `folder` holds recordings: itself, or in rings/. */
bool rings_in(const char *folder);

/* How much the recordings hold by now, as a JSON text; false where there are none. A trace made
 * from them has it under TRACE_META_EXTENT. */
#define RINGS_EXTENT 96
bool rings_extent(const char *folder, char ret[RINGS_EXTENT]);

/* What is known about a process without reading its records. */
struct ring_facts {
    int64_t pid;
    int rank, world;   /* -1 when it is not one of several */
    bool ended;        /* by itself: it was not killed, and is not running */
    bool running;      /* a process of its number still runs on this host */
    bool has_timeline; /* more than stages was recorded */
    uint32_t n_threads;
    uint64_t n_records, n_lost;
    int64_t start_real_ns;
    const char *host, *program, *name;
    const char *pid_text; /* as in the trace where hosts share numbers, else NULL */
};

struct ring_survey {
    struct ring_facts *list; /* by start */
    uint32_t n, n_bad;       /* n_bad: files that could not be read */
};

int rings_survey(const char *folder, struct arena *mem, struct ring_survey *ret,
                 struct err *e) MUST_USE;

/* What processes of the run had to say: why something is missing. Each text once. */
struct ring_notes {
    const char **list;
    uint32_t n;
};
int rings_notes(const char *folder, struct arena *mem, struct ring_notes *ret,
                struct err *e) MUST_USE;

/* Spans of about `most` records one after the other, which together are all of a recording: each
 * can be opened by itself (import_options.span). */
struct import_pieces {
    struct import_span *list;
    uint32_t n;
    uint64_t n_records; /* of the recording */
};
int rings_pieces(const char *folder, uint64_t most, struct arena *mem, struct import_pieces *ret,
                 struct err *e) MUST_USE;

int rings_open(const char *folder, const struct import_options *o, struct trace **ret,
               struct err *e) MUST_USE;

#endif
