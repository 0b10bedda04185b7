/* walk.c: LIBCUPTI FILE: steps through recorded buffers with that library's own function and prints
 * where each record lies and of which kind it is. */
#include <dlfcn.h>

#include "recorded.h"

int main(int argc, char **argv)
{
    void *h = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
    void *p = h ? dlsym(h, "cuptiActivityGetNextRecord") : NULL;
    FILE *f = p ? fopen(argv[2], "rb") : NULL;
    uint32_t (*next)(uint8_t *, size_t, void **);
    uint8_t *bytes;
    if (!f) return 2;
    memcpy(&next, &p, sizeof p);
    for (size_t n; (n = recorded_next(f, &bytes));) {
        void *record = NULL;
        while (next(bytes, n, &record) == CUPTI_OK)
            printf("%zu %u\n", (size_t)((uint8_t *)record - bytes), *(uint32_t *)record);
        printf("end of %zu\n", n);
    }
    return 0;
}
