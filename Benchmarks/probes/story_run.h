/* story_run.h: W4. Times a check of stories from reading a file until its findings are there, for one file
 * (the median of some repeats) or for a directory of many, on some threads.
 *
 * PROGRAM path=FILE [repeats=COUNT]
 * PROGRAM path=DIRECTORY [threads=COUNT] */
#ifndef STORY_RUN_H
#define STORY_RUN_H

#include "measure.h"
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PADDING = 64, THREADS_MAXIMUM = 16, REPEATS_MAXIMUM = 1000 };

/** The work that is timed. */
typedef struct story_checker {
    /** Returns the findings. PADDING quotes follow the text. */
    void *(*check)(const char *text, size_t size);
    /** Prints ,"name":value for what the files' findings are together. */
    void (*print)(char **names, void **findings, size_t count);
    void (*release)(void *findings);
} story_checker;

typedef struct story_list {
    const story_checker *checker;
    const char *directory;
    char **names;
    void **findings;
    size_t count, capacity;
    atomic_size_t next;
} story_list;

static void *allocate(size_t size) {
    void *memory = malloc(size);
    if (memory == NULL) fail("out of memory");
    return memory;
}

/** Reads and checks one file; `reading` gets the seconds of the reading. */
static void *check_file(const story_checker *checker, const char *path, double *reading) {
    double start = now();
    struct stat facts;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &facts) != 0) fail("cannot open a story");
    size_t size = (size_t)facts.st_size, done = 0;
    char *text = allocate(size + PADDING);
    while (done < size) {
        ssize_t more = read(file, text + done, size - done);
        if (more <= 0) fail("cannot read a story");
        done += (size_t)more;
    }
    close(file);
    memset(text + size, '"', PADDING);
    *reading = now() - start;
    void *findings = checker->check(text, size);
    free(text);
    return findings;
}

static void list_directory(story_list *list) {
    DIR *directory = opendir(list->directory);
    if (directory == NULL) fail("cannot open the directory");
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (entry->d_name[0] == '.') continue;
        if (list->count == list->capacity) {
            list->capacity = list->capacity == 0 ? 1024 : list->capacity * 2;
            list->names = realloc(list->names, list->capacity * sizeof *list->names);
            if (list->names == NULL) fail("out of memory");
        }
        if ((list->names[list->count++] = strdup(entry->d_name)) == NULL) fail("out of memory");
    }
    closedir(directory);
    list->findings = allocate(list->count * sizeof *list->findings);
}

/** A thread's part: the files that no other thread took yet. */
static void *check_files(void *argument) {
    story_list *list = argument;
    char path[4096];
    double reading;
    for (size_t index; (index = atomic_fetch_add(&list->next, 1)) < list->count;) {
        snprintf(path, sizeof path, "%s/%s", list->directory, list->names[index]);
        list->findings[index] = check_file(list->checker, path, &reading);
    }
    return NULL;
}

static double check_directory(story_list *list, int threads) {
    pthread_t others[THREADS_MAXIMUM];
    if (threads < 1 || threads > THREADS_MAXIMUM) fail("threads: from 1 to 16");
    double start = now();
    list_directory(list);
    for (int index = 1; index < threads; index++)
        if (pthread_create(&others[index], NULL, check_files, list) != 0) fail("cannot start a thread");
    check_files(list);
    for (int index = 1; index < threads; index++) pthread_join(others[index], NULL);
    return now() - start;
}

static int run_stories(const story_checker *checker, int count, char **arguments) {
    const char *path = option(count, arguments, "path", "");
    int threads = atoi(option(count, arguments, "threads", "1"));
    int repeats = atoi(option(count, arguments, "repeats", "1"));
    double times[REPEATS_MAXIMUM], readings[REPEATS_MAXIMUM];
    double reading = 0;
    struct stat facts;
    story_list list = {.checker = checker, .directory = path};
    if (stat(path, &facts) != 0) fail("there is nothing at the path");
    if (repeats < 1 || repeats > REPEATS_MAXIMUM) fail("repeats: from 1 to 1000");
    if (S_ISDIR(facts.st_mode)) {
        repeats = 1;
        times[0] = check_directory(&list, threads);
    } else {
        const char *slash = strrchr(path, '/');
        list.count = 1;
        list.names = allocate(sizeof *list.names);
        list.findings = allocate(sizeof *list.findings);
        list.names[0] = strdup(slash == NULL ? path : slash + 1);
        for (int index = 0; index < repeats; index++) {
            if (index > 0) checker->release(list.findings[0]);
            double start = now();
            list.findings[0] = check_file(checker, path, &readings[index]);
            times[index] = now() - start;
        }
        reading = percentile(readings, (size_t)repeats, 0.5);
    }
    printf("{\"total_ms\":%.4f,\"threads\":%d,\"resident\":%ld",
           percentile(times, (size_t)repeats, 0.5) * 1e3, threads, memory_status("VmHWM:"));
    if (reading > 0) printf(",\"reading_ms\":%.4f", reading * 1e3);
    checker->print(list.names, list.findings, list.count);
    puts("}");
    for (size_t index = 0; index < list.count; index++) {
        checker->release(list.findings[index]);
        free(list.names[index]);
    }
    free(list.findings);
    free(list.names);
    return 0;
}

#endif
