/* fake_cuda.h: between the fake driver and the fake CUPTI: what real ones settle between them in
 * private. The driver simulates a GPU that runs streams in order; CUPTI hangs itself in. */
#ifndef STRATA_TESTS_FAKE_CUDA_H
#define STRATA_TESTS_FAKE_CUDA_H

#include <stdint.h>

enum fake_work_kind { FAKE_KERNEL, FAKE_COPY, FAKE_SET };

/* Work that was put on a stream. Times are nanoseconds of the monotonic clock: the GPU's clock. */
struct fake_work {
    enum fake_work_kind kind;
    uint64_t start_ns, end_ns, bytes; /* bytes: of a kernel, how wide its grid is */
    uint32_t device, stream, correlation;
    uint64_t node;
    const char *name;
    uint8_t copy_kind, from, to;
};

struct fake_hooks {
    void (*call)(uint32_t id, const char *name, int site, uint32_t correlation, uint64_t *own);
    void (*work)(const struct fake_work *w);
    void (*sync)(uint32_t correlation, uint64_t start_ns, uint64_t end_ns);
    void (*context_gone)(void);
    void (*node)(uint64_t node,
                 uint64_t from); /* of a graph; from: 0 for none, else it is a copy */
    void (*graph)(int launched); /* an executable one was made, or is launched */
};

/* In the fake driver. */
extern struct fake_hooks *fake_cuda_hooks(void);

#endif
