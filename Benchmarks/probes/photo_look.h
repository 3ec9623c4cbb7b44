/* photo_look.h: questions about photos that are rows: single ones, pages, and counts by month. */
#ifndef PHOTO_LOOK_H
#define PHOTO_LOOK_H

#include "photo_rows.h"

enum { MONTHS = 12 * 200 };

/** Asks for each photo within one read transaction, and prints its columns as a line. */
static void get_all(sqlite3 *database, samples *asked) {
    sqlite3_stmt *find = prepare(database, "SELECT * FROM photo WHERE md5 = ?");
    execute(database, "BEGIN");
    printf(",\"got\":[");
    for (size_t index = 0; index < asked->count; index++) {
        uint8_t md5[MD5_BYTES];
        char line[LINE_MAXIMUM];
        double start = now();
        bind_md5(find, 1, asked->md5[index], md5);
        if (sqlite3_step(find) != SQLITE_ROW) fail("a photo is missing");
        char *end = append_row(line, find);
        asked->seconds[index] = now() - start;
        printf("%s", index == 0 ? "" : ",");
        print_text(line, (size_t)(end - line));
        sqlite3_reset(find);
    }
    printf("]");
    sqlite3_finalize(find);
    execute(database, "COMMIT");
}

/** Reads a page, all columns of it, and prints its MD5s. `where`: its conditions. */
static void print_page(sqlite3 *database, const char *name, const char *where, long limit) {
    char sql[1024];
    double start = now();
    snprintf(sql, sizeof sql,
             "SELECT p.*, l.* FROM photo p LEFT JOIN local l ON l.md5 = p.md5 WHERE %s"
             " ORDER BY photodate, p.md5 LIMIT %ld", where, limit);
    char *page = allocate((size_t)limit * LINE_MAXIMUM), *to = page;
    sqlite3_stmt *rows = prepare(database, sql);
    while (sqlite3_step(rows) == SQLITE_ROW) {
        to = append_row(to, rows);
        for (int column = COLUMNS + 1; column < sqlite3_column_count(rows); column++) {
            const unsigned char *value = sqlite3_column_text(rows, column);
            to = stpcpy(stpcpy(to, ","), value == NULL ? "" : (const char *)value);
        }
        *to++ = '\n';
    }
    sqlite3_finalize(rows);
    printf(",\"%s_ms\":%.3f,\"%s\":[", name, (now() - start) * 1e3, name);
    for (const char *line = page; line < to; line = strchr(line, '\n') + 1)
        printf("%s\"%.*s\"", line == page ? "" : ",", MD5_DIGITS, line);
    printf("]");
    free(page);
}

/** The number of months since the year 0 at a time after 1970. */
static int month_of(int64_t seconds) {
    // Days of years that begin with March: see "chrono-Compatible Low-Level Date Algorithms".
    int64_t days = seconds / 86400 + 719468, era = days / 146097, day = days - era * 146097;
    int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    int64_t month = (5 * (day - (365 * year + year / 4 - year / 100)) + 2) / 153;
    return (int)((year + era * 400) * 12 + month + 2);
}

/** Counts the photos of each month by the index of dates. */
static void print_months(sqlite3 *database, const char *name) {
    static size_t counts[MONTHS];
    double start = now();
    int64_t day = -1;
    int month = 0;
    sqlite3_stmt *dates = prepare(database, "SELECT photodate FROM photo INDEXED BY dates");
    memset(counts, 0, sizeof counts);
    while (sqlite3_step(dates) == SQLITE_ROW) {
        int64_t date = sqlite3_column_int64(dates, 0);
        if (date / 86400 != day) {
            day = date / 86400;
            month = month_of(date) - 1900 * 12;
            if (month < 0 || month >= MONTHS) fail("a date is out of range");
        }
        counts[month]++;
    }
    sqlite3_finalize(dates);
    printf(",\"%s_ms\":%.3f,\"%s\":{", name, (now() - start) * 1e3, name);
    for (int index = 0, printed = 0; index < MONTHS; index++)
        if (counts[index] > 0)
            printf("%s\"%d-%02d\":%zu", printed++ == 0 ? "" : ",", 1900 + index / 12, index % 12 + 1, counts[index]);
    printf("}");
}

/** Takes the columns of this device in: MD5, camera, latitude, longitude. */
static void put_local(sqlite3 *database, const char *path) {
    photo_file lines = read_whole(path);
    sqlite3_stmt *put = prepare(database, "INSERT INTO local VALUES(?, ?, ?, ?)");
    execute(database, "BEGIN IMMEDIATE");
    for (char *at = lines.data, *end = at + lines.size; at < end; at++) {
        uint8_t md5[MD5_BYTES];
        char *camera = at + MD5_DIGITS + 1;
        bind_md5(put, 1, at, md5);
        at = bind_text(put, 2, camera, end) + 1;
        sqlite3_bind_double(put, 3, strtod(at, &at));
        sqlite3_bind_double(put, 4, strtod(at + 1, &at));
        run(database, put);
    }
    execute(database, "COMMIT");
    sqlite3_finalize(put);
    free(lines.data);
}

#endif
