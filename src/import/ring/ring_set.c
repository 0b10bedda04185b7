/* ring_set.c: see ring_set.h. A file that cannot be read costs its own content, not the run's. */
#include "import/ring/ring_set.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/vec.h"

enum { MOST_FILES = 1 << 16 };

struct listing {
    struct arena mem;
    char **names; /* of .proc files, without the ending, sorted */
    size_t n, cap;
};

static bool ends_with(const char *s, const char *end)
{
    return str_ends(str_c(s), end);
}

static bool holds_recordings(const char *folder)
{
    DIR *d = opendir(folder);
    if (!d) return false;
    bool found = false;
    for (struct dirent *f; !found && (f = readdir(d));) found = ends_with(f->d_name, ".proc");
    closedir(d);
    return found;
}

bool ring_set_locate(const char *folder, char ret[RING_SET_PATH])
{
    snprintf(ret, RING_SET_PATH, "%s/rings", folder);
    if (holds_recordings(ret)) return true;
    snprintf(ret, RING_SET_PATH, "%s", folder);
    return holds_recordings(ret);
}

static int ring_set_by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list_folder(struct listing *l, const char *folder, const char *ending, struct err *e)
{
    DIR *d = opendir(folder);
    if (!d) return FAIL(e, ERR_IO, "cannot list the folder");
    int rc = 0;
    for (struct dirent *f; rc == 0 && (f = readdir(d));) {
        size_t n = strlen(f->d_name), cut = strlen(ending);
        if (!ends_with(f->d_name, ending)) continue;
        if (l->n >= MOST_FILES) rc = FAIL(e, ERR_LIMIT, "the folder has too many files");
        else if (VEC_RESERVE(l->names, l->n, l->cap, 1) ||
                 !(l->names[l->n] = arena_strdup(&l->mem, str_from(f->d_name, n - cut))))
            rc = err_nomem(e);
        else l->n++;
    }
    closedir(d);
    if (l->n) qsort(l->names, l->n, sizeof *l->names, ring_set_by_name);
    return rc;
}

static void listing_done(struct listing *l)
{
    mem_free(l->names);
    arena_done(&l->mem);
}

/* First look at a ring: what it knows about the clock. */
static int collect_clocks(struct ring_process *p, const struct ring_file *f)
{
    struct ring_cursor c;
    struct ring_entry e;
    ring_cursor_init(&c, f, 0);
    while (ring_cursor_next(&c, &e))
        if (e.r.kind == RING_CLOCK &&
            tick_map_add(&p->clock, (struct clock_pair){e.r.ticks, e.value}))
            return ERR_NOMEM;
    return 0;
}

/* What the process itself says of its clock. */
static int start_clock(struct ring_process *p)
{
    const struct proc_head *h = &p->proc.head;
    tick_map_done(&p->clock);
    tick_map_init(&p->clock, h->ticks_per_second);
    bool full =
        h->pid && tick_map_add(&p->clock, (struct clock_pair){h->start_ticks, h->start_mono_ns});
    if (!full && h->end_ticks)
        full = tick_map_add(&p->clock, (struct clock_pair){h->end_ticks, h->end_mono_ns});
    return full ? ERR_NOMEM : 0;
}

static int start_process(struct ring_process *p, const char *path, struct err *e)
{
    *p = (struct ring_process){.end_ns = INT64_MIN, .window = {INT64_MIN, INT64_MAX}};
    map_init(&p->error_at);
    TRY(proc_file_open(&p->proc, path, e));
    p->pid = (struct batch_key){p->proc.head.pid, 0};
    p->n_lost = p->proc.head.n_lost;
    return start_clock(p) < 0 ? err_nomem(e) : 0;
}

static int add_ring(struct ring_set *s, uint32_t process, const char *name, struct err *e)
{
    const char *path = arena_printf(&s->mem, "%s/%s.ring", s->folder, name);
    const char *index = arena_printf(&s->mem, "%s/%s.index", s->folder, name);
    if (!path || !index || VEC_RESERVE(s->rings, s->n_rings, s->cap_rings, 1) ||
        VEC_RESERVE(s->owner, s->n_rings, s->cap_owner, 1) ||
        VEC_RESERVE(s->index, s->n_rings, s->cap_index, 1))
        return err_nomem(e);
    if (ring_file_open(&s->rings[s->n_rings], path, NULL) < 0) {
        s->n_bad++;
        return 0;
    }
    s->index[s->n_rings] = index;
    s->owner[s->n_rings++] = process;
    return 0;
}

/* Most processes define nothing and have no such file. */
static int add_defs(struct ring_set *s, uint32_t process, const char *name, struct err *e)
{
    const char *path = arena_printf(&s->mem, "%s/%s.defs", s->folder, name);
    if (!path) return err_nomem(e);
    if (access(path, F_OK) < 0) return 0;
    int rc = defs_file_open(&s->processes[process].defs, path, NULL);
    if (rc == ERR_NOMEM) return err_nomem(e);
    if (rc < 0) s->n_bad++;
    else s->processes[process].n_lost += s->processes[process].defs.n_refused;
    return 0;
}

/* The rings of a process are called like it, with a number behind. */
static int ring_set_add_process(struct ring_set *s, const char *name, const struct listing *rings,
                                struct err *e)
{
    const char *path = arena_printf(&s->mem, "%s/%s.proc", s->folder, name);
    if (!path || VEC_RESERVE(s->processes, s->n_processes, s->cap_processes, 1))
        return err_nomem(e);
    struct err why;
    err_init(&why);
    int rc = start_process(&s->processes[s->n_processes], path, &why);
    if (rc < 0 && rc != ERR_NOMEM) {
        s->n_bad++;
        return 0;
    }
    uint32_t process = (uint32_t)s->n_processes++;
    TRY(err_grow(e, rc));
    size_t n = strlen(name);
    for (size_t i = 0; i < rings->n; i++)
        if (strncmp(rings->names[i], name, n) == 0 && rings->names[i][n] == '.')
            TRY(add_ring(s, process, rings->names[i], e));
    return add_defs(s, process, name, e);
}

static int find_files(struct ring_set *s, struct err *e)
{
    struct listing procs = {0}, rings = {0};
    int rc = list_folder(&procs, s->folder, ".proc", e);
    if (rc == 0) rc = list_folder(&rings, s->folder, ".ring", e);
    for (size_t i = 0; rc == 0 && i < procs.n; i++)
        rc = ring_set_add_process(s, procs.names[i], &rings, e);
    listing_done(&procs);
    listing_done(&rings);
    return rc;
}

/* On several hosts two processes may have the same number. */
static int tell_hosts_apart(struct ring_set *s)
{
    bool several = false;
    for (size_t i = 1; i < s->n_processes; i++)
        several |= strcmp(s->processes[i].proc.head.host, s->processes[0].proc.head.host) != 0;
    for (size_t i = 0; several && i < s->n_processes; i++) {
        struct ring_process *p = &s->processes[i];
        p->pid_text = arena_printf(&s->mem, "%s:%u", p->proc.head.host, p->proc.head.pid);
        p->pid = (struct batch_key){ID_NONE, 0};
        if (!p->pid_text) return ERR_NOMEM;
    }
    return 0;
}

static bool ring_set_same_process(const struct ring_process *a, const struct ring_process *b)
{
    return a->proc.head.pid == b->proc.head.pid &&
           strcmp(a->proc.head.host, b->proc.head.host) == 0;
}

static bool ring_set_has_work(const struct ring_process *p)
{
    for (uint32_t id = 0; id < p->defs.n; id++)
        if (p->defs.entries[id].type == DEF_WORK) return true;
    return false;
}

/* Numbers of devices, streams and launches mean nothing across processes: each gets its own set,
 * called after it. */
static int tell_devices_apart(struct ring_set *s)
{
    const struct ring_process *first = NULL;
    bool several = false;
    for (size_t i = 0; i < s->n_processes; i++) {
        if (!ring_set_has_work(&s->processes[i])) continue;
        if (!first) first = &s->processes[i];
        several |= !ring_set_same_process(first, &s->processes[i]);
    }
    for (size_t i = 0; several && i < s->n_processes; i++) {
        struct ring_process *p = &s->processes[i];
        const struct proc_head *h = &p->proc.head;
        p->device_text = p->pid_text ? arena_printf(&s->mem, "[%s]", p->pid_text)
                                     : arena_printf(&s->mem, "[%u]", h->pid);
        if (!p->device_text) return ERR_NOMEM;
        p->pid_text = arena_printf(&s->mem, "%s %u", p->device_text, h->pid);
        p->pid = (struct batch_key){ID_NONE, 0};
        if (!p->pid_text) return ERR_NOMEM;
    }
    return 0;
}

int ring_set_open(const char *folder, struct ring_set **ret, struct err *e)
{
    char path[RING_SET_PATH];
    if (access(folder, R_OK | X_OK) < 0) {
        err_at(e, folder, ERR_NO_OFFSET);
        return FAIL(e, ERR_IO, "cannot open: %s", strerror(errno));
    }
    if (!ring_set_locate(folder, path)) {
        err_at(e, folder, ERR_NO_OFFSET);
        return FAIL(e, ERR_USAGE,
                    "this folder has no recordings; expected a trace file or a run folder");
    }
    struct ring_set *s = mem_zalloc(1, sizeof *s);
    if (!s) return err_nomem(e);
    s->folder = path;
    int rc = find_files(s, e);
    if (rc == 0 && (tell_hosts_apart(s) < 0 || tell_devices_apart(s) < 0)) rc = err_nomem(e);
    s->folder = NULL;
    if (rc < 0) ring_set_free(s);
    else *ret = s;
    return rc;
}

static void sort_clocks(struct ring_set *s)
{
    for (size_t i = 0; i < s->n_processes; i++) tick_map_sort(&s->processes[i].clock);
}

int ring_set_clocks(struct ring_set *s, struct err *e)
{
    for (size_t i = 0; i < s->n_rings; i++)
        if (collect_clocks(&s->processes[s->owner[i]], &s->rings[i]) < 0) return err_nomem(e);
    sort_clocks(s);
    return 0;
}

static int add_clocks(struct ring_process *p, const struct ring_blocks *b)
{
    for (size_t i = 0; i < b->n; i++) {
        struct clock_pair pair = {b->list[i].clock_ticks, b->list[i].clock_mono_ns};
        if (pair.ticks && tick_map_add(&p->clock, pair)) return ERR_NOMEM;
    }
    return 0;
}

int ring_set_blocks(struct ring_set *s, struct err *e)
{
    s->blocks = mem_zalloc(s->n_rings ? s->n_rings : 1, sizeof *s->blocks);
    if (!s->blocks) return err_nomem(e);
    for (size_t i = 0; i < s->n_rings; i++)
        if (ring_blocks_open(&s->blocks[i], &s->rings[i], s->index[i]) < 0) return err_nomem(e);
    return ring_set_block_clocks(s, e);
}

int ring_set_block_clocks(struct ring_set *s, struct err *e)
{
    for (size_t i = 0; i < s->n_processes; i++)
        if (start_clock(&s->processes[i]) < 0) return err_nomem(e);
    for (size_t i = 0; i < s->n_rings; i++)
        if (add_clocks(&s->processes[s->owner[i]], &s->blocks[i]) < 0) return err_nomem(e);
    sort_clocks(s);
    return 0;
}

uint64_t ring_set_records(const struct ring_set *s)
{
    uint64_t n = 0;
    for (size_t i = 0; i < s->n_rings; i++) n += s->rings[i].n_written - s->rings[i].first;
    return n;
}

void ring_set_free(struct ring_set *s)
{
    if (!s) return;
    for (size_t i = 0; i < s->n_rings; i++) ring_file_close(&s->rings[i]);
    for (size_t i = 0; s->blocks && i < s->n_rings; i++) ring_blocks_close(&s->blocks[i]);
    for (size_t i = 0; i < s->n_processes; i++) {
        struct ring_process *p = &s->processes[i];
        proc_file_close(&p->proc);
        defs_file_close(&p->defs);
        tick_map_done(&p->clock);
        map_done(&p->error_at);
        mem_free(p->pauses_ns);
    }
    stack_rows_done(&s->stacks);
    arena_done(&s->mem);
    mem_free(s->processes);
    mem_free(s->rings);
    mem_free(s->owner);
    mem_free(s->index);
    mem_free(s->blocks);
    mem_free(s);
}
