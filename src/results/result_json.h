/* result_json.h: results as JSON, the schema of that, and the columns for the page. */
#ifndef STRATA_RESULTS_RESULT_JSON_H
#define STRATA_RESULTS_RESULT_JSON_H

#include "base/jout.h"
#include "results/result.h"

/* A list of all rows from `first` on, at most `most`. */
void result_json_list(struct jout *j, const char *key, const struct rows *r, uint32_t first,
                      uint32_t most);

/* Row `i` as an object. */
void result_json_row(struct jout *j, const char *key, const struct rows *r, uint32_t i);

/* The fields of row `i` inside an object that is open already. */
void result_json_fields(struct jout *j, const struct rows *r, uint32_t i);

/* A whole document: `row` is of that result, `with` what its getters need besides. */
void document_json(struct jout *j, const char *key, const struct context *cx,
                   const struct result *of, const void *row, const void *with);

/* [key, heading, kind, term or null, bar] of each field that the page has a column of. */
void result_json_columns(struct jout *j, const char *key, const struct result *of);

/* What JSON Schema says of a row. */
void result_json_schema(struct jout *j, const char *key, const struct result *of);

#endif
