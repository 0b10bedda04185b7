/* test_thresholds.c: every threshold is read by some rule or view, set by its name, and explained.
 */
#include "analyze/thresholds.h"

#include <ctype.h>
#include <glob.h>

#include "base/file.h"
#include "cli/help/help.h"
#include "test.h"

/* How often the analysis reads it: "th.value[TH_GAP_US]", outside of the table. */
static int readers_of(const char *name)
{
    char path[512], read[128];
    int n = snprintf(read, sizeof read, "value[TH_%s]", name);
    for (int i = 0; i < n; i++)
        if (i > 8) read[i] = (char)toupper((unsigned char)read[i]);
    glob_t files;
    int readers = 0;
    snprintf(path, sizeof path, "%s/../../src/analyze/*/*.c", TEST_DATA);
    if (!CHECK_EQ_INT(glob(path, 0, NULL, &files), 0)) return 0;
    for (size_t i = 0; i < files.gl_pathc; i++) {
        struct file_map f;
        if (!CHECK_EQ_INT(file_map(&f, files.gl_pathv[i], NULL), 0)) continue;
        readers += str_has(str_from(f.p, f.n), read);
        file_unmap(&f);
    }
    globfree(&files);
    return readers;
}

TEST(every_threshold_is_read)
{
    for (int i = 0; i < TH_COUNT; i++)
        if (!CHECK(readers_of(threshold_name((enum threshold)i)) > 0))
            printf("  %s\n", threshold_name((enum threshold)i));
    CHECK_EQ_INT(readers_of("no_such_thing"), 0);
}

TEST(every_threshold_is_set_by_its_name)
{
    for (int i = 0; i < TH_COUNT; i++) {
        struct thresholds th;
        char text[64];
        thresholds_init(&th);
        CHECK_NEAR(th.value[i], threshold_default((enum threshold)i), 0);
        snprintf(text, sizeof text, "%s=1.25", threshold_name((enum threshold)i));
        CHECK_EQ_INT(thresholds_set(&th, text, NULL), 0);
        CHECK_NEAR(th.value[i], 1.25, 0);
    }
}

TEST(what_is_no_threshold_or_no_number_is_refused)
{
    static const char *const wrong[] = {
        "gap_us",      "gap_us=",    "gap_us=x", "gap_us=1x", "gap_us=-1",
        "gap_us=1e99", "gap_us=nan", "=1",       "nothing=1", ""};
    struct thresholds th;
    thresholds_init(&th);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK_EQ_INT(thresholds_set(&th, wrong[i], NULL), ERR_USAGE);
    CHECK_NEAR(th.value[TH_GAP_US], threshold_default(TH_GAP_US), 0);
}

TEST(help_lists_every_threshold)
{
    struct cmd_term t;
    for (int i = 0; i < TH_COUNT; i++) {
        REQUIRE(terms_thresholds[0]->get(i, &t));
        CHECK_EQ_STR(t.name, threshold_name((enum threshold)i));
        CHECK(strlen(t.help) > 10);
        CHECK(t.value[0]);
    }
    CHECK(!terms_thresholds[0]->get(TH_COUNT, &t));
}

TEST_MAIN
