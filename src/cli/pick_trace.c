/* pick_trace.c: see pick_trace.h. */
#include "cli/pick_trace.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/folder.h"
#include "cli/cli.h"
#include "import/import.h"
#include "import/native.h"
#include "import/nsys.h"
#include "import/rings.h"

enum { SNIFFED = 4096 };

/* The newest so far. */
struct pick {
    const char *path;
    int64_t time_ns;
    uint32_t n;
};

static bool is_compressed(struct str head)
{
    return head.n > 4 &&
           (memcmp(head.p, "\x1f\x8b", 2) == 0 || memcmp(head.p, "\x28\xb5\x2f\xfd", 4) == 0);
}

bool pick_trace_is(const char *path)
{
    struct file_map f;
    struct stat st;
    if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || file_map(&f, path, NULL) < 0) return false;
    struct str head = str_from(f.p ? f.p : "", f.n < SNIFFED ? f.n : SNIFFED);
    bool yes = import_native.sniff(head) || import_nsys.sniff(head);
    if (is_compressed(head)) yes = str_has(str_c(path), ".json");
    else if (!yes) yes = str_has(head, "\"traceEvents\"") || str_has(head, "\"ph\"");
    file_unmap(&f);
    return yes;
}

/* What import_open makes a trace of by itself: a made trace, torch's, or recordings. */
static bool is_run(const char *folder, struct arena *mem)
{
    const char *made = arena_printf(mem, "%s/trace.strata", folder);
    const char *torch = arena_printf(mem, "%s/" IMPORT_TORCH_TRACE, folder);
    return (made && access(made, R_OK) == 0) || (torch && access(torch, R_OK) == 0) ||
           rings_in(folder);
}

static void consider(struct pick *p, const char *path)
{
    struct stat st;
    if (stat(path, &st) < 0) return;
    int64_t time_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    p->n++;
    if (p->path && time_ns < p->time_ns) return;
    p->path = path;
    p->time_ns = time_ns;
}

/* Names come in order: of two that are equally old the last one is taken. */
static int look_in(const char *folder, int levels, struct arena *mem, struct pick *p, struct err *e)
{
    struct folder_list inside;
    TRY(folder_list_run(folder, mem, &inside, e));
    for (uint32_t i = 0; i < inside.n; i++) {
        const char *path = inside.paths[i];
        if (!folder_is(path)) {
            if (pick_trace_is(path)) consider(p, path);
        } else if (is_run(path, mem)) {
            consider(p, path);
        } else if (levels > 0) {
            TRY(look_in(path, levels - 1, mem, p, e));
        }
    }
    return 0;
}

int pick_trace(const char *path, struct arena *mem, const char **ret, struct err *e)
{
    struct pick p = {0};
    *ret = path;
    if (!folder_is(path) || is_run(path, mem)) return 0;
    TRY(look_in(path, 1, mem, &p, e));
    if (!p.path) {
        err_at(e, path, ERR_NO_OFFSET);
        return FAIL(e, ERR_USAGE,
                    "this folder has no recordings and no traces; expected a trace file "
                    "or a run folder");
    }
    if (p.n > 1) cli_say("%s has %u traces; reading the newest, %s", path, p.n, p.path);
    else cli_say("reading %s", p.path);
    *ret = p.path;
    return 0;
}
