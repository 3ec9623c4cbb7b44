#ifndef _GNU_SOURCE
#define _GNU_SOURCE // memmem
#endif
#include "CScan.h"

#include <string.h>

#if defined(__SSE2__) && !defined(SATCHEL_WITHOUT_SSE2)
#include <emmintrin.h>

typedef __m128i block;

static inline block load(const uint8_t *bytes) { return _mm_loadu_si128((const block *)bytes); }

static inline uint32_t mask(block found) { return (uint32_t)_mm_movemask_epi8(found); }

static inline uint32_t equal_to(block bytes, char byte) { return mask(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte))); }

/** As signed numbers, bytes over 0x7F are below the space, as control characters are. */
static inline uint32_t control_or_high(block bytes) { return mask(_mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20))); }

static inline uint32_t high(block bytes) { return mask(bytes); }

static inline uint32_t at_most_space(block bytes) {
    return mask(_mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x20)), bytes));
}
#else
/* The same with two words. */
typedef struct block {
    uint64_t words[2];
} block;

#define EACH(byte) (0x0101010101010101u * (uint64_t)(byte))

static inline block load(const uint8_t *bytes) {
    block loaded;
    memcpy(&loaded, bytes, sizeof loaded);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    for (int index = 0; index < 2; index++) loaded.words[index] = __builtin_bswap64(loaded.words[index]);
#endif
    return loaded;
}

/** One bit for each byte whose high bit is set. */
static inline uint32_t bits(uint64_t word) {
    return (uint32_t)(((word & EACH(0x80)) >> 7) * 0x0102040810204080u >> 56);
}

static inline uint32_t mask(uint64_t low, uint64_t high) { return bits(low) | bits(high) << 8; }

/** The high bit of each byte that is 0: no byte's sum reaches the next one. */
static inline uint64_t zero(uint64_t word) { return ~(((word & EACH(0x7F)) + EACH(0x7F)) | word); }

/** The high bit of each byte that is below 0x80 - `added`. */
static inline uint64_t below(uint64_t word, uint8_t added) { return ~(((word & EACH(0x7F)) + EACH(added)) | word); }

static inline uint32_t equal_to(block bytes, char byte) {
    return mask(zero(bytes.words[0] ^ EACH((uint8_t)byte)), zero(bytes.words[1] ^ EACH((uint8_t)byte)));
}

static inline uint32_t high(block bytes) { return mask(bytes.words[0], bytes.words[1]); }

static inline uint32_t control_or_high(block bytes) {
    return mask(below(bytes.words[0], 0x60), below(bytes.words[1], 0x60)) | high(bytes);
}

static inline uint32_t at_most_space(block bytes) {
    return mask(below(bytes.words[0], 0x5F), below(bytes.words[1], 0x5F));
}
#endif

enum { WIDTH = sizeof(block), ALL = 0xFFFF };

/** The block at `index`, and in `skipped` how many of its bytes are before `index`: the last block overlaps the one before. */
static inline block load_at(const uint8_t *bytes, size_t count, size_t index, uint32_t *skipped) {
    *skipped = 0;
    if (count - index >= WIDTH) return load(bytes + index);
    if (count >= WIDTH) {
        *skipped = (uint32_t)(WIDTH - (count - index));
        return load(bytes + count - WIDTH);
    }
    // Of fewer bytes than a block has: what is after them is ignored by the callers.
    uint8_t copy[WIDTH] = {0};
    memcpy(copy, bytes + index, count - index);
    return load(copy);
}

/** The special bytes of strings in JSON. */
static inline uint32_t special_bytes(block loaded) {
    return equal_to(loaded, '"') | equal_to(loaded, '\\') | control_or_high(loaded);
}

size_t satchel_plain_bytes(const uint8_t *bytes, size_t count) {
    size_t index = 0;
    for (; count - index >= WIDTH; index += WIDTH) {
        uint32_t special = special_bytes(load(bytes + index));
        if (special != 0) return index + (size_t)__builtin_ctz(special);
    }
    if (index < count) {
        uint32_t skipped;
        block loaded = load_at(bytes, count, index, &skipped);
        uint32_t special = special_bytes(loaded) >> skipped;
        size_t found = special == 0 ? count : index + (size_t)__builtin_ctz(special);
        return found < count ? found : count;
    }
    return count;
}

#if defined(__SSE2__) && !defined(SATCHEL_WITHOUT_SSE2)
/** Counts in whole blocks of plain bytes, without a mask of each: a byte of `starts` counts the words that begin at its
 *  place in the blocks. Returns how many bytes these are. */
static size_t words_of_blocks(const uint8_t *bytes, size_t count, bool escapes, uint32_t *after_space, size_t *words) {
    const block slash = _mm_set1_epi8(escapes ? '\\' : (char)0xFF), limit = _mm_set1_epi8(0x20);
    block before = _mm_cvtsi32_si128(*after_space ? 0xFF : 0), starts = _mm_setzero_si128();
    size_t index = 0, until_full = 255;
    for (; count - index >= WIDTH; index += WIDTH) {
        block loaded = load(bytes + index);
        if (mask(_mm_or_si128(loaded, _mm_cmpeq_epi8(loaded, slash))) != 0) break;
        block space = _mm_cmpeq_epi8(_mm_min_epu8(loaded, limit), loaded);
        block start = _mm_andnot_si128(space, _mm_or_si128(_mm_slli_si128(space, 1), before));
        before = _mm_srli_si128(space, 15);
        starts = _mm_sub_epi8(starts, start);
        if (--until_full == 0) {
            block sums = _mm_sad_epu8(starts, _mm_setzero_si128());
            *words += (size_t)_mm_cvtsi128_si32(sums) + (size_t)_mm_extract_epi16(sums, 4);
            starts = _mm_setzero_si128();
            until_full = 255;
        }
    }
    block sums = _mm_sad_epu8(starts, _mm_setzero_si128());
    *words += (size_t)_mm_cvtsi128_si32(sums) + (size_t)_mm_extract_epi16(sums, 4);
    *after_space = (uint32_t)_mm_cvtsi128_si32(before) & 1;
    return index;
}
#endif

size_t satchel_plain_words(const uint8_t *bytes, size_t count, bool escapes, bool *is_in_word, size_t *words) {
    uint32_t after_space = *is_in_word ? 0 : 1;
    size_t found = 0, index = 0;
    bool is_plain = true;
#if defined(__SSE2__) && !defined(SATCHEL_WITHOUT_SSE2)
    index = words_of_blocks(bytes, count, escapes, &after_space, &found);
#endif
    while (is_plain && index < count) {
        uint32_t skipped;
        block loaded = load_at(bytes, count, index, &skipped);
        uint32_t special = (high(loaded) | (escapes ? equal_to(loaded, '\\') : 0)) >> skipped;
        uint32_t space = at_most_space(loaded) >> skipped;
        uint32_t length = count - index < WIDTH ? (uint32_t)(count - index) : WIDTH;
        if (special != 0 && (uint32_t)__builtin_ctz(special) < length) {
            length = (uint32_t)__builtin_ctz(special);
            is_plain = false;
            if (length == 0) break;
        }
        uint32_t counted = ALL >> (WIDTH - length);
        found += (size_t)__builtin_popcount(~space & (space << 1 | after_space) & counted);
        after_space = space >> (length - 1) & 1;
        index += length;
    }
    *words += found;
    *is_in_word = after_space == 0;
    return index;
}

size_t satchel_opening_brackets(const uint8_t *bytes, size_t count) {
    size_t index = 0, found = 0;
    while (index < count) {
        uint32_t skipped;
        block loaded = load_at(bytes, count, index, &skipped);
        uint32_t brackets = (equal_to(loaded, '[') | equal_to(loaded, '{')) >> skipped;
        found += (size_t)__builtin_popcount(brackets);
        index += WIDTH - skipped;
    }
    return found;
}

bool satchel_contains(const void *bytes, size_t count, const void *part, size_t part_count) {
    return part_count == 0 || (part_count <= count && memmem(bytes, count, part, part_count) != NULL);
}
