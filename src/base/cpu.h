/* cpu.h: which instruction sets may be used, asked of the processor and the kernel (which must save
 * the wide registers). Not the compiler's __builtin_cpu_supports, which needs a run-time library
 * that not every compiler brings. */
#ifndef STRATA_BASE_CPU_H
#define STRATA_BASE_CPU_H

#include <stdbool.h>

/* AVX2 with BMI1, BMI2, LZCNT and POPCNT; always false on other architectures than x86-64. */
bool cpu_has_avx2(void);

/* That, and AVX-512 F, BW and VL. */
bool cpu_has_avx512(void);

#endif
