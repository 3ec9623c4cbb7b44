import SatchelCore
import SatchelJSON
import SatchelStorage

/// A photo whose row was removed: on this device, by a scan whose file was gone, by an import, or by a sync.
public struct TrashedPhoto: Sendable, Equatable, JSONConvertible {
  public var photo: Photo
  /// When it was removed: Unix milliseconds.
  public var removed: Int64

  /// The photo as a JSON object: its members, removed.
  public var json: JSONValue {
    var members = JSONMemberList()
    photo.add(to: &members)
    members.add("removed", removed)
    return members.json
  }
}

extension PhotoCatalogue {
  /// Returns photos of the trash in the order of their MD5.
  ///
  /// Rows that are removed stay in the trash for 30 days, and what is local to them beyond that; scans and syncs delete
  /// older ones, by a clock that has said so for a day.
  ///
  /// - Parameters:
  ///   - limit: at most so many: 1 to 100,000
  ///   - md5: only those after it
  /// - Throws: `.invalid` for a limit out of range, `.closed`, `.damaged`
  public func trash(limit: Int = 1000, after md5: MD5? = nil) throws -> [TrashedPhoto] {
    guard (1...100_000).contains(limit) else {
      throw SatchelError(.invalid, "trash: \"limit\" must be 1 to 100000, is \(limit)")
    }
    return try readInterruptibly(otherwise: []) {
      try TrashTable(connection: $0, catalogue: $1).photos(after: md5, limit: limit)
    }
  }

  /// Restores rows from the trash, with what was local to them, and lets scans add their photos again where these were
  /// deleted on this device. The next sync sends the rows.
  ///
  /// - Parameter photos: nil for the whole trash
  /// - Returns: how many rows were restored; photos that are not in the trash are ignored
  /// - Throws: `.readOnly`, `.closed`, `.damaged`
  @discardableResult
  public func restoreRows(_ photos: [MD5]? = nil) throws -> Int {
    try checkOpen()
    return try write { transaction, id in
      let trash = TrashTable(connection: transaction.connection, catalogue: id)
      let files = FileTable(connection: transaction.connection, catalogue: id)
      if let photos {
        for md5 in photos { try files.show(md5) }
        return try upsert(photos.compactMap { try trash.photo($0) })
      }
      var (count, last) = (0, MD5?.none)
      while true {
        let page = try trash.photos(after: last, limit: 1000)
        guard let end = page.last else { return count }
        last = end.photo.md5
        for each in page { try files.show(each.photo.md5) }
        count += try upsert(page.map(\.photo))
      }
    }
  }

  /// Empties the trash.
  ///
  /// - Returns: how many photos it had
  /// - Throws: `.readOnly`, `.closed`, `.damaged`
  @discardableResult
  public func emptyTrash() throws -> Int64 {
    try checkOpen()
    return try write { transaction, id in
      let trash = TrashTable(connection: transaction.connection, catalogue: id)
      let count = try trash.count()
      try trash.empty()
      return count
    }
  }
}
