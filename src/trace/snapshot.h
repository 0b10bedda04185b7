/* snapshot.h: what the allocator of PyTorch held at one moment, and what it did before: the file of
 * torch.cuda.memory._dump_snapshot. Columns like those of a trace; texts are in the table of
 * strings. Filled by import/snapshot/snapshot_read.h, read by all others. */
#ifndef STRATA_TRACE_SNAPSHOT_H
#define STRATA_TRACE_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/intern.h"

enum snap_state { SNAP_INACTIVE, SNAP_ACTIVE, SNAP_AWAITING_FREE };

enum snap_action {
    SNAP_ALLOC,
    SNAP_FREE_REQUESTED,
    SNAP_FREE_COMPLETED,
    SNAP_SEGMENT_ALLOC, /* of the driver; mapping a part of an expandable segment as well */
    SNAP_SEGMENT_FREE,
    SNAP_OOM,
    SNAP_OTHER /* snapshots, and what is newer than we are */
};

struct snap_frame {
    str_id file, function;
    int32_t line;
};

/* Frames, innermost first: stack_frames[first] up to [first + n]. Stack 0 is the empty one. */
struct snap_stack {
    uint32_t first, n;
};

struct snap_segment {
    uint64_t addr;
    int64_t size, stream;
    int32_t device;
    uint32_t first_block, n_blocks;
    uint32_t stack;
    bool large, expandable;
};

struct snap_block {
    uint64_t addr;
    int64_t size, requested;
    uint32_t segment, stack;
    uint8_t state; /* enum snap_state */
};

struct snap_event {
    uint64_t addr;
    int64_t size;
    int64_t time_us;     /* since 1970; 0 where it was not recorded */
    int64_t device_free; /* of an OOM: bytes free on the device; else 0 */
    int32_t device;
    uint32_t stack;
    uint8_t action; /* enum snap_action */
};

struct snapshot {
    struct intern strings;
    struct snap_frame *frames;
    struct snap_stack *stacks;
    uint32_t *stack_frames;
    struct snap_segment *segments;
    struct snap_block *blocks; /* by segment */
    struct snap_event *events; /* by device, in the order they happened */
    size_t n_frames, n_stacks, n_stack_frames, n_segments, n_blocks, n_events;
    uint32_t n_devices; /* one more than the largest that is mentioned */
    bool has_stacks;
    uint64_t source_bytes;
};

/* NULL is allowed. */
void snapshot_free(struct snapshot *s);

#endif
