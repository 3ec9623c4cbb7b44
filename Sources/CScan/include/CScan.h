/* CScan.h: the inner loops over the bytes of texts, 16 at a time. They are C, because Swift has no access to the
 * instructions that make a mask of a vector: its vectors compare byte by byte, 30 times slower (measured). */
#ifndef CSCAN_H
#define CSCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Returns the number of bytes before the first quote, backslash, control character or byte over 0x7F; `count` without
 *  such a byte. */
size_t satchel_plain_bytes(const uint8_t *bytes, size_t count);

/** Counts the words, separated by bytes up to 0x20, before the first byte over 0x7F, and with `escapes` before the first
 *  backslash.
 *  @param is_in_word whether the last character before these belongs to a word; afterwards, whether the last counted one does
 *  @param words is increased
 *  Returns the number of bytes before that one; `count` without such a byte. */
size_t satchel_plain_words(const uint8_t *bytes, size_t count, bool escapes, bool *is_in_word, size_t *words);

/** Returns whether bytes contain a sequence of bytes, in linear time: memmem(3), which Swift's import of the C library
 *  leaves out. */
bool satchel_contains(const void *bytes, size_t count, const void *part, size_t part_count);

/** Returns the number of opening brackets, of arrays and of objects. */
size_t satchel_opening_brackets(const uint8_t *bytes, size_t count);

#endif
