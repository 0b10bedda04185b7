/* procfile.c: see rundir.h. */
#include "record/rundir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "record/defs.h"
#include "record/names.h"

_Static_assert(PROCFILE_PATH <= SPOOL_PATH, "a spool takes every path of ours");

static void read_boot_id(char *out, size_t cap)
{
    int fd = fd_open("/proc/sys/kernel/random/boot_id", O_RDONLY, 0);
    ssize_t n = fd < 0 ? 0 : read(fd, out, cap - 1);
    if (fd >= 0) close(fd);
    out[n > 0 ? n : 0] = 0;
    char *end = strchr(out, '\n');
    if (end) *end = 0;
}

static void procfile_fill_head(struct proc_head *h, const struct procfile_facts *facts)
{
    struct clock_pair now = clock_pair(facts->clock);
    h->version = RING_VERSION;
    h->head_bytes = RING_HEAD_BYTES;
    h->pid = (uint32_t)getpid();
    h->ppid = (uint32_t)getppid();
    h->clock_source = facts->clock;
    h->rank = facts->rank;
    h->world = facts->world;
    h->start_real_ns = clock_real_ns();
    h->start_mono_ns = now.mono_ns;
    h->start_ticks = now.ticks;
    h->ticks_per_second = facts->ticks_per_second;
    gethostname(h->host, sizeof h->host - 1);
    read_boot_id(h->boot, sizeof h->boot);
    snprintf(h->program, sizeof h->program, "%s", program_invocation_short_name);
    memcpy(h->magic, PROC_MAGIC, sizeof h->magic); /* last: now it is one of ours */
}

static void name_files(struct procfile *p, const char *folder)
{
    char host[64] = "", clean[40];
    gethostname(host, sizeof host - 1);
    rundir_clean_name(host, clean, sizeof clean);
    snprintf(p->stem, sizeof p->stem, "%s/rings/%s-%ld-%llx", folder, clean, (long)getpid(),
             (unsigned long long)clock_real_ns());
}

int procfile_open(struct procfile *p, const char *folder, const struct procfile_facts *facts,
                  struct err *e)
{
    name_files(p, folder);
    char path[PROCFILE_PATH];
    snprintf(path, sizeof path, "%s.proc", p->stem);
    TRY(spool_create(&p->file, path, e));
    void *head;
    int rc = spool_map(&p->file, 0, RING_HEAD_BYTES, &head, e);
    if (rc == 0) {
        p->head = head;
        procfile_fill_head(p->head, facts);
        rc = names_attach(&p->file, p->head, e);
    }
    snprintf(path, sizeof path, "%s.defs", p->stem);
    if (rc == 0) rc = defs_attach(path, e);
    if (rc < 0) {
        snprintf(path, sizeof path, "%s.proc", p->stem);
        unlink(path);
        procfile_forget(p);
    }
    return rc;
}

void procfile_close(struct procfile *p, struct clock_pair now)
{
    __atomic_store_n(&p->head->end_ticks, now.ticks, __ATOMIC_RELAXED);
    __atomic_store_n(&p->head->end_mono_ns, now.mono_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&p->head->closed, 1, __ATOMIC_RELEASE);
}

void procfile_forget(struct procfile *p)
{
    names_detach();
    defs_detach();
    spool_unmap(p->head, RING_HEAD_BYTES);
    p->head = NULL;
    spool_done(&p->file);
}

void procfile_ring_path(const struct procfile *p, int n, char out[PROCFILE_PATH])
{
    snprintf(out, PROCFILE_PATH, "%s.%d.ring", p->stem, n);
}
