/* photo_database.h: the database of the limit: photos, what only this device knows of them, and its indexes. */
#ifndef PHOTO_DATABASE_H
#define PHOTO_DATABASE_H

#include "photo_run.h"
#include <sqlite3.h>

static const char *const SCHEMA =
    "CREATE TABLE photo(md5 BLOB PRIMARY KEY, filename TEXT, size INTEGER, photodate INTEGER, modified INTEGER,"
    " width INTEGER, height INTEGER, apple_photo_id TEXT) WITHOUT ROWID;"
    "CREATE TABLE local(md5 BLOB PRIMARY KEY, camera TEXT, latitude REAL, longitude REAL) WITHOUT ROWID;"
    "CREATE INDEX cameras ON local(camera); CREATE INDEX places ON local(latitude, longitude);"
    "CREATE TABLE manifest(shard INTEGER PRIMARY KEY, checksum BLOB)";
static const char *const INDEX = "CREATE INDEX dates ON photo(photodate)";

static char database_path[PATH_SIZE];
static const char *journal;

static inline void expect(sqlite3 *database, int status) {
    if (status != SQLITE_OK && status != SQLITE_DONE && status != SQLITE_ROW) fail(sqlite3_errmsg(database));
}

static inline void execute(sqlite3 *database, const char *sql) {
    expect(database, sqlite3_exec(database, sql, NULL, NULL, NULL));
}

static inline sqlite3_stmt *prepare(sqlite3 *database, const char *sql) {
    sqlite3_stmt *statement;
    expect(database, sqlite3_prepare_v2(database, sql, -1, &statement, NULL));
    return statement;
}

static inline void run(sqlite3 *database, sqlite3_stmt *statement) {
    expect(database, sqlite3_step(statement));
    expect(database, sqlite3_reset(statement));
}

static inline sqlite3 *open_database(void) {
    sqlite3 *database;
    char pragmas[256];
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(database_path, &database, flags, NULL) != SQLITE_OK) fail("cannot open");
    sqlite3_busy_timeout(database, 5000);
    snprintf(pragmas, sizeof pragmas,
             "PRAGMA journal_mode=%s; PRAGMA synchronous=FULL; PRAGMA cache_size=-16000", journal);
    execute(database, pragmas);
    return database;
}

#endif
