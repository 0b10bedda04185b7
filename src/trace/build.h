/* build.h: how an importer fills a trace. Rows come in any order, on any thread.
 *
 *   builder_new -> for each worker: part_new -> part_* ... -> builder_add_part (in file order)
 *               -> builder_freeze -> struct trace
 *
 * A part is one worker's share: rows, side-table entries and strings of its own, without locks.
 * Lanes are named by what the file says (process, thread, kind); the builder assigns lane_ids,
 * merges strings, sorts rows, nests them and links launches to device work in builder_freeze. */
#ifndef STRATA_TRACE_BUILD_H
#define STRATA_TRACE_BUILD_H

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
struct builder;

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

/* The trace under construction: importers set path, format, metas, devices, base_ns, args. */
struct builder *builder_new(struct err *e);
void builder_free(struct builder *b);
struct trace *builder_trace(struct builder *b);
str_id builder_intern(struct builder *b, struct str s);
int builder_add_meta(struct builder *b, struct str key, struct str value) MUST_USE;
int builder_add_device(struct builder *b, const struct device *d) MUST_USE;

/* About how many rows will come: growing to them on the way costs time. Only a hint. */
void builder_expect(struct builder *b, uint64_t n_rows);

/* Takes the part over, also on failure. Parts are given in file order. */
int builder_add_part(struct builder *b, struct part *p, struct err *e) MUST_USE;

/* The same, but the part stays the caller's, who may reset and fill it again. */
int builder_copy_part(struct builder *b, const struct part *p, struct err *e) MUST_USE;

/* Sorts, nests, links. Frees the builder and, on failure, the trace. `n_threads` >= 1. */
int builder_freeze(struct builder *b, int n_threads, struct trace **ret_trace,
                   struct err *e) MUST_USE;

#endif
