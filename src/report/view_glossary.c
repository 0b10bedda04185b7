/* view_glossary.c: see built_in.h. */
#include "report/built_in.h"

#include <string.h>

#include "base/glossary.h"

enum { MEANING_COLUMN = 20 };

void view_glossary_text(struct buf *out, bool color, int width)
{
    for (const struct glossary_term *g = glossary; g->term; g++) {
        buf_adds(out, "  ");
        text_styled(out, TEXT_BOLD, color, g->term);
        buf_pad(out, ' ', MEANING_COLUMN - 2 - (int)strlen(g->term));
        text_wrap(out, g->meaning, MEANING_COLUMN, width);
    }
}

/* "drains|drained" as an array. */
static void put_also(struct jout *j, const char *also)
{
    jout_arr(j, "also");
    for (size_t n; also && *also; also += n + (also[n] == '|')) {
        n = strcspn(also, "|");
        jout_str(j, NULL, str_from(also, n));
    }
    jout_end_arr(j);
}

void view_glossary_json(struct jout *j, const char *key)
{
    jout_arr(j, key);
    for (const struct glossary_term *g = glossary; g->term; g++) {
        jout_obj(j, NULL);
        jout_cstr(j, "term", g->term);
        put_also(j, g->also);
        jout_cstr(j, "meaning", g->meaning);
        jout_end_obj(j);
    }
    jout_end_arr(j);
}
