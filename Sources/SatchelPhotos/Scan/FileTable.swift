import SatchelCore
import SatchelStorage

/// A file found by an earlier scan: a row of `photo_file`.
struct KnownFile: Sendable, Equatable {
  /// The path relative to the catalogue's directory, with the bytes on disk.
  var path: [UInt8]
  /// Nil for a file that was not read.
  var md5: MD5?
  var kind = FileKind.photo
  var size: Int64
  /// Unix nanoseconds, as is `changed`.
  var modified: Int64
  var changed: Int64
  /// Whether the file was removed, or has other bytes.
  var isMissing = false
  /// Whether its photo was deleted on this device, and is to stay so while the file does not change.
  var isHidden = false
  /// The photo whose file took the place of this one: it was edited.
  var replacement: MD5?
  /// The photo that a film or a sidecar belongs to.
  var photo: MD5?

  /// Whether the file looks as when it was read.
  func isUnchanged(_ entry: PhotoEntry) -> Bool {
    size == entry.size && modified == entry.modified && changed == entry.changed
  }
}

/// The table `photo_file`: the files that scans of a catalogue found.
///
/// The row of a removed file is marked as missing, and stays while its photo does.
struct FileTable {
  let connection: Connection
  let catalogue: Int64

  /// Returns all files, in the order of their paths' bytes.
  func all() throws -> [KnownFile] {
    var files: [KnownFile] = []
    try each { files.append($0) }
    return files
  }

  /// Calls `body` with each file, in the order of their paths' bytes.
  func each(_ body: (KnownFile) throws -> Void) throws {
    try connection.each(
      """
      SELECT path, md5, kind, size, modified, changed, is_missing, is_hidden, replacement, photo FROM photo_file
      WHERE catalogue = ? ORDER BY path, md5
      """, .integer(catalogue)
    ) { row in
      if let file = Self.read(row) { try body(file) }
    }
  }

  /// Returns the files of a photo, with its films and sidecars, in the order of their kinds and paths.
  func files(of md5: MD5) throws -> [KnownFile] {
    var files: [KnownFile] = []
    // SQLite, which does not know that most files are of one catalogue, would read all of them by the primary key.
    try md5.withBytes { bytes in
      try connection.each(
        """
        SELECT path, md5, kind, size, modified, changed, is_missing, is_hidden, replacement, photo
        FROM photo_file INDEXED BY photo_file_md5 WHERE catalogue = ?1 AND md5 = ?2
        UNION ALL
        SELECT path, md5, kind, size, modified, changed, is_missing, is_hidden, replacement, photo
        FROM photo_file INDEXED BY photo_file_photo WHERE catalogue = ?1 AND photo = ?2 AND md5 <> ?2
        ORDER BY kind, path
        """, .integer(catalogue), .blob(bytes)
      ) { row in
        if let file = Self.read(row) { files.append(file) }
      }
    }
    return files
  }

  private static func read(_ row: Statement) -> KnownFile? {
    let md5 = MD5(bytes: row.bytes(1))
    guard let kind = FileKind(number: row.anyInteger(2)), kind != .photo || md5 != nil else { return nil }
    return KnownFile(
      path: Array(row.bytes(0)), md5: md5, kind: kind, size: row.anyInteger(3),
      modified: row.anyInteger(4), changed: row.anyInteger(5), isMissing: row.flag(6), isHidden: row.flag(7),
      replacement: MD5(bytes: row.bytes(8)), photo: MD5(bytes: row.bytes(9)))
  }

  /// Inserts or updates a file.
  func put(_ file: KnownFile) throws {
    try bound(file) { path, md5, replacement, photo in
      try connection.run(
        """
        INSERT OR REPLACE INTO photo_file(
          catalogue, path, md5, kind, size, modified, changed, is_missing, is_hidden, replacement, photo)
        VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
        .integer(catalogue), path, md5, .integer(file.kind.number), .integer(file.size),
        .integer(file.modified),
        .integer(file.changed), .integer(file.isMissing ? 1 : 0), .integer(file.isHidden ? 1 : 0),
        replacement,
        photo)
    }
  }

  /// Marks a file as missing, unless another scan has found it since.
  ///
  /// - Parameter replacement: the photo whose file took its place
  func markMissing(_ file: KnownFile, replacement: MD5? = nil) throws {
    var file = file
    file.replacement = replacement
    try bound(file) { path, md5, replacement, _ in
      try connection.run(
        """
        UPDATE photo_file SET is_missing = 1, is_hidden = 0, replacement = ?6
        WHERE catalogue = ?1 AND path = ?2 AND md5 = ?3 AND size = ?4 AND modified = ?5 AND is_missing = 0
        """,
        .integer(catalogue), path, md5, .integer(file.size), .integer(file.modified), replacement)
    }
  }

  /// Removes the row of a missing file, unless another scan has found the file since.
  func remove(_ file: KnownFile) throws {
    try bound(file) { path, md5, _, _ in
      try connection.run(
        """
        DELETE FROM photo_file
        WHERE catalogue = ? AND path = ? AND md5 = ? AND size = ? AND modified = ? AND is_missing = ?
        """,
        .integer(catalogue), path, md5, .integer(file.size), .integer(file.modified),
        .integer(file.isMissing ? 1 : 0))
    }
  }

  /// Keeps scans from adding a photo again whose files are there.
  func hide(_ md5: MD5) throws {
    try md5.withBytes {
      try connection.run(
        """
        UPDATE photo_file INDEXED BY photo_file_md5 SET is_hidden = 1
        WHERE catalogue = ? AND md5 = ? AND is_missing = 0
        """, .integer(catalogue), .blob($0))
    }
  }

  /// Lets scans add a photo again.
  func show(_ md5: MD5) throws {
    try md5.withBytes {
      try connection.run(
        "UPDATE photo_file INDEXED BY photo_file_md5 SET is_hidden = 0 WHERE catalogue = ? AND md5 = ?",
        .integer(catalogue), .blob($0))
    }
  }

  /// Returns the films and sidecars that no backup has, of starred photos, in the order of their paths.
  ///
  /// - Parameter all: whether those of other photos, and of none, are included
  func companionsToBackUp(all: Bool) throws -> [KnownFile] {
    var files: [KnownFile] = []
    try connection.each(
      """
      SELECT path, md5, kind, size, modified, changed, is_missing, is_hidden, replacement, photo FROM photo_file f
      WHERE catalogue = ?1 AND kind > 0 AND is_missing = 0 AND md5 = x'' AND (?2 OR EXISTS(
        SELECT 1 FROM photo_local l WHERE l.catalogue = ?1 AND l.md5 = f.photo AND l.starred = 1)) ORDER BY path
      """, .integer(catalogue), .integer(all ? 1 : 0)
    ) { row in
      if let file = Self.read(row) { files.append(file) }
    }
    return files
  }

  /// Records that a backup has a film or a sidecar, unless the file has changed since.
  func setBackedUp(_ file: KnownFile, _ md5: MD5) throws {
    try bound(file) { path, _, _, _ in
      try md5.withBytes { md5 in
        try connection.run(
          """
          UPDATE photo_file SET md5 = ? WHERE catalogue = ? AND path = ? AND md5 = x'' AND size = ? AND modified = ?
          """, .blob(md5), .integer(catalogue), path, .integer(file.size), .integer(file.modified))
      }
    }
  }

  /// Returns the photos that have a file that is not missing, in order.
  func photos() throws -> [MD5] {
    var photos: [MD5] = []
    try connection.each(
      """
      SELECT DISTINCT md5 FROM photo_file WHERE catalogue = ? AND kind = 0 AND is_missing = 0 ORDER BY md5
      """, .integer(catalogue)
    ) { row in
      if let md5 = MD5(bytes: row.bytes(0)) { photos.append(md5) }
    }
    return photos
  }

  /// Returns those of the given MD5s that have a file that is not missing.
  func existing(among wanted: Set<MD5>) throws -> Set<MD5> {
    var existing: Set<MD5> = []
    try connection.each(
      "SELECT md5 FROM photo_file WHERE catalogue = ? AND is_missing = 0", .integer(catalogue)
    ) { row in
      if let md5 = MD5(bytes: row.bytes(0)), wanted.contains(md5) { existing.insert(md5) }
    }
    return existing
  }

  // The statement refers to the bytes while it runs.
  private func bound(
    _ file: KnownFile, _ body: (Binding, Binding, Binding, Binding) throws -> Void
  ) throws {
    let (md5, replacement, photo) = (file.md5?.bytes ?? [], file.replacement?.bytes, file.photo?.bytes)
    try file.path.withUnsafeBytes { path in
      try md5.withUnsafeBytes { md5 in
        try (replacement ?? []).withUnsafeBytes { other in
          try (photo ?? []).withUnsafeBytes { owner in
            try body(
              .textBytes(path), .blob(md5), replacement == nil ? .null : .blob(other),
              photo == nil ? .null : .blob(owner))
          }
        }
      }
    }
  }
}
