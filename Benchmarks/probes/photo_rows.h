/* photo_rows.h: a shard's file, whose lines are read where they lie, and its rows as they are written and read. */
#ifndef PHOTO_ROWS_H
#define PHOTO_ROWS_H

#include "photo_database.h"

enum { COLUMNS = 8, MD5_BYTES = 16, PART_SIZE = 65536, LINE_MAXIMUM = 4096 };

typedef struct shard {
    photo_file file;
    checksum sum;
    size_t photos;
} shard;

static inline int digit_of(char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    fail("no MD5");
    return 0;
}

static inline void bind_md5(sqlite3_stmt *statement, int index, const char *digits, uint8_t *bytes) {
    for (int at = 0; at < MD5_BYTES; at++)
        bytes[at] = (uint8_t)(digit_of(digits[2 * at]) << 4 | digit_of(digits[2 * at + 1]));
    sqlite3_bind_blob(statement, index, bytes, MD5_BYTES, SQLITE_STATIC);
}

/** Binds a string; quotes are taken away in place. Returns its end. */
static inline char *bind_text(sqlite3_stmt *statement, int index, char *at, const char *end) {
    char *start = at, *to = at;
    if (at < end && *at == '"') {
        for (at++; at < end; at++) {
            if (*at == '"' && (at + 1 >= end || *++at != '"')) break;
            *to++ = *at;
        }
        if (at < end && *at == '"') at++;
    } else {
        while (at < end && *at != ',' && *at != '\n') at++;
        to = at;
    }
    if (to == start && index == COLUMNS) sqlite3_bind_null(statement, index);
    else sqlite3_bind_text(statement, index, start, (int)(to - start), SQLITE_STATIC);
    return at;
}

/** Binds the columns of a line, and checks their form. Returns its end. */
static inline char *bind_line(sqlite3_stmt *statement, char *line, const char *end, uint8_t *md5) {
    if (end - line < MD5_DIGITS) fail("no MD5");
    bind_md5(statement, 1, line, md5);
    char *at = line + MD5_DIGITS;
    for (int column = 2; column <= COLUMNS; column++) {
        if (at >= end || *at++ != ',') fail("too few columns");
        if (column == 2 || column == COLUMNS) {
            at = bind_text(statement, column, at, end);
        } else {
            char *after;
            int64_t number = strtoll(at, &after, 10);
            if (after == at && column < 6) fail("no number");
            if (after == at) sqlite3_bind_null(statement, column);
            else sqlite3_bind_int64(statement, column, number);
            at = after;
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

static inline void release_shard(shard *used) {
    free(used->file.data);
    *used = (shard){0};
}

/** Inserts or replaces the rows of lines. Returns how many. */
static inline size_t put_lines(sqlite3 *database, photo_file lines) {
    sqlite3_stmt *put = prepare(database, "INSERT OR REPLACE INTO photo VALUES(?, ?, ?, ?, ?, ?, ?, ?)");
    size_t photos = 0;
    for (char *line = lines.data, *end = line + lines.size; line < end; line++, photos++) {
        uint8_t md5[MD5_BYTES];
        line = bind_line(put, line, end, md5);
        run(database, put);
    }
    sqlite3_finalize(put);
    return photos;
}

static inline char *append_text(char *to, const char *text, int size) {
    if (memchr(text, ',', (size_t)size) == NULL && memchr(text, '"', (size_t)size) == NULL)
        return mempcpy(to, text, (size_t)size);
    *to++ = '"';
    for (int at = 0; at < size; at++) {
        if (text[at] == '"') *to++ = '"';
        *to++ = text[at];
    }
    *to++ = '"';
    return to;
}

static inline char *append_number(char *to, int64_t number) {
    char digits[20];
    int count = 0;
    if (number < 0) fail("a number below zero");
    do digits[count++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (count > 0) *to++ = digits[--count];
    return to;
}

/** Writes a row as the line that it was. */
static inline char *append_row(char *to, sqlite3_stmt *row) {
    const uint8_t *md5 = sqlite3_column_blob(row, 0);
    for (int at = 0; at < MD5_BYTES; at++) {
        *to++ = "0123456789abcdef"[md5[at] >> 4];
        *to++ = "0123456789abcdef"[md5[at] & 15];
    }
    for (int column = 1; column < COLUMNS; column++) {
        *to++ = ',';
        int type = sqlite3_column_type(row, column);
        if (type == SQLITE_INTEGER) to = append_number(to, sqlite3_column_int64(row, column));
        else if (type == SQLITE_TEXT)
            to = append_text(to, (const char *)sqlite3_column_text(row, column), sqlite3_column_bytes(row, column));
    }
    return to;
}

static inline checksum export_shard(sqlite3 *database, int number, const char *path) {
    static const char *const SQL = "SELECT * FROM photo WHERE md5 BETWEEN ? AND ? ORDER BY md5";
    uint8_t first[MD5_BYTES] = {(uint8_t)(number << 4)}, last[MD5_BYTES];
    char part[PART_SIZE + LINE_MAXIMUM], *to = part;
    struct sha256_ctx context;
    checksum sum;
    int file = create(path);
    sqlite3_stmt *rows = prepare(database, SQL);
    memset(last, 255, sizeof last);
    last[0] = (uint8_t)(number << 4 | 15);
    sqlite3_bind_blob(rows, 1, first, MD5_BYTES, SQLITE_STATIC);
    sqlite3_bind_blob(rows, 2, last, MD5_BYTES, SQLITE_STATIC);
    sha256_init(&context);
    for (bool is_first = true; sqlite3_step(rows) == SQLITE_ROW; is_first = false) {
        if (to - part >= PART_SIZE) {
            sha256_update(&context, (size_t)(to - part), (const uint8_t *)part);
            write_part(file, part, (size_t)(to - part));
            to = part;
        }
        if (!is_first) *to++ = '\n';
        to = append_row(to, rows);
    }
    sha256_update(&context, (size_t)(to - part), (const uint8_t *)part);
    write_part(file, part, (size_t)(to - part));
    sqlite3_finalize(rows);
    close(file);
    sha256_digest(&context, sizeof sum.bytes, sum.bytes);
    return sum;
}

#endif
