/* ring_blocks.c: see ring_set.h. */
#include "import/ring/ring_set.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"

/* A summary names ranges, but not which of them are tasks. */
static void find_tasks(const struct ring_file *f, struct ring_state *s)
{
    for (uint32_t i = 0; i < s->n_open; i++) {
        struct ring_cursor c;
        struct ring_entry e;
        ring_cursor_init(&c, f, s->open[i].number);
        if (!ring_cursor_next(&c, &e) || e.number != s->open[i].number) continue;
        if (e.r.kind == RING_TASK_BEGIN) s->open[i].task = e.value & UINT32_MAX;
    }
}

static void read_block(const struct ring_file *f, struct ring_state *s, uint64_t number,
                       struct ring_summary *ret)
{
    uint32_t n;
    const struct ring_record *slots = ring_file_block(f, number, &n);
    ring_summarize(s, slots, n, number, ret);
}

/* The summary of block `number` as the index has it; false when it has none that is sound. */
static bool take_entry(const struct ring_file *f, const struct file_map *index, uint64_t number,
                       struct ring_summary *ret)
{
    uint64_t blocks = f->log_slots / RING_BLOCK;
    uint64_t at = ring_index_offset(blocks ? number % blocks : number);
    if (number >= f->n_logged / RING_BLOCK || at > index->n || index->n - at < sizeof *ret)
        return false;
    memcpy(ret, index->p + at, sizeof *ret);
    return ring_summary_is(ret, number);
}

/* Whether the index can be one of this ring at all. */
static bool is_index(const struct file_map *index, const struct ring_file *f)
{
    struct ring_index_head h;
    if (index->n < sizeof h) return false;
    memcpy(&h, index->p, sizeof h);
    return memcmp(h.magic, RING_INDEX_MAGIC, sizeof h.magic) == 0 &&
           h.version == RING_INDEX_VERSION && h.entry_bytes == sizeof(struct ring_summary) &&
           h.pid == f->pid;
}

/* A ring that has to be read as a whole is not to stay in memory for that: pages are given back,
 * and come again from the file. */
static void give_back(const struct ring_file *f, const struct ring_record *slots)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = ((uintptr_t)slots + page - 1) / page * page;
    uintptr_t end = ((uintptr_t)slots + RING_BLOCK_BYTES) / page * page;
    if (f->map.mapped && slots && end > begin) madvise((void *)begin, end - begin, MADV_DONTNEED);
}

static void ring_blocks_fill(struct ring_blocks *b, const struct ring_file *f,
                             const struct file_map *index)
{
    struct ring_state state = {0};
    bool known = true; /* how things stand at the begin of the next block */
    for (size_t i = 0; i < b->n; i++) {
        struct ring_summary *s = &b->list[i];
        if (take_entry(f, index, b->first + i, s)) {
            known = false;
            b->indexed = true;
            continue;
        }
        if (!known) {
            struct ring_summary before;
            ring_state_from(&state, &b->list[i - 1]);
            find_tasks(f, &state);
            read_block(f, &state, b->first + i - 1, &before);
            b->n_read++;
        }
        read_block(f, &state, b->first + i, s);
        b->n_read++;
        known = true;
        uint32_t n;
        give_back(f, ring_file_block(f, b->first + i, &n));
    }
}

int ring_blocks_open(struct ring_blocks *b, const struct ring_file *f, const char *path)
{
    struct file_map index = {0};
    *b = (struct ring_blocks){.first = f->first / RING_BLOCK};
    b->n = (size_t)((f->n_written + RING_BLOCK - 1) / RING_BLOCK - b->first);
    b->list = mem_alloc((b->n ? b->n : 1) * sizeof *b->list);
    if (!b->list) return ERR_NOMEM;
    bool mapped = path && file_map_found(&index, path, NULL) == 0;
    bool sound = mapped && is_index(&index, f);
    ring_blocks_fill(b, f, sound ? &index : &(struct file_map){0});
    if (mapped) file_unmap(&index);
    return 0;
}

void ring_blocks_close(struct ring_blocks *b)
{
    mem_free(b->list);
    *b = (struct ring_blocks){0};
}

bool ring_blocks_agree(const struct ring_blocks *b, const struct ring_file *f, size_t i)
{
    struct ring_state state;
    struct ring_summary found;
    ring_state_from(&state, &b->list[i]);
    read_block(f, &state, b->first + i, &found);
    return memcmp(&found, &b->list[i], sizeof found) == 0;
}
