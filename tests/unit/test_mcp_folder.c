/* test_mcp_folder.c: what lies in a folder is found, what does not is refused. */
#include "cli/mcp/mcp_private.h"

#include <sys/stat.h>

#include "base/file.h"
#include "scratch.h"
#include "test.h"

static struct arena mem;
static struct mcp_folders folders;
static struct err e;

static void make(void)
{
    CHECK_EQ_INT(mkdir(scratch("in"), 0700), 0);
    CHECK_EQ_INT(mkdir(scratch("in/sub"), 0700), 0);
    CHECK_EQ_INT(mkdir(scratch("in2"), 0700), 0);
    CHECK_EQ_INT(file_write_whole(scratch("secret.json"), "[]", 2, NULL), 0);
    CHECK_EQ_INT(file_write_whole(scratch("in2/other.json"), "[]", 2, NULL), 0);
    CHECK_EQ_INT(file_write_whole(scratch("in/sub/a.json"), "{\"traceEvents\":[]}", 18, NULL), 0);
    CHECK_EQ_INT(symlink(scratch("secret.json"), scratch("in/out.json")), 0);
    CHECK_EQ_INT(symlink("sub/a.json", scratch("in/here.json")), 0);
    char *paths[] = {(char *)scratch("in")};
    err_init(&e);
    CHECK_EQ_INT(mcp_folders_init(&folders, paths, 1, &mem, &e), 0);
}

static void clear(void)
{
    static const char *const files[] = {"in/sub/a.json", "in/out.json",    "in/here.json",
                                        "secret.json",   "in2/other.json", NULL};
    for (int i = 0; files[i]; i++) unlink(scratch(files[i]));
    rmdir(scratch("in/sub"));
    rmdir(scratch("in"));
    rmdir(scratch("in2"));
    arena_done(&mem);
}

static int find(const char *name, struct mcp_path *p)
{
    err_init(&e);
    return mcp_folder_find(&folders, name, &mem, p, &e);
}

TEST(what_lies_inside)
{
    struct mcp_path p, again;
    make();
    REQUIRE(find("sub/a.json", &p) == 0);
    CHECK_EQ_STR(p.shown, "sub/a.json");
    CHECK_EQ_INT(find("sub/../sub/./a.json", &again), 0);
    CHECK_EQ_STR(again.real, p.real);
    CHECK_EQ_UINT(again.signature, p.signature);
    CHECK_EQ_INT(find(p.real, &again), 0);
    CHECK_EQ_INT(find("here.json", &again), 0); /* a link that stays inside */
    CHECK_EQ_STR(again.real, p.real);
    CHECK_EQ_INT(find("sub", &again), 0);
    CHECK_EQ_INT(file_write_whole(scratch("in/sub/a.json"), "{\"traceEvents\":[ ]}", 19, NULL), 0);
    CHECK_EQ_INT(find("sub/a.json", &again), 0);
    CHECK(again.signature != p.signature);
    clear();
}

TEST(what_does_not)
{
    static const char *const names[] = {"out.json",
                                        "../secret.json",
                                        "sub/../../secret.json",
                                        "/etc/passwd",
                                        "nothing.json",
                                        "",
                                        "../in2/other.json",
                                        "..",
                                        "/"};
    struct mcp_path p;
    make();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        CHECK_EQ_INT(find(names[i], &p), ERR_USAGE);
        CHECK(strstr(e.msg, "`traces`") != NULL);
    }
    /* a name that only begins like the folder */
    CHECK_EQ_INT(find(scratch("in2/other.json"), &p), ERR_USAGE);
    /* a folder that holds a link that leads out */
    CHECK_EQ_INT(find(".", &p), ERR_USAGE);
    CHECK(strstr(e.msg, "out.json") != NULL);
    clear();
}

/* The answer about a file elsewhere is the same whether there is one or not. */
static const char *answer_without_name(const char *name, char *out, size_t cap)
{
    struct mcp_path p;
    err_init(&e);
    CHECK_EQ_INT(find(name, &p), ERR_USAGE);
    const char *rest = strstr(e.msg, "' ");
    snprintf(out, cap, "%s", rest ? rest : "");
    return out;
}

TEST(which_files_lie_elsewhere_is_not_said)
{
    char there[512], missing[512];
    make();
    answer_without_name("/etc/passwd", there, sizeof there);
    CHECK_EQ_STR(answer_without_name("/etc/no such file", missing, sizeof missing), there);
    CHECK_EQ_STR(answer_without_name("../secret.json", missing, sizeof missing), there);
    CHECK_EQ_STR(answer_without_name("../no such file", missing, sizeof missing), there);
    CHECK_EQ_STR(answer_without_name("out.json", missing, sizeof missing), there);
    CHECK_EQ_STR(answer_without_name("no/such/file", missing, sizeof missing), there);
    clear();
}

TEST(the_list_has_no_links)
{
    struct buf out = {0};
    struct jout j;
    make();
    jout_init(&j, &out, false);
    CHECK_EQ_INT(mcp_folder_list(&folders, &mem, &j, &e), 0);
    CHECK_EQ_STR(buf_c(&out),
                 "{\"traces\":[{\"trace\":\"sub/a.json\",\"kind\":\"file\",\"bytes\":18}]}");
    buf_done(&out);
    clear();
}

TEST(what_is_no_folder)
{
    make();
    char slash[] = "/", missing[] = "no/such/folder";
    char *file[] = {(char *)scratch("secret.json")}, *root[] = {slash}, *none[] = {missing};
    CHECK_EQ_INT(mcp_folders_init(&folders, file, 1, &mem, &e), ERR_USAGE);
    CHECK_EQ_INT(mcp_folders_init(&folders, root, 1, &mem, &e), ERR_USAGE);
    CHECK_EQ_INT(mcp_folders_init(&folders, none, 1, &mem, &e), ERR_USAGE);
    clear();
}

TEST_MAIN
