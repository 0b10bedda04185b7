/* fuzz_nsys.c: Nsight Systems exports from any bytes. */
#include "import/importer.h"

#include "importer.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    return fuzz_importer(&import_sqlite, p, n);
}
