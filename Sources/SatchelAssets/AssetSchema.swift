import SatchelCore
import SatchelStorage

/// The tables of assets: which bytes the store has, and what refers to them.
package enum AssetSchema {
  package static let subject = SubjectSchema(
    name: "assets", migrations: [Migration(version: 1, sql: version1)],
    rules: StoredRules(
      bounds: [
        "asset.id": ids, "asset.size": sizes, "asset.place": 0...2, "asset.used_at": StoredRange.time,
        "asset_bytes.asset": ids, "asset_seal.asset": ids, "asset_reference.subject": AssetOwner.subjects,
        "asset_reference.owner": StoredRange.any, "asset_reference.asset": 0...ids.upperBound,
        "asset_reference.source": 0...ids.upperBound, "asset_source.id": ids, "asset_source.asset": ids,
        "asset_source.fetched_at": StoredRange.time, "asset_source.attempts": StoredRange.count,
        "asset_source.retry_at": StoredRange.time, "asset_variant.variant": ids, "asset_garbage.number": ids,
        "asset_transfer.asset": -ids.upperBound...ids.upperBound,
        "asset_sweep.id": 1...1,
        "asset_sweep.swept_at": StoredRange.time,
      ],
      times: [
        "asset.used_at": .stamp, "asset_source.fetched_at": .stamp, "asset_source.retry_at": .stamp,
        "asset_sweep.swept_at": .stamp,
      ]))

  /// Row ids, which are not used again.
  package static var ids: ClosedRange<Int64> { 1...1 << 53 }
  /// The sizes of assets in bytes: 512 GiB is the limit of transfers.
  package static var sizes: ClosedRange<Int64> { 0...1 << 39 }

  private static let version1 = """
    -- The assets that the store has or refers to. `place` is 0 for bytes that are not here, 1 for those in asset_bytes,
    -- 2 for a file in the folder next to the store. `size` is NULL while it is not known. `used_at` is when the bytes
    -- were last put, dropped or known to be read.
    CREATE TABLE asset(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      sha256 BLOB NOT NULL UNIQUE,
      size INTEGER,
      place INTEGER NOT NULL,
      used_at INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX asset_used ON asset(used_at) WHERE place > 0;

    -- The bytes of small assets, apart, so that the rows of `asset` stay short.
    CREATE TABLE asset_bytes(
      asset INTEGER PRIMARY KEY,
      bytes BLOB NOT NULL
    ) STRICT;

    -- The assets whose bytes are stored sealed: the name of the file, and the key of the asset, sealed with the store's key.
    CREATE TABLE asset_seal(
      asset INTEGER PRIMARY KEY,
      name BLOB NOT NULL UNIQUE,
      key BLOB NOT NULL
    ) STRICT;

    -- References to an asset by its SHA-256, by its URL, or by both; the other one is 0. `owner` is the row of the
    -- subject that has the reference; see AssetOwner.
    CREATE TABLE asset_reference(
      subject INTEGER NOT NULL,
      owner INTEGER NOT NULL,
      asset INTEGER NOT NULL,
      source INTEGER NOT NULL,
      PRIMARY KEY(subject, owner, asset, source)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX asset_reference_asset ON asset_reference(asset) WHERE asset > 0;
    CREATE INDEX asset_reference_source ON asset_reference(source) WHERE source > 0;

    -- The URLs that are referred to, and what they were when they were fetched; `asset` is NULL before that.
    CREATE TABLE asset_source(
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      url TEXT NOT NULL UNIQUE,
      asset INTEGER,
      etag TEXT,
      fetched_at INTEGER,
      attempts INTEGER NOT NULL,
      retry_at INTEGER,
      error TEXT
    ) STRICT;
    CREATE INDEX asset_source_asset ON asset_source(asset) WHERE asset IS NOT NULL;

    -- Assets that were derived, and can be derived again: from the asset whose SHA-256 `origin` is, or from the photo
    -- whose MD5 it is.
    CREATE TABLE asset_variant(
      origin BLOB NOT NULL,
      name TEXT NOT NULL,
      variant INTEGER NOT NULL,
      type TEXT,
      PRIMARY KEY(origin, name)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX asset_variant_variant ON asset_variant(variant);

    -- The members of sections of the catalogue whose strings are URLs of assets, as JSON Pointers with "*" for any member
    -- or element.
    CREATE TABLE asset_path(
      section TEXT NOT NULL,
      path TEXT NOT NULL,
      PRIMARY KEY(section, path)
    ) STRICT, WITHOUT ROWID;

    -- Files to delete, by their names: the SHA-256, or that of asset_seal. A number is not used again: a file may be put
    -- and dropped again before it is deleted.
    CREATE TABLE asset_garbage(
      number INTEGER PRIMARY KEY AUTOINCREMENT,
      name BLOB NOT NULL
    ) STRICT;
    CREATE INDEX asset_garbage_name ON asset_garbage(name);

    -- Downloads that were interrupted, or that are in progress: `file` is the name of a file in the folder's `incoming` that
    -- has the first bytes of the asset. They are hashed again before they become the asset. Of what is fetched from a URL,
    -- `asset` is the negative row of asset_source, and `etag` that of the bytes.
    CREATE TABLE asset_transfer(
      asset INTEGER PRIMARY KEY,
      file TEXT NOT NULL,
      etag TEXT
    ) STRICT;

    -- When the folder was last compared with the rows; one row.
    CREATE TABLE asset_sweep(
      id INTEGER PRIMARY KEY,
      swept_at INTEGER NOT NULL
    ) STRICT;
    """
}

/// The owner of references to assets: a subject, and a row of it.
package struct AssetOwner: Hashable, Sendable {
  package enum Subject: Int64, Sendable, CaseIterable {
    /// The content of an entity of the catalogue, by its row.
    case entity = 1
    /// The template of a section, by its row.
    case section
    /// A document of records or of state, by its row.
    case record
    /// A kept version of a conflict, by its row.
    case conflict
    /// The file of a story, by its row.
    case story
  }

  package var subject: Subject
  package var row: Int64

  package init(_ subject: Subject, _ row: Int64) { (self.subject, self.row) = (subject, row) }

  static var subjects: ClosedRange<Int64> {
    (Subject.allCases.first?.rawValue ?? 1)...(Subject.allCases.last?.rawValue ?? 1)
  }
}
