/* fuzz_offload.c: any bytes as a trace of a run that streams its weights, with the options of the
 * first part. */
#include "fuzz/commands.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    static const char *const lines[] = {
        "offload @1 $0",
        "offload @1 $0 --json",
        "offload @1 @1 --json",
        NULL,
    };
    static const char *const suffixes[] = {"", ".json", NULL};
    commands_run(lines, suffixes, p, n);
    return 0;
}
