/* story_limit: the limit of W4. One pass over the bytes finds the few fields that matter and steps over the
 * rest; then the graph. Nothing is validated that the pass does not stumble over: no UTF-8, no numbers, no
 * duplicate keys, no positions.
 *
 * Options: story_run.h */
#include "story_graph.h"
#ifdef __SSE2__
#include <emmintrin.h>
#endif

typedef struct reader {
    const char *cursor, *end;
} reader;

/** The quote that ends the string whose content begins at `cursor`; the padding holds one at the latest. */
static inline const char *string_end(const char *cursor) {
    for (;;) {
#ifdef __SSE2__
        __m128i block = _mm_loadu_si128((const __m128i *)cursor);
        __m128i quotes = _mm_cmpeq_epi8(block, _mm_set1_epi8('"'));
        __m128i slashes = _mm_cmpeq_epi8(block, _mm_set1_epi8('\\'));
        int found = _mm_movemask_epi8(_mm_or_si128(quotes, slashes));
        if (found == 0) {
            cursor += 16;
            continue;
        }
        cursor += __builtin_ctz((unsigned)found);
#endif
        if (*cursor == '"') return cursor;
        cursor += *cursor == '\\' ? 2 : 1;
    }
}

static inline bool is_blank(char byte) { return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t'; }

static inline char peek(reader *input) {
    while (is_blank(*input->cursor)) input->cursor++;
    if (input->cursor >= input->end) fail("the story ends too soon");
    return *input->cursor;
}

static inline void take(reader *input, char expected) {
    if (peek(input) != expected) fail("the story is not the generator's");
    input->cursor++;
}

/** Steps over an opening bracket or a comma; false at the closing bracket, which is taken. */
static inline bool another(reader *input, char opening, char closing, bool *begun) {
    if (!*begun) {
        take(input, opening);
        *begun = true;
        if (peek(input) != closing) return true;
    } else if (peek(input) == ',') {
        input->cursor++;
        return true;
    }
    take(input, closing);
    return false;
}

static inline const char *take_string(reader *input, size_t *size) {
    take(input, '"');
    const char *start = input->cursor, *close = string_end(start);
    if (close >= input->end) fail("the story ends too soon");
    *size = (size_t)(close - start);
    input->cursor = close + 1;
    return start;
}

static inline const char *take_key(reader *input, size_t *size) {
    const char *key = take_string(input, size);
    take(input, ':');
    return key;
}

static inline bool is_key(const char *key, size_t size, const char *name, size_t name_size) {
    return size == name_size && memcmp(key, name, name_size) == 0;
}
#define IS(name) is_key(key, size, name, sizeof name - 1)

static void skip_value(reader *input) {
    size_t depth = 0, size;
    do {
        char first = peek(input);
        if (first == '"') {
            take_string(input, &size);
        } else if (first == '{' || first == '[') {
            depth++;
            input->cursor++;
        } else if (first == '}' || first == ']') {
            depth--;
            input->cursor++;
        } else {
            input->cursor++;
            // A number or a word ends at the first byte that cannot be part of it; commas and colons are inside brackets.
            while (depth == 0 && strchr(",}] \n\r\t\"", *input->cursor) == NULL) input->cursor++;
        }
    } while (depth > 0);
}

static inline bool take_flag(reader *input) {
    bool flag = peek(input) == 't';
    skip_value(input);
    return flag;
}

static void take_choices(reader *input, story_graph *graph) {
    size_t size;
    for (bool listed = false; another(input, '[', ']', &listed);)
        for (bool begun = false; another(input, '{', '}', &begun);) {
            const char *key = take_key(input, &size);
            if (IS("nextSegmentId")) {
                const char *target = take_string(input, &size);
                append_name(&graph->targets, name_of(target, size));
            } else {
                skip_value(input);
            }
        }
}

static void take_segment(reader *input, story_graph *graph) {
    story_name id = {NULL, 0, 0};
    uint8_t marks = 0;
    size_t size, first_target = graph->targets.count;
    for (bool begun = false; another(input, '{', '}', &begun);) {
        const char *key = take_key(input, &size);
        if (IS("id")) {
            const char *data = take_string(input, &size);
            id = name_of(data, size);
        } else if (IS("isAuthenticPath")) {
            marks |= take_flag(input) ? AUTHENTIC : 0;
        } else if (IS("isEnding")) {
            marks |= take_flag(input) ? ENDING : 0;
        } else if (IS("choices")) {
            take_choices(input, graph);
        } else {
            skip_value(input);
        }
    }
    add_segment(graph, id, marks, first_target);
}

static void *check(const char *text, size_t text_size) {
    reader input = {text, text + text_size};
    story_graph graph = {0};
    size_t size;
    for (bool begun = false; another(&input, '{', '}', &begun);) {
        const char *key = take_key(&input, &size);
        if (IS("segments"))
            for (bool listed = false; another(&input, '[', ']', &listed);) take_segment(&input, &graph);
        else
            skip_value(&input);
    }
    return keep_counts(judge(&graph));
}

int main(int count, char **arguments) {
    static const story_checker checker = {check, print_counts, free};
    return run_stories(&checker, count, arguments);
}
