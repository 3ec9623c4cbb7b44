/* persist_limit: W1 in C straight over SQLite, a transaction a payload, prepared statements, nothing parsed.
 *
 * persist_limit data=FILE dir=DIR [index=unique|deferred] [synchronous=FULL|NORMAL]
 *   unique    entity_id is a UNIQUE column: 20 random pages of its index a payload
 *   deferred  hash(entity_id) -> row id is kept in memory and merged, sorted, every 256 payloads */
#include "payload.h"
#include <sqlite3.h>
#include <stdbool.h>

enum { MERGE_EVERY = 256, RECENT_SLOTS = 1 << 17, RECENT_MAXIMUM = 60000 };

typedef struct recent_id {
    int64_t hash, row;
} recent_id;

typedef struct statements {
    sqlite3_stmt *begin, *commit, *insert, *update, *look_up, *index, *context, *references;
} statements;

static sqlite3 *database;
static recent_id recent[RECENT_MAXIMUM + ENTITIES_MAXIMUM], slots[RECENT_SLOTS];
static int recent_count;

static void expect(int status) {
    if (status != SQLITE_OK && status != SQLITE_DONE && status != SQLITE_ROW) fail(sqlite3_errmsg(database));
}

static sqlite3_stmt *prepare(const char *sql) {
    sqlite3_stmt *statement;
    expect(sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL));
    return statement;
}

static void run(sqlite3_stmt *statement) {
    expect(sqlite3_step(statement));
    expect(sqlite3_reset(statement));
}

static void bind(sqlite3_stmt *statement, int index, slice text) {
    sqlite3_bind_text(statement, index, text.data, text.size, SQLITE_STATIC);
}

static int64_t hash_of(slice text) {
    uint64_t hash = 0xcbf29ce484222325ull;
    for (int index = 0; index < text.size; index++)
        hash = (hash ^ (uint8_t)text.data[index]) * 0x100000001b3ull;
    return (int64_t)(hash ^ (hash >> 32));
}

static int compare_recent(const void *left, const void *right) {
    int64_t first = ((const recent_id *)left)->hash, second = ((const recent_id *)right)->hash;
    return first < second ? -1 : first > second;
}

static void merge_recent(statements *prepared) {
    qsort(recent, (size_t)recent_count, sizeof *recent, compare_recent);
    for (int index = 0; index < recent_count; index++) {
        sqlite3_bind_int64(prepared->index, 1, recent[index].hash);
        sqlite3_bind_int64(prepared->index, 2, recent[index].row);
        run(prepared->index);
    }
    recent_count = 0;
    memset(slots, 0, sizeof slots);
}

static void bind_entity(sqlite3_stmt *statement, const entity_slices *entity) {
    bind(statement, 1, entity->entity_id);
    bind(statement, 2, entity->scope);
    sqlite3_bind_int64(statement, 3, entity->expires_at);
    bind(statement, 4, entity->place);
    bind(statement, 5, entity->body);
}

static int64_t put_unique(statements *prepared, const entity_slices *entity) {
    bind_entity(prepared->insert, entity);
    expect(sqlite3_step(prepared->insert));
    int64_t row = sqlite3_column_int64(prepared->insert, 0);
    expect(sqlite3_reset(prepared->insert));
    return row;
}

static int64_t put_deferred(statements *prepared, const entity_slices *entity) {
    int64_t hash = hash_of(entity->entity_id), row = 0;
    size_t slot = (size_t)hash & (RECENT_SLOTS - 1);
    while (slots[slot].row != 0 && slots[slot].hash != hash) slot = (slot + 1) & (RECENT_SLOTS - 1);
    row = slots[slot].row;
    if (row == 0) {
        sqlite3_bind_int64(prepared->look_up, 1, hash);
        if (sqlite3_step(prepared->look_up) == SQLITE_ROW) row = sqlite3_column_int64(prepared->look_up, 0);
        sqlite3_reset(prepared->look_up);
    }
    sqlite3_stmt *statement = row != 0 ? prepared->update : prepared->insert;
    bind_entity(statement, entity);
    if (row != 0) sqlite3_bind_int64(statement, 6, row);
    run(statement);
    if (row == 0) {
        row = sqlite3_last_insert_rowid(database);
        recent[recent_count++] = slots[slot] = (recent_id){hash, row};
    }
    return row;
}

static void put_payload(statements *prepared, const payload *cut, bool deferred) {
    int64_t rows[ENTITIES_MAXIMUM];
    for (int index = 0; index < cut->count; index++)
        rows[index] = deferred ? put_deferred(prepared, &cut->entities[index])
                               : put_unique(prepared, &cut->entities[index]);
    bind(prepared->context, 1, cut->location);
    sqlite3_bind_int(prepared->context, 2, cut->order);
    bind(prepared->context, 3, cut->section);
    bind(prepared->context, 4, cut->title);
    sqlite3_bind_int(prepared->context, 5, cut->count);
    run(prepared->context);
    bind(prepared->references, 1, cut->location);
    sqlite3_bind_int(prepared->references, 2, cut->order);
    sqlite3_bind_blob(prepared->references, 3, rows, cut->count * 8, SQLITE_STATIC);
    run(prepared->references);
}

static void make_schema(bool deferred, const char *synchronous) {
    char sql[1024];
    snprintf(sql, sizeof sql,
             "PRAGMA journal_mode=WAL; PRAGMA synchronous=%s; PRAGMA wal_autocheckpoint=4000;"
             "CREATE TABLE entity(entity_id TEXT %s, scope TEXT, expires INTEGER, place TEXT, body TEXT);"
             "CREATE TABLE entity_index(hash INTEGER PRIMARY KEY, row INTEGER);"
             "CREATE TABLE context(location TEXT, ord INTEGER, section TEXT, title TEXT, count INTEGER,"
             " PRIMARY KEY(location, ord)) WITHOUT ROWID;"
             "CREATE TABLE reference(location TEXT, ord INTEGER, rows BLOB,"
             " PRIMARY KEY(location, ord)) WITHOUT ROWID;",
             synchronous, deferred ? "" : "UNIQUE");
    expect(sqlite3_exec(database, sql, NULL, NULL, NULL));
}

static statements prepare_all(bool deferred) {
    return (statements){
        .begin = prepare("BEGIN IMMEDIATE"),
        .commit = prepare("COMMIT"),
        .insert = prepare(deferred ? "INSERT INTO entity VALUES(?,?,?,?,?)"
                                   : "INSERT INTO entity VALUES(?,?,?,?,?) ON CONFLICT(entity_id) DO UPDATE SET"
                                     " scope=excluded.scope, expires=excluded.expires, place=excluded.place,"
                                     " body=excluded.body RETURNING rowid"),
        .update = prepare("UPDATE entity SET scope=?2, expires=?3, place=?4, body=?5"
                          " WHERE rowid=?6 AND entity_id=?1"),
        .look_up = prepare("SELECT row FROM entity_index WHERE hash=?"),
        .index = prepare("INSERT OR REPLACE INTO entity_index VALUES(?,?)"),
        .context = prepare("INSERT OR REPLACE INTO context VALUES(?,?,?,?,?)"),
        .references = prepare("INSERT OR REPLACE INTO reference VALUES(?,?,?)"),
    };
}

int main(int count, char **arguments) {
    bool deferred = strcmp(option(count, arguments, "index", "deferred"), "deferred") == 0;
    char path[4096];
    snprintf(path, sizeof path, "%s/store.db", option(count, arguments, "dir", "."));
    FILE *input = fopen(option(count, arguments, "data", ""), "rb");
    if (input == NULL) fail("cannot open the data");

    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    int payloads = 0;
    static payload cut;
    double start = now();
    expect(sqlite3_open_v2(path, &database,
                           SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL));
    make_schema(deferred, option(count, arguments, "synchronous", "FULL"));
    statements prepared = prepare_all(deferred);
    while ((length = getline(&line, &capacity, input)) > 0) {
        cut_payload(line, (size_t)length, &cut);
        run(prepared.begin);
        put_payload(&prepared, &cut, deferred);
        payloads++;
        if (payloads % MERGE_EVERY == 0 || recent_count >= RECENT_MAXIMUM) merge_recent(&prepared);
        run(prepared.commit);
    }
    run(prepared.begin);
    merge_recent(&prepared);
    run(prepared.commit);
    for (sqlite3_stmt *left = NULL; (left = sqlite3_next_stmt(database, NULL)) != NULL;) sqlite3_finalize(left);
    expect(sqlite3_close(database));
    printf("{\"seconds\":%.4f,\"payloads\":%d,\"resident\":%ld}\n", now() - start, payloads,
           memory_status("VmHWM:"));
    return 0;
}
