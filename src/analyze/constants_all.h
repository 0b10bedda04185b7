/* constants_all.h: the tables of all subjects, for the test of them and for a build that tunes. */
#ifndef STRATA_ANALYZE_CONSTANTS_ALL_H
#define STRATA_ANALYZE_CONSTANTS_ALL_H

#include "analyze/answer/answer_constants.h"
#include "analyze/comm/comm_constants.h"
#include "analyze/compare/compare_constants.h"
#include "analyze/deep/deep_constants.h"
#include "analyze/device/device_constants.h"
#include "analyze/findings/findings_constants.h"
#include "analyze/focus_constants.h"
#include "analyze/gaps/gaps_constants.h"
#include "analyze/kernels/kernels_constants.h"
#include "analyze/launches/launches_constants.h"
#include "analyze/memory/memory_constants.h"
#include "analyze/names/names_constants.h"
#include "analyze/ops/ops_constants.h"
#include "analyze/quality/quality_constants.h"
#include "analyze/ranks/ranks_constants.h"
#include "analyze/recorded/recorded_constants.h"
#include "analyze/rules/rules_constants.h"
#include "analyze/simulate/simulate_constants.h"
#include "analyze/stages/stages_constants.h"
#include "analyze/steps/steps_constants.h"
#include "analyze/structure/structure_constants.h"
#include "analyze/waits/waits_constants.h"

/* clang-format off */
#define CONSTANTS_ALL(X) \
    ANSWER_CONSTANTS(X) \
    COMM_CONSTANTS(X) \
    COMPARE_CONSTANTS(X) \
    DEEP_CONSTANTS(X) \
    DEVICE_CONSTANTS(X) \
    FINDINGS_CONSTANTS(X) \
    FOCUS_CONSTANTS(X) \
    GAPS_CONSTANTS(X) \
    KERNELS_CONSTANTS(X) \
    LAUNCHES_CONSTANTS(X) \
    MEMORY_CONSTANTS(X) \
    NAMES_CONSTANTS(X) \
    OPS_CONSTANTS(X) \
    QUALITY_CONSTANTS(X) \
    RANKS_CONSTANTS(X) \
    RECORDED_CONSTANTS(X) \
    RULES_CONSTANTS(X) \
    SIMULATE_CONSTANTS(X) \
    STAGES_CONSTANTS(X) \
    STEPS_CONSTANTS(X) \
    STRUCTURE_CONSTANTS(X) \
    WAITS_CONSTANTS(X)
/* clang-format on */

#endif
