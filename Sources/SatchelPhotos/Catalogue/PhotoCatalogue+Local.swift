import SatchelCore
import SatchelJSON
import SatchelStorage

extension PhotoCatalogue {
  /// Changes the local metadata of a photo.
  ///
  /// - Throws: `.notFound`, `.invalid` for a value out of range, what `change` throws
  public func setMetadata(_ md5: MD5, _ change: (inout PhotoMetadata) throws -> Void) throws {
    try changeLocal(md5) { local, _, _ in
      try change(&local.metadata)
      try local.metadata.validate()
    }
  }

  /// Sets the local columns that an object names, as `PhotoMetadata.json` names them; null removes a value.
  /// "starred" is equivalent to `star`.
  ///
  /// - Throws: `.notFound`, `.invalid` that names the key
  package func setLocal(_ md5: MD5, json: JSONValue) throws {
    try setLocal(md5, JSONReading(local: json, "columns", keys: JSONReading.localKeys))
  }

  /// Sets or removes a photo's star. A star marks a photo whose file is, or is to be, in the remote: starring
  /// a photo whose file is not backed up queues its backup, whether its row is in the remote or not. Removing
  /// the star removes a queued photo from the queue, and deletes nothing in the remote.
  ///
  /// - Throws: `.notFound`
  public func star(_ md5: MD5, _ isStarred: Bool = true) throws {
    try changeLocal(md5) { local, table, _ in try local.star(isStarred, in: table) }
  }

  /// Changes a photo's local row in a transaction.
  func changeLocal(_ md5: MD5, _ change: (inout LocalRow, LocalTable, Int64) throws -> Void) throws {
    try write { transaction, id in
      guard try PhotoLookup(connection: transaction.connection, catalogue: id).photo(md5) != nil else {
        throw SatchelError(.notFound, "\(directory): has no photo \(md5)").at(id: "\(md5)")
      }
      let table = LocalTable(connection: transaction.connection, catalogue: id)
      var local = try table.row(md5) ?? LocalRow()
      try change(&local, table, transaction.now)
      try table.put(md5, local)
      notify([md5], in: transaction)
    }
  }
}

extension LocalRow {
  /// Sets or removes the star, and adds the photo to the queue or removes it.
  mutating func star(_ isStarred: Bool, in table: LocalTable) throws {
    self.isStarred = isStarred
    switch backup {
    case .notBackedUp, .error:
      if isStarred { try enqueue(in: table) }
    case .queued:
      if !isStarred { (backup, queued) = (.notBackedUp, nil) }
    case .uploading, .uploaded: break
    }
  }

  /// Appends the photo to the queue of backups.
  mutating func enqueue(in table: LocalTable) throws {
    isStarred = true
    backup = .queued
    queued = try table.nextQueuePosition()
    error = nil
  }
}
