/* foreign.c: see importer.h. First by content, which cannot be wrong; then by the end of the name,
 * for formats whose makers do not say how they begin. A guess would be worse than nothing. */
#include "import/importer.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

struct words {
    const char *is, *then;
};

static const struct {
    const char *bytes;
    size_t n, at;
    struct words words;
} magics[] = {
    {"\x89HDF\r\n\x1a\n",
     8,
     0,
     {"an HDF5 file", "if it is of Nsight Systems, export its report again: nsys export -t sqlite "
                      "REPORT.nsys-rep"}},
    {"ARROW1",
     6,
     0,
     {"an Arrow file", "if it is of Nsight Systems, export its report again: nsys export -t sqlite "
                       "REPORT.nsys-rep"}},
    {"PAR1",
     4,
     0,
     {"a Parquet file",
      "if it is of Nsight Systems, export its report again: nsys export -t sqlite "
      "REPORT.nsys-rep"}},
    {"CUPMRBUF",
     8,
     0,
     {"a file of raw buffers by torch's CUPTI monitor (its names are addresses of a process)",
      "use the events of its trace window (end_trace_window), or record with strata run"}},
    {"CUPMMETA",
     8,
     0,
     {"a file with the settings of torch's CUPTI monitor, without events",
      "use the events of its trace window (end_trace_window), or record with strata run"}},
    {"PK\x03\x04", 4, 0, {"a zip archive", "unpack it and give the trace in it"}},
    {"ustar", 5, 257, {"a tar archive", "unpack it and give the trace in it"}},
    {"\xfd"
     "7zXZ",
     5,
     0,
     {"compressed by xz", "unpack it: xz -d FILE"}},
    {"\xff\xfe", 2, 0, {"text in UTF-16", "convert it: iconv -f UTF-16 -t UTF-8 FILE"}},
    {"BZh", 3, 0, {"compressed by bzip2", "unpack it: bzip2 -d FILE"}},
    {"\x7f"
     "ELF",
     4,
     0,
     {"a program", "record it: strata run -- PROGRAM"}},
};

static const struct {
    const char *ending;
    struct words words;
} endings[] = {
    {".nsys-rep", {"an Nsight Systems report", "export it: nsys export -t sqlite FILE"}},
    {".qdrep", {"an Nsight Systems report", "export it: nsys export -t sqlite FILE"}},
    {".qdstrm",
     {"an unfinished Nsight Systems report",
      "finish it (QdstrmImporter -i FILE) and export that: nsys export -t sqlite REPORT.nsys-rep"}},
    {".ncu-rep", {"an Nsight Compute report, on single kernels", "look into it: strata dive FILE"}},
    {".nvvp", {"a recording of nvprof", "record again with strata run or nsys"}},
    {".nvprof", {"a recording of nvprof", "record again with strata run or nsys"}},
};

static int foreign_refuse(const struct words *w, struct err *e)
{
    return FAIL(e, ERR_UNSUPPORTED, "%s, which is not read; %s", w->is, w->then);
}

static bool foreign_has_at(struct str s, size_t at, const char *bytes, size_t n)
{
    return s.n >= at + n && memcmp(s.p + at, bytes, n) == 0;
}

/* A record of TensorFlow's event files: length, check sum, then an event with its version. */
static bool is_event_file(struct str s)
{
    uint64_t n;
    if (s.n < 24) return false;
    memcpy(&n, s.p, sizeof n);
    return n < 4096 && s.p[12] == 0x09 &&
           str_has(str_from(s.p, s.n < 64 ? s.n : 64), "brain.Event:");
}

/* The first sample type of a pprof profile: two small numbers. */
static bool is_pprof(struct str s)
{
    return s.n > 6 && s.p[0] == 0x0a && s.p[1] == 0x04 && s.p[2] == 0x08 && s.p[4] == 0x10;
}

static bool is_pickle(struct str s)
{
    return s.n > 4 && (unsigned char)s.p[0] == 0x80 && s.p[1] >= 2 && s.p[1] <= 5 &&
           (s.p[1] < 4 || (unsigned char)s.p[2] == 0x95);
}

/* Lists of numbers where a trace has events. */
static bool is_memory_timeline(struct str s)
{
    size_t i = 0, open = 0;
    for (; i < s.n && (s.p[i] == '[' || isspace((unsigned char)s.p[i])); i++) open += s.p[i] == '[';
    return open == 2 && i < s.n && (s.p[i] == '-' || (s.p[i] >= '0' && s.p[i] <= '9'));
}

static int check_content(struct str head, struct err *e)
{
    static const struct words events = {
        "an event file of TensorBoard",
        "the profile of the run is in the log folder, in plugins/profile: give the log folder"};
    static const struct words pprof = {"a pprof profile", "it has samples, and no times of events"};
    static const struct words pickle = {"a Python pickle that is not a PyTorch memory snapshot",
                                        "traces come from export_chrome_trace()"};
    static const struct words kernels = {
        "a CSV table of rocprofv3", "record again: rocprofv3 --sys-trace --output-format pftrace"};
    static const struct words chakra = {
        "a PyTorch execution trace (Chakra) without times",
        "record a timeline: torch.profiler's export_chrome_trace(), or strata run"};
    static const struct words timeline = {
        "a memory timeline of torch.profiler (export_memory_timeline), without events",
        "record a snapshot (torch.cuda.memory._dump_snapshot()) for strata memory, or a trace"};
    if (is_memory_timeline(head)) return foreign_refuse(&timeline, e);
    if (is_event_file(head)) return foreign_refuse(&events, e);
    if (is_pprof(head)) return foreign_refuse(&pprof, e);
    if (is_pickle(head)) return foreign_refuse(&pickle, e);
    if (str_has(head, "\"Start_Timestamp\"") && *head.p == '"') return foreign_refuse(&kernels, e);
    if (str_has(head, "\"schema\"") && str_has(head, "-chakra") && str_has(head, "\"nodes\"") &&
        !str_has(head, "traceEvents"))
        return foreign_refuse(&chakra, e);
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        if (foreign_has_at(head, magics[i].at, magics[i].bytes, magics[i].n))
            return foreign_refuse(&magics[i].words, e);
    return 0;
}

/* Text is left to the JSON reader, whatever it is called. */
static bool is_text(struct str head)
{
    for (size_t i = 0; i < head.n && i < 64; i++)
        if ((unsigned char)head.p[i] < 9) return false;
    return true;
}

int foreign_check(struct str head, const char *path, struct err *e)
{
    TRY(check_content(head, e));
    if (is_text(head)) return 0;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (str_ends(str_c(path), endings[i].ending)) return foreign_refuse(&endings[i].words, e);
    return 0;
}
