/* screen.c: see screen.h. */
#include "report/screen.h"

#include <stdio.h>
#include <string.h>

#include "base/human.h"
#include "base/shell.h"
#include "base/stats.h"

int screen_unit(int64_t largest_ns)
{
    if (largest_ns < 0) largest_ns = -largest_ns;
    return largest_ns < 10000 ? 0 : largest_ns < 10000000 ? 1 : largest_ns < 10000000000 ? 2 : 3;
}

struct human screen_time_text(int64_t ns, int unit)
{
    static const int64_t least[] = {1, 5, 5000, 5000000}; /* what rounds to 0.01 of the unit */
    static const struct human none = {"-"},
                              tiny[] = {{"0"}, {"<0.01 us"}, {"<0.01 ms"}, {"<0.01 s"}};
    if (ns == 0) return none;
    return ns > 0 && ns < least[unit] ? tiny[unit] : human_time_in(ns, unit);
}

void screen_time(struct text_table *t, int col, int64_t ns, int unit)
{
    text_table_cell(t, col, screen_time_text(ns, unit).s);
}

void screen_time_if(struct text_table *t, int col, int64_t ns, int unit, bool trusted)
{
    if (trusted) screen_time(t, col, ns, unit);
    else text_table_cell(t, col, "?");
}

void screen_count(struct text_table *t, int col, uint64_t n)
{
    text_table_cell(t, col, n ? human_count(n).s : "-");
}

void screen_bytes(struct text_table *t, int col, int64_t bytes)
{
    text_table_cell(t, col, bytes ? human_bytes(bytes).s : "-");
}

void screen_table(const struct screen *s, const struct text_table *t)
{
    text_table_print(t, s->out, 2, s->columns ? s->columns : s->width, s->color);
}

void screen_more(const struct screen *s, uint32_t n_rows)
{
    if (n_rows <= s->limit) return;
    buf_printf(s->out, "  ... and %s more (--limit 0 shows all)\n",
               human_count(n_rows - s->limit).s);
}

bool screen_full(const struct screen *s, uint32_t shown, double sum, double total)
{
    if (shown >= s->limit) return true;
    return !s->limited && shown && total > 0 && sum >= total * SCREEN_ENOUGH_PCT / 100;
}

uint32_t screen_rows(const struct screen *s, uint32_t enough, uint32_t n)
{
    return enough + 1 == n && enough < s->limit ? n : enough;
}

void screen_rest(const struct screen *s, uint32_t shown, uint32_t n_rows, double sum, double total)
{
    uint32_t more = n_rows - shown;
    double rest = stats_pct(total - sum, total);
    if (n_rows <= shown) return;
    if (total <= 0) {
        screen_more(s, n_rows);
        return;
    }
    buf_printf(s->out, "  %s more row%s hold%s %s%s (--limit 0 shows all)\n", human_count(more).s,
               more == 1 ? "" : "s", more == 1 ? "s" : "", rest < 0.05 ? "" : "the other ",
               rest < 0.05 ? "less than 0.1 %" : human_pct(rest).s);
}

/* Commands that look at all of a recording anyway have no option for it. */
static const char *whole_option(const struct screen *s, const char *command)
{
    static const char *const always[] = {"info ", "offload "};
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (strncmp(command, always[i], strlen(always[i])) == 0) return "";
    return s->whole ? " --whole" : "";
}

void screen_next(const struct screen *s, const struct screen_next *list, int n)
{
    char line[4][512];
    int widest = 0;
    struct shell_word path = shell_word(s->path);
    if (n > 4) n = 4;
    for (int i = 0; i < n; i++) {
        const char *hole = strstr(list[i].command, "%s");
        int before = hole ? (int)(hole - list[i].command) : (int)strlen(list[i].command);
        int len = snprintf(line[i], sizeof line[i], "strata %.*s%s%s%s", before, list[i].command,
                           hole ? path.s : "", hole ? whole_option(s, list[i].command) : "",
                           hole ? hole + 2 : "");
        if (len > widest) widest = len;
    }
    for (int i = 0; i < n; i++) {
        /* a long path pushes the explanation off the screen: then it is left out */
        bool fits = 6 + widest + 3 + (int)strlen(list[i].why) <= s->width;
        buf_printf(s->out, "%s%s", i ? "      " : "next: ", line[i]);
        if (fits) buf_printf(s->out, "%*s%s", widest - (int)strlen(line[i]) + 3, "", list[i].why);
        buf_addc(s->out, '\n');
    }
}

void screen_no_device(const struct screen *s)
{
    static const struct screen_next next[] = {{"report %s", "where the time goes on the CPU"}};
    buf_adds(s->out, "the trace has no device work\n\n");
    screen_next(s, next, 1);
}
