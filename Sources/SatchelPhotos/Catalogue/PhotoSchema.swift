import SatchelCore
import SatchelDocuments
import SatchelStorage

/// The schema of photo catalogues.
package enum PhotoSchema {
  package static let subject = SubjectSchema(
    name: "photos",
    migrations: [Migration(version: 1, sql: version1)],
    rules: StoredRules(
      bounds: [
        "photo_catalogue.id": 1...1 << 53, "photo_catalogue.sequence": StoredRange.count,
        "photo_catalogue.on_conflict": StoredRange.flag,
        "photo_shard.shard": 0...15, "photo_shard.base": 0...1 << 31, "photo_shard.ancestor": 0...1 << 31,
        "photo_shard.is_imported": StoredRange.flag, "photo_shard.sequence": StoredRange.count,
        "photo_shard.imported_sequence": StoredRange.count, "photo_shard.changes": changes,
        "photo_shard.added": changes, "photo_shard.removed": changes,
        "photo_shard.pending_sequence": StoredRange.count, "photo_version.id": 1...1 << 31,
        "photo_version.photos": StoredRange.count, "photo_version.kept": StoredRange.count,
        "photo_version.bytes": StoredRange.count, "photo_block.id": 1 << 32 ... .max,
        "photo_block.is_plain": StoredRange.flag, "photo_date.id": 1 << 32 ... .max,
        "photo_date.start": StoredRange.count, "photo_date.earliest": StoredRange.any,
        "photo_date.is_wide": StoredRange.flag,
        "photo_change.sequence": StoredRange.count, "photo_change.photodate": StoredRange.any,
        "photo_change.in_base": StoredRange.flag, "photo_local.starred": StoredRange.flag,
        "photo_local.backup": 0...4, "photo_local.date_source": 1...10,
        "photo_local.utc_offset": -86_400...86_400, "photo_local.scanned_date": StoredRange.any,
        "photo_local.queued": 0...1 << 60,
        "photo_local.attempts": StoredRange.count,
        "photo_local.orientation": StoredRange.any, "photo_local.iso": StoredRange.any,
        "photo_local.thumbnail_cached_at": StoredRange.any, "photo_local.preview_cached_at": StoredRange.any,
        "photo_file.kind": 0...2, "photo_file.size": StoredRange.any,
        "photo_file.modified": StoredRange.any, "photo_file.changed": StoredRange.any,
        "photo_file.is_missing": StoredRange.flag, "photo_file.is_hidden": StoredRange.flag,
      ],
      times: [
        "photo_catalogue.created": .stamp, "photo_catalogue.modified": .stamp,
        "photo_catalogue.last_sync": .stamp,
        "photo_shard.modified": .stamp, "photo_shard.synced": .stamp, "photo_local.last_attempt": .stamp,
        "photo_date.earliest": .kept, "photo_change.photodate": .kept,
        "photo_local.scanned_date": .kept, "photo_local.thumbnail_cached_at": .kept,
        "photo_local.preview_cached_at": .kept, "photo_file.modified": .kept,
        "photo_file.changed": .kept,
      ]),
    needs: [ConflictSchema.subject])

  /// The range of a shard's counters of changes: far more than there are photos.
  static var changes: ClosedRange<Int64> { 0...1 << 24 }

  private static let version1 = """
    -- Catalogues: one a directory. `sequence` is the number of the latest change. `on_conflict` is the declared
    -- policy: 0 for remote_wins, 1 for merge. The columns after it identify the remote, and are NULL until the
    -- first sync; `remote_uuid` and `manifest_etag` also while the remote has no manifest. `owner` is the user whom
    -- the rows belong to, `owner_remote` the remote; detaching keeps them. `remote_id` is the id of a directory that
    -- is the remote. `device` is the name of this device's indexes of files, NULL until the first one.
    CREATE TABLE photo_catalogue(
      id INTEGER PRIMARY KEY,
      directory TEXT NOT NULL UNIQUE,
      uuid TEXT NOT NULL,
      created INTEGER NOT NULL,
      modified INTEGER NOT NULL,
      sequence INTEGER NOT NULL,
      on_conflict INTEGER NOT NULL,
      remote_uuid TEXT,
      user TEXT,
      manifest_etag TEXT,
      last_sync INTEGER,
      remote TEXT,
      owner TEXT,
      owner_remote TEXT,
      remote_id TEXT,
      device TEXT
    ) STRICT;

    -- The shards that ever had content. `base` and `ancestor` are versions, 0 for the empty one. While
    -- `is_imported`, the ancestor is the version synchronized last, and the base an imported file; else the
    -- base is the version synchronized last. `synced_checksum` is the SHA-256 of the remote's bytes, NULL
    -- until the first sync; `ancestors` lists the versions that they were built on. `source` is the SHA-256
    -- of the file that the base was read from, NULL when lines of it were rejected. `changes`, `added` and
    -- `removed` count rows of photo_change: all, those of photos that are not in the base, deletions of those
    -- that are. `modified` is when the content last changed, `synced` when it was last the remote's: Unix ms.
    CREATE TABLE photo_shard(
      catalogue INTEGER NOT NULL,
      shard INTEGER NOT NULL,
      base INTEGER NOT NULL,
      ancestor INTEGER NOT NULL,
      is_imported INTEGER NOT NULL,
      synced_checksum TEXT,
      etag TEXT,
      ancestors TEXT,
      source TEXT,
      sequence INTEGER NOT NULL,
      imported_sequence INTEGER NOT NULL,
      changes INTEGER NOT NULL,
      added INTEGER NOT NULL,
      removed INTEGER NOT NULL,
      pending_checksum TEXT,
      pending_sequence INTEGER,
      modified INTEGER,
      synced INTEGER,
      PRIMARY KEY(catalogue, shard)
    ) STRICT, WITHOUT ROWID;

    -- Versions of a shard's content: numbers of photos and kept lines, bytes and their SHA-256.
    CREATE TABLE photo_version(
      id INTEGER PRIMARY KEY,
      checksum TEXT NOT NULL,
      photos INTEGER NOT NULL,
      kept INTEGER NOT NULL,
      bytes INTEGER NOT NULL
    ) STRICT;

    -- Blocks of a version's lines, in order: joined by line feeds they are the version. A block fits into a page
    -- of the file. The id is the version's, times 2^32, plus bits 4 to 35 of the last md5 that the block can have,
    -- all ones for the last block: the block of a photo is the first from its md5 on, and is found by reading one
    -- page. Plain: every line is a photo.
    CREATE TABLE photo_block(
      id INTEGER PRIMARY KEY,
      is_plain INTEGER NOT NULL,
      lines BLOB NOT NULL
    ) STRICT;

    -- The photos of a version in the order of their dates, in rows of a page. The id is the version's, times 2^32,
    -- plus the bucket of the last date: 2 seconds from 1833 to 2106; a bucket is never in two rows. `start` is the
    -- number of photos before, `earliest` the first photodate. `photos` has for each photo the seconds after
    -- `earliest`, 4 bytes, or 8 if the row is wide, and bits 4 to 35 of its md5, 4 bytes; both are little-endian.
    CREATE TABLE photo_date(
      id INTEGER PRIMARY KEY,
      start INTEGER NOT NULL,
      earliest INTEGER NOT NULL,
      is_wide INTEGER NOT NULL,
      photos BLOB NOT NULL
    ) STRICT;

    -- Local changes since: the row as it is written, NULL for a photo that was deleted.
    CREATE TABLE photo_change(
      catalogue INTEGER NOT NULL,
      md5 BLOB NOT NULL,
      sequence INTEGER NOT NULL,
      photodate INTEGER NOT NULL,
      in_base INTEGER NOT NULL,
      line BLOB,
      PRIMARY KEY(catalogue, md5)
    ) STRICT, WITHOUT ROWID;

    -- Local columns. A photo without a row has no star, and is not backed up. A photo that is
    -- queued has a star. `queued` is its
    -- position in the queue of backups; `lease_owner` identifies the process that uploads it.
    -- `scanned_date` is the photodate that a scan found, `date_source` where it found it, by the
    -- numbers of PhotoDateSource. `utc_offset`: seconds east of UTC of the time on the wall at that date.
    CREATE TABLE photo_local(
      catalogue INTEGER NOT NULL,
      md5 BLOB NOT NULL,
      starred INTEGER NOT NULL,
      backup INTEGER NOT NULL,
      queued INTEGER,
      lease_owner TEXT,
      attempts INTEGER NOT NULL,
      last_attempt INTEGER,
      error TEXT,
      camera_make TEXT,
      camera_model TEXT,
      orientation INTEGER,
      latitude REAL,
      longitude REAL,
      aperture REAL,
      shutter_speed TEXT,
      iso INTEGER,
      focal_length REAL,
      thumbnail_cached_at INTEGER,
      preview_cached_at INTEGER,
      scanned_date INTEGER,
      date_source INTEGER,
      utc_offset INTEGER,
      PRIMARY KEY(catalogue, md5)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX photo_local_queue ON photo_local(catalogue, queued) WHERE backup = 1;
    CREATE INDEX photo_local_lease ON photo_local(catalogue, lease_owner) WHERE backup = 2;

    -- The parts of this device's index of files that remotes have: the object's key, the SHA-256 of its bytes and
    -- its ETag. `remote` is the remote's identity.
    CREATE TABLE photo_index(
      catalogue INTEGER NOT NULL,
      remote TEXT NOT NULL,
      key TEXT NOT NULL,
      checksum TEXT NOT NULL,
      etag TEXT NOT NULL,
      PRIMARY KEY(catalogue, remote, key)
    ) STRICT, WITHOUT ROWID;

    -- Files that scans have found: files that did not change since are not read again. `md5` is empty for a
    -- file that was not read. `kind`: 0 for a photo, 1 for a film, 2 for a sidecar; `photo` is the photo that a
    -- film or sidecar belongs to. Times are Unix nanoseconds; `changed` is when content or metadata changed, which
    -- programs cannot set. Missing: the file was removed, or has other bytes (md5 is in the key for that);
    -- the row is kept while its photo is, so that the photo can be reported and removed. `replacement` is the
    -- photo that a file was edited to, until its star was passed on. Hidden: the photo was deleted on this device,
    -- and no scan adds it again.
    CREATE TABLE photo_file(
      catalogue INTEGER NOT NULL,
      path TEXT NOT NULL,
      md5 BLOB NOT NULL,
      kind INTEGER NOT NULL,
      size INTEGER NOT NULL,
      modified INTEGER NOT NULL,
      changed INTEGER NOT NULL,
      is_missing INTEGER NOT NULL,
      is_hidden INTEGER NOT NULL,
      replacement BLOB,
      photo BLOB,
      PRIMARY KEY(catalogue, path, md5)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX photo_file_photo ON photo_file(catalogue, photo) WHERE photo IS NOT NULL;
    CREATE INDEX photo_file_md5 ON photo_file(catalogue, md5);
    """
}
