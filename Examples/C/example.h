/* Functions that the examples share: a failed call ends the program, and JSON is read by path. */
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

static inline satchel_bytes bytes_of(const satchel_buffer *buffer) {
    return (satchel_bytes){buffer->data, buffer->size};
}

/** A path from a format, such as "/stories/%zu/title". */
static inline void format_path(char path[256], const char *format, va_list arguments) {
    vsnprintf(path, 256, format, arguments);
}

/** Returns the string at a path, or the fallback where there is none. Valid until the eighth call after it. */
static inline const char *string_or(const char *fallback, const satchel_buffer *json, const char *format, ...) {
    static satchel_buffer strings[8];
    static int next;
    char path[256];
    va_list arguments;
    va_start(arguments, format);
    format_path(path, format, arguments);
    va_end(arguments);
    satchel_buffer *string = &strings[next++ % 8];
    satchel_buffer_free(string);
    satchel_status status = satchel_json_get_text(bytes_of(json), satchel_text(path), string);
    if (status == SATCHEL_ENOTFOUND) return fallback;
    must(status);
    return string->data;
}

/** Returns the string at a path, "" where there is none. Valid until the eighth call after it. */
#define string(json, ...) string_or("", json, __VA_ARGS__)

/** Returns the integer at a path, 0 where there is none. */
static inline long number(const satchel_buffer *json, const char *format, ...) {
    char path[256];
    va_list arguments;
    va_start(arguments, format);
    format_path(path, format, arguments);
    va_end(arguments);
    int64_t number = 0;
    satchel_status status = satchel_json_get_int64(bytes_of(json), satchel_text(path), &number);
    if (status != SATCHEL_ENOTFOUND) must(status);
    return (long)number;
}

/** Returns how many elements or members the value at a path has, 0 where there is none. */
static inline size_t count_of(const satchel_buffer *json, const char *format, ...) {
    char path[256];
    va_list arguments;
    va_start(arguments, format);
    format_path(path, format, arguments);
    va_end(arguments);
    size_t count = 0;
    satchel_status status = satchel_json_count(bytes_of(json), satchel_text(path), &count);
    if (status != SATCHEL_ENOTFOUND) must(status);
    return count;
}

/** Returns whether the value at a path is true. */
static inline bool is_true(const satchel_buffer *json, const char *path) {
    bool flag = false;
    satchel_status status = satchel_json_get_bool(bytes_of(json), satchel_text(path), &flag);
    if (status != SATCHEL_ENOTFOUND) must(status);
    return flag;
}

/** Opens the remote of an example: a directory in its folder, or a bucket where SATCHEL_S3_BUCKET names one. */
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
    must(satchel_remote_s3(satchel_text(place), &remote));
    satchel_buffer_free(&name);
    satchel_buffer_free(&address);
    return remote;
}

#endif
