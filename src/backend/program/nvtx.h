/* nvtx.h: ranges, marks and names that programs give with NVTX, through its injection.
 *
 * NVTX is a header: every library that uses it has a copy of its own and asks at its first call,
 * through NVTX_INJECTION64_PATH, for our InitializeInjectionNvtx2, which hands over to
 * nvtx_attach. Nothing of NVIDIA's is linked or included. */
#ifndef STRATA_BACKEND_PROGRAM_NVTX_H
#define STRATA_BACKEND_PROGRAM_NVTX_H

#include <stdbool.h>
#include <stdint.h>

/* NVTX's way to its function tables, as it passes it to InitializeInjectionNvtx2. */
typedef const void *(*nvtx_export_table_fn)(uint32_t id);

/* 1 when this copy of NVTX now calls us, 0 when it is not one we know: what the entry point is to
 * return. */
int nvtx_attach(nvtx_export_table_fn export_table);

/* Nothing is recorded while it is quiet; ranges that were open stay so. */
void nvtx_be_quiet(bool quiet);

#endif
