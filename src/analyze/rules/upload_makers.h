/* upload_makers.h: what the program does to upload a constant: making a tensor of a Python list,
 * the operator that copies it, the copy, the wait. All of it goes when the constant is uploaded
 * once.
 *
 *     with stacks      [torch.tensor [to [copy][wait]]]
 *     with operators     silence     [to [copy][wait]]
 *     with calls         silence         [copy][wait]
 */
#ifndef STRATA_ANALYZE_RULES_UPLOAD_MAKERS_H
#define STRATA_ANALYZE_RULES_UPLOAD_MAKERS_H

#include "analyze/rules/rule.h"

/* Adds the edit that drops them for every wait of the site. ERR_NOMEM is the only failure. */
int upload_makers_drop(const struct context *cx, const struct sync_site *site,
                       struct finding *f) MUST_USE;

#endif
