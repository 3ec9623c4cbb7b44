/* A tiny harness: checks are counted, a failed one says where, and each program ends with a line of counts. */
#ifndef SATCHEL_TESTS_CHECK_H
#define SATCHEL_TESTS_CHECK_H

#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "satchel.h"

static int checks_passed;
static int checks_failed;

/** Counts a check; when it failed, prints the place and what is written after the condition. */
#define CHECK(condition, ...) check_that((condition), __FILE__, __LINE__, __VA_ARGS__)

__attribute__((format(printf, 4, 5))) static inline bool check_that(bool condition, const char *file,
                                                                    int line, const char *format, ...) {
    if (condition) {
        checks_passed++;
        return true;
    }
    checks_failed++;
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s:%d: ", file, line);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    return false;
}

/** Ends a program for a reason that is no check: a fixture that cannot be read, no memory. */
__attribute__((noreturn)) static inline void give_up(const char *what) {
    fprintf(stderr, "cannot go on: %s: %s\n", what, satchel_error_message());
    exit(2);
}

/** Ends the program when a call fails that the test only prepares with. */
static inline void must(satchel_status status, const char *what) {
    if (status != SATCHEL_OK) {
        fprintf(stderr, "%s\n", satchel_status_name(status));
        give_up(what);
    }
}

/** Prints the closing line and gives the exit status. */
static inline int close_checks(void) {
    printf("%d passed, %d failed\n", checks_passed, checks_failed);
    return checks_failed == 0 && checks_passed > 0 ? 0 : 1;
}

/** A C string as bytes; NULL is the empty text. */
static inline satchel_bytes text(const char *string) {
    return (satchel_bytes){string, string ? strlen(string) : 0};
}

/** A JSON value as a C string that the caller frees. */
static inline char *dump(const json_t *value) {
    char *string = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    if (!string) give_up("a JSON value cannot be written");
    return string;
}

/** Reads a buffer's JSON and frees the buffer; NULL when there is none. */
static inline json_t *take(satchel_buffer *buffer) {
    json_t *value = NULL;
    if (buffer->data) {
        json_error_t error;
        value = json_loadb(buffer->data, buffer->size, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
        if (!value) {
            fprintf(stderr, "%.*s\n%s\n", (int)buffer->size, buffer->data, error.text);
            give_up("the library gave something that is not JSON");
        }
    }
    satchel_buffer_free(buffer);
    return value;
}

/** Reads a fixture below the folder given on the command line. */
static inline json_t *fixture(const char *folder, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    json_error_t error;
    json_t *value = json_load_file(path, 0, &error);
    if (!value) {
        fprintf(stderr, "%s: %s\n", path, error.text);
        give_up("a fixture cannot be read");
    }
    return value;
}

#endif
