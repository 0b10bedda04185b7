/* human.c: see human.h. */
#include "base/human.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/utf8.h"

static int decimals_for(double v)
{
    v = fabs(v);
    return v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2;
}

static void put(struct human *h, double v, const char *unit)
{
    snprintf(h->s, sizeof h->s, "%.*f %s", decimals_for(v), v, unit);
}

struct human human_time(int64_t ns)
{
    struct human h;
    double a = fabs((double)ns);
    if (a < 999.5) snprintf(h.s, sizeof h.s, "%lld ns", (long long)ns);
    else if (a < 999.5e3) put(&h, (double)ns / 1e3, "us");
    else if (a < 999.5e6) put(&h, (double)ns / 1e6, "ms");
    else put(&h, (double)ns / 1e9, "s");
    if (ns == 0) snprintf(h.s, sizeof h.s, "0");
    return h;
}

struct human human_time_in(int64_t ns, int unit)
{
    static const double scale[] = {1, 1e3, 1e6, 1e9};
    static const char *const name[] = {"ns", "us", "ms", "s"};
    struct human h;
    put(&h, (double)ns / scale[unit], name[unit]);
    return h;
}

struct human human_bytes(int64_t bytes)
{
    static const char *const name[] = {"B", "KB", "MB", "GB", "TB", "PB", "EB"};
    struct human h;
    double v = (double)bytes;
    int unit = 0;
    while (fabs(v) >= 999.5 && unit < 6) v /= 1000, unit++;
    if (unit == 0) snprintf(h.s, sizeof h.s, "%lld B", (long long)bytes);
    else put(&h, v, name[unit]);
    return h;
}

struct human human_count(uint64_t n)
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
    struct human h;
    int o = 0;
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0) h.s[o++] = ',';
        h.s[o++] = digits[i];
    }
    h.s[o] = '\0';
    return h;
}

struct human human_pct(double pct)
{
    struct human h;
    if (!isfinite(pct)) snprintf(h.s, sizeof h.s, "-");
    else snprintf(h.s, sizeof h.s, "%.*f %%", fabs(pct) >= 99.95 ? 0 : 1, pct);
    return h;
}

static size_t add_char(char *out, size_t o, size_t cap, struct str s, size_t i, size_t len)
{
    unsigned char c = (unsigned char)s.p[i];
    bool odd = !len || c < 0x20 || c == 0x7f;
    if (o + (odd ? 1 : len) >= cap) return o;
    if (odd) out[o++] = '?';
    else memcpy(out + o, s.p + i, len), o += len;
    return o;
}

const char *human_cut(struct str s, int width, char *out, size_t cap)
{
    int total = utf8_width(s);
    int head = total > width ? (width - 3) * 2 / 5 : total;
    int tail = total > width ? width - 3 - head : 0;
    if (head < 0) head = 0;
    size_t o = 0;
    int col = 0;
    bool dotted = false;
    for (size_t i = 0; i < s.n;) {
        size_t len = utf8_len(s, i);
        int w = utf8_width(str_from(s.p + i, len ? len : 1));
        if (col + w <= head || col >= total - tail) {
            o = add_char(out, o, cap, s, i, len);
        } else if (!dotted) {
            dotted = true;
            for (int k = 0; k < 3 && o + 1 < cap; k++) out[o++] = '.';
        }
        col += w;
        i += len ? len : 1;
    }
    if (cap) out[o < cap ? o : cap - 1] = '\0';
    return out;
}
