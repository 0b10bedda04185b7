/* simd.h: looking at many bytes at once. Each function answers with bits: bit i is about byte i.
 *
 * Which instructions are used is fixed when a file is compiled; the files that include this are
 * compiled once for each instruction set (see src/meson.build) and chosen from at run time. */
#ifndef STRATA_IMPORT_JSON_SIMD_H
#define STRATA_IMPORT_JSON_SIMD_H

#include <stdint.h>
#include <string.h>

/* One step of each instruction set: a vector, loading one, and the bytes that pass a test. */
#if defined(__AVX512BW__)

#include <immintrin.h>
enum { SIMD_WIDTH = 64 };
typedef __m512i simd_v;
#define SIMD_LOAD(p)     _mm512_loadu_si512(p)
#define SIMD_EQ(v, c)    _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8(c))
#define SIMD_BELOW(v, c) _mm512_cmplt_epu8_mask(v, _mm512_set1_epi8(c))
#define SIMD_HIGH(v)     _mm512_movepi8_mask(v)
#define SIMD_SUB(v, c)   _mm512_sub_epi8(v, _mm512_set1_epi8(c))
#define SIMD_SAME(v, w)  _mm512_cmpeq_epi8_mask(v, w)

#elif defined(__AVX2__)

#include <immintrin.h>
enum { SIMD_WIDTH = 32 };
typedef __m256i simd_v;
#define SIMD_BITS(m)  ((uint64_t)(uint32_t)_mm256_movemask_epi8(m))
#define SIMD_LOAD(p)  _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define SIMD_EQ(v, c) SIMD_BITS(_mm256_cmpeq_epi8(v, _mm256_set1_epi8(c)))
#define SIMD_BELOW(v, c) \
    SIMD_BITS(_mm256_cmpeq_epi8(_mm256_min_epu8(v, _mm256_set1_epi8((c)-1)), v))
#define SIMD_HIGH(v)    SIMD_BITS(v)
#define SIMD_SUB(v, c)  _mm256_sub_epi8(v, _mm256_set1_epi8(c))
#define SIMD_SAME(v, w) SIMD_BITS(_mm256_cmpeq_epi8(v, w))

#elif defined(__SSE2__)

#include <emmintrin.h>
enum { SIMD_WIDTH = 16 };
typedef __m128i simd_v;
#define SIMD_BITS(m)     ((uint64_t)(uint32_t)_mm_movemask_epi8(m))
#define SIMD_LOAD(p)     _mm_loadu_si128((const __m128i *)(const void *)(p))
#define SIMD_EQ(v, c)    SIMD_BITS(_mm_cmpeq_epi8(v, _mm_set1_epi8(c)))
#define SIMD_BELOW(v, c) SIMD_BITS(_mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8((c)-1)), v))
#define SIMD_HIGH(v)     SIMD_BITS(v)
#define SIMD_SUB(v, c)   _mm_sub_epi8(v, _mm_set1_epi8(c))
#define SIMD_SAME(v, w)  SIMD_BITS(_mm_cmpeq_epi8(v, w))

#elif defined(__ARM_NEON) && defined(__aarch64__)

#include <arm_neon.h>
enum { SIMD_WIDTH = 16 };
typedef uint8x16_t simd_v;
static inline uint64_t simd_bits(uint8x16_t m)
{
    static const uint8_t weights[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t bits = vandq_u8(m, vld1q_u8(weights));
    return (uint64_t)vaddv_u8(vget_low_u8(bits)) | (uint64_t)vaddv_u8(vget_high_u8(bits)) << 8;
}
#define SIMD_LOAD(p)     vld1q_u8((const uint8_t *)(p))
#define SIMD_EQ(v, c)    simd_bits(vceqq_u8(v, vdupq_n_u8((uint8_t)(c))))
#define SIMD_BELOW(v, c) simd_bits(vcltq_u8(v, vdupq_n_u8((uint8_t)(c))))
#define SIMD_HIGH(v)     simd_bits(vcgeq_u8(v, vdupq_n_u8(0x80)))
#define SIMD_SUB(v, c)   vsubq_u8(v, vdupq_n_u8((uint8_t)(c)))
#define SIMD_SAME(v, w)  simd_bits(vceqq_u8(v, w))

#else                                /* eight bytes in one register */

enum { SIMD_WIDTH = 8 };
typedef uint64_t simd_v;
#define SIMD_EACH (UINT64_MAX / 255) /* 0x0101...01 */
static inline uint64_t simd_load(const char *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}
/* The top bit of each byte, gathered into eight bits. */
static inline uint64_t simd_gather(uint64_t tops)
{
    return ((tops >> 7) & SIMD_EACH) * 0x0102040810204080u >> 56;
}
static inline uint64_t simd_below(uint64_t v, uint8_t c) /* exact for c <= 128 */
{
    uint64_t low = (v | 0x80 * SIMD_EACH) - c * SIMD_EACH; /* top bit: the low seven are >= c */
    return simd_gather(~low & ~v);
}
static inline uint64_t simd_sub(uint64_t v, uint8_t c)
{
    uint64_t tops = 0x80 * SIMD_EACH, each_c = c * SIMD_EACH;
    return ((v | tops) - (each_c & ~tops)) ^ ((v ^ ~each_c) & tops);
}
#define SIMD_LOAD(p)     simd_load(p)
#define SIMD_EQ(v, c)    simd_below((v) ^ (uint8_t)(c)*SIMD_EACH, 1)
#define SIMD_BELOW(v, c) simd_below(v, c)
#define SIMD_HIGH(v)     simd_gather(v)
#define SIMD_SUB(v, c)   simd_sub(v, c)
#define SIMD_SAME(v, w)  simd_below((v) ^ (w), 1)

#endif

#define SIMD_ALL (UINT64_MAX >> (64 - SIMD_WIDTH))

/* Bytes that are the same in both, of SIMD_WIDTH. */
static inline uint64_t simd_same(const char *p, const char *q)
{
    simd_v v = SIMD_LOAD(p), w = SIMD_LOAD(q);
    return SIMD_SAME(v, w);
}

/* Bytes at which a scan through a string must stop and look: quote, backslash, control. */
struct simd_string {
    uint64_t stop, high;
};

static inline struct simd_string simd_string(const char *p)
{
    simd_v v = SIMD_LOAD(p);
    return (struct simd_string){SIMD_EQ(v, '"') | SIMD_EQ(v, '\\') | SIMD_BELOW(v, 0x20),
                                SIMD_HIGH(v)};
}

/* Bytes that are not blank (space, tab to carriage return), of SIMD_WIDTH. */
static inline uint64_t simd_solid(const char *p)
{
    simd_v v = SIMD_LOAD(p);
    uint64_t blank = SIMD_EQ(v, ' ') | SIMD_BELOW(SIMD_SUB(v, 9), 5);
    return ~blank & SIMD_ALL;
}

/* What an array of numbers and strings is made of, in 64 bytes. */
struct simd_array {
    uint64_t quote, open, close;
    uint64_t plain; /* what may stand outside strings: + , - . / digits, blanks, brackets */
    uint64_t stop;  /* backslashes and control characters: not for the fast way in strings */
};

static inline struct simd_array simd_array(const char *p)
{
    struct simd_array a = {0};
    for (int i = 0; i < 64; i += SIMD_WIDTH) {
        simd_v v = SIMD_LOAD(p + i);
        uint64_t open = SIMD_EQ(v, '['), close = SIMD_EQ(v, ']');
        uint64_t blank = SIMD_EQ(v, ' ') | SIMD_BELOW(SIMD_SUB(v, 9), 5);
        a.quote |= (uint64_t)SIMD_EQ(v, '"') << i;
        a.open |= open << i;
        a.close |= close << i;
        a.plain |= (open | close | blank | SIMD_BELOW(SIMD_SUB(v, '+'), 15)) << i;
        a.stop |= ((uint64_t)SIMD_EQ(v, '\\') | SIMD_BELOW(v, 0x20)) << i;
    }
    return a;
}

/* For bits that open and close alternately: all bits from an opening one up to its closing one,
 * which is not included. */
static inline uint64_t simd_inside(uint64_t quotes)
{
    for (int shift = 1; shift < 64; shift *= 2) quotes ^= quotes << shift;
    return quotes;
}

#endif
