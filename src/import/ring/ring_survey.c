/* ring_survey.c: what is known about the processes of a run without reading their records. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "import/ring/ring_set.h"
#include "import/ring/rings.h"

enum { MOST_NOTES = 16 };

static struct ring_facts facts_of(const struct ring_set *s, uint32_t process, struct arena *mem)
{
    const struct ring_process *p = &s->processes[process];
    const struct proc_head *h = &p->proc.head;
    char host[64] = "";
    gethostname(host, sizeof host - 1);
    struct ring_facts f = {
        .pid = h->pid,
        .rank = h->rank,
        .world = h->world,
        .ended = h->closed != 0,
        .running = !h->closed && strcmp(host, h->host) == 0 && kill((pid_t)h->pid, 0) == 0,
        .has_timeline = p->defs.n > 0,
        .n_lost = h->n_lost,
        .start_real_ns = (int64_t)h->start_real_ns,
        .host = arena_strdup(mem, str_c(h->host)),
        .program = arena_strdup(mem, str_c(h->program)),
        .name = arena_strdup(mem, proc_file_string(&p->proc, h->name)),
        .pid_text = p->pid_text ? arena_strdup(mem, str_c(p->pid_text)) : NULL,
    };
    for (size_t i = 0; i < s->n_rings; i++) {
        if (s->owner[i] != process) continue;
        f.n_threads++;
        f.n_records += s->rings[i].n_written;
        f.n_lost += s->rings[i].n_lost;
    }
    return f;
}

static int ring_survey_by_start(const void *a, const void *b)
{
    const struct ring_facts *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return (x->start_real_ns > y->start_real_ns) - (x->start_real_ns < y->start_real_ns);
}

/* A process that loaded two recorders of ours, the Python package's and the injected one, left two
 * sets of files. */
static void merge_same(struct ring_survey *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        struct ring_facts *f = &s->list[i], *into = NULL;
        for (uint32_t k = 0; k < n && !into; k++)
            if (s->list[k].pid == f->pid && strcmp(s->list[k].host, f->host) == 0)
                into = &s->list[k];
        if (!into) {
            s->list[n++] = *f;
            continue;
        }
        into->n_threads = into->n_threads > f->n_threads ? into->n_threads : f->n_threads;
        into->n_records += f->n_records;
        into->n_lost += f->n_lost;
        into->ended |= f->ended;
        into->has_timeline |= f->has_timeline;
        if (!into->name[0]) into->name = f->name;
    }
    s->n = n;
}

static int describe_all(const struct ring_set *s, struct arena *mem, struct ring_survey *ret)
{
    for (uint32_t i = 0; i < ret->n; i++) {
        ret->list[i] = facts_of(s, i, mem);
        if (!ret->list[i].host || !ret->list[i].program || !ret->list[i].name) return ERR_NOMEM;
    }
    if (ret->n) qsort(ret->list, ret->n, sizeof *ret->list, ring_survey_by_start);
    merge_same(ret);
    return 0;
}

int rings_survey(const char *folder, struct arena *mem, struct ring_survey *ret, struct err *e)
{
    struct ring_set *s;
    TRY(ring_set_open(folder, &s, e));
    struct ring_survey found = {.n = (uint32_t)s->n_processes, .n_bad = s->n_bad};
    found.list = arena_zalloc(mem, found.n, sizeof *found.list);
    int rc = found.list ? describe_all(s, mem, &found) : ERR_NOMEM;
    ring_set_free(s);
    TRY(err_grow(e, rc));
    *ret = found;
    return 0;
}

static bool is_new(const struct ring_notes *notes, struct str text)
{
    for (uint32_t i = 0; i < notes->n; i++)
        if (str_is(text, notes->list[i])) return false;
    return true;
}

static int ring_survey_add_notes(const struct defs_file *f, struct arena *mem,
                                 struct ring_notes *notes)
{
    for (uint32_t id = 0; id < f->n && notes->n < MOST_NOTES; id++) {
        struct str text = defs_file_get(f, id, DEF_NOTE, 1);
        if (!text.p || !is_new(notes, text)) continue;
        notes->list[notes->n] = arena_strdup(mem, text);
        if (!notes->list[notes->n++]) return ERR_NOMEM;
    }
    return 0;
}

int rings_notes(const char *folder, struct arena *mem, struct ring_notes *ret, struct err *e)
{
    struct ring_set *s;
    TRY(ring_set_open(folder, &s, e));
    struct ring_notes notes = {.list = arena_zalloc(mem, MOST_NOTES, sizeof *notes.list)};
    int rc = notes.list ? 0 : ERR_NOMEM;
    for (size_t i = 0; rc == 0 && i < s->n_processes; i++)
        rc = ring_survey_add_notes(&s->processes[i].defs, mem, &notes);
    ring_set_free(s);
    TRY(err_grow(e, rc));
    *ret = notes;
    return 0;
}
