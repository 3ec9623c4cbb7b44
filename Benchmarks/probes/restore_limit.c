/* restore_limit: W2 in C straight over SQLite, from a store of persist_limit: open, the headers of one
 * location, one section by row ids; then every section of the location, for the steady state.
 *
 * restore_limit dir=DIR location=KEY chosen=ORDER sections=COUNT */
#include "payload.h"
#include <sqlite3.h>

static sqlite3 *database;

static sqlite3_stmt *prepare(const char *sql) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) != SQLITE_OK)
        fail(sqlite3_errmsg(database));
    return statement;
}

/** Appends the bodies of a section to `out` as a JSON array, and returns how many there were. */
static int load(sqlite3_stmt *references, sqlite3_stmt *body, const char *location, int order, char *out) {
    sqlite3_bind_text(references, 1, location, -1, SQLITE_STATIC);
    sqlite3_bind_int(references, 2, order);
    if (sqlite3_step(references) != SQLITE_ROW) fail("the section is missing");
    const char *rows = sqlite3_column_blob(references, 0);
    int count = sqlite3_column_bytes(references, 0) / 8;
    char *cursor = out;
    for (int index = 0; index < count; index++) {
        int64_t row;
        memcpy(&row, rows + index * 8, 8);
        sqlite3_bind_int64(body, 1, row);
        if (sqlite3_step(body) != SQLITE_ROW) fail("an entity is missing");
        const void *text = sqlite3_column_text(body, 0);
        int size = sqlite3_column_bytes(body, 0);
        *cursor++ = index == 0 ? '[' : ',';
        memcpy(cursor, text, (size_t)size);
        cursor += size;
        sqlite3_reset(body);
    }
    memcpy(cursor, "]", 2);
    sqlite3_reset(references);
    return count;
}

int main(int count, char **arguments) {
    const char *location = option(count, arguments, "location", "");
    int chosen = atoi(option(count, arguments, "chosen", "0"));
    int sections = atoi(option(count, arguments, "sections", "0"));
    char path[4096];
    snprintf(path, sizeof path, "%s/store.db", option(count, arguments, "dir", "."));
    static char headers[1 << 20], section[1 << 20], scratch[1 << 20];

    double start = now();
    if (sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        fail(sqlite3_errmsg(database));
    double opened = now();
    sqlite3_stmt *list = prepare("SELECT section, title, count FROM context WHERE location=?");
    sqlite3_bind_text(list, 1, location, -1, SQLITE_STATIC);
    int listed = 0;
    char *cursor = headers;
    while (sqlite3_step(list) == SQLITE_ROW) {
        cursor += snprintf(cursor, 512, "%c[\"%s\",\"%s\",%d]", listed == 0 ? '[' : ',',
                           (const char *)sqlite3_column_text(list, 0),
                           (const char *)sqlite3_column_text(list, 1), sqlite3_column_int(list, 2));
        listed++;
    }
    memcpy(cursor, "]", 2);
    double headed = now();
    sqlite3_stmt *references = prepare("SELECT rows FROM reference WHERE location=? AND ord=?");
    sqlite3_stmt *body = prepare("SELECT body FROM entity WHERE rowid=?");
    load(references, body, location, chosen, section);
    double loaded = now();
    if (listed != sections) fail("the number of headers is wrong");
    for (int order = 0; order < sections; order++) load(references, body, location, order, scratch);
    double finished = now();

    printf("{\"open_ms\":%.3f,\"list_ms\":%.3f,\"load_ms\":%.3f,\"total_ms\":%.3f,\"warm_section_us\":%.1f,"
           "\"headers\":%s,\"section\":%s}\n",
           (opened - start) * 1e3, (headed - opened) * 1e3, (loaded - headed) * 1e3, (loaded - start) * 1e3,
           (finished - loaded) / sections * 1e6, headers, section);
    return 0;
}
