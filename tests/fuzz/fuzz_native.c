/* fuzz_native.c: .strata files through whole commands, their checksums put right: what the reader
 * lets pass is what every analysis has to live with. */
#include <string.h>

#include "base/mem.h"
#include "fuzz/commands.h"
#include "mend.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    static const char *const lines[] = {"report @0 --html out.html", "whatif @0 --drop-cpu .",
                                        "whatif @0 --cuda-graph .", "export @0 -o out.pftrace",
                                        NULL};
    static const char *const suffixes[] = {".strata", NULL};
    char *copy = mem_alloc(n ? n : 1);
    if (!copy) return 0;
    if (n) memcpy(copy, p, n);
    mend_checksums(copy, n);
    commands_run_all((const uint8_t *)copy, n);
    commands_run(lines, suffixes, (const uint8_t *)copy, n);
    mem_free(copy);
    return 0;
}
