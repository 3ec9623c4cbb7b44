import SatchelStorage

/// The tables of what went through the spill file.
package enum JournalSchema {
  package static let subject = SubjectSchema(
    name: "journal", migrations: [Migration(version: 1, sql: version1)])

  private static let version1 = """
    -- How far a spill file was taken in.
    CREATE TABLE spill_applied(
      spill TEXT PRIMARY KEY,
      through INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    -- Entries that the store refused when they were taken in, and what could not be read of a spill file.
    CREATE TABLE spill_refused(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      spill TEXT NOT NULL,
      number INTEGER NOT NULL,
      time INTEGER NOT NULL,
      entry BLOB NOT NULL,
      reason TEXT NOT NULL
    ) STRICT;
    """
}
