/* Stories to test with, places in JSON values, and files in folders. */
#ifndef SATCHEL_TESTS_STORIES_H
#define SATCHEL_TESTS_STORIES_H

#include "check.h"

/** What stands at a JSON Pointer without escapes; NULL when there is nothing. */
static inline json_t *at(json_t *value, const char *pointer) {
    char key[128];
    while (value && *pointer == '/') {
        size_t size = strcspn(++pointer, "/");
        snprintf(key, sizeof key, "%.*s", (int)size, pointer);
        pointer += size;
        value = json_is_array(value) ? json_array_get(value, (size_t)atoi(key)) : json_object_get(value, key);
    }
    return value;
}

/** The text at a JSON Pointer; "(none)" where there is no text. */
static inline const char *text_at(json_t *value, const char *pointer) {
    const char *string = json_string_value(at(value, pointer));
    return string ? string : "(none)";
}

/** The whole number at a JSON Pointer; a nonsensical one where there is none. */
static inline long long number_at(json_t *value, const char *pointer) {
    json_t *found = at(value, pointer);
    return json_is_integer(found) ? (long long)json_integer_value(found) : -4711;
}

/** Whether an array's members, or one text of each, are those listed, in this order; NULL ends the list. */
static inline bool lists(json_t *array, const char *member, const char *const *wanted) {
    size_t count = 0;
    bool same = json_is_array(array);
    for (; wanted[count]; count++) {
        if (strcmp(text_at(json_array_get(array, count), member), wanted[count]) != 0) same = false;
    }
    return same && json_array_size(array) == count;
}

/** A sound story of three segments: from the rim lead two choices, each to an ending. */
static inline json_t *tale(const char *id, const char *title) {
    json_t *story = json_loads(
        "{\"author\":\"A. Miller\",\"culturalOrigin\":\"German\",\"synopsis\":\"A girl looks for a "
        "spindle.\","
        "\"coverImageName\":\"well\",\"estimatedReadingMinutes\":1,\"ageRange\":\"5-8\",\"tags\":["
        "\"courage\"],"
        "\"isPurchased\":false,\"segments\":["
        "{\"id\":\"rim\",\"text\":\"The spindle falls into the well.\",\"isAuthenticPath\":true,\"choices\":["
        "{\"id\":\"rim-1\",\"text\":\"Climb down\",\"nextSegmentId\":\"meadow\"},"
        "{\"id\":\"rim-2\",\"text\":\"Go home\",\"nextSegmentId\":\"home\"}]},"
        "{\"id\":\"meadow\",\"text\":\"At the bottom lies a meadow.\",\"isAuthenticPath\":true,"
        "\"isEnding\":true,\"choices\":[]},"
        "{\"id\":\"home\",\"text\":\"She goes home without it.\",\"isAuthenticPath\":false,"
        "\"isEnding\":true,\"choices\":[]}]}",
        0, NULL);
    if (!story) give_up("the story to test with is not JSON");
    json_object_set_new(story, "id", json_string(id));
    json_object_set_new(story, "title", json_string(title));
    return story;
}

/** A tale whose first choice leads to a segment that is only nearly there: three errors. */
static inline json_t *broken_tale(const char *id) {
    json_t *story = tale(id, "Unsound");
    json_object_set_new(at(story, "/segments/0/choices/0"), "nextSegmentId", json_string("medow"));
    return story;
}

/** The most levels of JSON that are read. */
#define DEEPEST 512

/** An object whose only key, which nobody knows, holds arrays: so many levels with its own, in `room`. */
static inline satchel_bytes nested(int levels, char room[2 * DEEPEST + 64]) {
    int arrays = levels - 1, size = sprintf(room, "{\"x\":");
    memset(room + size, '[', (size_t)arrays);
    memset(room + size + arrays, ']', (size_t)arrays);
    strcpy(room + size + 2 * arrays, "}");
    return text(room);
}

static inline json_t *new_segment(const char *id, bool ending) {
    return json_pack("{s:s, s:s, s:b, s:b, s:[]}", "id", id, "text", "Once.", "isAuthenticPath", true,
                     "isEnding", ending, "choices");
}

static inline void add_choice(json_t *segment, const char *id, const char *next) {
    json_array_append_new(json_object_get(segment, "choices"),
                          json_pack("{s:s, s:s, s:s}", "id", id, "text", id, "nextSegmentId", next));
}

/** A story of `count` forks in a row, each with two choices to the next one: it has 2^count ways. */
static inline json_t *forks(int count) {
    json_t *story = tale("forks", "Forks"), *segments = json_array();
    for (int index = 0; index <= count; index++) {
        char id[32], next[32], choice[64];
        snprintf(id, sizeof id, "fork%d", index);
        snprintf(next, sizeof next, "fork%d", index + 1);
        json_t *segment = new_segment(id, index == count);
        for (int way = 0; way < 2 && index < count; way++) {
            snprintf(choice, sizeof choice, "%s-%d", id, way);
            add_choice(segment, choice, next);
        }
        json_array_append_new(segments, segment);
    }
    json_object_set_new(story, "segments", segments);
    return story;
}

/** A story as text that the caller frees; takes the reference. */
static inline char *written(json_t *story) {
    char *string = dump(story);
    json_decref(story);
    return string;
}

/** The members' texts in one line, for messages. */
static inline const char *shown(json_t *array, const char *member) {
    static char line[1024];
    size_t index, used = 0;
    json_t *value;
    line[0] = '\0';
    json_array_foreach(array, index, value) {
        if (used < sizeof line)
            used += (size_t)snprintf(line + used, sizeof line - used, " %s", text_at(value, member));
    }
    return line;
}

static inline const char *path_in(const char *folder, const char *name) {
    static char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) give_up("a path is too long");
    return path;
}

static inline void write_bytes(const char *folder, const char *name, const char *bytes, size_t size) {
    FILE *file = fopen(path_in(folder, name), "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) give_up(name);
}

static inline void write_text(const char *folder, const char *name, const char *string) {
    write_bytes(folder, name, string, strlen(string));
}

/** Writes a story; takes the reference. */
static inline void write_story(const char *folder, const char *name, json_t *story) {
    char *string = written(story);
    write_text(folder, name, string);
    free(string);
}

#endif
