import SatchelCore
import SatchelStorage

/// The tables of state.
package enum StateSchema {
  package static let subject = SubjectSchema(
    name: "state", migrations: [Migration(version: 1, sql: version1)],
    rules: StoredRules(
      bounds: [
        "state_value.is_sealed": StoredRange.flag, "state_item.is_sealed": StoredRange.flag,
        "state_item.number": StoredRange.count,
        "state_saved.writer": StoredRange.any, "state_saved.through": StoredRange.count,
        "state_synced.is_synced": StoredRange.flag, "state_synced.removed_at": StoredRange.time,
        "state_synced.item_limit": itemLimit, "state_synced.max_age": maxAge,
        "state_synced.is_unique": StoredRange.flag,
        "state_migration.version": 2...Int64(Int32.max),
      ], documents: ["state_waiting.operation"],
      times: [
        "state_value.time": .stamp, "state_item.time": .ordered(group: "list", number: "number"),
        "state_saved.time": .stamp, "state_synced.removed_at": .stamp,
      ]))

  static let itemLimit: ClosedRange<Int64> = 1...Int64.max
  /// Milliseconds.
  static let maxAge: ClosedRange<Int64> = 1...StoreClock.latest

  private static let version1 = """
    -- Values, members of sets and scores, each in a space of its own: see StateSpace. `value` is JSON, or a
    -- sealed value. The key of a sealed member or score is a keyed hash.
    CREATE TABLE state_value(
      space TEXT NOT NULL,
      key TEXT NOT NULL,
      time INTEGER NOT NULL,
      is_sealed INTEGER NOT NULL,
      value BLOB NOT NULL,
      PRIMARY KEY(space, key)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX state_sealed ON state_value(key) WHERE space = 'value' AND is_sealed = 1;

    -- Items of lists, the newest with the highest number; times never decrease from one to the next.
    -- `identity` is the same for equal values: a hash, of a sealed one a keyed hash.
    CREATE TABLE state_item(
      list TEXT NOT NULL,
      number INTEGER NOT NULL,
      time INTEGER NOT NULL,
      identity BLOB NOT NULL,
      is_sealed INTEGER NOT NULL,
      value BLOB NOT NULL,
      PRIMARY KEY(list, number)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX state_item_identity ON state_item(list, identity);

    -- Lists, sets and scores whose rows are sealed, and the name of the key; empty while none was.
    CREATE TABLE state_sensitive(
      kind TEXT NOT NULL,
      name TEXT NOT NULL,
      sealed_by BLOB NOT NULL,
      PRIMARY KEY(kind, name)
    ) STRICT, WITHOUT ROWID;

    -- Changes of these that were saved without the key that they need, in their form in the outbox file.
    CREATE TABLE state_waiting(
      id INTEGER PRIMARY KEY,
      kind TEXT NOT NULL,
      name TEXT NOT NULL,
      operation BLOB NOT NULL
    ) STRICT;

    -- The sequence number through which the changes of one handle are saved. It identifies a change that is
    -- already saved while the commit is in progress, and when the change is drained from the outbox file
    -- again.
    CREATE TABLE state_saved(
      writer INTEGER PRIMARY KEY,
      through INTEGER NOT NULL,
      time INTEGER NOT NULL
    ) STRICT;

    -- State that is marked for synchronizing (1), and state that must not be synchronized (0); an entry of the
    -- sync log marks a name that has no row. `kind` is value, list, set or scores. `removed_at` is the time at which a
    -- value was removed, NULL while it has one. The others are the bounds of a list (`item_limit` and
    -- `max_age` are NULL for no limit) or of scores.
    CREATE TABLE state_synced(
      kind TEXT NOT NULL,
      name TEXT NOT NULL,
      is_synced INTEGER NOT NULL,
      removed_at INTEGER,
      item_limit INTEGER,
      max_age INTEGER,
      is_unique INTEGER,
      minimum REAL,
      maximum REAL,
      PRIMARY KEY(kind, name)
    ) STRICT, WITHOUT ROWID;

    -- The migrations that the values went through: the one with the highest version is the last, and without any
    -- they have version 1. `kept` is a JSON object of what migrating back needs.
    CREATE TABLE state_migration(
      version INTEGER PRIMARY KEY,
      steps TEXT NOT NULL,
      kept TEXT NOT NULL
    ) STRICT;
    """
}
