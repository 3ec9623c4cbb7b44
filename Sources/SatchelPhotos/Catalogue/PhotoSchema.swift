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
        "photo.size": whole, "photo.photodate": StoredRange.any, "photo.modified": StoredRange.any,
        "photo.width": whole, "photo.height": whole,
        "photo_base.sequence": StoredRange.count, "photo_base.is_imported": StoredRange.flag,
        "photo_trash.size": whole, "photo_trash.photodate": StoredRange.any,
        "photo_trash.modified": StoredRange.any, "photo_trash.width": whole, "photo_trash.height": whole,
        "photo_kept.shard": 0...15, "photo_kept.copies": KeptTable.range,
        "photo_kept.synced_copies": KeptTable.range,
        "photo_shard.shard": 0...15, "photo_shard.photos": changes, "photo_shard.changes": changes,
        "photo_shard.imports": changes, "photo_shard.kept": changes, "photo_shard.kept_changes": changes,
        "photo_shard.synced_photos": changes, "photo_shard.sequence": StoredRange.count,
        "photo_shard.pending_sequence": StoredRange.count, "photo_local.starred": StoredRange.flag,
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
        "photo_catalogue.last_sync": .stamp, "photo_catalogue.trash_expired": .stamp,
        "photo_shard.modified": .stamp, "photo_shard.synced": .stamp, "photo_local.last_attempt": .stamp,
        "photo_trash.photodate": .kept, "photo_trash.modified": .kept, "photo_trash.removed": .stamp,
        "photo.photodate": .kept, "photo.modified": .kept,
        "photo_local.scanned_date": .kept, "photo_local.thumbnail_cached_at": .kept,
        "photo_local.preview_cached_at": .kept, "photo_file.modified": .kept,
        "photo_file.changed": .kept,
      ]),
    needs: [ConflictSchema.subject])

  /// The range of a shard's counters: far more than there are photos.
  static var changes: ClosedRange<Int64> { 0...1 << 24 }

  private static var whole: ClosedRange<Int64> { 0 ... .max }

  private static let version1 = """
    -- Catalogues: one a directory. `sequence` is the number of the latest change. `on_conflict` is the declared
    -- policy: 0 for remote_wins, 1 for merge. The columns after it identify the remote, and are NULL until the
    -- first sync; `remote_uuid` and `manifest_etag` also while the remote has no manifest. `owner` is the user whom
    -- the rows belong to, `owner_remote` the remote; detaching keeps them. `remote_id` is the id of a directory that
    -- is the remote. `device` is the name of this device's indexes of files, NULL until the first one. `trash_expired`
    -- is when rows of the trash were last looked at, NULL before.
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
      device TEXT,
      trash_expired INTEGER
    ) STRICT;

    -- The photos, with the columns that all platforms share. The index answers counts and pages by date.
    CREATE TABLE photo(
      catalogue INTEGER NOT NULL,
      md5 BLOB NOT NULL,
      filename TEXT NOT NULL,
      size INTEGER NOT NULL,
      photodate INTEGER NOT NULL,
      modified INTEGER NOT NULL,
      width INTEGER,
      height INTEGER,
      apple_photo_id TEXT,
      PRIMARY KEY(catalogue, md5)
    ) STRICT, WITHOUT ROWID;

    -- Rows of photos that were removed, as they were; `removed`: Unix ms. Rows whose photo is there again do not count.
    CREATE TABLE photo_trash(
      catalogue INTEGER NOT NULL,
      md5 BLOB NOT NULL,
      filename TEXT NOT NULL,
      size INTEGER NOT NULL,
      photodate INTEGER NOT NULL,
      modified INTEGER NOT NULL,
      width INTEGER,
      height INTEGER,
      apple_photo_id TEXT,
      removed INTEGER NOT NULL,
      PRIMARY KEY(catalogue, md5)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX photo_trash_removed ON photo_trash(catalogue, removed);

    -- The photos that were changed or deleted since the last sync: `line` is the row of the shard that was
    -- synchronized, NULL for a photo that is new. A change that was taken back has a row only while an upload is
    -- pending. Imported: an imported file made the change. Before the first sync of a shard, all of its photos count
    -- as changed, and those of imported files have no row here.
    CREATE TABLE photo_base(
      catalogue INTEGER NOT NULL,
      md5 BLOB NOT NULL,
      sequence INTEGER NOT NULL,
      is_imported INTEGER NOT NULL,
      line BLOB,
      PRIMARY KEY(catalogue, md5)
    ) STRICT, WITHOUT ROWID;

    -- The lines of a shard that are no photos: how often a line is in it, and was when it was synchronized last.
    CREATE TABLE photo_kept(
      catalogue INTEGER NOT NULL,
      shard INTEGER NOT NULL,
      line BLOB NOT NULL,
      copies INTEGER NOT NULL,
      synced_copies INTEGER NOT NULL,
      PRIMARY KEY(catalogue, shard, line)
    ) STRICT, WITHOUT ROWID;

    -- The shards that ever had content. `changes` counts the rows of photo_base without those of imported files,
    -- `imports` the latter; `kept` the kept lines, `kept_changes` those that differ from the version synchronized last.
    -- `synced_checksum` is the SHA-256 of the remote's bytes, NULL until the first sync, `synced_content` that of
    -- the same version as it is written here; `ancestors` lists the versions that they were built on. `source` is the
    -- SHA-256 of the file that has the same content, NULL when lines of it were rejected, or photos were changed since.
    -- `modified` is when the content last changed, `synced` when it was last the remote's: Unix ms.
    CREATE TABLE photo_shard(
      catalogue INTEGER NOT NULL,
      shard INTEGER NOT NULL,
      photos INTEGER NOT NULL,
      changes INTEGER NOT NULL,
      imports INTEGER NOT NULL,
      kept INTEGER NOT NULL,
      kept_changes INTEGER NOT NULL,
      synced_photos INTEGER NOT NULL,
      synced_checksum TEXT,
      synced_content TEXT,
      etag TEXT,
      ancestors TEXT,
      source TEXT,
      sequence INTEGER NOT NULL,
      pending_checksum TEXT,
      pending_sequence INTEGER,
      modified INTEGER,
      synced INTEGER,
      PRIMARY KEY(catalogue, shard)
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
    CREATE INDEX photo_local_camera ON photo_local(catalogue, camera_model) WHERE camera_model IS NOT NULL;
    CREATE INDEX photo_local_place ON photo_local(catalogue, latitude, longitude) WHERE latitude IS NOT NULL;
    CREATE INDEX photo_local_lease ON photo_local(catalogue, lease_owner) WHERE backup = 2;

    -- The parts of this device's index of files that remotes have: the object's key, the SHA-256 of its bytes and
    -- its ETag. `remote` is the remote's identity, `remote_id` the id of a directory.
    CREATE TABLE photo_index(
      catalogue INTEGER NOT NULL,
      remote TEXT NOT NULL,
      key TEXT NOT NULL,
      checksum TEXT NOT NULL,
      etag TEXT NOT NULL,
      remote_id TEXT,
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

    -- The last B-tree of the subject: see PhotoTable.addingMany.
    \(dates);
    """

  /// The index of dates.
  static let dates = "CREATE INDEX photo_photodate ON photo(catalogue, photodate)"
}
