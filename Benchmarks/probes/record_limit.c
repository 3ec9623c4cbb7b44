/* record_limit: W5 in C straight over SQLite: prepared statements, nothing parsed, the index on ids deferred
 * (hash -> row is kept in memory and merged, sorted, every 20,000 records), reads in a held transaction.
 *
 * record_limit extended=0|1 …      extended: the WAL has all its blocks from the start
 * Options: record_run.h */
#include "record_run.h"
#include <sqlite3.h>
#include <stdbool.h>

enum { MERGE_AT = 20000, SLOTS = 1 << 17, RECENT_MAXIMUM = 60000, WAL_PAGES = 4000 };

typedef struct recent_id {
    int64_t hash, row;
} recent_id;

static sqlite3 *database;
static sqlite3_stmt *begin_read, *begin_write, *commit, *insert, *update, *delete_row, *look_up, *index_one,
    *unindex, *select_one, *save_value, *select_value, *busy;
static recent_id recent[RECENT_MAXIMUM], slots[SLOTS];
static size_t recent_count;
static bool reading, extended;

static void expect(int status) {
    if (status != SQLITE_OK && status != SQLITE_DONE && status != SQLITE_ROW) fail(sqlite3_errmsg(database));
}

static sqlite3_stmt *prepare(const char *sql) {
    sqlite3_stmt *statement;
    expect(sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL));
    return statement;
}

static void execute(const char *sql) { expect(sqlite3_exec(database, sql, NULL, NULL, NULL)); }

static void run(sqlite3_stmt *statement) {
    expect(sqlite3_step(statement));
    expect(sqlite3_reset(statement));
}

static void bind(sqlite3_stmt *statement, int index, slice text) {
    sqlite3_bind_text(statement, index, text.data, (int)text.size, SQLITE_STATIC);
}

static int64_t hash_of(slice text) {
    uint64_t hash = 0xcbf29ce484222325ull;
    for (size_t index = 0; index < text.size; index++)
        hash = (hash ^ (uint8_t)text.data[index]) * 0x100000001b3ull;
    return (int64_t)(hash ^ (hash >> 32));
}

static size_t slot_of(int64_t hash) {
    size_t slot = (size_t)hash & (SLOTS - 1);
    while (slots[slot].row != 0 && slots[slot].hash != hash) slot = (slot + 1) & (SLOTS - 1);
    return slot;
}

static int compare_recent(const void *left, const void *right) {
    int64_t first = ((const recent_id *)left)->hash, second = ((const recent_id *)right)->hash;
    return first < second ? -1 : first > second;
}

static void merge_recent(void) {
    qsort(recent, recent_count, sizeof *recent, compare_recent);
    for (size_t index = 0; index < recent_count; index++) {
        sqlite3_bind_int64(index_one, 1, recent[index].hash);
        sqlite3_bind_int64(index_one, 2, recent[index].row);
        run(index_one);
    }
    recent_count = 0;
    memset(slots, 0, sizeof slots);
}

static int64_t row_of(int64_t hash) {
    int64_t row = slots[slot_of(hash)].row;
    if (row != 0) return row;
    sqlite3_bind_int64(look_up, 1, hash);
    if (sqlite3_step(look_up) == SQLITE_ROW) row = sqlite3_column_int64(look_up, 0);
    sqlite3_reset(look_up);
    return row;
}

static void start_writing(void) {
    if (reading) run(commit);
    reading = false;
    run(begin_write);
}

static void put_in_transaction(const record *one) {
    int64_t hash = hash_of(one->id), row = row_of(hash);
    sqlite3_stmt *statement = row != 0 ? update : insert;
    bind(statement, 1, one->id);
    bind(statement, 2, one->document);
    if (row != 0) sqlite3_bind_int64(statement, 3, row);
    run(statement);
    if (row != 0) return;
    recent_id added = {hash, sqlite3_last_insert_rowid(database)};
    recent[recent_count++] = slots[slot_of(hash)] = added;
}

static void put_many(const record *some, size_t count) {
    start_writing();
    for (size_t index = 0; index < count; index++) {
        put_in_transaction(&some[index]);
        if (recent_count >= MERGE_AT) merge_recent();
    }
    run(commit);
}

static void put(const record *one) { put_many(one, 1); }

/** A statement's column; it stays valid until release(). */
static slice found_by(sqlite3_stmt *statement) {
    if (sqlite3_step(statement) != SQLITE_ROW) {
        sqlite3_reset(statement);
        return (slice){NULL, 0};
    }
    busy = statement;
    const char *data = (const char *)sqlite3_column_text(statement, 0);
    return (slice){data, (size_t)sqlite3_column_bytes(statement, 0)};
}

static void start_reading(void) {
    if (!reading) run(begin_read);
    reading = true;
}

static slice get(slice id) {
    start_reading();
    int64_t row = row_of(hash_of(id));
    if (row == 0) return (slice){NULL, 0};
    sqlite3_bind_int64(select_one, 1, row);
    slice found = found_by(select_one);
    if (found.data == NULL || sqlite3_column_bytes(select_one, 1) != (int)id.size ||
        memcmp(sqlite3_column_text(select_one, 1), id.data, id.size) != 0)
        fail("the index is wrong");
    return found;
}

static void release(void) {
    if (busy != NULL) sqlite3_reset(busy);
    busy = NULL;
}

static void remove_one(slice id) {
    int64_t hash = hash_of(id);
    start_writing();
    if (slots[slot_of(hash)].row != 0) merge_recent();
    int64_t row = row_of(hash);
    sqlite3_bind_int64(delete_row, 1, row);
    run(delete_row);
    sqlite3_bind_int64(unindex, 1, hash);
    run(unindex);
    run(commit);
}

static void save_many(const record *values, size_t count) {
    start_writing();
    for (size_t index = 0; index < count; index++) {
        bind(save_value, 1, values[index].id);
        bind(save_value, 2, values[index].document);
        run(save_value);
    }
    run(commit);
}

static void save(const record *value) { save_many(value, 1); }

static slice value(slice key) {
    start_reading();
    bind(select_value, 1, key);
    return found_by(select_value);
}

/** Gives the WAL its blocks: it is not cut when it is reset, and overwriting it is cheaper. */
static void extend(void) {
    char sql[256];
    snprintf(sql, sizeof sql,
             "CREATE TABLE filler(bytes BLOB); INSERT INTO filler VALUES(zeroblob(4096*%d)); DROP TABLE filler;"
             "PRAGMA wal_checkpoint(RESTART)",
             WAL_PAGES);
    execute(sql);
}

static void open_database(const char *directory) {
    char path[PATH_SIZE], pragmas[256];
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    snprintf(path, sizeof path, "%s/store.db", directory);
    if (sqlite3_open_v2(path, &database, flags, NULL) != SQLITE_OK) fail("cannot open");
    snprintf(pragmas, sizeof pragmas,
             "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=%d;"
             "PRAGMA cache_size=-16000",
             WAL_PAGES);
    execute(pragmas);
    execute("CREATE TABLE IF NOT EXISTS record(id TEXT, body TEXT);"
            "CREATE TABLE IF NOT EXISTS record_index(hash INTEGER PRIMARY KEY, row INTEGER);"
            "CREATE TABLE IF NOT EXISTS state(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID");
    if (extended) extend();
    begin_read = prepare("BEGIN");
    begin_write = prepare("BEGIN IMMEDIATE");
    commit = prepare("COMMIT");
    insert = prepare("INSERT INTO record VALUES(?,?)");
    update = prepare("UPDATE record SET body=?2 WHERE rowid=?3 AND id=?1");
    delete_row = prepare("DELETE FROM record WHERE rowid=?");
    look_up = prepare("SELECT row FROM record_index WHERE hash=?");
    index_one = prepare("INSERT INTO record_index VALUES(?,?)");
    unindex = prepare("DELETE FROM record_index WHERE hash=?");
    select_one = prepare("SELECT body, id FROM record WHERE rowid=?");
    save_value = prepare("REPLACE INTO state VALUES(?,?)");
    select_value = prepare("SELECT value FROM state WHERE key=?");
}

static void close_database(void) {
    start_writing();
    merge_recent();
    run(commit);
    for (sqlite3_stmt *left = NULL; (left = sqlite3_next_stmt(database, NULL)) != NULL;) sqlite3_finalize(left);
    expect(sqlite3_close(database));
}

int main(int count, char **arguments) {
    static const keeper limit = {open_database, put,  put_many,  get,   release,
                                 remove_one,    save, save_many, value, close_database};
    extended = atoi(option(count, arguments, "extended", "0")) != 0;
    return run_records(&limit, count, arguments);
}
