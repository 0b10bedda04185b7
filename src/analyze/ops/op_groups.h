/* op_groups.h: rows of the table while they are being added up, one set per worker thread.
 *
 * A group is identified by name id, class and, when asked for, by a third id (shapes, stack,
 * module). Ids are the trace's own: texts are examined only once, when sets are merged into the
 * table. */
#ifndef STRATA_ANALYZE_OPS_OP_GROUPS_H
#define STRATA_ANALYZE_OPS_OP_GROUPS_H

#include "base/map.h"
#include "trace/trace.h"

/* op_flops.c: floating-point operations of an operator, from its recorded shapes, by torch's own
 * formulas: what `with_flops` would have shown. Other operators count nothing. */

enum op_flops_kind {
    FLOPS_NONE,
    FLOPS_MM,    /* a(0) x b(1) */
    FLOPS_ADDMM, /* c(0) + a(1) x b(2) */
    FLOPS_BMM,   /* the same in batches */
    FLOPS_BADDBMM,
    FLOPS_CONV2D,
    FLOPS_POINTWISE, /* one operation an element of the first input */
};

enum op_flops_kind op_flops_kind(struct str op_name);

/* 0 when shapes were not recorded or do not fit the operator. */
uint64_t op_flops(const struct trace *t, row_t r, enum op_flops_kind kind);

/* op_memory.c: bytes allocated minus bytes freed between two moments of a process, in O(log n).
 *
 * torch charges an operator with every allocator event between its start and its end, on whatever
 * thread it happened, both ends included. Running sums over the events in time order answer that
 * with two searches. */

struct op_bytes {
    int64_t cpu, device;
};

/* The allocator events of one process, by time. */
struct op_memory_line {
    uint32_t n;
    int64_t *ts_ns;
    row_t *row;
    struct op_bytes *before; /* sums of the events before i; n + 1 entries */
    int32_t *cover;          /* differences of the number of spans over event i; n + 1 entries */
};

struct op_memory {
    struct op_memory_line *lines; /* by process */
    uint32_t n_lines;
    uint64_t n_events;
};

/* Memory from `mem`. ERR_NOMEM is the only failure. */
int op_memory_run(const struct trace *t, struct arena *mem, struct op_memory *ret,
                  struct err *e) MUST_USE;

/* Index of the first event at or after `ts_ns`, searched from `from` on (cheap when near). */
uint32_t op_memory_at(const struct op_memory_line *m, uint32_t from, int64_t ts_ns);

/* Bytes of the events first .. end-1. */
struct op_bytes op_memory_between(const struct op_memory_line *m, uint32_t first, uint32_t end);

/* Notes that a span lies over the events first .. end-1. Threads may call it at the same time. */
void op_memory_cover(struct op_memory_line *m, uint32_t first, uint32_t end);

/* The bytes of one allocator event. */
struct op_bytes op_memory_of(const struct trace *t, row_t r);

/* What kind of row: device type and whether it is an annotation, in one number. */
typedef uint32_t op_class;

/* "cpu", "cuda" ... of a class. */
const char *op_class_device(op_class c);
bool op_class_is_annotation(op_class c);
op_class op_class_cpu(bool is_annotation);

/* The class of a device row; `vendor` is what op_vendor said of the trace. */
op_class op_class_of_row(const struct trace *t, row_t r, const char *vendor);

/* Device type of rows whose category is used by several vendors: "cuda", "xpu", "privateuse1". */
const char *op_vendor(const struct trace *t);

/* One finished span, or several added up. */
struct op_sums {
    int64_t cpu_ns, self_cpu_ns, device_ns, self_device_ns;
    struct op_bytes bytes, self_bytes;
};

struct op_group {
    str_id name;
    op_class class;
    uint32_t extra; /* 0 = none */
    bool skip;      /* torch never shows it, nor lets it take part in nesting */
    enum op_flops_kind flops_kind;
    row_t first; /* ROW_NONE until something was added */
    uint64_t calls, flops;
    struct op_sums sums;
};

struct op_groups {
    struct op_group *groups;
    size_t n, cap;
    struct map by_name;  /* (name, class) -> group with extra 0 */
    struct map by_extra; /* (that group, extra) -> group */
    struct map frames;   /* (frame below or 0, name) -> extra, for stacks */
    struct op_frame {
        uint32_t below; /* extra of the frames further in; 0 for none */
        str_id name;
    } * stack; /* by extra - 1 */
    size_t n_stack, cap_stack;
};

void op_groups_init(struct op_groups *g);
void op_groups_done(struct op_groups *g);

/* Index of the group, made when new; UINT32_MAX when out of memory. */
uint32_t op_groups_find(struct op_groups *g, const struct trace *t, str_id name, op_class class,
                        uint32_t extra);

/* Extra id of a stack that goes on with frame `name` outside `below`; 0 when out of memory. */
uint32_t op_groups_stack(struct op_groups *g, uint32_t below, str_id name);

/* Counts one call of row `r`. */
void op_groups_add(struct op_groups *g, const struct trace *t, uint32_t group, row_t r,
                   const struct op_sums *s);

/* Whether row `a` appears before `b`: it starts earlier, or as early and lasts longer. */
bool op_groups_earlier(const struct trace *t, row_t a, row_t b);

#endif
