/* perfetto.c: see browser.h. */
#include "cli/browser/browser.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/human.h"
#include "base/jout.h"
#include "base/pool.h"
#include "export/export.h"

#define PAGE "https://ui.perfetto.dev"
#define PORT 9001 /* the only port that the page allows itself to read from */

struct source {
    int fd;
    bool converted;
    char name[256];
};

/* Formats the viewer reads as they are: JSON, plain or gzip. */
static bool perfetto_readable(int fd)
{
    unsigned char head[64];
    ssize_t n = pread(fd, head, sizeof head, 0);
    for (ssize_t i = 0; i < n; i++) {
        if (i == 0 && n > 1 && head[0] == 0x1f && head[1] == 0x8b) return true;
        if (memchr(" \t\r\n", head[i], 4)) continue;
        return head[i] == '{' || head[i] == '[';
    }
    return false;
}

static int perfetto_convert(struct cli *cli, const char *path, const char *file, struct err *e)
{
    struct export_options options = {.for_perfetto = true, .n_threads = pool_size()};
    struct trace *t;
    TRY(cli_open_trace(cli, path, &t, e));
    int rc = export_find("chrome")->write(t, file, &options, e);
    trace_free(t);
    return rc;
}

/* Written to a folder of its own, which is removed as soon as the file is open. */
static int open_converted(struct cli *cli, const char *path, struct source *ret, struct err *e)
{
    const char *tmp = getenv("TMPDIR");
    char folder[512], file[560];
    snprintf(folder, sizeof folder, "%s/strata-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(folder)) {
        err_at(e, folder, ERR_NO_OFFSET);
        return FAIL(e, ERR_IO, "cannot create a folder: %s; set TMPDIR", strerror(errno));
    }
    snprintf(file, sizeof file, "%s/trace.json.gz", folder);
    int rc = perfetto_convert(cli, path, file, e);
    if (rc == 0) ret->fd = open(file, O_RDONLY | O_CLOEXEC);
    if (rc == 0 && ret->fd < 0) rc = FAIL(e, ERR_IO, "cannot read: %s", strerror(errno));
    unlink(file);
    rmdir(folder);
    ret->converted = true;
    return rc;
}

static int open_source(struct cli *cli, const char *path, bool always, struct source *ret,
                       struct err *e)
{
    const char *slash = strrchr(path, '/');
    struct stat st;
    ret->fd = always ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool plain = ret->fd >= 0 && fstat(ret->fd, &st) == 0 && S_ISREG(st.st_mode);
    snprintf(ret->name, sizeof ret->name, "%s", slash && slash[1] ? slash + 1 : path);
    if (plain && perfetto_readable(ret->fd)) return 0;
    if (ret->fd >= 0) close(ret->fd);
    size_t n = strlen(ret->name);
    if (n && ret->name[n - 1] == '/') ret->name[--n] = 0;
    const char *ending = str_ends(str_c(ret->name), ".json") ? ".gz" : ".json.gz";
    if (!str_ends(str_c(ret->name), ".json.gz"))
        snprintf(ret->name + n, sizeof ret->name - n, "%s", ending);
    return open_converted(cli, path, ret, e);
}

static void perfetto_show_text(struct cli *cli, const struct serve *s, const struct source *from,
                               const char *url)
{
    char name[128];
    buf_printf(&cli->out, "%s   %s   for browsers on this machine only\n\n  %s\n\n",
               human_cut(str_c(from->name), 60, name, sizeof name),
               human_bytes((int64_t)s->size_bytes).s, url);
    buf_printf(&cli->out, "next: open the link; stop with Ctrl-C. Nothing is uploaded.\n");
    if (getenv("SSH_CONNECTION"))
        buf_printf(&cli->out,
                   "      from another machine, first run: ssh -L %u:127.0.0.1:%u THIS-HOST\n",
                   s->port, s->port);
}

static void perfetto_show_json(struct cli *cli, const struct serve *s, const struct source *from,
                               const char *url)
{
    struct jout j;
    jout_init(&j, &cli->out, true);
    jout_obj(&j, NULL);
    jout_cstr(&j, "url", url);
    jout_cstr(&j, "trace_url", strchr(url, '=') + 1);
    jout_uint(&j, "port", s->port);
    jout_cstr(&j, "file", from->name);
    jout_uint(&j, "size_bytes", s->size_bytes);
    jout_bool(&j, "converted", from->converted);
    jout_end_obj(&j);
}

static int perfetto_serve(struct cli *cli, const struct opts *o, const struct source *from,
                          struct err *e)
{
    long port = PORT;
    if (opt_has(o, "port")) TRY(opt_long(o, "port", 0, 65535, &port, e));
    struct serve s = {.file = from->fd, .origin = PAGE, .port = (uint16_t)port};
    TRY(serve_open(&s, from->name, e));
    char url[320];
    snprintf(url, sizeof url, PAGE "/#!/?url=http://127.0.0.1:%u%s", s.port, s.path);
    (cli->json ? perfetto_show_json : perfetto_show_text)(cli, &s, from, url);
    int rc = cli_flush(cli, e);
    if (rc == 0) rc = serve_run(&s, opt_has(o, "once"), e);
    serve_close(&s);
    return rc;
}

int perfetto_open(struct cli *cli, const struct opts *o, struct err *e)
{
    struct source from = {.fd = -1};
    TRY(open_source(cli, o->args[0], opt_has(o, "for"), &from, e));
    int rc = perfetto_serve(cli, o, &from, e);
    close(from.fd);
    return rc;
}
