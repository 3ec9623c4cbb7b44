/* The loops of CScan beside loops over single bytes: compiled with the processor's vectors and without them. */
#include "CScan.h"

#include "check.h"

enum { LONGEST = 100, TEXTS = 3000 };

static size_t plain_bytes(const uint8_t *bytes, size_t count) {
    for (size_t index = 0; index < count; index++) {
        if (bytes[index] == '"' || bytes[index] == '\\' || bytes[index] < 0x20 || bytes[index] > 0x7F) return index;
    }
    return count;
}

static size_t plain_words(const uint8_t *bytes, size_t count, bool escapes, bool *is_in_word, size_t *words) {
    for (size_t index = 0; index < count; index++) {
        if (bytes[index] > 0x7F || (escapes && bytes[index] == '\\')) return index;
        bool is_space = bytes[index] <= 0x20;
        if (!is_space && !*is_in_word) (*words)++;
        *is_in_word = !is_space;
    }
    return count;
}

static size_t opening_brackets(const uint8_t *bytes, size_t count) {
    size_t found = 0;
    for (size_t index = 0; index < count; index++) found += bytes[index] == '[' || bytes[index] == '{';
    return found;
}

/** Mostly letters, so that there are long texts without a byte at which a loop ends. */
static uint8_t random_byte(void) {
    static const uint8_t special[] = {'"', '\\', '[', '{', ' ', '\n', 0, 0x1F, 0x7F, 0x80, 0xFF, '}', ']', '!', 0x21};
    int chosen = rand() % 40;
    return chosen < (int)sizeof special ? special[chosen] : (uint8_t)('a' + chosen % 26);
}

/** Whether all loops end where those over single bytes do, and have counted the same. */
static bool agrees(const uint8_t *bytes, size_t count) {
    bool agrees = satchel_plain_bytes(bytes, count) == plain_bytes(bytes, count) &&
                  satchel_opening_brackets(bytes, count) == opening_brackets(bytes, count);
    for (int variant = 0; variant < 4; variant++) {
        bool in_word = variant & 1, expected_in_word = in_word;
        size_t words = 3, expected_words = 3;
        size_t end = satchel_plain_words(bytes, count, variant & 2, &in_word, &words);
        size_t expected = plain_words(bytes, count, variant & 2, &expected_in_word, &expected_words);
        agrees &= end == expected && words == expected_words && in_word == expected_in_word;
    }
    return agrees;
}

int main(void) {
    srand(7);
    for (int number = 0; number < TEXTS; number++) {
        /* Allocated with just its size, so that a memory checker finds what is read after its end. */
        size_t count = (size_t)(rand() % (number % 50 == 0 ? LONGEST * 60 : LONGEST));
        uint8_t *bytes = malloc(count > 0 ? count : 1);
        if (bytes == NULL) give_up("no memory");
        bool is_plain = number % 3 == 0;
        for (size_t index = 0; index < count; index++) {
            bytes[index] = is_plain && rand() % 200 != 0 ? (uint8_t)"ab c[{"[rand() % 6] : random_byte();
        }
        CHECK(agrees(bytes, count), "text %d of %zu bytes", number, count);
        free(bytes);
    }
    return close_checks();
}
