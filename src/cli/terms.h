/* terms.h: tables of the analysis as they stand in the help of commands. */
#ifndef STRATA_CLI_TERMS_H
#define STRATA_CLI_TERMS_H

#include "cli/cli.h"

extern const struct cmd_terms *const terms_thresholds[]; /* for --set */
extern const struct cmd_terms *const terms_budget[];     /* for budget files */

#endif
