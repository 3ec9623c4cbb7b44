/*
 * SQLite's WAL-reset bug (3.7.0 to 3.51.2), in SQLite alone: which kinds of checkpoint lose
 * commits, and that a reader beside the checkpoint prevents it.
 *
 * A checkpointer reads the header of the WAL-index: so many frames are in the log. Before it
 * looks how many of them were copied, another connection commits. All frames were copied
 * already, so that commit begins the log from its start, and "copied" becomes 0. The
 * checkpointer then copies frames of the old log out of the new one, and marks as many as
 * copied: what is committed next is behind that mark and is never read.
 *
 * Usage: wal_reset FOLDER
 */
#include "check.h"
#include "stalling_vfs.h"

enum guard {
    NO_GUARD,
    READER, /* another connection of the checkpointer is in a read transaction */
    WRITER  /* ... in a write transaction */
};

struct scenario {
    const char *name;
    int mode;
    enum guard guard;
    bool is_busy; /* the writer holds the write lock when the checkpoint begins, which does not wait */
    bool loses;   /* on an SQLite with the bug */
};

static const struct scenario scenarios[] = {
    {"PASSIVE", SQLITE_CHECKPOINT_PASSIVE, NO_GUARD, false, true},
    /* These take the write lock first, and when it is busy they go on as PASSIVE. */
    {"FULL", SQLITE_CHECKPOINT_FULL, NO_GUARD, false, false},
    {"RESTART", SQLITE_CHECKPOINT_RESTART, NO_GUARD, false, false},
    {"TRUNCATE", SQLITE_CHECKPOINT_TRUNCATE, NO_GUARD, false, false},
    {"FULL, busy", SQLITE_CHECKPOINT_FULL, NO_GUARD, true, true},
    {"TRUNCATE, busy", SQLITE_CHECKPOINT_TRUNCATE, NO_GUARD, true, true},
    {"PASSIVE beside a reader", SQLITE_CHECKPOINT_PASSIVE, READER, false, false},
    {"PASSIVE beside a writer", SQLITE_CHECKPOINT_PASSIVE, WRITER, false, false},
    {"TRUNCATE, busy, beside a reader", SQLITE_CHECKPOINT_TRUNCATE, READER, true, false},
};

/* Versions that have the bug, and those that do not; some between were mended later. */
enum { SURELY_UNSOUND_BELOW = 3044000, SOUND_FROM = 3051003 };

enum { ROWS = 5000, LATER_ROWS = 6000, PATIENCE = 30 };

static void run(sqlite3 *connection, const char *sql) {
    char *message = NULL;
    if (sqlite3_exec(connection, sql, NULL, NULL, &message) == SQLITE_OK) return;
    fprintf(stderr, "%s: %s\n", sql, message);
    exit(2);
}

static sqlite3 *open_database(const char *path) {
    sqlite3 *connection;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(path, &connection, flags, NULL) != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", path, sqlite3_errmsg(connection));
        exit(2);
    }
    run(connection, "PRAGMA journal_mode=wal; PRAGMA wal_autocheckpoint=0; PRAGMA synchronous=normal;"
                    "SELECT count(*) FROM sqlite_schema");
    return connection;
}

/* The first value of the first row; an error's text when there is none. Valid until the next call. */
static const char *answer(sqlite3 *connection, const char *sql) {
    static char text[200];
    sqlite3_stmt *statement = NULL;
    bool is_row = sqlite3_prepare_v2(connection, sql, -1, &statement, NULL) == SQLITE_OK &&
                  sqlite3_step(statement) == SQLITE_ROW;
    snprintf(text, sizeof text, "%s",
             is_row ? (const char *)sqlite3_column_text(statement, 0) : sqlite3_errmsg(connection));
    sqlite3_finalize(statement);
    return text;
}

static void insert(sqlite3 *connection, int first, int count) {
    char sql[300];
    snprintf(sql, sizeof sql,
             "WITH r(i) AS (SELECT %d UNION ALL SELECT i + 1 FROM r WHERE i < %d) "
             "INSERT INTO t SELECT i, 'old', randomblob(3500) FROM r",
             first, first + count - 1);
    run(connection, sql);
}

struct checkpoint {
    const struct scenario *scenario;
    sqlite3 *connection, *guard;
    int code;
};

static void *checkpoint(void *context) {
    struct checkpoint *own = context;
    if (own->scenario->guard == READER) run(own->guard, "BEGIN; SELECT count(*) FROM sqlite_schema");
    if (own->scenario->guard == WRITER) run(own->guard, "BEGIN IMMEDIATE");
    own->code = sqlite3_wal_checkpoint_v2(own->connection, NULL, own->scenario->mode, NULL, NULL);
    if (own->scenario->guard != NO_GUARD) run(own->guard, "COMMIT");
    return NULL;
}

/* Whether a checkpoint that is stopped in the window leaves all commits alone. */
static bool is_sound(const struct scenario *scenario, const char *path) {
    sqlite3 *writer = open_database(path);
    run(writer, "CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT, pad BLOB)");
    struct checkpoint second = {.scenario = scenario, .connection = open_database(path), .guard = open_database(path)};
    run(second.connection, "SELECT count(*) FROM t");
    run(second.guard, "SELECT count(*) FROM t");
    insert(writer, 1, ROWS);
    sqlite3_wal_checkpoint_v2(writer, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);

    if (scenario->is_busy) run(writer, "BEGIN IMMEDIATE");
    pthread_t thread;
    stall_arm(IN_CHECKPOINT);
    if (pthread_create(&thread, NULL, checkpoint, &second) != 0) exit(2);
    CHECK(stall_wait(IN_CHECKPOINT, PATIENCE), "%s: the window was not reached", scenario->name);
    /* A checkpoint that has the write lock keeps the writer out, and nothing can happen in the window. */
    int code = sqlite3_exec(writer, "UPDATE t SET v = 'new' WHERE id = 1", NULL, NULL, NULL);
    if (scenario->is_busy) run(writer, "COMMIT");
    stall_release(IN_CHECKPOINT);
    pthread_join(thread, NULL);
    if (code == SQLITE_BUSY) run(writer, "UPDATE t SET v = 'new' WHERE id = 1");
    run(writer, "UPDATE t SET v = 'newer' WHERE id = 2");

    const char *both = "SELECT group_concat(v) FROM (SELECT v FROM t WHERE id < 3 ORDER BY id)";
    sqlite3 *reader = open_database(path);
    bool is_sound = strcmp(answer(reader, both), "new,newer") == 0;
    insert(writer, ROWS + 1, LATER_ROWS);
    sqlite3_wal_checkpoint_v2(writer, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    sqlite3 *connections[] = {writer, second.connection, second.guard, reader};
    for (size_t i = 0; i < sizeof connections / sizeof *connections; i++) sqlite3_close(connections[i]);

    sqlite3 *last = open_database(path);
    is_sound = is_sound && strcmp(answer(last, "PRAGMA integrity_check(1)"), "ok") == 0;
    is_sound = is_sound && strcmp(answer(last, "SELECT count(*) FROM t"), "11000") == 0;
    is_sound = is_sound && strcmp(answer(last, both), "new,newer") == 0;
    sqlite3_close(last);
    return is_sound;
}

int main(int count, char **arguments) {
    if (count != 2) return 2;
    int version = sqlite3_libversion_number();
    stall_install();
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        const struct scenario *scenario = &scenarios[i];
        char path[4096];
        snprintf(path, sizeof path, "%s/wal-reset-%zu", arguments[1], i);
        bool sound = is_sound(scenario, path);
        fprintf(stderr, "SQLite %s, %s: %s\n", sqlite3_libversion(), scenario->name, sound ? "sound" : "loses commits");
        if (!scenario->loses || version >= SOUND_FROM) {
            CHECK(sound, "%s: commits were lost", scenario->name);
        } else if (version < SURELY_UNSOUND_BELOW) {
            CHECK(!sound, "%s: the bug was not found, so neither would it be elsewhere", scenario->name);
        }
    }
    return close_checks();
}
