/* cuda.h: NVIDIA GPUs, through CUPTI. */
#ifndef STRATA_BACKEND_CUDA_CUDA_H
#define STRATA_BACKEND_CUDA_CUDA_H

#include "backend/backend.h"

extern const struct backend backend_cuda;

void cuda_probe(struct backend_probe *ret);

#endif
