/* fuzz_whatif.c: any bytes as a trace, replayed with the edits that the first part of the input
 * names. */
#include "fuzz/commands.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    static const char *const lines[] = {
        "whatif @1 $0",
        "whatif @1 $0 --json",
        NULL,
    };
    static const char *const suffixes[] = {"", ".json", NULL};
    commands_run(lines, suffixes, p, n);
    return 0;
}
