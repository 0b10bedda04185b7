/* build.h: how an importer fills a trace. Rows come in any order, on any thread.
 *
 *   builder_new -> for each worker: batch_new -> part_* ... -> builder_add_part (in file order)
 *               -> builder_freeze -> struct trace
 *
 * A part is one worker's share: rows, side-table entries and strings of its own, without locks.
 * Lanes are named by what the file says (process, thread, kind); the builder assigns lane_ids,
 * merges strings, sorts rows, nests them and links launches to device work in builder_freeze. */
#ifndef STRATA_TRACE_BUILD_H
#define STRATA_TRACE_BUILD_H

#include "trace/batch.h"

struct builder;

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
int builder_add_part(struct builder *b, struct batch *p, struct err *e) MUST_USE;

/* The same, but the part stays the caller's, who may reset and fill it again. */
int builder_copy_part(struct builder *b, const struct batch *p, struct err *e) MUST_USE;

/* How many rows came so far: the next part's first row has this number. */
uint32_t builder_n_rows(const struct builder *b);

/* Ends a span that was added before its end was known. `whole` is false where none was written. */
void builder_end_row(struct builder *b, uint32_t row, int64_t end_ns, bool whole);

/* Sorts, nests, links. Frees the builder and, on failure, the trace. `n_threads` >= 1. */
int builder_freeze(struct builder *b, int n_threads, struct trace **ret_trace,
                   struct err *e) MUST_USE;

#endif
