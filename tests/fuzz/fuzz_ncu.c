/* fuzz_ncu.c: any bytes, as what ncu prints. Whatever is read can be judged without trouble, and
 * every launch keeps inside the text. */
#include <math.h>
#include <stdlib.h>

#include "dive/dive.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    struct arena mem;
    struct ncu_report r;
    struct err e;
    arena_init(&mem);
    err_init(&e);
    if (ncu_csv_read(str_from((const char *)p, n), &mem, &r, &e) == 0) {
        struct dive_in in = {.report = &r};
        struct dive d;
        ceilings_init(&in.ceilings, str_c("NVIDIA H200"));
        ceilings_from_table(&in.ceilings);
        if (dive_run(&in, &mem, &d, &e) < 0) abort();
        for (uint32_t i = 0; i < d.n; i++)
            if (d.kernels[i].verdict.n_signs > VERDICT_SIGNS || isinf(d.kernels[i].profile.time_ns))
                abort();
    }
    arena_done(&mem);
    return 0;
}
