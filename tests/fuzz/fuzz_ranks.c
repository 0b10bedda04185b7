/* fuzz_ranks.c: traces of the ranks of one program. */
#include "fuzz/commands.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    static const char *const lines[] = {
        "ranks @0 @1 @2", "ranks @0 @1 @2 --json", "ranks @0 @1", "ranks .", NULL,
    };
    static const char *const suffixes[] = {".json", ".json", ".json", NULL};
    commands_run(lines, suffixes, p, n);
    return 0;
}
