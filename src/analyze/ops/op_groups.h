/* op_groups.h: rows of the table while they are being added up, one set per worker thread.
 *
 * A group is identified by name id, class and, when asked for, by a third id (shapes, stack,
 * module). Ids are the trace's own: texts are looked at only once, when sets are merged into the
 * table. */
#ifndef STRATA_ANALYZE_OP_GROUPS_H
#define STRATA_ANALYZE_OP_GROUPS_H

#include "analyze/ops/op_flops.h"
#include "analyze/ops/op_memory.h"
#include "base/map.h"

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
