/* fuzz_snapshot.c: a memory snapshot, read, judged and printed. */
#include "analyze/memory/held.h"
#include "base/mem.h"
#include "import/snapshot/snapshot_read.h"
#include "report/lists/views_memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    struct snapshot *s;
    struct held h;
    struct arena mem;
    struct buf out = {0};
    snapshot_is(str_from((const char *)p, n));
    if (snapshot_read_bytes(str_from((const char *)p, n), &s, NULL) < 0) return 0;
    arena_init(&mem);
    if (held_run(s, &mem, &h, NULL) == 0) {
        struct screen screen = {.out = &out, .path = "x.pickle", .width = 100, .limit = 12};
        view_snapshot_text(&screen, &h);
        struct jout j;
        jout_init(&j, &out, true);
        view_snapshot_json(&j, &h, 12);
    }
    arena_done(&mem);
    snapshot_free(s);
    buf_done(&out);
    return 0;
}
