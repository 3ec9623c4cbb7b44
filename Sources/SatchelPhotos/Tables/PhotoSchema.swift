import SatchelStorage

/// The tables of photo catalogues.
package enum PhotoSchema {
  package static let subject = SubjectSchema(
    name: "photos",
    migrations: [Migration(version: 1, sql: version1), Migration(version: 2, sql: version2)],
    rules: StoredRules(
      bounds: [
        "photo_catalogue.id": 1...1 << 53, "photo_catalogue.sequence": StoredRange.count,
        "photo_shard.shard": 0...15, "photo_shard.base": 0...1 << 31, "photo_shard.ancestor": 0...1 << 31,
        "photo_shard.is_imported": StoredRange.flag, "photo_shard.sequence": StoredRange.count,
        "photo_shard.imported_sequence": StoredRange.count, "photo_shard.changes": changes,
        "photo_shard.added": changes, "photo_shard.removed": changes,
        "photo_shard.intent_sequence": StoredRange.count, "photo_level.id": 1...1 << 31,
        "photo_level.photos": StoredRange.count, "photo_level.kept": StoredRange.count,
        "photo_level.bytes": StoredRange.count, "photo_block.id": 1 << 32 ... .max,
        "photo_block.level": 1...1 << 31,
        "photo_block.photos": StoredRange.count, "photo_block.earliest": StoredRange.any,
        "photo_block.latest": StoredRange.any, "photo_block.is_plain": StoredRange.flag,
        "photo_change.sequence": StoredRange.count, "photo_change.photodate": StoredRange.any,
        "photo_change.in_base": StoredRange.flag, "photo_local.starred": StoredRange.flag,
        "photo_local.backup": 0...4, "photo_local.queued": 0...1 << 60,
        "photo_local.attempts": StoredRange.count,
        "photo_local.orientation": StoredRange.any, "photo_local.iso": StoredRange.any,
        "photo_local.thumbnail_cached_at": StoredRange.any, "photo_local.preview_cached_at": StoredRange.any,
        "photo_conflict.id": 1...1 << 53, "photo_file.size": StoredRange.any,
        "photo_file.modified": StoredRange.any,
        "photo_file.is_missing": StoredRange.flag, "photo_date.block": 1 << 32 ... .max,
        "photo_date.earliest": StoredRange.any,
      ]))

  /// How many changes a shard can have: far more than there are photos.
  static var changes: ClosedRange<Int64> { 0...1 << 24 }

  private static let version1 = """
    -- Catalogues: one a directory. `sequence` is the number of the latest change; what follows it was agreed with
    -- the master, NULL until the first sync.
    CREATE TABLE photo_catalogue(
      id INTEGER PRIMARY KEY,
      directory TEXT NOT NULL UNIQUE,
      uuid TEXT NOT NULL,
      created INTEGER NOT NULL,
      modified INTEGER NOT NULL,
      sequence INTEGER NOT NULL,
      agreed_uuid TEXT,
      user TEXT,
      manifest_etag TEXT,
      last_sync INTEGER
    ) STRICT;

    -- The shards that ever held anything. `base` and `ancestor` are levels, 0 for the empty one: the ancestor is
    -- what was last agreed with the master, and stands apart only while `is_imported`; else the base is that.
    -- `agreed` is the SHA-256 of the master's bytes, NULL until the first agreement; `lineage` tells what they were
    -- built on. `source` is the SHA-256 of the
    -- file that the base was read from, NULL when not all of its lines were taken. `changes`, `added` and
    -- `removed` count rows of photo_change: all, those of photos that the base has not, deletions of those it has.
    CREATE TABLE photo_shard(
      catalogue INTEGER NOT NULL,
      shard INTEGER NOT NULL,
      base INTEGER NOT NULL,
      ancestor INTEGER NOT NULL,
      is_imported INTEGER NOT NULL,
      agreed TEXT,
      etag TEXT,
      lineage TEXT,
      source TEXT,
      sequence INTEGER NOT NULL,
      imported_sequence INTEGER NOT NULL,
      changes INTEGER NOT NULL,
      added INTEGER NOT NULL,
      removed INTEGER NOT NULL,
      intent_checksum TEXT,
      intent_sequence INTEGER,
      PRIMARY KEY(catalogue, shard)
    ) STRICT, WITHOUT ROWID;

    -- A shard's content as it is written: its photos, lines that were kept, bytes and their SHA-256.
    CREATE TABLE photo_level(
      id INTEGER PRIMARY KEY,
      checksum TEXT NOT NULL,
      photos INTEGER NOT NULL,
      kept INTEGER NOT NULL,
      bytes INTEGER NOT NULL
    ) STRICT;

    -- About 32 KB of a level's lines each, in order: joined by line feeds they are the level. The id is the level's,
    -- times 2^32, plus a number with room for others in between. `first` is the first photo's md5, NULL when there
    -- are only kept lines; the dates are of its photos. Plain: every line is a photo.
    CREATE TABLE photo_block(
      id INTEGER PRIMARY KEY,
      level INTEGER NOT NULL,
      first BLOB,
      photos INTEGER NOT NULL,
      earliest INTEGER,
      latest INTEGER,
      is_plain INTEGER NOT NULL,
      lines BLOB NOT NULL
    ) STRICT;
    CREATE INDEX photo_block_first ON photo_block(level, first) WHERE first IS NOT NULL;

    -- What changed here since: the row as it is written, NULL for a photo that was deleted.
    CREATE TABLE photo_change(
      catalogue INTEGER NOT NULL,
      md5 BLOB NOT NULL,
      sequence INTEGER NOT NULL,
      photodate INTEGER NOT NULL,
      in_base INTEGER NOT NULL,
      line BLOB,
      PRIMARY KEY(catalogue, md5)
    ) STRICT, WITHOUT ROWID;

    -- What is known here only. A photo without a row has no star of its own, and is not backed up. `queued` is its
    -- place in the queue of backups; `owner` is who uploads it.
    CREATE TABLE photo_local(
      catalogue INTEGER NOT NULL,
      md5 BLOB NOT NULL,
      starred INTEGER,
      backup INTEGER NOT NULL,
      queued INTEGER,
      owner TEXT,
      attempts INTEGER NOT NULL,
      last_attempt INTEGER,
      error TEXT,
      camera_make TEXT,
      camera_model TEXT,
      orientation INTEGER,
      latitude REAL,
      longitude REAL,
      aperture REAL,
      shutter_speed REAL,
      iso INTEGER,
      focal_length REAL,
      thumbnail_cached_at INTEGER,
      preview_cached_at INTEGER,
      PRIMARY KEY(catalogue, md5)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX photo_local_queue ON photo_local(catalogue, queued) WHERE backup = 1;
    CREATE INDEX photo_local_claim ON photo_local(catalogue, owner) WHERE backup = 2;

    -- Local changes that lost against the master or a file; lines as they are written, NULL where there was none.
    CREATE TABLE photo_conflict(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      catalogue INTEGER NOT NULL,
      md5 BLOB NOT NULL,
      time INTEGER NOT NULL,
      cause TEXT NOT NULL,
      local BLOB,
      remote BLOB,
      base BLOB
    ) STRICT;
    CREATE INDEX photo_conflict_catalogue ON photo_conflict(catalogue, id);

    -- Files that a scan has seen: those that did not change since are not read again. Times are Unix nanoseconds.
    -- Missing: the file is gone, or has other bytes by now (md5 is in the key for that); kept while its photo is, so
    -- that it can be told and removed.
    CREATE TABLE photo_file(
      catalogue INTEGER NOT NULL,
      path TEXT NOT NULL,
      md5 BLOB NOT NULL,
      size INTEGER NOT NULL,
      modified INTEGER NOT NULL,
      is_missing INTEGER NOT NULL,
      PRIMARY KEY(catalogue, path, md5)
    ) STRICT, WITHOUT ROWID;
    """

  private static let version2 = """
    -- The photodates of a block's photos, in their order: 4 bytes each, little-endian, seconds after the earliest. A
    -- block whose dates lie too far apart has none, nor has one that was written before.
    CREATE TABLE photo_date(
      block INTEGER PRIMARY KEY,
      earliest INTEGER NOT NULL,
      dates BLOB NOT NULL
    ) STRICT;
    """
}
