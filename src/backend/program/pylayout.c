/* pylayout.c: see pylayout.h. The table is a claim; pystack.c holds it against what the
 * interpreter says before anything is built on it. */
#include "backend/program/pylayout.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

static const struct pylayout layouts[] = {
    {.minor = 10,
     .tstate_frame = 24,
     .cframe_frame = PYLAYOUT_NONE,
     .frame_code = 32,
     .frame_back = 24,
     .frame_instr = 96,
     .frame_owner = PYLAYOUT_NONE,
     .frame_self = 352,
     .instr_is_index = true,
     .frame_state = 108,
     .frame_bytes = 112,
     .code_instr = PYLAYOUT_NONE,
     .code_file = 104,
     .code_name = 112,
     .code_first_line = 40,
     .code_lines = 120,
     .code_first = PYLAYOUT_NONE,
     .code_bytes = 128,
     .str_ascii = 48},
    {.minor = 11,
     .tstate_frame = 56,
     .cframe_frame = 8,
     .frame_code = 32,
     .frame_back = 48,
     .frame_instr = 56,
     .frame_owner = 69,
     .frame_self = 72,
     .owner_skip = 3,
     .frame_state = PYLAYOUT_NONE,
     .frame_bytes = 72,
     .code_instr = 184,
     .code_file = 112,
     .code_name = 120,
     .code_first_line = 72,
     .code_lines = 136,
     .code_first = 168,
     .code_bytes = 172,
     .str_ascii = 48},
    {.minor = 12,
     .tstate_frame = 56,
     .cframe_frame = 0,
     .frame_code = 0,
     .frame_back = 8,
     .frame_instr = 56,
     .frame_owner = 70,
     .frame_self = 72,
     .owner_skip = 3,
     .rooted = true,
     .frame_state = PYLAYOUT_NONE,
     .frame_bytes = 72,
     .code_instr = 192,
     .code_file = 112,
     .code_name = 120,
     .code_first_line = 68,
     .code_lines = 136,
     .code_first = 176,
     .code_bytes = 180,
     .str_ascii = 40},
    {.minor = 13,
     .tstate_frame = 72,
     .cframe_frame = PYLAYOUT_NONE,
     .frame_code = 0,
     .frame_back = 8,
     .frame_instr = 56,
     .frame_owner = 70,
     .frame_self = 72,
     .owner_skip = 3,
     .rooted = true,
     .frame_state = PYLAYOUT_NONE,
     .frame_bytes = 72,
     .code_instr = 200,
     .code_file = 112,
     .code_name = 120,
     .code_first_line = 68,
     .code_lines = 136,
     .code_first = 184,
     .code_bytes = 188,
     .str_ascii = 40,
     .listed = {23, 29, 35}},
    {.minor = 14,
     .tstate_frame = 72,
     .cframe_frame = PYLAYOUT_NONE,
     .frame_code = 0,
     .frame_back = 8,
     .frame_instr = 56,
     .frame_owner = 74,
     .frame_self = 80,
     .owner_skip = 3,
     .tagged = true,
     .rooted = true,
     .frame_state = PYLAYOUT_NONE,
     .frame_bytes = 80,
     .code_instr = 208,
     .code_file = 112,
     .code_name = 120,
     .code_first_line = 68,
     .code_lines = 136,
     .code_first = 192,
     .code_bytes = 196,
     .str_ascii = 40,
     .listed = {26, 32, 40}},
    {.minor = 15,
     .tstate_frame = 72,
     .cframe_frame = PYLAYOUT_NONE,
     .frame_code = 0,
     .frame_back = 8,
     .frame_instr = 56,
     .frame_owner = 74,
     .frame_self = 80,
     .owner_skip = 3,
     .tagged = true,
     .rooted = true,
     .frame_state = PYLAYOUT_NONE,
     .frame_bytes = 80,
     .code_instr = 208,
     .code_file = 112,
     .code_name = 120,
     .code_first_line = 68,
     .code_lines = 136,
     .code_first = 192,
     .code_bytes = 196,
     .str_ascii = 40,
     .listed = {26, 40, 48}},
};

#define N_LAYOUTS (sizeof layouts / sizeof *layouts)

const struct pylayout *pylayout_of(int major, int minor)
{
    for (size_t i = 0; i < N_LAYOUTS; i++)
        if (major == 3 && minor == layouts[i].minor) return &layouts[i];
    return NULL;
}

/* CPython 3.13 and later begin their runtime state with a list, in words: a mark, the version,
 * whether there is no GIL, and then where everything is, in an order that is the version's own. */
enum { LIST_MARK, LIST_VERSION, LIST_FREE_THREADED };

static bool agrees_with_list(const struct pylayout *l, const uint64_t *list)
{
    const uint64_t *frame = list + l->listed.frame, *code = list + l->listed.code;
    return list[l->listed.tstate_frame] == l->tstate_frame && frame[0] == l->frame_back &&
           frame[1] == l->frame_code && frame[2] == l->frame_instr && frame[3] == l->frame_self &&
           frame[4] == l->frame_owner && code[0] == l->code_file && code[1] == l->code_name &&
           code[3] == l->code_lines && code[4] == l->code_first_line && code[8] == l->code_instr;
}

static int check_list(const struct pylayout *l, struct err *e)
{
    const uint64_t *list = dlsym(RTLD_DEFAULT, "_PyRuntime");
    if (!l->listed.code || !list || memcmp(&list[LIST_MARK], "xdebugpy", sizeof *list) != 0)
        return 0;
    if (list[LIST_FREE_THREADED])
        return FAIL(e, ERR_UNSUPPORTED, "Python 3.%d is a free-threaded build", l->minor);
    if (!agrees_with_list(l, list))
        return FAIL(e, ERR_UNSUPPORTED, "Python 3.%d has an unknown frame layout", l->minor);
    return 0;
}

static int find_layout(const char *version, const struct pylayout **ret, struct err *e)
{
    char *end;
    long major = strtol(version, &end, 10), minor = *end == '.' ? strtol(end + 1, NULL, 10) : -1;
    const struct pylayout *l = pylayout_of((int)major, (int)minor);
    if (!l)
        return FAIL(e, ERR_UNSUPPORTED, "Python %ld.%ld is not supported (3.%d to 3.%d are)", major,
                    minor, layouts[0].minor, layouts[N_LAYOUTS - 1].minor);
    if (strstr(version, "free-threading"))
        return FAIL(e, ERR_UNSUPPORTED, "Python 3.%ld is a free-threaded build", minor);
    TRY(check_list(l, e));
    *ret = l;
    return 0;
}

/* ISO C has no cast from an object's address to a function's. */
static bool pylayout_do_find(const char *symbol, void *ret, size_t n)
{
    void *at = dlsym(RTLD_DEFAULT, symbol);
    memcpy(ret, &at, n);
    return at != NULL;
}

#define FIND(field, symbol) pylayout_do_find(symbol, &(field), sizeof(field))

static bool find_functions(struct pyapi *a)
{
    return (FIND(a->running_thread_state, "PyThreadState_GetUnchecked") ||
            FIND(a->running_thread_state, "_PyThreadState_UncheckedGet")) &&
           FIND(a->add_pending_call, "Py_AddPendingCall") && FIND(a->frame, "PyEval_GetFrame") &&
           FIND(a->frame_back, "PyFrame_GetBack") && FIND(a->frame_code, "PyFrame_GetCode") &&
           FIND(a->frame_line, "PyFrame_GetLineNumber") && FIND(a->as_utf8, "PyUnicode_AsUTF8") &&
           FIND(a->drop, "Py_DecRef") && FIND(a->code_type, "PyCode_Type");
}

int pylayout_find(struct pyapi *ret, struct err *e)
{
    struct pyapi a = {0};
    const char *(*get_version)(void);
    if (!FIND(get_version, "Py_GetVersion") || !FIND(a.is_initialized, "Py_IsInitialized") ||
        !FIND(a.this_thread_state, "PyGILState_GetThisThreadState") || !a.is_initialized())
        return FAIL(e, ERR_USAGE, "this process runs no Python");
    if (sizeof(void *) != 8)
        return FAIL(e, ERR_UNSUPPORTED, "Python's frames can be read on 64-bit machines only");
    if (!find_functions(&a)) return FAIL(e, ERR_UNSUPPORTED, "this Python is not CPython");
    TRY(find_layout(get_version(), &a.layout, e));
    *ret = a;
    return 0;
}
