/* cpu.c: see cpu.h. */
#include "base/cpu.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <stdint.h>

struct features {
    unsigned basic_c;    /* leaf 1, ECX */
    unsigned more_b;     /* leaf 7, EBX */
    unsigned extended_c; /* leaf 0x80000001, ECX */
};

static struct features cpu_features(void)
{
    struct features f = {0};
    unsigned a, b, c, d;
    if (__get_cpuid(1, &a, &b, &c, &d)) f.basic_c = c;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) f.more_b = b;
    if (__get_cpuid(0x80000001, &a, &b, &c, &d)) f.extended_c = c;
    return f;
}

/* The registers that the kernel saves; asking is allowed only where it says that it does. */
static unsigned saved_registers(const struct features *f)
{
    enum { OSXSAVE = 1 << 27 };
    if (!(f->basic_c & OSXSAVE)) return 0;
    uint32_t low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static bool cpu_has(unsigned more_b, unsigned registers)
{
    enum { POPCNT = 1 << 23, AVX = 1 << 28, LZCNT = 1 << 5 };
    const struct features f = cpu_features();
    return (f.basic_c & (POPCNT | AVX)) == (POPCNT | AVX) && f.extended_c & LZCNT &&
           (f.more_b & more_b) == more_b && (saved_registers(&f) & registers) == registers;
}

#define MORE_AVX2   (1u << 5 | 1u << 3 | 1u << 8)    /* AVX2, BMI1, BMI2 */
#define MORE_AVX512 (1u << 16 | 1u << 30 | 1u << 31) /* F, BW, VL */

bool cpu_has_avx2(void)
{
    return cpu_has(MORE_AVX2, 0x06);
}

bool cpu_has_avx512(void)
{
    return cpu_has(MORE_AVX2 | MORE_AVX512, 0xe6);
}

#else

bool cpu_has_avx2(void)
{
    return false;
}

bool cpu_has_avx512(void)
{
    return false;
}

#endif
