/* fuzz_calibration.c: any bytes as the rates that `strata offload calibrate` wrote and as `strata
 * bench`'s results. */
#include "fuzz/commands.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    static const char *const lines[] = {
        "offload --calibration @0 --model-bytes 30GB --step-ms 5s --compute-ms 1s --vram 24GB",
        "offload --calibration @0 --model-bytes 30GB --step-ms 5s --json",
        "offload --bench @1 --model-bytes 30GB --step-ms 50s --json",
        NULL,
    };
    static const char *const suffixes[] = {".json", ".json", NULL};
    commands_run(lines, suffixes, p, n);
    return 0;
}
