/* fuzz_analysis.c: any bytes as a trace, through every command that takes one and `report --md`;
 * with thresholds of 0, which nothing reaches too. */
#include "fuzz/commands.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    static const char *const lines[] = {
        "report @0 --md", "report @0 --whole --json", "report @0 -v",
        "report @0 --json --set report_gain_pct=0 --set gap_us=0 --set stage_share_pct=0 "
        "--set copy_share_pct=0 --set comm_share_pct=0 --set growth_pct=0 --set medium_gain_pct=0 "
        "--set kernel_outlier_ratio=1 --set first_step_ratio=1 --set launch_latency_us=0",
        NULL};
    static const char *const suffixes[] = {".json", NULL};
    commands_run_all(p, n);
    commands_run(lines, suffixes, p, n);
    return 0;
}
