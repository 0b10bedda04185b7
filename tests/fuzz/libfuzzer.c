/* libfuzzer.c: has libFuzzer use mutate.h every second time. */
#include "fuzz/mutate.h"

size_t LLVMFuzzerMutate(uint8_t *p, size_t n, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *p, size_t n, size_t most, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *p, size_t n, size_t most, unsigned seed)
{
    uint64_t state = seed * 2654435769u + 1ull;
    if (n == 0 || seed & 1) return LLVMFuzzerMutate(p, n, most);
    return mutate(p, n, most, &state);
}
