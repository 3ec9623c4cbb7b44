/* photo_run.h: W3. What the limit and the driver of Satchel share: the files of a catalogue, checksums, and
 * how answers are printed.
 *
 * PROGRAM source=DIR changed=DIR dir=DIR sampled=FILE local=FILE edits=FILE page=COUNT, and the conditions of pages, as
 * the program has them: dates=… of_camera=… in_box=… */
#ifndef PHOTO_RUN_H
#define PHOTO_RUN_H

#include "measure.h"
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SHARDS = 16, CHANGED_SHARD = 7, MD5_DIGITS = 32, SAMPLES_MAXIMUM = 1024, PATH_SIZE = 4096 };

typedef struct photo_file {
    char *data;
    size_t size;
} photo_file;

typedef struct checksum {
    uint8_t bytes[SHA256_DIGEST_SIZE];
} checksum;

typedef struct samples {
    char md5[SAMPLES_MAXIMUM][MD5_DIGITS + 1];
    double seconds[SAMPLES_MAXIMUM];
    size_t count;
} samples;

static inline void *allocate(size_t size) {
    void *memory = malloc(size > 0 ? size : 1);
    if (memory == NULL) fail("out of memory");
    return memory;
}

static inline void shard_path(char *path, const char *directory, int shard) {
    snprintf(path, PATH_SIZE, "%s/%x.csv", directory, (unsigned)shard);
}

/** Reads a file; a zero byte follows its data. */
static inline photo_file read_whole(const char *path) {
    struct stat facts;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &facts) != 0) fail("cannot open a file of photos");
    photo_file whole = {allocate((size_t)facts.st_size + 1), (size_t)facts.st_size};
    for (size_t done = 0; done < whole.size;) {
        ssize_t more = read(file, whole.data + done, whole.size - done);
        if (more <= 0) fail("cannot read a file of photos");
        done += (size_t)more;
    }
    close(file);
    whole.data[whole.size] = 0;
    return whole;
}

static inline void write_part(int file, const char *data, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t more = write(file, data + done, size - done);
        if (more <= 0) fail("cannot write a file of photos");
        done += (size_t)more;
    }
}

static inline int create(const char *path) {
    int file = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) fail("cannot make a file of photos");
    return file;
}

static inline checksum checksum_of(const char *data, size_t size) {
    struct sha256_ctx context;
    checksum sum;
    sha256_init(&context);
    sha256_update(&context, size, (const uint8_t *)data);
    sha256_digest(&context, sizeof sum.bytes, sum.bytes);
    return sum;
}

/** Reads the MD5s that are asked for, a line each. */
static inline samples *read_samples(const char *path) {
    samples *read = allocate(sizeof *read);
    photo_file lines = read_whole(path);
    read->count = lines.size / (MD5_DIGITS + 1);
    if (read->count == 0 || read->count > SAMPLES_MAXIMUM) fail("too few or too many samples");
    for (size_t index = 0; index < read->count; index++) {
        memcpy(read->md5[index], lines.data + index * (MD5_DIGITS + 1), MD5_DIGITS);
        read->md5[index][MD5_DIGITS] = 0;
    }
    free(lines.data);
    return read;
}

static inline void print_checksum(const checksum *sum) {
    putchar('"');
    for (size_t index = 0; index < sizeof sum->bytes; index++) printf("%02x", sum->bytes[index]);
    putchar('"');
}

/** A line as a text of JSON; it holds no control characters. */
static inline void print_text(const char *text, size_t size) {
    putchar('"');
    for (size_t index = 0; index < size; index++) {
        if (text[index] == '"' || text[index] == '\\') putchar('\\');
        putchar(text[index]);
    }
    putchar('"');
}

#endif
