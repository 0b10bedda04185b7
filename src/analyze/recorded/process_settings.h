/* process_settings.h: what is set in the program, as our recorder read it in the process: flags of
 * torch, variables of the environment, processors (TRACE_META_SETTINGS). Not known of traces of
 * others, and of programs that have no Python or not torch. */
#ifndef STRATA_ANALYZE_RECORDED_PROCESS_SETTINGS_H
#define STRATA_ANALYZE_RECORDED_PROCESS_SETTINGS_H

#include "analyze/context.h"

struct process_setting {
    const char *name, *value;
};

struct process_settings {
    struct process_setting *list; /* the values of one name in the order they were seen */
    uint32_t n;                   /* 0: nothing is known */
};

extern const struct pass process_settings_pass;

static inline const struct process_settings *process_settings_of(const struct context *cx)
{
    return context_kept(cx, PASS_PROCESS_SETTINGS);
}

/* The last value that was seen; NULL where there is none. */
const char *process_settings_value(const struct process_settings *s, const char *name);

/* Whether it was ever switched on, or off. Neither, where it has no value. */
bool process_settings_on(const struct process_settings *s, const char *name);
bool process_settings_off(const struct process_settings *s, const char *name);

/* The last value as a number; `otherwise` where there is none. */
double process_settings_number(const struct process_settings *s, const char *name,
                               double otherwise);

#endif
