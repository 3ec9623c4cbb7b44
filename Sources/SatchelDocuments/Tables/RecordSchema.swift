import SatchelCore
import SatchelStorage
import SatchelSync

/// The tables of records.
package enum RecordSchema {
  package static let subject = SubjectSchema(
    name: "records",
    migrations: [Migration(version: 1, sql: records + keys + versions)],
    rules: StoredRules(
      bounds: [
        "record_collection.id": RecordRow.collections, "record_collection.version": RecordRow.versions,
        "record_collection.shape": StoredRange.count, "record_collection.count": RecordRow.numbers,
        "record_collection.next": RecordRow.numbers, "record_collection.indexed_through": RecordRow.numbers,
        "record_collection.revised": RecordRow.revisions, "record_dropped.revised": RecordRow.revisions,
        "record.id": RecordRow.rows,
        "record.revision": RecordRow.revisions, "record.is_sealed": StoredRange.flag,
        "record_key.first": StoredRange.any,
        "record_index.collection": RecordRow.collections, "record_index.is_unique": StoredRange.flag,
        "record_value.record": RecordRow.rows,
        "record_relation.collection": RecordRow.collections, "record_relation.target": RecordRow.collections,
        "record_relation.on_delete": 0...2, "record_relation.is_many": StoredRange.flag,
        "record_reference.target_collection": RecordRow.collections,
        "record_reference.source": RecordRow.rows,
        "record_migration.version": 1...Int64(Int32.max), "record_kept.record": 0...RecordRow.rows.upperBound,
      ],
      // The check of the records names documents by collection and id.
      documents: ["record_kept.value", "record_migration.steps"],
      times: ["record.created": .stamp, "record.modified": .stamp]),
    needs: [SyncLogSchema.subject, ConflictSchema.subject])

  /// The tables of collections and documents. A record's row is its collection's id times 2^40, plus a number
  /// that is never reused: a collection is one range of rows, in insertion order.
  private static let records = """
    -- `count` is the number of records with a number below `next`; those after it are few, and are counted on
    -- demand, so that not every new record changes this row. The number of the next record is neither below
    -- `next` nor below one that exists: records are counted before one is deleted. Rows up to
    -- `indexed_through` are in record_key. `shape` increases with every change of the declaration, by which
    -- handles and processes detect it. `declaration` is JSON. No id is used twice, because handles keep what they
    -- know of a collection by its id. `revised` is the highest revision that a deleted record may have had: that of a
    -- new record is higher. `sealed_by` is the name of the key of the sensitive fields of its documents,
    -- NULL when none were sealed, empty when it was lost.
    CREATE TABLE record_collection(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      name TEXT NOT NULL UNIQUE,
      version INTEGER NOT NULL,
      shape INTEGER NOT NULL,
      count INTEGER NOT NULL,
      next INTEGER NOT NULL,
      revised INTEGER NOT NULL,
      indexed_through INTEGER NOT NULL,
      sealed_by BLOB,
      declaration TEXT NOT NULL
    ) STRICT;

    -- The reserved collection.
    INSERT INTO record_collection(id, name, version, shape, count, next, revised, indexed_through, declaration)
    VALUES(0, '@state', 1, 1, 0, 1, 0, 0, '');

    -- `revised` of collections that were dropped, for one that is declared again under the name.
    CREATE TABLE record_dropped(
      name TEXT PRIMARY KEY,
      revised INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    -- The documents, byte for byte as they were written, except for the sensitive fields that the collection declares:
    -- where `is_sealed` is 1, each is a string with the sealed text of the field, and what is in record_kept is sealed.
    CREATE TABLE record(
      id INTEGER PRIMARY KEY,
      key TEXT NOT NULL,
      revision INTEGER NOT NULL,
      created INTEGER NOT NULL,
      modified INTEGER NOT NULL,
      is_sealed INTEGER NOT NULL,
      body BLOB NOT NULL
    ) STRICT;
    -- The sealed documents of the reserved collection.
    CREATE INDEX record_sealed ON record(id) WHERE is_sealed = 1 AND id < 1099511627776;


    """

  private static let keys = """
    -- Maps 64 bits of SHA-256 of a record's id to its row, for all collections, in sorted blocks: see
    -- KeyBlocks. Rows after `indexed_through` are not in it yet; RecordIDs finds these.
    CREATE TABLE record_key(
      first INTEGER PRIMARY KEY,
      entries BLOB NOT NULL
    ) STRICT;

    -- Declared indexes. `definition` is the path of an index of one path; JSON with the paths, types and conditions of any
    -- other.
    CREATE TABLE record_index(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      collection INTEGER NOT NULL,
      definition TEXT NOT NULL,
      is_unique INTEGER NOT NULL,
      UNIQUE(collection, definition)
    ) STRICT;

    -- The entries of the indexes: values as bytes in the order of values, see ValueKey. Each record that an index is of has
    -- one, in an index of the elements of an array as many as there are different ones.
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

    -- References: the record with row `source` refers to the target.
    CREATE TABLE record_reference(
      target_collection INTEGER NOT NULL,
      target_key TEXT NOT NULL,
      source INTEGER NOT NULL,
      relation INTEGER NOT NULL,
      PRIMARY KEY(target_collection, target_key, source, relation)
    ) STRICT, WITHOUT ROWID;


    """

  private static let versions = """
    -- The declared migrations from `version` - 1 to `version`, to migrate back.
    CREATE TABLE record_migration(
      collection INTEGER NOT NULL,
      version INTEGER NOT NULL,
      steps TEXT NOT NULL,
      PRIMARY KEY(collection, version)
    ) STRICT, WITHOUT ROWID;

    -- Values that a migration removed from or replaced in a record (its row; 0 for the values of state), to migrate back.
    CREATE TABLE record_kept(
      record INTEGER NOT NULL,
      version INTEGER NOT NULL,
      path TEXT NOT NULL,
      value BLOB NOT NULL,
      PRIMARY KEY(record, version, path)
    ) STRICT, WITHOUT ROWID;
    """
}
