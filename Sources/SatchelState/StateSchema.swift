import SatchelCore
import SatchelStorage

/// The tables of state.
package enum StateSchema {
  package static let subject = SubjectSchema(
    name: "state", migrations: [Migration(version: 1, sql: version1)],
    rules: StoredRules(
      bounds: [
        "state_value.is_sealed": StoredRange.flag, "state_item.number": StoredRange.count,
        "state_saved.writer": StoredRange.any, "state_saved.through": StoredRange.count,
      ]))

  private static let version1 = """
    -- Values, members of sets and scores, each in a space of its own: see StateSpace. `value` is JSON, or a
    -- sealed value.
    CREATE TABLE state_value(
      space TEXT NOT NULL,
      key TEXT NOT NULL,
      time INTEGER NOT NULL,
      is_sealed INTEGER NOT NULL,
      value BLOB NOT NULL,
      PRIMARY KEY(space, key)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX state_sealed ON state_value(space, key) WHERE is_sealed = 1;

    -- Items of lists, the newest with the highest number; times never decrease from one to the next.
    -- `identity` is the same for equal values.
    CREATE TABLE state_item(
      list TEXT NOT NULL,
      number INTEGER NOT NULL,
      time INTEGER NOT NULL,
      identity BLOB NOT NULL,
      value BLOB NOT NULL,
      PRIMARY KEY(list, number)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX state_item_identity ON state_item(list, identity);

    -- The sequence number through which the changes of one handle are saved. It identifies a change that is
    -- already saved while the commit is in progress, and when the change is drained from the outbox file
    -- again.
    CREATE TABLE state_saved(
      writer INTEGER PRIMARY KEY,
      through INTEGER NOT NULL,
      time INTEGER NOT NULL
    ) STRICT;
    """
}
