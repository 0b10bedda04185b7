/* fuzz_calibration.c: any bytes as the rates that `strata offload calibrate` wrote and as `strata
 * bench`'s results. */
#include "fuzz/commands.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    static const char *const lines[] = {
        "offload --calibration @0 --model-bytes 30GB --step-time 5s --compute-time 1s --vram 24GB",
        "offload --calibration @0 --model-bytes 30GB --step-time 5s --json",
        "offload --bench @1 --model-bytes 30GB --step-time 50s --json",
        NULL,
    };
    static const char *const suffixes[] = {".json", ".json", NULL};
    commands_run(lines, suffixes, p, n);
    return 0;
}
