/* host_uploads.h: what operators compute on the CPU right before it is uploaded:
 *
 *     thread   [launch]  [ids ... embedding][to [convert][copy]]  [launch] ...
 *                        |<-- goes: on the GPU it is launches -->|
 *     device   [kernel]           idle               [copy]       [kernel]
 *
 * On the GPU the inputs are uploaded instead, which may be more or less than the result. Only where
 * shapes show that the tensor is one that was computed there, and where these operators take most
 * of the time since the call before. */
#ifndef STRATA_ANALYZE_FINDINGS_HOST_UPLOADS_H
#define STRATA_ANALYZE_FINDINGS_HOST_UPLOADS_H

#include "analyze/findings/spare.h"

struct host_uploads {
    struct spare spare; /* the operators, and the uploads with what they would take */
    uint32_t n;         /* uploads */
    row_t longest;      /* operator; ROW_NONE where none is found */
    int64_t operators_ns;
    int64_t bytes;       /* uploaded now */
    double inputs_bytes; /* to be uploaded instead */
};

/* spare_done(&ret->spare) in any case. */
int host_uploads_find(const struct context *cx, struct host_uploads *ret, struct err *e) MUST_USE;

/* list_tensors.c: the same of tensors that torch.tensor makes of Python lists: `longest` is where
 * one of them is done, `operators_ns` what making them takes. */
int list_tensors_find(const struct context *cx, struct host_uploads *ret, struct err *e) MUST_USE;

#endif
