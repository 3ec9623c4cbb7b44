import SatchelStorage

/// The tables of records.
package enum RecordSchema {
  package static let subject = SubjectSchema(
    name: "records",
    migrations: [Migration(version: 1, sql: records + keys + synchronising + versions)],
    rules: StoredRules(
      bounds: [
        "record_collection.id": RecordRow.collections, "record_collection.version": RecordRow.versions,
        "record_collection.shape": StoredRange.count, "record_collection.count": RecordRow.numbers,
        "record_collection.next": RecordRow.numbers, "record_collection.indexed_through": RecordRow.numbers,
        "record_collection.sequence": StoredRange.count, "record.id": RecordRow.rows,
        "record.revision": RecordRow.revisions, "record_key.first": StoredRange.any,
        "record_index.collection": RecordRow.collections, "record_index.is_unique": StoredRange.flag,
        "record_index.entries": RecordRow.numbers, "record_value.record": RecordRow.rows,
        "record_relation.collection": RecordRow.collections, "record_relation.target": RecordRow.collections,
        "record_relation.on_delete": 0...2, "record_relation.is_many": StoredRange.flag,
        "record_reference.target_collection": RecordRow.collections,
        "record_reference.source": RecordRow.rows,
        "record_migration.version": 1...Int64(Int32.max), "record_kept.record": RecordRow.rows,
      ], documents: ["record.body", "record_kept.value", "record_migration.steps"]))

  /// Collections and their documents. A record's row is its collection's id times 2^40, plus a number that is never
  /// taken twice: a collection is one range, in order of arrival.
  private static let records = """
    -- `count` is how many records have a number below `next`; those behind it are few, and are counted when that is
    -- asked for, so that not every new record changes this row. The next record takes a number that is neither below
    -- `next` nor below one that is there: what is deleted is counted before. Rows up to `indexed_through` are in
    -- record_key. `shape` grows with every declaration that differs, which is how handles and processes notice.
    -- `declaration` is JSON, and `sync` too: with whom the collection is synchronised, NULL when it never was.
    -- `sequence` is the number of the latest change that has to travel.
    CREATE TABLE record_collection(
      id INTEGER PRIMARY KEY,
      name TEXT NOT NULL UNIQUE,
      version INTEGER NOT NULL,
      shape INTEGER NOT NULL,
      count INTEGER NOT NULL,
      next INTEGER NOT NULL,
      indexed_through INTEGER NOT NULL,
      declaration TEXT NOT NULL,
      sequence INTEGER NOT NULL,
      sync TEXT
    ) STRICT;

    -- The documents, as the bytes that came.
    CREATE TABLE record(
      id INTEGER PRIMARY KEY,
      key TEXT NOT NULL,
      revision INTEGER NOT NULL,
      created INTEGER NOT NULL,
      modified INTEGER NOT NULL,
      body BLOB NOT NULL
    ) STRICT;


    """

  private static let keys = """
    -- From 64 bits of SHA-256 of a record's id to its row, of all collections, in sorted blocks: see KeyBlocks. Rows
    -- beyond `indexed_through` are not here yet; these are found by RecordIDs.
    CREATE TABLE record_key(
      first INTEGER PRIMARY KEY,
      entries BLOB NOT NULL
    ) STRICT;

    -- Declared indexes. `entries` is how many records have a value at the path.
    CREATE TABLE record_index(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      collection INTEGER NOT NULL,
      path TEXT NOT NULL,
      is_unique INTEGER NOT NULL,
      entries INTEGER NOT NULL,
      UNIQUE(collection, path)
    ) STRICT;

    -- Their values as bytes whose order is the order of values: see ValueKey.
    CREATE TABLE record_value(
      index_id INTEGER NOT NULL,
      value BLOB NOT NULL,
      record INTEGER NOT NULL,
      PRIMARY KEY(index_id, value, record)
    ) STRICT, WITHOUT ROWID;

    -- Declared relations: on_delete is 0 for restrict, 1 for cascade, 2 for nullify.
    CREATE TABLE record_relation(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      collection INTEGER NOT NULL,
      path TEXT NOT NULL,
      target INTEGER NOT NULL,
      on_delete INTEGER NOT NULL,
      is_many INTEGER NOT NULL,
      UNIQUE(collection, path)
    ) STRICT;
    CREATE INDEX record_relation_target ON record_relation(target);

    -- Which records (`source` is a row) name a record.
    CREATE TABLE record_reference(
      target_collection INTEGER NOT NULL,
      target_key TEXT NOT NULL,
      source INTEGER NOT NULL,
      relation INTEGER NOT NULL,
      PRIMARY KEY(target_collection, target_key, source, relation)
    ) STRICT, WITHOUT ROWID;


    """

  private static let synchronising = """
    -- Records of collections that have been synchronised. `base` is the envelope that was last agreed, NULL when
    -- nothing was, and `etag` that of the object that holds it. `pending` is the number of the change that has to
    -- travel, 0 for what was there before the first sync, NULL when there is none. `sent` is the envelope that is on
    -- its way, for the change `sending`. `conflict_etag` is of the object of an open conflict. A record that was
    -- deleted keeps its row until that is known there: `deleted` tells when, `revision` and `created` what it was.
    CREATE TABLE record_sync(
      collection INTEGER NOT NULL,
      key TEXT NOT NULL,
      etag TEXT,
      base BLOB,
      pending INTEGER,
      sending INTEGER,
      sent BLOB,
      conflict_etag TEXT,
      deleted INTEGER,
      revision INTEGER,
      created INTEGER,
      attempts INTEGER NOT NULL,
      retry_at INTEGER,
      error TEXT,
      error_code INTEGER,
      PRIMARY KEY(collection, key)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX record_sync_pending ON record_sync(collection, pending) WHERE pending IS NOT NULL;

    -- Who writes: the store's name among those that share records.
    CREATE TABLE record_writer(
      id INTEGER PRIMARY KEY CHECK(id = 1),
      writer TEXT NOT NULL
    ) STRICT;

    -- Both sides of what could not be agreed ('open'), and local content that lost ('lost'). `etag` is of the object
    -- that holds the remote side.
    CREATE TABLE record_conflict(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      collection INTEGER NOT NULL,
      key TEXT NOT NULL,
      kind TEXT NOT NULL,
      time INTEGER NOT NULL,
      local BLOB,
      remote BLOB,
      base BLOB,
      etag TEXT
    ) STRICT;
    CREATE INDEX record_conflict_record ON record_conflict(collection, key);


    """

  private static let versions = """
    -- The declared steps that led from `version` - 1 to `version`, for the way back.
    CREATE TABLE record_migration(
      collection INTEGER NOT NULL,
      version INTEGER NOT NULL,
      steps TEXT NOT NULL,
      PRIMARY KEY(collection, version)
    ) STRICT, WITHOUT ROWID;

    -- Values that a step took out of a record (its row), for the way back.
    CREATE TABLE record_kept(
      record INTEGER NOT NULL,
      version INTEGER NOT NULL,
      path TEXT NOT NULL,
      value BLOB NOT NULL,
      PRIMARY KEY(record, version, path)
    ) STRICT, WITHOUT ROWID;
    """
}
