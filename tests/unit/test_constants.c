/* test_constants.c: every constant is used, explained, and in one table; no other number decides.
 */
#include <ctype.h>
#include <glob.h>

#include "analyze/constants_all.h"
#include "base/file.h"
#include "test.h"

static const struct {
    const char *type, *name, *unit, *why;
    double value;
} rows[] = {
#define ROW(type, name, value, unit, why) {#type, #name, unit, why, value},
    CONSTANTS_ALL(ROW)};

enum { ROWS = sizeof rows / sizeof *rows };

static bool uses(struct str text, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i + n <= text.n; i++) {
        if (memcmp(text.p + i, name, n) != 0) continue;
        bool begins = i == 0 || (!isalnum((unsigned char)text.p[i - 1]) && text.p[i - 1] != '_');
        char after = i + n < text.n ? text.p[i + n] : ' ';
        if (begins && !isalnum((unsigned char)after) && after != '_') return true;
    }
    return false;
}

static void look_in(const char *pattern, uint32_t *used)
{
    glob_t files;
    char path[512];
    snprintf(path, sizeof path, "%s/../../src/%s", TEST_DATA, pattern);
    REQUIRE(glob(path, 0, NULL, &files) == 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        struct file_map f;
        if (!CHECK_EQ_INT(file_map(&f, files.gl_pathv[i], NULL), 0)) continue;
        for (int k = 0; k < ROWS; k++) used[k] += uses(str_from(f.p, f.n), rows[k].name);
        file_unmap(&f);
    }
    globfree(&files);
}

TEST(every_constant_is_used)
{
    uint32_t used[ROWS] = {0};
    look_in("analyze/*.c", used);
    look_in("analyze/*/*.c", used);
    look_in("report/*/*.c", used);
    for (int k = 0; k < ROWS; k++)
        if (!CHECK(used[k] > 0)) fprintf(stderr, "%s\n", rows[k].name);
}

TEST(every_constant_has_a_unit_and_a_reason)
{
    for (int k = 0; k < ROWS; k++)
        if (!CHECK(rows[k].unit[0] && strlen(rows[k].why) > 12))
            fprintf(stderr, "%s\n", rows[k].name);
}

TEST(no_two_constants_have_one_name)
{
    for (int i = 0; i < ROWS; i++)
        for (int k = i + 1; k < ROWS; k++) CHECK(strcmp(rows[i].name, rows[k].name) != 0);
}

TEST_MAIN
