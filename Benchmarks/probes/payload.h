/* payload.h: cuts a line of payloads.jsonl into what a limit probe stores.
 *
 * No JSON is parsed: the generator's shape is known, and its texts hold no quotes or braces. A limit is
 * what storing costs when understanding costs nothing. */
#ifndef PAYLOAD_H
#define PAYLOAD_H

#include "measure.h"

enum { ENTITIES_MAXIMUM = 64 };

typedef struct slice {
    const char *data;
    int size;
} slice;

typedef struct entity_slices {
    slice body, entity_id, scope, place;
    int64_t expires_at;
} entity_slices;

typedef struct payload {
    slice location, section, title;
    int order, count;
    entity_slices entities[ENTITIES_MAXIMUM];
} payload;

/** Returns the text between `key` and the next quote, from `start` on. */
static inline slice text_after(const char *start, const char *end, const char *key) {
    const char *found = memmem(start, (size_t)(end - start), key, strlen(key));
    if (found == NULL) fail("the payload is not the generator's");
    found += strlen(key);
    const char *quote = memchr(found, '"', (size_t)(end - found));
    if (quote == NULL) fail("the payload is not the generator's");
    return (slice){found, (int)(quote - found)};
}

static inline int64_t number_after(const char *start, const char *end, const char *key) {
    const char *found = memmem(start, (size_t)(end - start), key, strlen(key));
    if (found == NULL) fail("the payload is not the generator's");
    return strtoll(found + strlen(key), NULL, 10);
}

static inline void cut_payload(const char *line, size_t size, payload *out) {
    static const char between[] = "},{\"entity_id\":\"";
    static const char list[] = "\"entities\":[";
    const char *end = line + size;
    const char *cursor = memmem(line, size, list, sizeof list - 1);
    if (cursor == NULL) fail("the payload is not the generator's");
    out->location = text_after(line, cursor, "\"location\":\"");
    out->section = text_after(line, cursor, "\"id\":\"");
    out->title = text_after(line, cursor, "\"title\":\"");
    out->order = (int)number_after(line, cursor, "\"order\":");
    out->count = 0;
    cursor += sizeof list - 1;
    while (cursor != NULL) {
        const char *next = memmem(cursor, (size_t)(end - cursor), between, sizeof between - 1);
        const char *close = next != NULL ? next + 1 : end - 2;
        while (next == NULL && *close != ']') close--;
        if (out->count == ENTITIES_MAXIMUM) fail("too many entities in one payload");
        entity_slices *entity = &out->entities[out->count++];
        entity->body = (slice){cursor, (int)(close - cursor)};
        entity->entity_id = text_after(cursor, close, "\"entity_id\":\"");
        entity->scope = text_after(cursor, close, "\"scope\":\"");
        entity->place = text_after(cursor, close, "\"place\":\"");
        entity->expires_at = number_after(cursor, close, "\"expires_at\":");
        cursor = next != NULL ? next + 2 : NULL;
    }
}

#endif
