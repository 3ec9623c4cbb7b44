/* Places in JSON values, and files in folders. */
#ifndef SATCHEL_TESTS_VALUES_H
#define SATCHEL_TESTS_VALUES_H

#include "check.h"

/** Returns the value at a JSON Pointer without escapes; NULL when there is none. */
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

/** The most levels of JSON that are read. */
#define DEEPEST 512

/** An object whose only key, unknown to the library, holds arrays: `levels` levels including its own, in `room`. */
static inline satchel_bytes nested(int levels, char room[2 * DEEPEST + 64]) {
    int arrays = levels - 1, size = sprintf(room, "{\"x\":");
    memset(room + size, '[', (size_t)arrays);
    memset(room + size + arrays, ']', (size_t)arrays);
    strcpy(room + size + 2 * arrays, "}");
    return text(room);
}

/** A value as text that the caller frees; takes the reference. */
static inline char *written(json_t *value) {
    char *string = dump(value);
    json_decref(value);
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

#endif
