/* flame.h: time by stack: what a flame graph draws. A node is a frame below another one; its own
 * time is what was spent in that stack and in nothing below it.
 *
 * Stacks are the Python functions, labels, operators and calls that were open, outermost first. The
 * time of device work belongs to the stack that launched it, idle time of a device to what the
 * launching thread did until it launched the work that ended it. Work of a CUDA graph stands below
 * its launch and what ran when it was captured (graph_origin.h). */
#ifndef STRATA_ANALYZE_FLAME_FLAME_H
#define STRATA_ANALYZE_FLAME_FLAME_H

#include "analyze/context.h"

enum flame_of {
    FLAME_GPU,  /* kernels, copies and fills, by the stack that launched them */
    FLAME_CPU,  /* threads that run operators or call the device, by what they do */
    FLAME_IDLE, /* idle time of devices, by what the CPU did meanwhile */
    FLAME_WAIT, /* time in which the CPU waits for a device */
    FLAME_KINDS
};

const char *flame_name(enum flame_of of);  /* "gpu" */
const char *flame_words(enum flame_of of); /* "GPU time by the stack that launched it" */
bool flame_find(const char *name, enum flame_of *ret);

/* Colours and readers tell these apart. */
enum flame_kind {
    FLAME_PYTHON,
    FLAME_OP,
    FLAME_LABEL,
    FLAME_CALL,
    FLAME_WORK, /* of a device */
    FLAME_NOTE, /* ours: a thread, "(no launch recorded)" */
    FLAME_FRAME_KINDS
};

const char *flame_kind_name(enum flame_kind k); /* "python" */

struct flame_frame {
    struct str name; /* the function of a Python frame; else the whole name */
    struct str file; /* empty where there is none */
    int32_t line;    /* 0 where there is none */
    enum flame_kind kind;
};

struct flame_node {
    uint32_t parent, frame; /* node 0 is the root: its own parent, without a frame */
    uint32_t depth;         /* 0 at the root */
    uint32_t count;         /* pieces of time that ended here */
    int64_t self_ns, total_ns;
};

struct flame {
    const struct trace *t;
    enum flame_of of;
    struct flame_frame *frames;
    uint32_t n_frames;
    struct flame_node *nodes; /* a parent comes before its children */
    uint32_t n;
};

/* Memory from `mem`; texts are those of the trace. */
int flame_run(struct context *cx, enum flame_of of, struct arena *mem, struct flame *ret,
              struct err *e) MUST_USE;

/* Frames of a node, outermost first, into `ret` of at least its depth; returns how many. */
uint32_t flame_stack(const struct flame *f, uint32_t node, uint32_t *ret);

/* The deepest any stack can be: that of the trace, a thread, what was captured, and what we add. */
#define FLAME_CAPTURED 256
#define FLAME_DEEPEST  (TRACE_DEEPEST + FLAME_CAPTURED + 8)

#endif
