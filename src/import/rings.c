/* rings.c: see rings.h. Finds the files, sets up each process (strings, clock, pauses, end), turns
 * every ring into rows. A file that cannot be read costs its own content, not the run's. */
#include "import/rings.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/pool.h"
#include "base/vec.h"
#include "import/ring_args.h"

enum { MOST_FILES = 1 << 16, PATH = 4096 };

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

/* The folder with the files: `folder` or its rings/. */
static bool locate(const char *folder, char *ret)
{
    snprintf(ret, PATH, "%s/rings", folder);
    if (holds_recordings(ret)) return true;
    snprintf(ret, PATH, "%s", folder);
    return holds_recordings(ret);
}

bool rings_in(const char *folder)
{
    char path[PATH];
    return locate(folder, path);
}

static int by_name(const void *a, const void *b)
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
        if (l->n >= MOST_FILES) rc = FAIL(e, ERR_LIMIT, "holds too many files");
        else if (VEC_RESERVE(l->names, l->n, l->cap, 1) ||
                 !(l->names[l->n] = arena_strdup(&l->mem, str_from(f->d_name, n - cut))))
            rc = FAIL(e, ERR_NOMEM, "out of memory");
        else l->n++;
    }
    closedir(d);
    if (l->n) qsort(l->names, l->n, sizeof *l->names, by_name);
    return rc;
}

static void listing_done(struct listing *l)
{
    mem_free(l->names);
    arena_done(&l->mem);
}

static int add_pause(struct ring_process *p, int64_t ns)
{
    if (VEC_RESERVE(p->pauses_ns, p->n_pauses, p->cap_pauses, 1)) return ERR_NOMEM;
    size_t i = p->n_pauses++;
    for (; i && p->pauses_ns[i - 1] > ns; i--) p->pauses_ns[i] = p->pauses_ns[i - 1];
    p->pauses_ns[i] = ns;
    return 0;
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

/* Second look, with the clock known: pauses, and the last moment of the process. */
static int collect_times(struct ring_process *p, const struct ring_file *f)
{
    struct ring_cursor c;
    struct ring_entry e;
    ring_cursor_init(&c, f, 0);
    while (ring_cursor_next(&c, &e)) {
        int64_t ns = ring_process_ns(p, e.r.ticks);
        if (ns > p->end_ns) p->end_ns = ns;
        if (e.r.kind == RING_PAUSE) TRY(add_pause(p, ns));
    }
    return 0;
}

static int start_process(struct ring_process *p, const char *path, struct err *e)
{
    *p = (struct ring_process){.end_ns = INT64_MIN};
    map_init(&p->error_at);
    TRY(proc_file_open(&p->proc, path, e));
    const struct proc_head *h = &p->proc.head;
    tick_map_init(&p->clock, h->ticks_per_second);
    bool full =
        h->pid && tick_map_add(&p->clock, (struct clock_pair){h->start_ticks, h->start_mono_ns});
    if (!full && h->end_ticks)
        full = tick_map_add(&p->clock, (struct clock_pair){h->end_ticks, h->end_mono_ns});
    p->pid = (struct part_key){h->pid, 0};
    p->n_lost = h->n_lost;
    return full ? FAIL(e, ERR_NOMEM, "out of memory") : 0;
}

struct opening {
    struct ring_set *set;
    struct builder *builder;
    const char *folder;
};

/* Another file of the run that cannot be used; counted, not fatal. */
static void note_bad_file(struct opening *o)
{
    damage_note(&builder_trace(o->builder)->damage, DAMAGE_BAD_EVENT, 0);
}

static int add_ring(struct opening *o, uint32_t process, const char *name, struct err *e)
{
    struct ring_set *s = o->set;
    const char *path = arena_printf(&s->mem, "%s/%s.ring", o->folder, name);
    if (!path || VEC_RESERVE(s->rings, s->n_rings, s->cap_rings, 1) ||
        VEC_RESERVE(s->owner, s->n_rings, s->cap_owner, 1))
        return FAIL(e, ERR_NOMEM, "out of memory");
    if (ring_file_open(&s->rings[s->n_rings], path, NULL) < 0) {
        note_bad_file(o);
        return 0;
    }
    s->owner[s->n_rings++] = process;
    if (collect_clocks(&s->processes[process], &s->rings[s->n_rings - 1]) < 0)
        return FAIL(e, ERR_NOMEM, "out of memory");
    return 0;
}

/* The rings of a process are called like it, with a number behind. */
static int add_process(struct opening *o, const char *name, const struct listing *rings,
                       struct err *e)
{
    struct ring_set *s = o->set;
    const char *path = arena_printf(&s->mem, "%s/%s.proc", o->folder, name);
    if (!path || VEC_RESERVE(s->processes, s->n_processes, s->cap_processes, 1))
        return FAIL(e, ERR_NOMEM, "out of memory");
    struct err why;
    err_init(&why);
    int rc = start_process(&s->processes[s->n_processes], path, &why);
    if (rc < 0 && rc != ERR_NOMEM) {
        note_bad_file(o);
        return 0;
    }
    uint32_t process = (uint32_t)s->n_processes++;
    if (rc < 0) return FAIL(e, rc, "out of memory");
    size_t n = strlen(name);
    for (size_t i = 0; i < rings->n; i++)
        if (strncmp(rings->names[i], name, n) == 0 && rings->names[i][n] == '.')
            TRY(add_ring(o, process, rings->names[i], e));
    tick_map_sort(&s->processes[process].clock);
    return 0;
}

static int find_files(struct opening *o, struct err *e)
{
    struct listing procs = {0}, rings = {0};
    int rc = list_folder(&procs, o->folder, ".proc", e);
    if (rc == 0) rc = list_folder(&rings, o->folder, ".ring", e);
    for (size_t i = 0; rc == 0 && i < procs.n; i++) rc = add_process(o, procs.names[i], &rings, e);
    listing_done(&procs);
    listing_done(&rings);
    return rc;
}

/* Trace time begins when the first process does. Processes that share a boot share the monotonic
 * clock, and with it one offset to wall-clock time, so that stepping the latter does not tear them
 * apart. */
static void set_offsets(struct ring_set *s, struct trace *t)
{
    int64_t base = INT64_MAX;
    for (size_t i = 0; i < s->n_processes; i++) {
        struct ring_process *p = &s->processes[i];
        const struct proc_head *h = &p->proc.head;
        p->offset_ns = (int64_t)(h->start_real_ns - h->start_mono_ns);
        for (size_t k = 0; k < i; k++)
            if (h->boot[0] && strcmp(s->processes[k].proc.head.boot, h->boot) == 0) {
                p->offset_ns = s->processes[k].offset_ns;
                break;
            }
        int64_t start = (int64_t)h->start_mono_ns + p->offset_ns;
        if (h->pid && start < base) base = start;
    }
    if (base == INT64_MAX) base = 0;
    for (size_t i = 0; i < s->n_processes; i++) s->processes[i].offset_ns -= base;
    t->base_ns = base;
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
        p->pid = (struct part_key){ID_NONE, 0};
        if (!p->pid_text) return ERR_NOMEM;
    }
    return 0;
}

static int label_process(struct part *part, const struct ring_process *p)
{
    const struct proc_head *h = &p->proc.head;
    struct str name = proc_file_string(&p->proc, h->name);
    if (!name.n) name = str_c(h->program);
    struct part_key pid = p->pid;
    struct intern *strings = part_strings(part);
    if (p->pid_text) pid.text = intern_add(strings, str_c(p->pid_text));
    TRY(part_add_label(part, LABEL_PROCESS_NAME, pid, pid, intern_add(strings, name), 0));
    if (h->rank < 0) return 0;
    char rank[32];
    snprintf(rank, sizeof rank, "rank %d", h->rank);
    TRY(part_add_label(part, LABEL_PROCESS_LABELS, pid, pid, intern_add(strings, str_c(rank)), 0));
    return part_add_label(part, LABEL_PROCESS_SORT, pid, pid, 0, h->rank);
}

static int add_rows(struct opening *o, uint32_t ring, struct err *e)
{
    struct ring_process *p = &o->set->processes[o->set->owner[ring]];
    struct part *part = part_new();
    int rc = part ? label_process(part, p) : ERR_NOMEM;
    if (rc == 0) rc = ring_rows_add(part, p, &o->set->rings[ring], ring);
    if (rc < 0) {
        part_free(part);
        return FAIL(e, rc, rc == ERR_NOMEM ? "out of memory" : "too many open ranges");
    }
    return builder_add_part(o->builder, part, e);
}

static int fill(struct opening *o, struct err *e)
{
    struct ring_set *s = o->set;
    struct trace *t = builder_trace(o->builder);
    TRY(find_files(o, e));
    set_offsets(s, t);
    if (tell_hosts_apart(s) < 0) return FAIL(e, ERR_NOMEM, "out of memory");
    for (size_t i = 0; i < s->n_rings; i++)
        if (collect_times(&s->processes[s->owner[i]], &s->rings[i]) < 0)
            return FAIL(e, ERR_NOMEM, "out of memory");
    for (size_t i = 0; i < s->n_rings; i++) TRY(add_rows(o, (uint32_t)i, e));
    for (size_t i = 0; i < s->n_processes; i++)
        t->damage.count[DAMAGE_LOST_RECORDS] += s->processes[i].n_lost;
    return 0;
}

int rings_open(const char *folder, const struct import_options *o, struct trace **ret,
               struct err *e)
{
    char path[PATH];
    if (!locate(folder, path)) {
        err_at(e, folder, ERR_NO_OFFSET);
        return FAIL(e, ERR_USAGE,
                    "is a folder without recordings; expected a trace file or a run folder");
    }
    struct opening opening = {ring_set_new(), builder_new(e), path};
    int rc = opening.set ? 0 : FAIL(e, ERR_NOMEM, "out of memory");
    if (!opening.builder) rc = ERR_NOMEM;
    if (rc == 0) {
        struct trace *t = builder_trace(opening.builder);
        t->format = "strata recording";
        t->path = mem_strdup(folder);
        rc = t->path ? fill(&opening, e) : FAIL(e, ERR_NOMEM, "out of memory");
    }
    if (rc < 0) {
        builder_free(opening.builder);
        ring_set_free(opening.set);
        return rc;
    }
    builder_trace(opening.builder)->args = &opening.set->args;
    return builder_freeze(opening.builder, o && o->n_threads > 0 ? o->n_threads : pool_size(), ret,
                          e);
}
