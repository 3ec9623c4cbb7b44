/* measure.h: clocks, medians and options that every probe and driver shares. */
#ifndef MEASURE_H
#define MEASURE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/** Seconds of a clock that never jumps. */
static inline double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static inline int compare_doubles(const void *left, const void *right) {
    double first = *(const double *)left, second = *(const double *)right;
    return first < second ? -1 : first > second;
}

/** The value below which `share` of `values` lie. Sorts `values`. */
static inline double percentile(double *values, size_t count, double share) {
    if (count == 0) return 0;
    qsort(values, count, sizeof *values, compare_doubles);
    size_t index = (size_t)((double)count * share);
    return values[index < count ? index : count - 1];
}

/** The number of a line of /proc/self/status, such as "VmHWM:", in bytes. */
static inline long memory_status(const char *field) {
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long kilobytes = 0;
    if (file == NULL) return 0;
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, field, strlen(field)) == 0) kilobytes = atol(line + strlen(field));
    fclose(file);
    return kilobytes * 1024;
}

/** The value of an argument "name=value", or `otherwise`. */
static inline const char *option(int count, char **arguments, const char *name, const char *otherwise) {
    size_t length = strlen(name);
    for (int index = 1; index < count; index++)
        if (strncmp(arguments[index], name, length) == 0 && arguments[index][length] == '=')
            return arguments[index] + length + 1;
    return otherwise;
}

static inline void fail(const char *what) {
    fprintf(stderr, "%s\n", what);
    exit(1);
}

#endif
