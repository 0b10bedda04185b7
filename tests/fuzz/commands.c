/* commands.c: see commands.h. */
#include "fuzz/commands.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/jdoc.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "cli/cli.h"

enum { MOST_PARTS = 4, MOST_WORDS = 40, MOST_LINE = 4096 };

static char folder[] = "/tmp/strata-fuzz-XXXXXX";
static int captured = -1, messages, real_stdout, real_stderr;

/* Where sanitizer reports go while the command's own standard error is thrown away;
 * with FUZZ_VERBOSE set it is not. */
void __sanitizer_set_report_fd(void *fd) __attribute__((weak));

struct parts {
    struct str text[MOST_PARTS];
    char name[MOST_PARTS][32];
    int n;
};

static void clean_up(void)
{
    char line[128];
    snprintf(line, sizeof line, "rm -rf %s", folder);
    if (system(line) != 0) perror(folder); /* NOLINT(cert-env33-c): a name of our own */
}

static void set_up(void)
{
    if (captured >= 0) return;
    if (!mkdtemp(folder) || chdir(folder) < 0) abort();
    atexit(clean_up);
    setenv("STRATA_TEST_THREADS", "1", 1);
    setenv("XDG_CACHE_HOME", folder, 1);
    real_stdout = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    real_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    messages = getenv("FUZZ_VERBOSE") ? real_stderr : open("/dev/null", O_WRONLY | O_CLOEXEC);
    captured = memfd_create("output", MFD_CLOEXEC);
    if (captured < 0 || messages < 0) abort();
    if (__sanitizer_set_report_fd) __sanitizer_set_report_fd((void *)(intptr_t)real_stderr);
}

static void split(const uint8_t *p, size_t n, struct parts *ret)
{
    struct str rest = str_from((const char *)p, n);
    for (ret->n = 0; ret->n < MOST_PARTS - 1;) {
        const char *cut = memmem(rest.p, rest.n, "\n---\n", 5);
        if (!cut) break;
        size_t head = (size_t)(cut - rest.p);
        ret->text[ret->n++] = str_from(rest.p, head);
        rest = str_from(cut + 5, rest.n - head - 5);
    }
    ret->text[ret->n++] = rest;
}

/* Written over in place: a new file for each input would cost more than the commands. */
static void put(const char *name, struct str text)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, 0) < 0) abort();
    if (text.n && write(fd, text.p, text.n) != (ssize_t)text.n) abort();
    close(fd);
}

static void put_files(struct parts *in, const char *const *suffixes)
{
    for (int i = 0; i < in->n && suffixes[i]; i++) {
        snprintf(in->name[i], sizeof in->name[i], "part%d%s", i, suffixes[i]);
        put(in->name[i], in->text[i]);
    }
}

/* The words of `text`, cut in place. Options of an input name no file but those of this folder. */
static int add_words(char *text, char **words, int n)
{
    for (char *w = text, *next; w && n < MOST_WORDS; w = next) {
        next = strchr(w, ' ');
        if (next) *next++ = 0;
        if (*w && !strchr(w, '/') && strcmp(w, "-") != 0) words[n++] = w;
    }
    return n;
}

static int part_of(const char *word, const struct parts *in)
{
    int i = word[1] - '0';
    return i >= 0 && i < in->n ? i : -1;
}

/* The command line; 0 words when a part is missing. */
static int fill_in(char *line, struct parts *in, char *options, char **words)
{
    int n = 0;
    words[n++] = (char *)(uintptr_t) "strata";
    for (char *w = line, *next; w && n < MOST_WORDS; w = next) {
        next = strchr(w, ' ');
        if (next) *next++ = 0;
        int part = *w == '@' || *w == '$' ? part_of(w, in) : 0;
        if (part < 0) return 0;
        if (*w == '$') {
            snprintf(options, MOST_LINE, "%.*s", (int)in->text[part].n, in->text[part].p);
            n = add_words(options, words, n);
        } else words[n++] = *w == '@' ? in->name[part] : w;
    }
    words[n] = NULL;
    return n;
}

static void complain(const char *what, char *const *words, int n)
{
    fprintf(stderr, "%s:", what);
    for (int i = 0; i < n; i++) fprintf(stderr, " %s", words[i]);
    fputc('\n', stderr);
    abort();
}

static bool is_clean(struct str out)
{
    size_t step;
    for (size_t i = 0; i < out.n; i += step) {
        step = out.p[i] == '\n' ? 1 : utf8_safe_len(out, i);
        if (!step) return false;
    }
    return true;
}

/* Whether a quantity is no number: "nan TFLOP/s", "inf times". Names of the trace may hold such a
 * word, but not before a unit. */
static bool has_no_number(struct str out)
{
    static const char *const words[] = {"nan", "inf"};
    static const char *const units[] = {" %",     " us", " ms", " s ", " GB",    " MB",
                                        " TFLOP", " TB", " J",  " W",  " times", "x "};
    for (size_t i = 0; i + 8 < out.n; i++) {
        bool begins = i == 0 || strchr(" -(+", out.p[i - 1]);
        struct str rest = str_from(out.p + i + 3, out.n - i - 3);
        for (int w = 0; begins && w < 2; w++)
            for (size_t u = 0; u < sizeof units / sizeof *units; u++)
                if (memcmp(out.p + i, words[w], 3) == 0 && str_starts(rest, units[u])) return true;
    }
    return false;
}

static bool is_json(struct str out)
{
    struct arena mem;
    struct jdoc d;
    struct err e;
    err_init(&e);
    arena_init(&mem);
    int rc = jdoc_parse(out, &mem, &d, &e);
    arena_done(&mem);
    if (rc < 0) fprintf(stderr, "%s (byte %lld)\n", e.msg, (long long)e.offset);
    return rc == 0;
}

static bool has(char *const *words, int n, const char *word)
{
    for (int i = 0; i < n; i++)
        if (strcmp(words[i], word) == 0) return true;
    return false;
}

static void check_output(char *const *words, int n)
{
    off_t size = lseek(captured, 0, SEEK_CUR);
    if (size <= 0 || has(words, n, "--html")) return;
    char *out = mem_alloc((size_t)size);
    if (!out || pread(captured, out, (size_t)size, 0) != size) abort();
    struct str text = str_from(out, (size_t)size);
    bool json = has(words, n, "--json");
    if (json && !is_json(text)) complain("this is not JSON", words, n);
    if (!json && !has(words, n, "--color=always") && !is_clean(text))
        complain("this commands a terminal", words, n);
    if (!json && has_no_number(text)) complain("a quantity is no number", words, n);
    mem_free(out);
}

static void put_streams(int out, int err)
{
    fflush(stdout);
    fflush(stderr);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
}

static void run_line(const char *line, struct parts *in)
{
    char copy[MOST_LINE], options[MOST_LINE], *words[MOST_WORDS + 1], *moved[MOST_WORDS + 1];
    snprintf(copy, sizeof copy, "%s", line);
    int n = fill_in(copy, in, options, words);
    if (n == 0) return;
    memcpy(moved, words, sizeof moved); /* reading options moves them about */
    if (ftruncate(captured, 0) < 0 || lseek(captured, 0, SEEK_SET) < 0) abort();
    put_streams(captured, messages);
    int status = cli_main(n, moved);
    put_streams(real_stdout, real_stderr);
    if (status < EXIT_OK || status > EXIT_BAD_INPUT) complain("this failed by itself", words, n);
    if (status <= EXIT_OVER_BUDGET) check_output(words, n);
}

void commands_run(const char *const *lines, const char *const *suffixes, const uint8_t *p, size_t n)
{
    struct parts in;
    set_up();
    split(p, n, &in);
    put_files(&in, suffixes);
    for (int i = 0; lines[i]; i++) run_line(lines[i], &in);
}

void commands_run_all(const uint8_t *p, size_t n)
{
    struct parts in;
    static const char *const suffixes[] = {".json", NULL};
    set_up();
    split(p, n, &in);
    put_files(&in, suffixes);
    for (int i = 0; cmds[i]; i++) {
        char line[64];
        if (strcmp(cmds[i]->args, "TRACE") != 0 || cmds[i]->serves) continue;
        snprintf(line, sizeof line, "%s @0", cmds[i]->name);
        run_line(line, &in);
        snprintf(line, sizeof line, "%s @0 --json", cmds[i]->name);
        run_line(line, &in);
    }
}
