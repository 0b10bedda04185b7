/* same.h: whether two traces say the same, column by column; and a trace with something in every
 * table, for tests of what must not be lost. */
#ifndef STRATA_TESTS_SAME_H
#define STRATA_TESTS_SAME_H

#include "kit.h"
#include "trace/column.h"
#include "trace/verify.h"

/* Columns but `src`, which means something else in every format. Strings must have equal ids. */
static inline void check_same_columns(struct trace *a, struct trace *b)
{
    for (int i = 0; i < trace_n_columns; i++) {
        const struct trace_column *c = &trace_columns[i];
        uint32_t n = *column_n(c, a);
        if (*column_n(c, b) != n) {
            test_fail(__FILE__, __LINE__, "%s has %u items, expected %u", c->name, *column_n(c, b),
                      n);
            continue;
        }
        if (strcmp(c->name, "src") == 0 || n == 0) continue;
        if (memcmp(*column_items(c, a), *column_items(c, b), (size_t)n * c->item_bytes) != 0)
            test_fail(__FILE__, __LINE__, "column %s differs", c->name);
    }
}

static inline void check_same_strings(const struct trace *a, const struct trace *b)
{
    if (!CHECK_EQ_UINT(a->strings.n, b->strings.n)) return;
    for (str_id i = 0; i < a->strings.n; i++)
        if (!str_eq(trace_str(a, i), trace_str(b, i)))
            test_fail(__FILE__, __LINE__, "string %u differs", i);
}

static inline void check_same_tables(const struct trace *a, const struct trace *b)
{
    CHECK_EQ_UINT(a->n_lanes, b->n_lanes);
    CHECK_EQ_UINT(a->n_processes, b->n_processes);
    CHECK_EQ_UINT(a->n_devices, b->n_devices);
    CHECK_EQ_UINT(a->n_metas, b->n_metas);
    CHECK_EQ_UINT(a->n_cats, b->n_cats);
    if (test_failed_checks) return;
    CHECK(memcmp(a->lanes, b->lanes, a->n_lanes * sizeof *a->lanes) == 0);
    for (uint32_t i = 0; i < a->n_processes; i++) {
        CHECK_EQ_INT(a->processes[i].pid, b->processes[i].pid);
        CHECK_EQ_UINT(a->processes[i].pid_text, b->processes[i].pid_text);
        CHECK_EQ_UINT(a->processes[i].name, b->processes[i].name);
        CHECK_EQ_UINT(a->processes[i].labels, b->processes[i].labels);
        CHECK_EQ_INT(a->processes[i].sort_index, b->processes[i].sort_index);
    }
    CHECK(!a->n_devices || memcmp(a->devices, b->devices, a->n_devices * sizeof *a->devices) == 0);
    CHECK(!a->n_metas || memcmp(a->metas, b->metas, a->n_metas * sizeof *a->metas) == 0);
    CHECK(memcmp(a->cats, b->cats, a->n_cats * sizeof *a->cats) == 0);
    CHECK(memcmp(&a->damage, &b->damage, sizeof a->damage) == 0);
}

static inline void check_same_times(const struct trace *a, const struct trace *b)
{
    CHECK_EQ_INT(a->base_ns, b->base_ns);
    CHECK_EQ_INT(a->begin_ns, b->begin_ns);
    CHECK_EQ_INT(a->end_ns, b->end_ns);
    CHECK_EQ_INT(a->window_begin_ns, b->window_begin_ns);
    CHECK_EQ_INT(a->window_end_ns, b->window_end_ns);
    CHECK_EQ_UINT(a->source_bytes, b->source_bytes);
    CHECK_EQ_INT(a->external_ids_usable, b->external_ids_usable);
}

static inline void check_same_counts(const struct trace *a, const struct trace *b)
{
    struct trace_counts x, y;
    trace_count(a, &x);
    trace_count(b, &y);
    CHECK(memcmp(&x, &y, sizeof x) == 0);
}

/* Everything but where it was read from. */
static inline void check_same_trace(struct trace *a, struct trace *b)
{
    check_same_columns(a, b);
    check_same_strings(a, b);
    check_same_tables(a, b);
    check_same_times(a, b);
    check_same_counts(a, b);
}

static inline void check_same_args(const struct trace *a, const struct trace *b)
{
    struct buf x = {0}, y = {0};
    for (row_t r = 0; r < a->n_rows && r < b->n_rows; r++) {
        buf_reset(&x);
        buf_reset(&y);
        CHECK_EQ_INT(trace_args(a, r, &x, NULL), 0);
        CHECK_EQ_INT(trace_args(b, r, &y, NULL), 0);
        test_str(__FILE__, __LINE__, "args", buf_str(&y), buf_str(&x));
    }
    buf_done(&x);
    buf_done(&y);
}

#endif
