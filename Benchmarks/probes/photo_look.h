/* photo_look.h: single photos and a page by date, in blocks of lines. */
#ifndef PHOTO_LOOK_H
#define PHOTO_LOOK_H

#include "photo_database.h"

enum { DATES_MAXIMUM = 1 << 20 };

typedef struct dated {
    int64_t date;
    char md5[MD5_DIGITS + 1];
} dated;

/** The line of an MD5 in a block's sorted lines, and where it ends. */
static const char *find_line(const char *low, const char *high, const char *md5, const char **stop) {
    while (low < high) {
        const char *middle = low + (high - low) / 2;
        const char *before = memrchr(low, '\n', (size_t)(middle - low));
        const char *line = before == NULL ? low : before + 1;
        const char *end = memchr(middle, '\n', (size_t)(high - middle));
        if (end == NULL) end = high;
        int order = memcmp(md5, line, MD5_DIGITS);
        *stop = end;
        if (order == 0) return line;
        if (order < 0) high = before == NULL ? low : before;
        else low = end + 1;
    }
    fail("a photo is missing");
    return NULL;
}

/** Asks for each photo within one read transaction, and prints its line. */
static void get_all(samples *asked) {
    sqlite3 *database = open_database();
    sqlite3_stmt *find = prepare(database,
        "SELECT lines FROM block WHERE id ="
        " (SELECT block FROM place WHERE shard = ? AND first <= ? ORDER BY first DESC LIMIT 1)");
    execute(database, "BEGIN");
    printf(",\"got\":[");
    for (size_t index = 0; index < asked->count; index++) {
        const char *md5 = asked->md5[index], *stop = NULL;
        double start = now();
        sqlite3_bind_int(find, 1, md5[0] <= '9' ? md5[0] - '0' : md5[0] - 'a' + 10);
        sqlite3_bind_text(find, 2, md5, MD5_DIGITS, SQLITE_STATIC);
        expect(database, sqlite3_step(find));
        const char *lines = sqlite3_column_blob(find, 0);
        const char *line = find_line(lines, lines + sqlite3_column_bytes(find, 0), md5, &stop);
        asked->seconds[index] = now() - start;
        printf("%s", index == 0 ? "" : ",");
        print_text(line, (size_t)(stop - line));
        sqlite3_reset(find);
    }
    printf("]");
    sqlite3_finalize(find);
    execute(database, "COMMIT");
    expect(database, sqlite3_close(database));
}

static int compare_dates(const void *left, const void *right) {
    const dated *first = left, *second = right;
    if (first->date != second->date) return first->date < second->date ? -1 : 1;
    return memcmp(first->md5, second->md5, MD5_DIGITS);
}

/** The photodate: two columns after the name, which may be quoted. */
static int64_t date_of(const char *line) {
    const char *at = line + MD5_DIGITS + 1;
    if (*at == '"') {
        do at = strchr(at + 1, '"') + 1;
        while (*at == '"');
    }
    at = strchr(at, ',') + 1;
    return strtoll(strchr(at, ',') + 1, NULL, 10);
}

/** All photos between two dates in order; there is no index. Returns how many. */
static size_t list_dates(dated *found, int64_t from, int64_t to) {
    size_t count = 0;
    sqlite3 *database = open_database();
    sqlite3_stmt *blocks = prepare(database, "SELECT CAST(lines AS TEXT) FROM block");
    while (sqlite3_step(blocks) == SQLITE_ROW) {
        for (const char *line = (const char *)sqlite3_column_text(blocks, 0); line != NULL;) {
            int64_t date = date_of(line);
            if (date >= from && date <= to) {
                if (count == DATES_MAXIMUM) fail("too many dates");
                found[count].date = date;
                memcpy(found[count].md5, line, MD5_DIGITS);
                found[count++].md5[MD5_DIGITS] = 0;
            }
            line = strchr(line, '\n');
            if (line != NULL) line++;
        }
    }
    sqlite3_finalize(blocks);
    expect(database, sqlite3_close(database));
    qsort(found, count, sizeof *found, compare_dates);
    return count;
}

#endif
