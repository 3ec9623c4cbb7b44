import SatchelStorage

/// What a satchel file knows of object stores.
package enum RemoteSchema {
  package static let subject = SubjectSchema(
    name: "remotes", migrations: [Migration(version: 1, sql: version1)])

  private static let version1 = """
    -- Object stores that were found to heed conditions: what they say of themselves, below which prefix it was tried,
    -- and when (Unix milliseconds).
    CREATE TABLE remote_probe(
      remote TEXT NOT NULL,
      prefix TEXT NOT NULL,
      passed INTEGER NOT NULL,
      PRIMARY KEY(remote, prefix)
    ) STRICT, WITHOUT ROWID;
    """
}
