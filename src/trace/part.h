/* part.h: one worker's share of a trace under construction: rows, side-table entries and strings of
 * its own, without locks. */
#ifndef STRATA_TRACE_PART_H
#define STRATA_TRACE_PART_H

#include "trace/trace.h"

/* What pid and tid looked like: a number, or an interned text of the same part. */
struct part_key {
    int64_t number; /* ID_NONE when it is a text */
    str_id text;
};

/* One event as an importer hands it over. Side-table data is given by pointer, NULL when none. */
struct part_row {
    int64_t ts_ns, dur_ns;
    str_id name;
    enum row_kind kind;
    uint8_t cat; /* from part_cat */
    char phase;  /* 'B' and 'E' are paired by the builder */
    uint8_t flags;
    uint64_t src;
    struct part_key pid, tid;
    bool on_device;  /* on a stream although its kind does not say so: a vendor's own work */
    const void *aux; /* op_info, call_info, gpu_info, py_info or mem_info, by kind_table */
};

struct part;

struct part *part_new(void);
void part_free(struct part *p);
int part_reset(struct part *p) MUST_USE; /* empty, memory kept */
struct intern *part_strings(struct part *p);
struct damage *part_damage(struct part *p);
uint8_t part_cat(struct part *p, struct str cat); /* 255 = "too many categories" */
int part_add(struct part *p, const struct part_row *row) MUST_USE;
int part_add_flow(struct part *p, const struct flow *f, struct part_key pid,
                  struct part_key tid) MUST_USE;

/* Names of processes and threads, as metadata events give them. Texts are ids of the part. */
enum part_label {
    LABEL_PROCESS_NAME,
    LABEL_PROCESS_LABELS,
    LABEL_PROCESS_SORT,
    LABEL_THREAD_NAME,
    LABEL_THREAD_SORT
};
int part_add_label(struct part *p, enum part_label what, struct part_key pid, struct part_key tid,
                   str_id text, int64_t number) MUST_USE;

#endif
