/* torch_tensors.h: which tensors an operator of torch is called with and returns, so that a reader
 * can say "the very same one, not written since": its storage, how it looks at it (offset and
 * strides), and how often it was written (torch's version counter).
 *
 * Where a tensor has these differs between versions of torch. The places are found by comparing
 * some tensors with what torch says of them, reading through the kernel; what is found there has
 * to have the type that torch gives it, every time. torch itself says the version. A tensor that
 * is not known has the storage 0 here; where no places are found nothing is written. */
#ifndef STRATA_BACKEND_PROGRAM_TORCH_TENSORS_H
#define STRATA_BACKEND_PROGRAM_TORCH_TENSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* c10::IValue. A tag of 1 is a tensor in every torch 2. */
struct argument {
    union {
        int64_t integer;
        double number;
        uint8_t truth;
        const uint64_t *object;
    };
    uint32_t tag, pad;
};
enum { TAG_TENSOR = 1, MOST_TAG = 64 };

/* Whether that libtorch_cpu has what is needed. */
bool torch_tensors_find(void *library);

/* A tensor that has `rank` sizes, as torch says: where it has them. */
void torch_tensors_learn(const struct argument *a, const int64_t *size, size_t rank);

/* Whether the places are known, and with that what follows does anything. */
bool torch_tensors_known(void);

/* Whether the place of what is returned is known, too, or will not be found any more. */
bool torch_tensors_settled(void);

/* Writes what the operator that begins is called with; bit i of `lists`: argument i is a list. */
void torch_tensors_put_inputs(const struct argument *a, size_t n, uint64_t lists);

/* Writes what the operator that ends returns. `arguments` is the word of the RecordFunction where
 * its arguments stand. */
void torch_tensors_put_outputs(const uint64_t *function, int arguments);

/* Only finds out where that is. */
void torch_tensors_learn_outputs(const uint64_t *function, int arguments);

/* Copies memory of this process that may not be there. */
bool torch_tensors_peek(const void *at, void *into, size_t n);

#endif
