/* record_lines.h: the files of harness/record_data.py in memory, cut into what is put, read and deleted.
 *
 * No JSON is parsed: a document begins with its id, and a value follows its key. */
#ifndef RECORD_LINES_H
#define RECORD_LINES_H

#include "measure.h"

enum { ID_AT = 7, ID_SIZE = 20, KEY_AT = 8, PATH_SIZE = 4096 };

typedef struct slice {
    const char *data;
    size_t size;
} slice;

/** A record: its id and its document. Or a value of the state: its key and its JSON. */
typedef struct record {
    slice id, document;
} record;

typedef struct records {
    record *all;
    size_t count;
} records;

static inline void *allocate(size_t size) {
    void *memory = malloc(size);
    if (memory == NULL) fail("no memory");
    return memory;
}

static inline slice read_all(const char *directory, const char *name) {
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) fail("cannot open the data");
    size_t size = (size_t)ftell(file);
    char *data = allocate(size + 1);
    rewind(file);
    if (fread(data, 1, size, file) != size) fail("cannot read the data");
    data[size] = 0;
    fclose(file);
    return (slice){data, size};
}

/** A document's id is in it. */
static inline record cut_record(slice line) {
    if (line.size < ID_AT + ID_SIZE) fail("the record is not the generator's");
    return (record){{line.data + ID_AT, ID_SIZE}, line};
}

static inline record cut_value(slice line) {
    static const char between[] = "\",\"value\":";
    const char *found = memmem(line.data, line.size, between, sizeof between - 1);
    if (found == NULL) fail("the value is not the generator's");
    const char *key = line.data + KEY_AT, *value = found + sizeof between - 1;
    return (record){{key, (size_t)(found - key)}, {value, (size_t)(line.data + line.size - 1 - value)}};
}

static inline record cut_id(slice line) { return (record){line, {NULL, 0}}; }

static inline records read_lines(const char *directory, const char *name, record (*cut)(slice)) {
    slice content = read_all(directory, name);
    const char *end = content.data + content.size, *next;
    records found = {NULL, 0};
    size_t lines = 0;
    for (const char *at = content.data; at < end; at++) lines += *at == '\n';
    found.all = allocate((lines + 1) * sizeof *found.all);
    for (const char *at = content.data; at < end; at = next + 1) {
        next = memchr(at, '\n', (size_t)(end - at));
        if (next == NULL) fail("the data ends within a line");
        found.all[found.count++] = cut((slice){at, (size_t)(next - at)});
    }
    return found;
}

#endif
