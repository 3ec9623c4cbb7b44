/* Sections whose every part carries one generation number, so that a mixture of two writes shows. */
#ifndef SATCHEL_TESTS_GENERATIONS_H
#define SATCHEL_TESTS_GENERATIONS_H

#include "check.h"

/** A place of its own for each number. */
static inline void place_of(int number, char *location, size_t room) {
    snprintf(location, room, "{\"country_code\":\"xx\",\"admin_area\":\"North\",\"locality\":\"Town %d\"}",
             number);
}

/** How many entities a generation has: it varies, so that old ones lose their last reference. */
static inline int entities_of(long long generation) { return 3 + (int)(generation % 5); }

/** A section of one generation: local entities, and one global entity that all places share. The caller
 *  frees it. */
static inline char *section_of(long long generation) {
    json_t *items = json_array();
    for (int index = 0; index < entities_of(generation); index++) {
        char id[32], filler[512];
        snprintf(id, sizeof id, "town:%d", index);
        memset(filler, 'a' + (int)(generation % 26), sizeof filler - 1);
        filler[sizeof filler - 1] = '\0';
        json_array_append_new(items,
                              json_pack("{s:I, s:s, s:{s:s, s:s}}", "generation", (json_int_t)generation,
                                        "text", filler, "_storage", "entity_id", id, "scope", "locality"));
    }
    json_t *shared = json_pack("{s:I, s:{s:s, s:s}}", "generation", (json_int_t)generation, "_storage",
                               "entity_id", "town:shared", "scope", "global");
    json_t *section = json_pack("{s:s, s:{s:I, s:o, s:o}}", "section", "town", "content", "generation",
                                (json_int_t)generation, "items", items, "shared", shared);
    char *text = dump(section);
    json_decref(section);
    return text;
}

/**
 * Whether a loaded section is whole.
 *
 * @param loaded        what satchel_catalogue_load() gave
 * @param[out] shared   the generation of the entity that all places share
 *
 * Returns the section's generation, or -1 after saying what is wrong.
 */
static inline long long whole_generation(const json_t *loaded, long long *shared) {
    json_t *content = json_object_get(loaded, "content");
    json_t *items = json_object_get(content, "items");
    json_t *common = json_object_get(json_object_get(content, "shared"), "generation");
    long long generation = json_integer_value(json_object_get(content, "generation"));
    if (generation <= 0 || !json_is_integer(common)) {
        fprintf(stderr, "a section without its generation or its shared entity\n");
        return -1;
    }
    *shared = json_integer_value(common);
    if (json_array_size(json_object_get(loaded, "missing")) != 0) {
        fprintf(stderr, "entities are missing in generation %lld\n", generation);
        return -1;
    }
    if ((int)json_array_size(items) != entities_of(generation)) {
        fprintf(stderr, "generation %lld has %zu entities instead of %d\n", generation,
                json_array_size(items), entities_of(generation));
        return -1;
    }
    size_t index;
    json_t *item;
    json_array_foreach(items, index, item) {
        long long seen = json_integer_value(json_object_get(item, "generation"));
        if (seen != generation) {
            fprintf(stderr, "generation %lld holds an entity of generation %lld\n", generation, seen);
            return -1;
        }
    }
    return generation;
}

#endif
