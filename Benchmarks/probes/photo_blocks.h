/* photo_blocks.h: a shard's file, cut at the ends of lines into blocks of at most 32 KiB, where it lies. */
#ifndef PHOTO_BLOCKS_H
#define PHOTO_BLOCKS_H

#include "photo_run.h"

enum { BLOCK_SIZE = 32768, COLUMNS = 8 };

typedef struct block {
    const char *lines;
    size_t size;
} block;

typedef struct shard {
    photo_file file;
    checksum sum;
    block *blocks;
    size_t count, photos;
} shard;

static inline bool is_number(int column) { return column == 2 || column == 3 || column == 4; }

/** Checks a line's form: MD5, eight columns, numbers. Returns its end. */
static inline const char *check_line(const char *line, const char *end) {
    const char *at = line;
    for (int digit = 0; digit < MD5_DIGITS; digit++, at++)
        if (!((*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'f'))) fail("no MD5");
    for (int column = 1; column < COLUMNS; column++) {
        if (*at++ != ',') fail("too few columns");
        if (is_number(column)) {
            const char *first = at;
            while (*at >= '0' && *at <= '9') at++;
            if (at == first) fail("no number");
        } else if (*at == '"') {
            do {
                if ((at = memchr(at + 1, '"', (size_t)(end - at - 1))) == NULL) fail("an open quote");
            } while (*++at == '"');
        } else {
            while (at < end && *at != ',' && *at != '\n') at++;
        }
    }
    if (at < end && *at != '\n') fail("too many columns");
    return at;
}

/** Reads and hashes a shard's file. */
static inline void read_shard(shard *into, const char *directory, int number) {
    char path[PATH_SIZE];
    shard_path(path, directory, number);
    into->file = read_whole(path);
    into->sum = checksum_of(into->file.data, into->file.size);
}

/** Checks each line, and that the MD5s go up, and cuts the blocks; no byte is copied. */
static inline void cut_shard(shard *into) {
    const char *line = into->file.data, *end = line + into->file.size, *start = line, *before = NULL;
    into->blocks = allocate(sizeof *into->blocks * (into->file.size / (BLOCK_SIZE / 2) + 2));
    into->count = into->photos = 0;
    while (line < end) {
        const char *stop = check_line(line, end);
        if (before != NULL && memcmp(before, line, MD5_DIGITS) >= 0) fail("not sorted");
        if (stop - start > BLOCK_SIZE && line > start) {
            into->blocks[into->count++] = (block){start, (size_t)(line - 1 - start)};
            start = line;
        }
        before = line;
        into->photos++;
        line = stop + 1;
    }
    if (start < end) into->blocks[into->count++] = (block){start, (size_t)(end - start)};
}

static inline void release_shard(shard *used) {
    free(used->file.data);
    free(used->blocks);
    *used = (shard){0};
}

#endif
