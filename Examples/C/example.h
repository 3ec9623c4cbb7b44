/* Functions that the examples share: must() ends the program when a call failed, the others read JSON by path. */
#ifndef SATCHEL_EXAMPLE_H
#define SATCHEL_EXAMPLE_H

#include <satchel.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/** Ends the program when a call failed, and prints the reason. */
static inline void must(satchel_status status) {
    if (status == SATCHEL_OK) return;
    fprintf(stderr, "%s: %s\n", satchel_status_name(status), satchel_error_message());
    exit(1);
}

/** A path of a JSON document. */
struct json_path {
    char text[256];
};

/** Returns a formatted path; the format is that of printf, such as "/stories/%zu/title". */
static inline struct json_path path_of(const char *format, ...) {
    struct json_path path;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(path.text, sizeof path.text, format, arguments);
    va_end(arguments);
    return path;
}

static inline const char *string_at(const char *fallback, const satchel_buffer *json, struct json_path path) {
    static satchel_buffer strings[8];
    static int next;
    satchel_buffer *string = &strings[next++ % 8];
    satchel_buffer_free(string);
    satchel_status status = satchel_json_get_text(satchel_bytes_of(*json), satchel_text(path.text), string);
    if (status == SATCHEL_ENOTFOUND) return fallback;
    must(status);
    return string->data;
}

static inline long number_at(const satchel_buffer *json, struct json_path path) {
    int64_t number = 0;
    satchel_status status = satchel_json_get_int64(satchel_bytes_of(*json), satchel_text(path.text), &number);
    if (status != SATCHEL_ENOTFOUND) must(status);
    return (long)number;
}

static inline size_t count_at(const satchel_buffer *json, struct json_path path) {
    size_t count = 0;
    satchel_status status = satchel_json_count(satchel_bytes_of(*json), satchel_text(path.text), &count);
    if (status != SATCHEL_ENOTFOUND) must(status);
    return count;
}

/* These have a JSON document and the arguments of path_of(). */

/** Returns the string at a path; the fallback if the path does not exist. Valid until the eighth call after it. */
#define string_or(fallback, json, ...) string_at(fallback, json, path_of(__VA_ARGS__))

/** Returns the string at a path; "" if the path does not exist. Valid until the eighth call after it. */
#define string(json, ...) string_or("", json, __VA_ARGS__)

/** Returns the integer at a path; 0 if the path does not exist. */
#define number(json, ...) number_at(json, path_of(__VA_ARGS__))

/** Returns the number of elements or members of the value at a path; 0 if the path does not exist. */
#define count_of(json, ...) count_at(json, path_of(__VA_ARGS__))

/** Returns the Boolean at a path; false if the path does not exist. */
static inline bool is_true(const satchel_buffer *json, const char *path) {
    bool flag = false;
    satchel_status status = satchel_json_get_bool(satchel_bytes_of(*json), satchel_text(path), &flag);
    if (status != SATCHEL_ENOTFOUND) must(status);
    return flag;
}

/** Opens the remote of an example: a directory in its folder, or the bucket that SATCHEL_S3_BUCKET names. */
static inline satchel_remote *open_remote(const char *folder, const char *prefix) {
    satchel_remote *remote;
    const char *bucket = getenv("SATCHEL_S3_BUCKET"), *endpoint = getenv("SATCHEL_S3_ENDPOINT");
    char place[8192];
    if (!bucket) {
        snprintf(place, sizeof place, "%s/remote", folder);
        must(satchel_remote_directory(satchel_text(place), &remote));
        return remote;
    }
    satchel_buffer name, address;
    must(satchel_json_quote(satchel_text(bucket), &name));
    must(satchel_json_quote(satchel_text(endpoint ? endpoint : ""), &address));
    snprintf(place, sizeof place, "{\"bucket\": %s, \"prefix\": \"%s-%lld\"%s%s}", name.data, prefix,
             (long long)time(NULL), endpoint ? ", \"endpoint\": " : "", endpoint ? address.data : "");
    must(satchel_remote_s3(satchel_text(place), NULL, NULL, NULL, &remote));
    satchel_buffer_free(&name);
    satchel_buffer_free(&address);
    return remote;
}

#endif
