/* test_glossary.c: the table can be searched, printed and read. */
#include "base/glossary.h"

#include <string.h>
#include <strings.h>

#include "test.h"

TEST(terms_are_sorted_and_there_once)
{
    int n = 0;
    for (const struct glossary_term *g = glossary; g->term; g++, n++)
        if (n) CHECK(strcasecmp(g[-1].term, g->term) < 0);
    CHECK(n > 40);
}

TEST(meanings_are_sentences)
{
    for (const struct glossary_term *g = glossary; g->term; g++) {
        size_t n = strlen(g->meaning);
        CHECK(n > 20 && n < 200);
        CHECK(g->meaning[n - 1] == '.');
        CHECK(g->meaning[0] >= 'A' && g->meaning[0] <= 'Z');
    }
}

/* How often the word is a form of a term, whatever the term. */
static int times(const char *word, size_t n)
{
    int found = 0;
    for (const struct glossary_term *g = glossary; g->term; g++) {
        found += strlen(g->term) == n && memcmp(g->term, word, n) == 0;
        for (const char *a = g->also; a; a = strchr(a, '|') ? strchr(a, '|') + 1 : NULL)
            found += strcspn(a, "|") == n && memcmp(a, word, n) == 0;
    }
    return found;
}

/* The page marks every form: one that is there twice would have two meanings. */
TEST(every_form_belongs_to_one_term)
{
    for (const struct glossary_term *g = glossary; g->term; g++) {
        CHECK_EQ_INT(times(g->term, strlen(g->term)), 1);
        for (const char *a = g->also; a; a = strchr(a, '|') ? strchr(a, '|') + 1 : NULL) {
            CHECK(strcspn(a, "|") > 0);
            CHECK_EQ_INT(times(a, strcspn(a, "|")), 1);
        }
    }
}

TEST_MAIN
