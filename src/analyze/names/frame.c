/* frame.c: tables of path beginnings, and a parser from the right: a path may hold anything. */
#include "analyze/names/frame.h"

#include <ctype.h>
#include <stdlib.h>

/* Single files of Python's library that turn up in stacks. Names that people give their own
 * scripts (profile, pipes, test, trace ...) are left out on purpose. */
static const char *const stdlib_files[] = {
    "_collections_abc.py",
    "_weakrefset.py",
    "abc.py",
    "ast.py",
    "bisect.py",
    "codecs.py",
    "contextlib.py",
    "contextvars.py",
    "copy.py",
    "copyreg.py",
    "dataclasses.py",
    "datetime.py",
    "enum.py",
    "fnmatch.py",
    "fractions.py",
    "functools.py",
    "genericpath.py",
    "heapq.py",
    "inspect.py",
    "linecache.py",
    "numbers.py",
    "operator.py",
    "os.py",
    "pickle.py",
    "posixpath.py",
    "queue.py",
    "random.py",
    "re.py",
    "reprlib.py",
    "runpy.py",
    "selectors.py",
    "shutil.py",
    "socket.py",
    "ssl.py",
    "string.py",
    "subprocess.py",
    "tempfile.py",
    "textwrap.py",
    "threading.py",
    "tokenize.py",
    "traceback.py",
    "types.py",
    "typing.py",
    "typing_extensions.py",
    "uuid.py",
    "warnings.py",
    "weakref.py",
    "pathlib.py",
};

static const struct {
    const char *prefix;
    enum frame_class class;
} packages[] = {
    {"torch/profiler/", FRAME_PROFILER},
    {"torch/autograd/profiler", FRAME_PROFILER},
    {"strata/", FRAME_LIBRARY},
    {"torch/", FRAME_LIBRARY},
    {"torch_npu/", FRAME_LIBRARY},
    {"torch_xla/", FRAME_LIBRARY},
    {"torchgen/", FRAME_LIBRARY},
    {"functorch/", FRAME_LIBRARY},
    {"intel_extension_for_pytorch/", FRAME_LIBRARY},
    {"triton/", FRAME_LIBRARY},
    {"numpy/", FRAME_LIBRARY},
    {"jax/", FRAME_LIBRARY},
    {"jaxlib/", FRAME_LIBRARY},
    {"cupy/", FRAME_LIBRARY},
    {"cupy_backends/", FRAME_LIBRARY},
    {"numba/", FRAME_LIBRARY},
    {"numba_cuda/", FRAME_LIBRARY},
    {"tensorflow/", FRAME_LIBRARY},
    {"tqdm/", FRAME_LIBRARY},
    {"asyncio/", FRAME_STDLIB},
    {"collections/", FRAME_STDLIB},
    {"concurrent/", FRAME_STDLIB},
    {"ctypes/", FRAME_STDLIB},
    {"email/", FRAME_STDLIB},
    {"encodings/", FRAME_STDLIB},
    {"http/", FRAME_STDLIB},
    {"importlib/", FRAME_STDLIB},
    {"json/", FRAME_STDLIB},
    {"logging/", FRAME_STDLIB},
    {"multiprocessing/", FRAME_STDLIB},
    {"pathlib/", FRAME_STDLIB},
    {"re/", FRAME_STDLIB},
    {"unittest/", FRAME_STDLIB},
    {"urllib/", FRAME_STDLIB},
    {"xml/", FRAME_STDLIB},
    {"<frozen ", FRAME_STDLIB},
    {"<string>", FRAME_STDLIB}, /* methods that dataclasses and namedtuple write */
    {"<__array_function__", FRAME_LIBRARY},
    {"<eval_with_key>", FRAME_GENERATED},
};

#define COUNT(a) (sizeof(a) / sizeof *(a))

bool frame_parse(struct str name, struct frame *ret)
{
    for (size_t i = name.n; i-- > 2;) {
        if (name.p[i - 2] != ')' || name.p[i - 1] != ':' || name.p[i] != ' ') continue;
        size_t close = i - 2, open = close;
        int64_t line = 0, unit = 1;
        while (open > 0 && isdigit((unsigned char)name.p[open - 1]) && close - open < 9) {
            line += (name.p[--open] - '0') * unit;
            unit *= 10;
        }
        if (open == close || open < 2 || name.p[open - 1] != '(') continue;
        *ret = (struct frame){str_from(name.p, open - 1), str_from(name.p + i + 1, name.n - i - 1),
                              (int32_t)line};
        return true;
    }
    return false;
}

static bool is_slash(char c)
{
    return c == '/' || c == '\\';
}

/* What follows the last folder called `folder`, or the empty string when there is none. */
static struct str after_folder(struct str file, const char *folder)
{
    size_t n = strlen(folder);
    for (size_t i = file.n; i-- > n + 1;) {
        if (!is_slash(file.p[i]) || !is_slash(file.p[i - n - 1])) continue;
        if (memcmp(file.p + i - n, folder, n) == 0) return str_from(file.p + i + 1, file.n - i - 1);
    }
    return (struct str){"", 0};
}

/* What follows ".../lib/python3.N/": a file of the standard library. */
static struct str after_lib(struct str file)
{
    long at = str_find(file, "/lib/python3.");
    if (at < 0) return (struct str){"", 0};
    size_t i = (size_t)at + strlen("/lib/python3.");
    while (i < file.n && isdigit((unsigned char)file.p[i])) i++;
    if (i + 1 >= file.n || file.p[i] != '/') return (struct str){"", 0};
    return str_from(file.p + i + 1, file.n - i - 1);
}

struct str frame_module(struct str name)
{
    size_t n = strlen("nn.Module: ");
    if (!str_starts(name, "nn.Module: ")) return name;
    struct str s = str_from(name.p + n, name.n - n);
    size_t end = s.n;
    while (end && s.p[end - 1] >= '0' && s.p[end - 1] <= '9') end--;
    if (end > 1 && end < s.n && s.p[end - 1] == '_') s.n = end - 1;
    return s;
}

struct str frame_path(struct str file)
{
    static const char *const roots[] = {"site-packages", "dist-packages", "src"};
    for (size_t i = 0; i < COUNT(roots); i++) {
        struct str rest = after_folder(file, roots[i]);
        if (rest.n) return rest;
    }
    struct str lib = after_lib(file);
    return lib.n ? lib : file;
}

static bool is_stdlib_file(struct str path)
{
    for (size_t i = 0; i < COUNT(stdlib_files); i++)
        if (str_is(path, stdlib_files[i])) return true;
    return false;
}

/* str_starts, with '/' in `prefix` standing for either slash. */
static bool path_starts(struct str path, const char *prefix)
{
    size_t n = strlen(prefix);
    if (path.n < n) return false;
    for (size_t i = 0; i < n; i++)
        if (path.p[i] != prefix[i] && !(prefix[i] == '/' && path.p[i] == '\\')) return false;
    return true;
}

/* A private file of the package strata, wherever it lies: "build/python/strata/_stage.py". */
static bool is_recorder(struct str file)
{
    static const char package[] = "strata/_";
    for (size_t i = 0; i + sizeof package <= file.n; i++)
        if ((i == 0 || is_slash(file.p[i - 1])) &&
            path_starts(str_from(file.p + i, file.n - i), package))
            return str_ends(file, ".py");
    return false;
}

/* A file of inductor's cache, which may lie anywhere: iv/civgnohi3tyws24x....py, named by a hash in
 * a folder of two of its letters. */
static bool is_hashed(struct str file)
{
    enum { LEAST = 40, ENDING = 3 };
    size_t n = 0;
    while (n < file.n && !is_slash(file.p[file.n - 1 - n])) n++;
    if (n < LEAST || n + 4 > file.n || !str_ends(file, ".py")) return false;
    const char *name = file.p + file.n - n, *folder = name - 3;
    if (name[0] != 'c' || folder[0] != name[1] || folder[1] != name[2] || !is_slash(folder[-1]))
        return false;
    for (size_t i = 0; i + ENDING < n; i++)
        if (!islower((unsigned char)name[i]) && !isdigit((unsigned char)name[i])) return false;
    return true;
}

static enum frame_class file_class(struct str file)
{
    if (is_recorder(file)) return FRAME_RECORDER;
    if (str_has(file, "torchinductor_") || is_hashed(file)) return FRAME_GENERATED;
    struct str path = frame_path(file);
    for (size_t i = 0; i < COUNT(packages); i++)
        if (path_starts(path, packages[i].prefix)) return packages[i].class;
    bool in_lib = after_lib(file).n > 0 && after_lib(file).p == path.p;
    return in_lib || is_stdlib_file(path) ? FRAME_STDLIB : FRAME_USER;
}

enum frame_class frame_class(struct str name)
{
    struct frame f;
    if (str_starts(name, "nn.Module: ")) return FRAME_MODULE;
    if (!frame_parse(name, &f)) return FRAME_BUILTIN;
    return file_class(f.file);
}

bool frame_builtin(struct str name, struct frame_builtin *ret)
{
    static const char *const starts[] = {"<built-in method ", "<built-in function "};
    for (size_t i = 0; i < COUNT(starts); i++) {
        if (!str_starts(name, starts[i])) continue;
        size_t n = strlen(starts[i]);
        struct str rest = str_from(name.p + n, name.n - n);
        long of = str_find(rest, " of "), object = str_find(rest, " object at ");
        ret->owner = (struct str){"", 0};
        if (of >= 0 && object > of + 4)
            ret->owner = str_from(rest.p + of + 4, (size_t)(object - of) - 4);
        size_t end = of >= 0 ? (size_t)of : rest.n;
        if (of < 0 && end && rest.p[end - 1] == '>') end--;
        ret->method = str_from(rest.p, end);
        if (end == 0 && str_has(ret->owner, "pybind11"))
            *ret = (struct frame_builtin){str_c("(a C++ function)"), {"", 0}};
        return ret->method.n > 0;
    }
    return false;
}

struct str frame_file(struct str path)
{
    size_t n = 0;
    while (n < path.n && !is_slash(path.p[path.n - 1 - n])) n++;
    return str_from(path.p + path.n - n, n);
}

void frame_print_line(struct buf *out, int32_t line)
{
    if (line > 0) buf_printf(out, ":%d", line);
}
