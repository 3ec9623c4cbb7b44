import SatchelCore
import SatchelStorage

/// A file found by an earlier scan: a row of `photo_file`.
struct KnownFile: Sendable, Equatable {
  /// The path relative to the catalogue's directory, with the bytes on disk.
  var path: [UInt8]
  var md5: MD5
  var size: Int64
  /// Unix nanoseconds.
  var modified: Int64
  /// Whether the file was removed, or has other bytes.
  var isMissing: Bool
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
    try connection.each(
      "SELECT path, md5, size, modified, is_missing FROM photo_file WHERE catalogue = ? ORDER BY path, md5",
      .integer(catalogue)
    ) { row in
      guard let md5 = MD5(bytes: row.bytes(1)) else { return }
      files.append(
        KnownFile(
          path: Array(row.bytes(0)), md5: md5, size: row.anyInteger(2), modified: row.anyInteger(3),
          isMissing: row.flag(4)))
    }
    return files
  }

  /// Inserts or updates a file that was read.
  func put(_ path: [UInt8], _ photo: ScannedPhoto) throws {
    try bound(path: path, md5: photo.md5) { path, md5 in
      try connection.run(
        """
        INSERT INTO photo_file(catalogue, path, md5, size, modified, is_missing) VALUES(?, ?, ?, ?, ?, 0)
        ON CONFLICT DO UPDATE SET size = excluded.size, modified = excluded.modified, is_missing = 0
        """,
        .integer(catalogue), path, md5, .integer(photo.size), .integer(photo.modified))
    }
  }

  /// Marks a file as missing, unless another scan has found it since.
  func markMissing(_ file: KnownFile) throws {
    try bound(path: file.path, md5: file.md5) { path, md5 in
      try connection.run(
        """
        UPDATE photo_file SET is_missing = 1
        WHERE catalogue = ? AND path = ? AND md5 = ? AND size = ? AND modified = ? AND is_missing = 0
        """,
        .integer(catalogue), path, md5, .integer(file.size), .integer(file.modified))
    }
  }

  /// Removes the row of a missing file, unless another scan has found the file since.
  func remove(_ file: KnownFile) throws {
    try bound(path: file.path, md5: file.md5) { path, md5 in
      try connection.run(
        """
        DELETE FROM photo_file
        WHERE catalogue = ? AND path = ? AND md5 = ? AND size = ? AND modified = ? AND is_missing = ?
        """,
        .integer(catalogue), path, md5, .integer(file.size), .integer(file.modified),
        .integer(file.isMissing ? 1 : 0))
    }
  }

  /// Returns the paths of a photo's files that are not missing, in the order of their bytes.
  func paths(of md5: MD5) throws -> [[UInt8]] {
    var paths: [[UInt8]] = []
    try md5.withBytes { bytes in
      try connection.each(
        "SELECT path FROM photo_file WHERE catalogue = ? AND md5 = ? AND is_missing = 0 ORDER BY path",
        .integer(catalogue), .blob(bytes)
      ) { paths.append(Array($0.bytes(0))) }
    }
    return paths
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
  private func bound(path: [UInt8], md5: MD5, _ body: (Binding, Binding) throws -> Void) throws {
    let md5 = md5.bytes
    try path.withUnsafeBytes { path in
      try md5.withUnsafeBytes { md5 in try body(.textBytes(path), .blob(md5)) }
    }
  }
}
