import SatchelCore
import SatchelJSON
import SatchelStorage

/// A file that a scan of this device has found: one of a photo's own, or a film or a sidecar that belongs to it.
public struct PhotoFile: Sendable, Equatable, JSONConvertible {
  /// The path relative to the catalogue's directory; bytes that are not UTF-8 are replaced.
  public var path: String
  public var kind: FileKind
  /// In bytes.
  public var size: Int64
  /// Unix seconds, rounded down.
  public var modified: Int64
  /// Whether the last scan found it, with these bytes.
  public var isPresent: Bool

  init(_ file: KnownFile) {
    path = String(decoding: file.path, as: UTF8.self)
    (kind, size, isPresent) = (file.kind, file.size, !file.isMissing)
    let (seconds, rest) = file.modified.quotientAndRemainder(dividingBy: 1_000_000_000)
    modified = rest < 0 ? seconds - 1 : seconds
  }

  public var json: JSONValue {
    [
      "path": .string(path), "kind": .string(kind.rawValue), "size": .int(size), "modified": .int(modified),
      "present": .bool(isPresent),
    ]
  }
}

extension PhotoCatalogue {
  /// Returns the files of a photo that scans of this device have found: first its own in the order of their
  /// paths, then its films, then its sidecars. Empty for a photo whose file is on another device only.
  ///
  /// - Throws: `.closed`, `.damaged`
  public func files(of md5: MD5) throws -> [PhotoFile] {
    try read(otherwise: []) { connection, id in
      try FileTable(connection: connection, catalogue: id).files(of: md5).map { PhotoFile($0) }
    }
  }

  /// Gives the catalogue another directory, because its folder was renamed, or is mounted elsewhere. Nothing is
  /// read there; the next scan finds the files at their relative paths.
  ///
  /// This value then is the catalogue of the new directory. Others of the old one see an empty catalogue.
  ///
  /// - Parameter directory: need not exist
  /// - Throws: `.invalid` for an invalid path, `.conflict` when the directory has a catalogue already, `.notFound`
  ///   when this catalogue has nothing yet, `.readOnly`, `.closed`
  public func move(to directory: String) throws {
    try checkOpen()
    let path = try DirectoryPath.normalized(directory)
    let old = self.directory
    try database.write { transaction in
      let table = CatalogueTable(connection: transaction.connection)
      guard let id = try table.id(old) else {
        throw SatchelError(.notFound, "\(old): has no catalogue that could be moved")
      }
      guard path != old else { return }
      guard try table.id(path) == nil else {
        throw SatchelError(.conflict, "\(path): has a catalogue already; \(old) cannot be moved there")
      }
      try transaction.connection.run(
        "UPDATE photo_catalogue SET directory = ? WHERE id = ?", .text(path), .integer(id))
      for place in [old, path] {
        transaction.note(
          subject: .photos, keys: Shard.Index.all.map { "\(Change.shardPrefix)\($0)" }, place: place)
      }
    }
    location.withLock { $0 = path }
  }
}
