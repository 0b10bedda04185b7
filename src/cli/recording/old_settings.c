/* old_settings.c: environment variables that have another name now. */
#include <stdlib.h>

#include "cli/cli.h"

/* The same list is in python/strata/_base/settings.py; tools/check_settings.py compares them. */
static const struct {
    const char *old, *now;
} renamed[] = {
    {"STRATA_CHECKPOINT", "STRATA_TEST_CHECKPOINT"},
    {"STRATA_CLOCK", "STRATA_TEST_CLOCK"},
    {"STRATA_CLOCKS", "STRATA_TEST_CLOCKS"},
    {"STRATA_DEBUGINFOD", "STRATA_TEST_DEBUGINFOD"},
    {"STRATA_DERIVED", "STRATA_TEST_DERIVED"},
    {"STRATA_FLUSH_MS", "STRATA_TEST_FLUSH_MS"},
    {"STRATA_GC", "STRATA_TEST_GC"},
    {"STRATA_GPU", "STRATA_TEST_GPU"},
    {"STRATA_MEMORY", "STRATA_TEST_MEMORY"},
    {"STRATA_MOST_RECORDS", "STRATA_TEST_MOST_RECORDS"},
    {"STRATA_PROFILE_MEMORY", "STRATA_TEST_PROFILER_MEMORY"},
    {"STRATA_RINGS", "STRATA_TEST_RINGS"},
    {"STRATA_SAMPLES", "STRATA_TEST_SAMPLES"},
    {"STRATA_SHAPES", "STRATA_TEST_PROFILER_SHAPES"},
    {"STRATA_SIGNATURES", "STRATA_TEST_SIGNATURES"},
    {"STRATA_STACK", "STRATA_PROFILER_STACK"},
    {"STRATA_STACKS", "STRATA_PYTHON_STACKS"},
    {"STRATA_SYNC_RECORDS", "STRATA_TEST_SYNC_RECORDS"},
    {"STRATA_THREADS", "STRATA_TEST_THREADS"},
    {"STRATA_TIMELINE_SECONDS", "STRATA_TEST_TIMELINE_SECONDS"},
    {"STRATA_WAIT_US", "STRATA_TEST_WAIT_US"},
};

void old_settings_take(void)
{
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++) {
        const char *value = getenv(renamed[i].old);
        if (!value || getenv(renamed[i].now)) continue;
        cli_say("%s is now called %s; the old name works until the next release", renamed[i].old,
                renamed[i].now);
        setenv(renamed[i].now, value, 1);
    }
}
