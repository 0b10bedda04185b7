/* fuzz_rocpd.c: rocpd databases from any bytes; the reader of SQLite exports takes them. */
#include "import/importer.h"

#include "importer.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    return fuzz_importer(&import_sqlite, p, n);
}
