/* batch.h: one worker's share of a trace under construction: rows, side-table entries and strings
 * of its own, without locks. */
#ifndef STRATA_TRACE_BATCH_H
#define STRATA_TRACE_BATCH_H

#include "trace/trace.h"

/* What pid and tid looked like: a number, or an interned text of the same batch. */
struct batch_key {
    int64_t number; /* ID_NONE when it is a text */
    str_id text;
};

/* One event as an importer hands it over. Side-table data is given by pointer, NULL when none. */
struct batch_row {
    int64_t ts_ns, dur_ns;
    str_id name;
    enum row_kind kind;
    uint8_t cat; /* from batch_cat */
    char phase;  /* 'B' and 'E' are paired by the builder */
    uint8_t flags;
    uint64_t src;
    struct batch_key pid, tid;
    bool on_device;  /* on a stream although its kind does not say so: a vendor's own work */
    const void *aux; /* op_info, call_info, gpu_info, py_info or mem_info, by kind_table */
};

struct batch;

struct batch *batch_new(void);
void batch_free(struct batch *p);
int batch_reset(struct batch *p) MUST_USE; /* empty, memory kept */
struct intern *batch_strings(struct batch *p);
struct damage *batch_damage(struct batch *p);
uint8_t batch_cat(struct batch *p, struct str cat); /* 255 = "too many categories" */
int batch_add(struct batch *p, const struct batch_row *row) MUST_USE;
int batch_add_flow(struct batch *p, const struct flow *f, struct batch_key pid,
                   struct batch_key tid) MUST_USE;

/* Names of processes and threads, as metadata events give them. Texts are ids of the batch. */
enum batch_label {
    LABEL_PROCESS_NAME,
    LABEL_PROCESS_LABELS,
    LABEL_PROCESS_SORT,
    LABEL_THREAD_NAME,
    LABEL_THREAD_SORT
};
int batch_add_label(struct batch *p, enum batch_label what, struct batch_key pid,
                    struct batch_key tid, str_id text, int64_t number) MUST_USE;

#endif
