/* test_file.c: mapping what is there, refusing what is not, writing whole or not at all. */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/fd.h"
#include "test.h"

static char dir[64];

static const char *in_dir(const char *name)
{
    static char path[2][512];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", dir, name);
    return path[turn];
}

__attribute__((constructor)) static void make_dir(void)
{
    snprintf(dir, sizeof dir, "/tmp/strata-file-XXXXXX");
    if (!mkdtemp(dir)) dir[0] = '\0';
}

__attribute__((destructor)) static void remove_dir(void)
{
    DIR *d = opendir(dir);
    for (struct dirent *f; d && (f = readdir(d));) unlink(in_dir(f->d_name));
    if (d) closedir(d);
    rmdir(dir);
}

static int entries(void)
{
    int n = 0;
    DIR *d = opendir(dir);
    for (struct dirent *f; d && (f = readdir(d));) n += f->d_name[0] != '.';
    if (d) closedir(d);
    return n;
}

static void check_content(const char *path, const char *want)
{
    struct file_map f;
    struct err e;
    err_init(&e);
    if (!CHECK_EQ_INT(file_map(&f, path, &e), 0)) return;
    CHECK_EQ_BYTES(str_from(f.p, f.n), want);
    file_unmap(&f);
    CHECK(f.p == NULL && f.n == 0);
}

TEST(writes_and_maps)
{
    CHECK_EQ_INT(file_write_whole(in_dir("a"), "hello", 5, NULL), 0);
    check_content(in_dir("a"), "hello");
    CHECK_EQ_INT(file_write_whole(in_dir("a"), "", 0, NULL), 0);
    check_content(in_dir("a"), "");
    CHECK_EQ_INT(file_write_whole(in_dir("a"), NULL, 0, NULL), 0);
    CHECK_EQ_INT(entries(), 1);
    unlink(in_dir("a"));
}

/* Readers add lengths to where it begins, and look at the padding. */
TEST(an_empty_file_has_a_beginning_too)
{
    struct file_map f;
    CHECK_EQ_INT(file_write_whole(in_dir("empty"), "", 0, NULL), 0);
    REQUIRE(CHECK_EQ_INT(file_map(&f, in_dir("empty"), NULL), 0));
    CHECK_EQ_UINT(f.n, 0);
    REQUIRE(CHECK(f.p != NULL));
    for (int i = 0; i < FILE_PADDING; i++) CHECK_EQ_INT(f.p[i], 0);
    file_unmap(&f);
    unlink(in_dir("empty"));
}

/* What the kernel makes up has no size before it is read. */
TEST(a_file_without_a_size_is_read)
{
    struct file_map f;
    REQUIRE(CHECK_EQ_INT(file_map(&f, "/proc/self/status", NULL), 0));
    CHECK(f.n > 0 && memcmp(f.p, "Name:", 5) == 0);
    file_unmap(&f);
}

TEST(pieces_small_and_large_arrive_in_order)
{
    enum { LARGE = 3 << 20 };
    struct file_out out;
    struct file_map f;
    char *large = mem_alloc(LARGE);
    REQUIRE(large != NULL);
    memset(large, 'L', LARGE);
    REQUIRE(file_out_begin(&out, in_dir("b"), NULL) == 0);
    CHECK_EQ_INT(file_out_write(&out, "first", 5, NULL), 0);
    CHECK_EQ_INT(file_out_write(&out, large, LARGE, NULL), 0);
    for (int i = 0; i < 100000; i++)
        REQUIRE(file_out_write(&out, "0123456789abcdef", 16, NULL) == 0);
    CHECK_EQ_UINT(out.written, 5 + LARGE + 1600000);
    CHECK_EQ_INT(file_out_commit(&out, NULL), 0);
    mem_free(large);
    REQUIRE(file_map(&f, in_dir("b"), NULL) == 0);
    CHECK_EQ_UINT(f.n, 5 + LARGE + 1600000);
    CHECK_EQ_BYTES(str_from(f.p, 7), "firstLL");
    CHECK_EQ_BYTES(str_from(f.p + f.n - 18, 18), "ef0123456789abcdef");
    file_unmap(&f);
    unlink(in_dir("b"));
}

TEST(an_abandoned_file_leaves_the_old_one)
{
    struct file_out out;
    REQUIRE(file_write_whole(in_dir("c"), "old", 3, NULL) == 0);
    REQUIRE(file_out_begin(&out, in_dir("c"), NULL) == 0);
    CHECK_EQ_INT(file_out_write(&out, "new", 3, NULL), 0);
    file_out_abort(&out);
    check_content(in_dir("c"), "old");
    CHECK_EQ_INT(entries(), 1);
    unlink(in_dir("c"));
}

TEST(a_full_disk_is_an_error_and_leaves_nothing)
{
    struct rlimit before, small = {1000, 1000};
    struct err e;
    err_init(&e);
    getrlimit(RLIMIT_FSIZE, &before);
    small.rlim_max = before.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    char block[4000] = {0};
    int rc = file_write_whole(in_dir("d"), block, sizeof block, &e);
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK_EQ_INT(rc, ERR_IO);
    CHECK_EQ_STR(e.file, in_dir("d"));
    CHECK(strstr(e.msg, "cannot write") != NULL);
    CHECK_EQ_INT(entries(), 0);
}

TEST(a_link_is_followed)
{
    struct stat st;
    REQUIRE(file_write_whole(in_dir("target"), "old", 3, NULL) == 0);
    REQUIRE(symlink("target", in_dir("link")) == 0);
    CHECK_EQ_INT(file_write_whole(in_dir("link"), "new", 3, NULL), 0);
    check_content(in_dir("target"), "new");
    CHECK(lstat(in_dir("link"), &st) == 0 && S_ISLNK(st.st_mode));
    unlink(in_dir("link"));
    unlink(in_dir("target"));
}

TEST(a_device_is_written_to_not_replaced)
{
    struct stat st;
    CHECK_EQ_INT(file_write_whole("/dev/null", "x", 1, NULL), 0);
    CHECK(stat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode));
}

TEST(a_pipe_is_read_to_the_end)
{
    REQUIRE(mkfifo(in_dir("pipe"), 0600) == 0);
    int keep = open(in_dir("pipe"), O_RDWR);
    REQUIRE(keep >= 0);
    struct file_out out;
    REQUIRE(file_out_begin(&out, in_dir("pipe"), NULL) == 0);
    CHECK_EQ_INT(file_out_write(&out, "through", 7, NULL), 0);
    CHECK_EQ_INT(file_out_commit(&out, NULL), 0);
    struct file_map f;
    int reader = open(in_dir("pipe"), O_RDONLY | O_NONBLOCK);
    close(keep);
    CHECK_EQ_INT(dup2(reader, STDIN_FILENO), STDIN_FILENO);
    if (CHECK_EQ_INT(file_map(&f, "-", NULL), 0)) {
        CHECK_EQ_BYTES(str_from(f.p, f.n), "through");
        CHECK(!f.mapped);
        file_unmap(&f);
    }
    close(reader);
    unlink(in_dir("pipe"));
}

/* They survive tar: a folder that somebody packed must not make a command wait for ever. */
TEST(a_pipe_without_a_writer_and_a_device_are_refused)
{
    struct file_map f;
    struct err e;
    err_init(&e);
    REQUIRE(mkfifo(in_dir("fifo"), 0600) == 0);
    CHECK_EQ_INT(file_map(&f, in_dir("fifo"), &e), ERR_FORMAT);
    CHECK(strstr(e.msg, "a pipe that nothing writes to") != NULL);
    err_init(&e);
    CHECK_EQ_INT(file_map(&f, "/dev/zero", &e), ERR_FORMAT);
    CHECK(strstr(e.msg, "a device") != NULL);
    CHECK_EQ_INT(file_map(&f, "/dev/null", NULL), 0);
    CHECK_EQ_UINT(f.n, 0);
    file_unmap(&f);
    unlink(in_dir("fifo"));
}

/* Whoever packed a folder may have put a pipe there: not even one with a writer is read. */
TEST(a_pipe_in_a_folder_is_refused_whoever_writes)
{
    struct file_map f;
    struct err e;
    err_init(&e);
    REQUIRE(mkfifo(in_dir("fifo"), 0600) == 0);
    int both = open(in_dir("fifo"), O_RDWR | O_CLOEXEC);
    REQUIRE(both >= 0 && write(both, "x", 1) == 1);
    CHECK_EQ_INT(file_map_found(&f, in_dir("fifo"), &e), ERR_FORMAT);
    CHECK_EQ_STR(e.msg, "this is a pipe or a device, expected a trace file");
    CHECK_EQ_INT(file_map_found(&f, "/dev/null", NULL), ERR_FORMAT);
    CHECK_EQ_INT(file_map_found(&f, "-", NULL), ERR_IO);
    CHECK_EQ_INT(file_map_found(&f, dir, NULL), ERR_USAGE);
    close(both);
    unlink(in_dir("fifo"));
}

TEST(what_cannot_be_opened_says_why)
{
    struct file_map f;
    struct err e;
    err_init(&e);
    CHECK_EQ_INT(file_map(&f, in_dir("missing"), &e), ERR_IO);
    CHECK_EQ_STR(e.file, in_dir("missing"));
    CHECK_EQ_STR(e.msg, "cannot open: No such file or directory");
    err_init(&e);
    CHECK_EQ_INT(file_map(&f, dir, &e), ERR_USAGE);
    CHECK(strstr(e.msg, "is a directory") != NULL);
    err_init(&e);
    CHECK_EQ_INT(file_write_whole("/nonexistent/x", "x", 1, &e), ERR_IO);
    CHECK_EQ_STR(e.file, "/nonexistent/x");
    CHECK_EQ_INT(file_write_whole(dir, "x", 1, NULL), ERR_IO);
}

static int write_and_read(void *ctx)
{
    int rc = file_write_whole(in_dir("m"), "x", 1, NULL);
    unlink(in_dir("m"));
    return rc;
}

TEST(out_of_memory)
{
    CHECK_EVERY_ALLOC(write_and_read, NULL);
    CHECK_EQ_INT(entries(), 0);
}

static mode_t mode_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? st.st_mode & 0777 : 0;
}

/* A new file is no more open than its folder; one that is replaced is as open as it was. */
TEST(modes_are_kept)
{
    umask(022);
    REQUIRE(mkdir(in_dir("open"), 0755) == 0 && mkdir(in_dir("closed"), 0700) == 0);
    CHECK_EQ_INT(file_write_whole(in_dir("open/new"), "x", 1, NULL), 0);
    CHECK_EQ_INT(file_write_whole(in_dir("closed/new"), "x", 1, NULL), 0);
    CHECK_EQ_UINT(mode_of(in_dir("open/new")), 0644);
    CHECK_EQ_UINT(mode_of(in_dir("closed/new")), 0600);
    CHECK_EQ_INT(chmod(in_dir("open/new"), 0640), 0);
    CHECK_EQ_INT(file_write_whole(in_dir("open/new"), "y", 1, NULL), 0);
    CHECK_EQ_UINT(mode_of(in_dir("open/new")), 0640);
    unlink(in_dir("open/new"));
    unlink(in_dir("closed/new"));
    rmdir(in_dir("open"));
    rmdir(in_dir("closed"));
}

static int opened_in_child(int first_free)
{
    pid_t pid = fork();
    if (pid == 0) {
        for (int fd = first_free; fd <= 2; fd++) close(fd);
        int fd = fd_open("/dev/null", O_RDONLY, 0);
        _exit(fd);
    }
    int status = 0;
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(descriptors_are_above_the_standard_streams)
{
    for (int first = 0; first <= 3; first++) CHECK(opened_in_child(first) > 2);
    CHECK(fd_open("/no/such/file", O_RDONLY, 0) == -1 && errno == ENOENT);
}

TEST_MAIN
