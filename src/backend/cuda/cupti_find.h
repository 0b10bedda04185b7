/* cupti_find.h: which libcupti is ours. The first one mapped under a name is the one everybody
 * gets, so it must be the one that torch would load, were it imported later. */
#ifndef STRATA_BACKEND_CUPTI_FIND_H
#define STRATA_BACKEND_CUPTI_FIND_H

/* A handle of dlopen, or NULL. In this order: STRATA_CUPTI; one that is mapped; beside torch or the
 * CUDA runtime; the wheels of the Python that runs (site-packages/nvidia); where torch cannot come
 * after us, toolkits (CUDA_HOME, CUDA_PATH, /usr/local/cuda*) and the loader's own path. Never one
 * that is newer than the driver. */
void *cupti_find(void);

#endif
