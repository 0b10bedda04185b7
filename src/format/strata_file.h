/* strata_file.h: the bytes of a .strata file: the columns of a trace, ready to be mapped.
 *
 *     0              64                                                             file_bytes
 *     +--------------+-----------+-----------+-- .. --+---------------+--------------+
 *     | strata_head  | section   | section   |        | section table | strata_foot  |
 *     +--------------+-----------+-----------+-- .. --+---------------+--------------+
 *
 * Written front to back, so the table of contents stands at the end. Every section and the table
 * start at a multiple of 64. All numbers are little-endian; gaps are zero. docs/format/strata.md
 * describes the content of the sections.
 *
 * Version rule: `major` grows when an older reader would misread the file, and readers refuse a
 * major they do not know. `minor` grows when sections are added, and readers skip sections they do
 * not know. Section numbers and the numbers inside (kinds, flags) are never given a new meaning. */
#ifndef STRATA_FORMAT_STRATA_FILE_H
#define STRATA_FORMAT_STRATA_FILE_H

#include <assert.h>
#include <stdint.h>

#define STRATA_MAGIC                                                            \
    "\211STRATA\n" /* 8 bytes, as PNG: not text, and fails when mangled as text \
                    */
#define STRATA_END_MAGIC "strata\r\n"

enum {
    STRATA_MAJOR = 1,
    STRATA_MINOR = 0,
    STRATA_ALIGN = 64,
    STRATA_MAX_SECTIONS = 256,
    STRATA_ARGS_BLOCK = 128 * 1024, /* plain bytes of an args block; the last may be shorter */
    STRATA_ARGS_MOST = 256 << 20,   /* longest args of one event */
    STRATA_KINDS = 32,
    STRATA_DAMAGE_PLACES = 64,
};

#define STRATA_BYTE_ORDER 0x01020304u

enum strata_section_id {
    /* columns: one entry per row */
    SECTION_TS_NS = 1,
    SECTION_DUR_NS = 2,
    SECTION_NAME = 3,
    SECTION_LANE = 4,
    SECTION_KIND = 5,
    SECTION_CAT = 6,
    SECTION_PHASE = 7,
    SECTION_FLAGS = 8,
    SECTION_AUX = 9,
    SECTION_SRC = 10,
    SECTION_PARENT = 11,
    SECTION_DEPTH = 12,
    /* side tables, mapped like the columns */
    SECTION_OPS = 20,
    SECTION_CALLS = 21,
    SECTION_GPU = 22,
    SECTION_PY = 23,
    SECTION_MEM = 24,
    SECTION_LAUNCHED = 25,
    SECTION_FLOWS = 26,
    SECTION_ASYNCS = 27,
    /* small tables, copied when the file is opened */
    SECTION_LANES = 40,
    SECTION_PROCESSES = 41,
    SECTION_DEVICES = 42,
    SECTION_METAS = 43,
    SECTION_CATS = 44,
    SECTION_SUMMARY = 45,
    SECTION_DAMAGE = 46,
    /* strings: see struct intern_view */
    SECTION_STRING_OFFSETS = 60,
    SECTION_STRING_BYTES = 61,
    SECTION_STRING_ORDER = 62,
    /* raw args of every row: blocks of zstd, and where each begins */
    SECTION_ARGS_BLOCKS = 80,
    SECTION_ARGS_INDEX = 81,
};

struct strata_head {
    char magic[8];
    uint16_t major, minor;
    uint32_t byte_order; /* STRATA_BYTE_ORDER as the writer's machine stores it */
    uint8_t reserved[48];
};

struct strata_section {
    uint32_t id; /* enum strata_section_id */
    uint32_t item_bytes;
    uint64_t offset; /* from the start of the file, a multiple of STRATA_ALIGN */
    uint64_t n_items;
    uint64_t checksum; /* xxh64 of the content; 0 for SECTION_ARGS_BLOCKS, whose blocks check
                          themselves */
};

struct strata_foot {
    uint64_t file_bytes; /* size of the whole file */
    uint64_t table_offset;
    uint64_t n_sections;
    uint64_t table_checksum; /* xxh64 of the section table */
    uint8_t reserved[16];
    uint64_t checksum; /* xxh64 of strata_head, then of this struct up to here */
    char magic[8];     /* STRATA_END_MAGIC */
};

struct strata_lane {
    uint32_t kind, process;
    int64_t tid, sort_index;
    uint32_t tid_text, name;
    int32_t device, stream;
    uint32_t begin, end;
};

struct strata_process {
    int64_t pid, sort_index;
    uint32_t pid_text, name, labels, reserved;
};

struct strata_device {
    int64_t memory_bytes;
    int32_t id;
    uint32_t name;
    int32_t major, minor, n_sms, warp_size;
    int32_t max_threads_per_sm, regs_per_sm, shared_per_sm, shared_per_block_optin;
};

struct strata_meta {
    uint32_t key, value;
};

struct strata_cat {
    uint32_t text;
    uint32_t n_rows;
};

/* Exactly one: what is said of the trace as a whole. Times that are not known are INT64_MIN. */
struct strata_summary {
    int64_t base_ns, begin_ns, end_ns, window_begin_ns, window_end_ns;
    uint64_t source_bytes;
    uint64_t args_bytes; /* plain size of all args blocks together */
    uint32_t external_ids_usable;
    uint32_t step_marks;
    uint32_t unlinked;
    uint32_t reserved;
    uint32_t rows_by_kind[STRATA_KINDS];
};

/* One for every reason that occurred. */
struct strata_damage {
    char reason[24]; /* its stable name, zero-filled */
    uint64_t count;
    uint64_t place[STRATA_DAMAGE_PLACES];
};

static_assert(sizeof(struct strata_head) == 64, "on disk");
static_assert(sizeof(struct strata_section) == 32, "on disk");
static_assert(sizeof(struct strata_foot) == 64, "on disk");
static_assert(sizeof(struct strata_lane) == 48, "on disk");
static_assert(sizeof(struct strata_process) == 32, "on disk");
static_assert(sizeof(struct strata_device) == 48, "on disk");
static_assert(sizeof(struct strata_meta) == 8, "on disk");
static_assert(sizeof(struct strata_cat) == 8, "on disk");
static_assert(sizeof(struct strata_summary) == 200, "on disk");
static_assert(sizeof(struct strata_damage) == 544, "on disk");

/* What strata_foot.checksum must be. */
uint64_t strata_file_checksum(const struct strata_head *head, const struct strata_foot *foot);

#endif
