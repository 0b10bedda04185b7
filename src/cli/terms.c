/* terms.c: see terms.h. */
#include "cli/terms.h"

#include <stdio.h>

#include "analyze/compare/budget.h"
#include "analyze/thresholds.h"

static bool get_threshold(int i, struct cmd_term *ret)
{
    if (i >= TH_COUNT) return false;
    enum threshold t = (enum threshold)i;
    *ret = (struct cmd_term){.name = threshold_name(t), .help = threshold_help(t)};
    snprintf(ret->value, sizeof ret->value, "%g", threshold_default(t));
    return true;
}

static bool get_metric(const struct budget_metric *m, struct cmd_term *ret)
{
    *ret = (struct cmd_term){.name = m->name, .help = m->help};
    return m->name != NULL;
}

static bool get_trace_metric(int i, struct cmd_term *ret)
{
    return get_metric(&budget_metrics[i], ret);
}

static bool get_stage_metric(int i, struct cmd_term *ret)
{
    return get_metric(&budget_stage_metrics[i], ret);
}

static const struct cmd_terms thresholds = {"thresholds, with their defaults", get_threshold};
static const struct cmd_terms metrics = {"metrics of a budget", get_trace_metric};
static const struct cmd_terms stage_metrics = {"metrics of a stage: stage NAME METRIC <= NUMBER",
                                               get_stage_metric};

const struct cmd_terms *const terms_thresholds[] = {&thresholds, NULL};
const struct cmd_terms *const terms_budget[] = {&metrics, &stage_metrics, NULL};
