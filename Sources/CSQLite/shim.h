#ifndef SATCHEL_CSQLITE_SHIM_H
#define SATCHEL_CSQLITE_SHIM_H

#if !__has_include(<sqlite3.h>)
#error "sqlite3.h is missing: install libsqlite3-dev (Debian, Ubuntu), sqlite-devel (Fedora, RHEL) or sqlite (Homebrew)"
#endif
#include <sqlite3.h>

/* SQLite can be built without these two: then an error names the column only. */
#pragma weak sqlite3_column_table_name
#pragma weak sqlite3_column_origin_name

static inline const char *satchel_column_table(sqlite3_stmt *statement, int column) {
  return sqlite3_column_table_name ? sqlite3_column_table_name(statement, column) : 0;
}

static inline const char *satchel_column_origin(sqlite3_stmt *statement, int column) {
  return sqlite3_column_origin_name ? sqlite3_column_origin_name(statement, column) : 0;
}

/* sqlite3_db_config takes variable arguments, which Swift cannot pass. */
static inline int satchel_db_config(sqlite3 *connection, int option, int value) {
  return sqlite3_db_config(connection, option, value, (int *)0);
}

#endif
