/* test_rule_pages.c: every rule has a page, and the index lists it. */
#include "analyze/rules/rules.h"
#include "base/file.h"
#include "test.h"

static bool page_has(const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/../../docs/rules/%s.md", TEST_DATA, name);
    struct file_map f;
    if (!CHECK_EQ_INT(file_map(&f, path, NULL), 0)) return false;
    bool has = str_has(str_from(f.p, f.n), text);
    file_unmap(&f);
    return has;
}

TEST(every_rule_has_a_page_and_stands_in_the_index)
{
    for (int i = 0; rules[i]; i++) {
        char link[128];
        snprintf(link, sizeof link, "](%s.md)", rules[i]->id);
        CHECK(page_has(rules[i]->id, rules[i]->id));
        CHECK(page_has(rules[i]->id, "## How we know"));
        CHECK(page_has(rules[i]->id, "## Fix"));
        if (!CHECK(page_has("README", link))) fprintf(stderr, "%s\n", rules[i]->id);
    }
}

TEST(ids_are_unique_and_summaries_short)
{
    for (int i = 0; rules[i]; i++) {
        CHECK(strlen(rules[i]->summary) < 90);
        for (int k = i + 1; rules[k]; k++) CHECK(strcmp(rules[i]->id, rules[k]->id) != 0);
    }
}

TEST_MAIN
