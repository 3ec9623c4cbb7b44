import SatchelCore
import SatchelDocuments
import SatchelJSON
import SatchelStorage

extension PhotoCatalogue {
  /// Returns conflicts of the conflict log, oldest first: local changes that the remote or a file overwrote.
  ///
  /// - Parameters:
  ///   - id: the last conflict of the previous page; 0 for the first page
  ///   - limit: the maximum number of conflicts
  /// - Throws: `.invalid` for a limit less than 1, `.closed`, `.damaged`
  public func conflicts(after id: Int64 = 0, limit: Int = 1000) throws -> [ConflictEntry] {
    try read(otherwise: []) { connection, catalogue in
      let owner = ConflictLog.Owner(.photos, catalogue)
      return try ConflictLog(connection).rows(of: owner, after: id, limit: limit).map {
        try Self.conflict($0, in: directory)
      }
    }
  }

  /// Returns the number of conflicts in the conflict log.
  public func conflictCount() throws -> Int64 {
    try read(otherwise: 0) { try ConflictLog($0).count(of: ConflictLog.Owner(.photos, $1)) }
  }

  /// Resolves a conflict, and removes it from the conflict log. Keeping the local version repeats the change that was
  /// overwritten, and the next sync uploads it like any other; keeping the remote version changes nothing else.
  ///
  /// - Throws: `.notFound` when there is no such conflict, `.invalid` for a document that is not a photo with the
  ///   conflict's MD5, `.readOnly`, `.closed`
  public func resolve(_ id: Int64, _ resolution: ConflictResolution) throws {
    try write { transaction, catalogue in
      let row = try ConflictLog(transaction.connection).take(
        id, of: ConflictLog.Owner(.photos, catalogue), named: directory)
      let md5 = try Self.md5(of: row)
      switch resolution {
      case .keepRemote: break
      case .delete: try delete([md5])
      case .keepLocal:
        if let line = row.local {
          try upsert([PhotoLookup.parse(line, md5)])
        } else {
          try delete([md5])
        }
      case .document(let json):
        let photo = try Photo(json: json)
        guard photo.md5 == md5 else {
          throw SatchelError(.invalid, "resolution: /document/md5: is not that of the conflict")
        }
        try upsert([photo])
      }
      notify([md5], in: transaction)
    }
  }

  /// Returns a conflict with its photos.
  ///
  /// - Throws: `.damaged`
  package static func conflict(_ row: ConflictLog.Row, _ connection: Connection) throws -> ConflictEntry {
    let directory = try CatalogueTable(connection: connection).directory(of: row.owner.id)
    guard let directory else { throw SatchelError(.damaged, "conflict: conflict \(row.id) has no owner") }
    return try conflict(row, in: directory)
  }

  static func conflict(_ row: ConflictLog.Row, in directory: String) throws -> ConflictEntry {
    let md5 = try md5(of: row)
    return try row.conflict(about: .photo(directory: directory, md5: row.key)) {
      try PhotoLookup.parse($0, md5).json
    }
  }

  private static func md5(of row: ConflictLog.Row) throws -> MD5 {
    guard let md5 = MD5(row.key) else {
      throw SatchelError(.damaged, "conflict: conflict \(row.id) cannot be read")
    }
    return md5
  }
}

extension ConflictEntry {
  /// Of a photo, its MD5.
  public var md5: MD5? {
    guard case .photo(_, let md5) = item else { return nil }
    return MD5(md5)
  }

  /// The local photo; nil when it was deleted, and for a record.
  public var localPhoto: Photo? { photo(local) }
  /// The remote photo.
  public var remotePhoto: Photo? { photo(remote) }
  /// The photo that was synchronized last.
  public var basePhoto: Photo? { photo(base) }

  private func photo(_ version: JSONValue?) -> Photo? {
    guard case .photo = item else { return nil }
    return version.flatMap { try? Photo(json: $0) }
  }
}
