/* Photos to test with, and catalogues of them. */
#ifndef SATCHEL_TESTS_PHOTOS_H
#define SATCHEL_TESTS_PHOTOS_H

#include "values.h"

/** The MD5 of a photo to test with: a digit, which is its shard, and a number. */
static inline const char *md5_of(char digit, int number) {
    static char ring[8][33];
    static int next;
    char *md5 = ring[next++ % 8];
    snprintf(md5, 33, "%c%031x", digit, (unsigned)number);
    return md5;
}

static inline json_t *photo(char digit, int number, const char *filename) {
    return json_pack("{s:s, s:s, s:i, s:i, s:i, s:i, s:i}", "md5", md5_of(digit, number), "filename", filename,
                     "size", 1000 + number, "photodate", 1700000000 + number, "modified", 1700000000 + number,
                     "width", 4032, "height", 3024);
}

/** Adds or replaces a photo. */
static inline void put_photo(satchel_photos *photos, char digit, int number, const char *filename) {
    char *row = written(photo(digit, number, filename));
    must(satchel_photos_upsert(photos, text(row), NULL), row);
    free(row);
}

static inline void delete_photo(satchel_photos *photos, const char *md5) {
    char md5s[64];
    snprintf(md5s, sizeof md5s, "[\"%s\"]", md5);
    must(satchel_photos_delete(photos, text(md5s), NULL), md5s);
}

/** Returns a photo as JSON; NULL when there is none. */
static inline json_t *get_photo(satchel_photos *photos, const char *md5) {
    satchel_buffer buffer = SATCHEL_BUFFER_INIT;
    satchel_status status = satchel_photos_get(photos, text(md5), &buffer);
    if (status != SATCHEL_ENOTFOUND) must(status, md5);
    return take(&buffer);
}

/** Whether a photo is there under a name; NULL asks whether there is none. */
static inline bool is_named(satchel_photos *photos, const char *md5, const char *filename) {
    json_t *found = get_photo(photos, md5);
    bool same = filename ? strcmp(text_at(found, "/filename"), filename) == 0 : found == NULL;
    json_decref(found);
    return same;
}

static inline long long count_photos(satchel_photos *photos) {
    int64_t count;
    must(satchel_photos_count(photos, text(""), &count), "counting");
    return count;
}

static inline unsigned modified_shards(satchel_photos *photos) {
    uint32_t bits;
    must(satchel_photos_modified_shards(photos, &bits), "asking for modified shards");
    return bits;
}

/** A shard's file as a text that the caller frees. */
static inline char *file_of(satchel_photos *photos, int shard) {
    satchel_buffer buffer = SATCHEL_BUFFER_INIT;
    must(satchel_photos_export_shard(photos, shard, &buffer), "exporting a shard");
    return buffer.data;
}

/** The files of all shards, one below the other; the caller frees it. */
static inline char *files_of(satchel_photos *photos) {
    char *whole = calloc(1, 1);
    for (int shard = 0; shard < 16; shard++) {
        char *file = file_of(photos, shard);
        whole = realloc(whole, strlen(whole) + strlen(file) + 2);
        strcat(strcat(whole, file), "\n");
        free(file);
    }
    return whole;
}

/** Whether two catalogues hold the same rows, byte for byte. */
static inline bool agree(satchel_photos *one, satchel_photos *other) {
    char *first = files_of(one), *second = files_of(other);
    bool same = strcmp(first, second) == 0;
    free(first);
    free(second);
    return same;
}

/** Whether an array holds just these numbers, in this order; a negative one ends the list. */
static inline bool numbers(json_t *array, const int *wanted) {
    size_t count = 0;
    for (; wanted[count] >= 0; count++) {
        if (json_integer_value(json_array_get(array, count)) != wanted[count]) return false;
    }
    return json_is_array(array) && json_array_size(array) == count;
}

/** Numbers for `numbers`. */
#define SHARDS(...) ((const int[]){__VA_ARGS__, -1})
#define NO_SHARDS ((const int[]){-1})

/** The store is sound, by its own examination. */
static inline void sound(const char *what, satchel_store *store) {
    satchel_buffer buffer = SATCHEL_BUFFER_INIT;
    must(satchel_store_check(store, &buffer), "examining a store");
    CHECK(strcmp(buffer.data, "[]") == 0, "%s: %s", what, buffer.data);
    satchel_buffer_free(&buffer);
}

/** A device: a store in memory, and the catalogue of one directory in it. */
struct device {
    satchel_store *store;
    satchel_photos *photos;
};

static inline struct device new_device(void) {
    struct device device;
    must(satchel_store_open(":memory:", NULL, &device.store), "opening a store in memory");
    must(satchel_photos_open(device.store, text("/photos of a test"), SATCHEL_CONFLICT_DEFAULT, &device.photos),
         "opening a catalogue");
    return device;
}

static inline void give_away(struct device *device) {
    sound("at the end", device->store);
    satchel_photos_free(device->photos);
    must(satchel_store_close(device->store), "closing");
}

/** Synchronizes, which must go well, and gives the report. */
static inline json_t *sync_device(struct device *device, satchel_remote *remote,
                                  const satchel_sync_options *options) {
    satchel_buffer report = SATCHEL_BUFFER_INIT;
    must(satchel_photos_sync(device->photos, remote, text("lena"), options, &report), "synchronizing");
    return take(&report);
}

#endif
