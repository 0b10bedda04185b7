/* ring.h: the files a recording process leaves in RUN/rings, laid out so that they are whole at
 * every instant: the process may be killed between any two instructions.
 *
 *     HOST-PID-START.proc      one per process: who it is, and its strings
 *     HOST-PID-START.defs      one per process that defined something: kernels, devices, stacks
 *     HOST-PID-START.N.ring    one per thread that recorded something
 *     HOST-PID-START.N.index   one per ring with a log: where in it is what (ring_index.h)
 *
 *     .proc  | head | string | string | ...        strings_bytes tells the end
 *     .defs  | head | definition | ...             n_bytes tells the end
 *     .ring  | head | stage: one block | log: block | block | ...
 *
 * A thread writes its records to the stage, which is mapped; when it is full it is copied to the
 * end of the log and used again. So record i is
 *
 *     i >= n_logged   in slot i mod RING_BLOCK of the stage          (while i < n_written)
 *     else            in slot i of the log, or i mod log_slots once that is set
 *
 * Setting log_slots ends the growth of the log: from then on the newest block takes the place of
 * the oldest. What a record refers to is in a file before the record is, and the record before
 * n_written counts it. A record in the log whose `check` is not that of its block is missing: its
 * block could not be written, or was being overwritten.
 *
 * Fields marked (atomic) change while the process lives. Integers are little-endian. A reader
 * refuses another version; what is new within one is a new kind of record, which it skips. */
#ifndef STRATA_FORMAT_RING_H
#define STRATA_FORMAT_RING_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define RING_MAGIC   "STRRING1"
#define PROC_MAGIC   "STRPROC1"
#define DEFS_MAGIC   "STRDEFS1"
#define RING_VERSION 1u

#define RING_HEAD_BYTES  4096u
#define RING_BLOCK       8192u /* records */
#define RING_BLOCK_BYTES (RING_BLOCK * 16u)
#define RING_LOG_OFFSET  (RING_HEAD_BYTES + RING_BLOCK_BYTES)
#define RING_NAMES_MAX   32768u     /* distinct strings a process; ids run from 1 */
#define RING_TEXT_MAX    1024u      /* bytes of one string */
#define RING_DEFS_MAX    (1u << 18) /* distinct definitions a process; ids run from 1 */
#define RING_DEF_BYTES   (1u << 16) /* of one definition */

enum ring_kind {
    RING_PAD = 0,
    RING_BEGIN = 1,   /* name, category; type: 1 where a generator goes on with its next turn */
    RING_END = 2,     /* closes the innermost open range; name: what it was left by, or 0 */
    RING_INSTANT = 3, /* name */
    RING_PAUSE = 4,   /* recording stops: every open range of the process ends */

    /* These are two records long: the value stands in `ticks` of a RING_VALUE that follows. */
    RING_WIDE = 16,
    RING_TASK_BEGIN = 16, /* as RING_BEGIN; value: the task, which may move between threads */
    RING_TASK_END = 17,   /* name as RING_END; value: the task */
    RING_COUNTER = 18,    /* name; value: a double */
    RING_ARG = 19,        /* of the range or instant before it: name = key, type, value */
    RING_CLOCK = 20,      /* ticks and value, in monotonic ns, are the same moment */
    RING_THREAD = 21,     /* from here on by thread `value`, called `name` (0: unnamed) */
    RING_STEP = 22,       /* step number `value` begins, and with it ends the one before */

    /* Calls of a device API, at their end: name, category (0 for the driver's); value: ticks of the
     * start; extra: correlation. */
    RING_CALL = 23,
    /* Work on a device, at its start: id: its DEF_WORK; value: ticks of the end; extra:
     * correlation. Both times are 0 where the device had none. */
    RING_WORK = 24,
    RING_WORK_BYTES = 25, /* of the work before it: value: how many bytes it moved */
    RING_WORK_NODE = 26,  /* of the work before it: value: node of a graph; extra: the graph */
    RING_OVERHEAD = 27, /* the profiler's own: name; value: ticks of the end; extra: thread or 0 */
    RING_MEMORY = 28,   /* device memory: id: device; type: enum ring_memory; value: address */
    RING_MEMORY_BYTES = 29, /* of the RING_MEMORY before it: value: bytes */
    RING_DROPPED = 30,      /* value: records the device's library says it dropped */

    RING_STACK = 31,    /* id: the thread's stack (DEF_FRAME) from `ticks` to value, in ticks */
    RING_STACK_OF = 32, /* a sample; id: the stack of thread `value` */
    RING_RANGE = 33,    /* a range of no thread, at its end: name, category; value: its start */
    /* Of the range before it, an operator: id: its DEF_SHAPES or 0; value: its number in autograd
     * plus 1, or 0; type: 1 for a node of a backward pass. */
    RING_SHAPES = 34,
    /* Which tensor an operator of a unit in depth is called with, or returns; type: enum
     * ring_tensor. id: how often it was written, or RING_NO_VERSION; value: its storage, 0 where
     * that is not known; extra: its offset and strides, as a hash. Those that it returns stand
     * directly before the RING_END of the operator, the others behind its RING_SHAPES. */
    RING_TENSOR = 35,
    RING_VALUE = 255
};

enum ring_tensor {
    RING_TENSOR_IN = 1,
    RING_TENSOR_OUT = 2,
    RING_TENSOR_LISTS = 3, /* none: value: the lists of numbers among its inputs, as a hash; there
                              is one for every operator that is recorded so */
};

#define RING_NO_VERSION UINT32_MAX

/* Category of ranges that a library makes for itself: not the user's, and no stages. */
#define RING_LIBRARY "nvtx"

/* Categories of notes on collectives, made by the code that knows what they carry: their arguments
 * belong to the range of that name that begins next, or to the kernel that was launched last. */
#define RING_COLLECTIVE "collective"        /* CAT_COLLECTIVE of a trace */
#define RING_LAUNCHED   "collective_kernel" /* CAT_LAUNCHED of a trace */

/* Category of calls in which a library waits for a device, on threads of its own. */
#define RING_LIBRARY_CALL "library_call"

/* Category of ranges that recorders of ours make by themselves: module calls, backward. They are
 * stages, but where a person has named something, that counts. */
#define RING_DERIVED "strata_derived"

/* Name of the counter of the memory that the process holds (record/resident.h). */
#define RING_RESIDENT "process memory"

/* Category of ranges that say how long a thread that launches was kept from its work, and by what
 * (backend/program/host_stall.h). Their arguments: the thread, what was lost of the range, and
 * for a missing core the threads that could run, the cores of the machine and those it may use. */
#define RING_HOST          "host_stall"
#define RING_HOST_CORE     "no core"
#define RING_HOST_CGROUP   "throttled by its cgroup"
#define RING_HOST_FAULTS   "page faults"
#define RING_HOST_GIL      "GIL held by another thread"
#define RING_HOST_THREAD   "thread"
#define RING_HOST_LOST     "lost_us"
#define RING_HOST_RUNNABLE "runnable"
#define RING_HOST_ONLINE   "online"
#define RING_HOST_CORES    "cores"

/* Category of what Python did, exactly: pauses of its garbage collector. */
#define RING_PYTHON "python_function"

/* Names of instants of a recorder that rests in a long run: it begins to switch off, is off, begins
 * to switch on, is on. Between the first and the last, work of devices is not, or not all, there.
 */
#define RING_RESTS   "strata.recorder rests"
#define RING_RESTING "strata.recorder is off"
#define RING_WAKES   "strata.recorder wakes"
#define RING_AWAKE   "strata.recorder is on"

/* Names of instants that begin so mark a snapshot: then the milliseconds that are kept, ": " and
 * why it was taken. */
#define RING_SNAPSHOT "strata.snapshot "

/* Names of instants around a unit in depth (backend/program/depth.h). */
#define RING_DEPTH_BEGINS "strata.depth begins"
#define RING_DEPTH_ENDS   "strata.depth ends"

/* In such a reason: much of what was slow came before the call that it names. */
#define RING_SNAPSHOT_BEFORE "with what came before it"

enum ring_memory { RING_MEMORY_ALLOC = 1, RING_MEMORY_FREE = 2 };

enum ring_type { RING_INT = 1, RING_NUM = 2, RING_TEXT = 3 /* value: a string id */ };

struct ring_record {
    uint64_t ticks;
    uint16_t name; /* string id */
    uint16_t category;
    uint8_t kind; /* enum ring_kind */
    uint8_t
        type; /* enum ring_type of a RING_ARG, enum ring_memory of a RING_MEMORY; see RING_BEGIN */
    uint16_t check; /* low bits of the number of its block, counted from 1 */
};

/* Where a record has an id instead of name and category, and a RING_VALUE something extra. */
static inline uint32_t ring_id(struct ring_record r)
{
    return r.name | (uint32_t)r.category << 16;
}

static inline struct ring_record ring_with_id(struct ring_record r, uint32_t id)
{
    r.name = (uint16_t)id;
    r.category = (uint16_t)(id >> 16);
    return r;
}

struct ring_head {
    char magic[8];
    uint32_t version;
    uint32_t head_bytes;
    uint32_t block_records;
    uint32_t pid;
    uint64_t log_slots; /* (atomic) records the log holds, once it may not grow; 0 before */
    uint64_t n_logged;  /* (atomic) */
    uint64_t n_lost;    /* (atomic) records overwritten or refused */
    uint8_t pad[16];
    uint64_t n_written; /* (atomic) on a cache line of its own */
};

struct proc_head {
    char magic[8];
    uint32_t version;
    uint32_t head_bytes;
    uint32_t pid, ppid;
    uint32_t clock_source; /* enum clock_source: what ticks are */
    uint32_t closed;       /* (atomic) 1 after an orderly exit */
    int32_t rank, world;   /* (atomic) -1 when it is not one of several */
    uint32_t name;         /* (atomic) string id of the process name, 0 for none */
    uint32_t pad;
    uint64_t start_real_ns, start_mono_ns, start_ticks; /* one moment */
    uint64_t end_mono_ns, end_ticks;                    /* (atomic) one moment, 0 until the end */
    double ticks_per_second;                            /* a first estimate */
    uint64_t strings_bytes;                             /* (atomic) after the head */
    uint64_t n_lost;    /* (atomic) records of threads that got no ring */
    uint64_t n_unnamed; /* (atomic) strings that found no room */
    char host[64];
    char boot[40];    /* equal on processes that share a monotonic clock */
    char program[64]; /* the file name of what runs */
};

/* A string; the next one begins at the next multiple of eight. */
struct ring_string {
    uint32_t id;
    uint32_t n;
    char text[];
};

enum def_type {
    DEF_NOTE = 1,         /* text for people: what could not be recorded, and why */
    DEF_DEVICE = 2,       /* struct def_device */
    DEF_WORK = 3,         /* struct def_work */
    DEF_FACT = 4,         /* text KEY=VALUE: versions and settings of the recording */
    DEF_CODE = 5,         /* text FILE(LINE): FUNCTION, where LINE is the one it starts at */
    DEF_MODULE = 6,       /* text nn.Module: NAME */
    DEF_FRAME = 7,        /* struct def_frame */
    DEF_LIBRARY = 8,      /* struct def_library */
    DEF_ADDRESS = 9,      /* struct def_address: stands in a frame where others have a DEF_CODE */
    DEF_SOURCE = 10,      /* text, by tabs: module, kernel, operation, DEF_CODE: from a compiler */
    DEF_NODES = 11,       /* struct def_node, one or more: nodes of graphs, and what made them */
    DEF_NODE_INPUTS = 13, /* struct def_node_inputs, one or more */
    DEF_SHAPES =
        12, /* text, by tabs: dims, types and values of inputs, each a JSON array or empty */
};

struct defs_head {
    char magic[8];
    uint32_t version;
    uint32_t head_bytes;
    uint32_t pid;
    uint32_t pad;
    uint64_t n_bytes;   /* (atomic) after the head */
    uint64_t n_refused; /* (atomic) definitions that found no room */
};

/* A definition; the next one begins at the next multiple of eight. */
struct ring_def {
    uint32_t id;
    uint32_t type; /* enum def_type; others are skipped */
    uint32_t n;
    uint32_t pad;
    char bytes[];
};

/* Its name follows, to the end of the definition. */
struct def_device {
    int32_t id;
    int32_t major, minor;
    int32_t n_sms, warp_size;
    int32_t max_threads_per_sm, regs_per_sm, shared_per_sm, shared_per_block_optin;
    int32_t pad;
    int64_t memory_bytes;
};

enum def_work_kind {
    DEF_WORK_KERNEL = 1,
    DEF_WORK_COPY = 2,
    DEF_WORK_SET = 3,
    DEF_WORK_SYNC = 4,  /* a wait, as the device's library saw it: never busy time */
    DEF_WORK_GRAPH = 5, /* a graph launched as a whole and recorded as a whole */
};

/* Everything about a kernel, copy, ... that repeats: so one of them costs few bytes. Its name
 * follows, to the end of the definition; a kernel's as the compiler wrote it. */
struct def_work {
    uint32_t kind; /* enum def_work_kind */
    int32_t device, context, stream;
    uint32_t grid[3], block[3]; /* kernels, else 0 */
    uint32_t registers, shared_bytes;
};

/* The fact that says how many frames of a stack a recorder takes: those further out are left off.
 */
#define RING_FACT_FRAMES "stack_frames"

/* Facts about devices: the UUID of number N of the process, and what CUDA_VISIBLE_DEVICES was. */
#define RING_FACT_UUID    "device_uuid_"
#define RING_FACT_VISIBLE "cuda_visible_devices"

/* Facts about what is set in the program: "setting.NAME=VALUE", again for each other value that is
 * seen later. */
#define RING_FACT_SETTING "setting."

/* A function at one of its lines, called from `parent`. A stack is named by its innermost frame. */
struct def_frame {
    uint32_t parent; /* DEF_FRAME, defined before; 0 for none */
    uint32_t code;   /* DEF_CODE or DEF_ADDRESS */
    uint32_t module; /* DEF_MODULE where it is the call of a module, else 0 */
    uint32_t line;   /* the one that runs, 0 when it has none */
};

/* A file that native functions come from. Its path follows, to the end of the definition. */
#define DEF_BUILD_ID 32
struct def_library {
    uint32_t n_build_id;
    uint32_t has_lines; /* 1: it has tables of source lines */
    uint8_t build_id[DEF_BUILD_ID];
};

/* A place in such a file, by the addresses the file itself uses. */
struct def_address {
    uint32_t library; /* DEF_LIBRARY, defined before */
    uint32_t pad;
    uint64_t address; /* inside the call that was made there */
};

/* A node of a graph (RING_WORK_NODE): what ran when it was captured, or which one it was copied
 * from when its graph was copied or made executable. */
struct def_node {
    uint64_t node, from; /* from: 0 for a node that was captured */
    uint32_t stack;      /* DEF_FRAME, 0 when not known */
    uint32_t op;         /* string id of the operator, 0 for none */
};

/* What the operator was called with that a node of a graph was captured in. */
struct def_node_inputs {
    uint64_t node;
    uint64_t call;        /* of the operator: the same for all its nodes */
    uint32_t inputs, pad; /* DEF_SHAPES */
};

static_assert(sizeof(struct def_node) == 24, "node definition layout");
static_assert(sizeof(struct def_node_inputs) == 24, "layout of inputs of nodes");
static_assert(sizeof(struct def_library) == 40, "library definition layout");
static_assert(sizeof(struct def_address) == 16, "address definition layout");
static_assert(sizeof(struct def_frame) == 16, "frame definition layout");
static_assert(sizeof(struct ring_def) == 16, "definition layout");
static_assert(sizeof(struct defs_head) == 40, "defs head layout");
static_assert(sizeof(struct def_device) == 48, "device definition layout");
static_assert(sizeof(struct def_work) == 48, "work definition layout");
static_assert(sizeof(struct ring_record) == 16, "record layout");
static_assert(offsetof(struct ring_head, n_written) == 64, "ring head layout");
static_assert(sizeof(struct ring_head) <= RING_HEAD_BYTES, "ring head layout");
static_assert(offsetof(struct proc_head, host) == 120, "proc head layout");
static_assert(sizeof(struct proc_head) <= RING_HEAD_BYTES, "proc head layout");

static inline uint64_t ring_string_bytes(uint32_t n)
{
    return (sizeof(struct ring_string) + n + 7) & ~(uint64_t)7;
}

static inline uint64_t ring_def_bytes(uint32_t n)
{
    return (sizeof(struct ring_def) + n + 7) & ~(uint64_t)7;
}

/* What `check` is for record number `i`. */
static inline uint16_t ring_check(uint64_t i)
{
    return (uint16_t)(i / RING_BLOCK + 1);
}

#endif
