/* fuzz_parquet.c: Parquet files from any bytes: every column of every row group is read. */
#include <stdint.h>

#include "import/parquet_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

/* Texts must lie where they can be read. */
static uint64_t sum_texts(const struct parquet_value *v, int64_t n)
{
    uint64_t sum = 0;
    for (int64_t i = 0; i < n; i++)
        if (v[i].kind == PARQUET_IS_TEXT && v[i].text.n)
            sum += (unsigned char)v[i].text.p[0] + (unsigned char)v[i].text.p[v[i].text.n - 1];
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    static volatile uint64_t sink;
    struct parquet_file f;
    struct arena mem;
    struct err e;
    err_init(&e);
    arena_init(&mem);
    if (parquet_open(str_from((const char *)p, n), &mem, &f, &e) == 0)
        for (uint32_t g = 0; g < f.n_groups && g < 4; g++)
            for (uint32_t c = 0; c < f.n_columns; c++) {
                struct arena_mark mark = arena_mark(&mem);
                struct parquet_value *v;
                err_init(&e);
                if (parquet_read(&f, g, c, &mem, &v, &e) == 0)
                    sink += sum_texts(v, f.groups[g].n_rows);
                arena_reset_to(&mem, mark);
            }
    arena_done(&mem);
    return 0;
}
