/* ncu_csv.h: reading what `ncu --csv` prints: the raw page (one row a launch, one column a metric)
 * and the details page (one row a metric). Lines of talk before the table, a row of units, numbers
 * in any locale and rows of any length are all met in the wild; what is not understood is left
 * out. */
#ifndef STRATA_DIVE_NCU_CSV_H
#define STRATA_DIVE_NCU_CSV_H

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "dive/ncu_metric.h"

/* A kernel launch as it was measured. Values that are not there are NaN. */
struct ncu_launch {
    int64_t id;
    struct str name; /* as ncu writes it: not as a trace does */
    uint32_t grid[3], block[3];
    int major, minor; /* compute capability; 0 when not written */
    struct str gpu;   /* .n is 0 when not written */
    double value[NCU_METRICS];
    double stall[NCU_STALLS];           /* warps, a scheduler and instruction issued */
    double tensor_ops[PRECISIONS];      /* operations of tensor cores */
    double tensor_part_ops[PRECISIONS]; /* the same, added up over kinds of instruction */
};

enum ncu_page { NCU_PAGE_RAW, NCU_PAGE_DETAILS };

struct ncu_report {
    enum ncu_page page;
    struct ncu_launch *launches; /* in the order they ran */
    uint32_t n_launches;
    uint32_t n_metrics; /* columns or labels that were understood */
};

#define NCU_MOST_LAUNCHES 100000u

/* Everything in `ret` lives in `mem` or points into `text`. ERR_FORMAT when there is no table;
 * a table without rows is not an error. */
int ncu_csv_read(struct str text, struct arena *mem, struct ncu_report *ret,
                 struct err *e) MUST_USE;

/* Whether the text has the head of such a table in its first lines. */
bool ncu_csv_is(struct str text);

#endif
