/* results.c: see results.h. */
#include "results/results.h"

#include "results/result_json.h"

/* The lists that the page has tables of. */
static const struct result *const shown[] = {
    &result_stages, &result_steps,       &result_kernels,     &results_ops[OP_BY_NAME],
    &result_syncs,  &result_causes,      &result_gaps,        &result_gap_parts,
    &result_ranks,  &result_collectives, &result_family_sums,
};

void results_json_columns(struct jout *j, const char *key)
{
    jout_obj(j, key);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        result_json_columns(j, shown[i]->name, shown[i]);
    jout_end_obj(j);
}
