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

  /// Sets or removes a photo's star. A star for a photo that is not in the remote queues its backup, unless
  /// that was queued before; removing the star leaves the queue unchanged.
  ///
  /// - Parameter isStarred: nil for the default: photos in the remote have a star
  /// - Throws: `.notFound`
  public func star(_ md5: MD5, _ isStarred: Bool? = true) throws {
    try changeLocal(md5) { local, table, _ in
      try Self.star(md5, isStarred, &local, table)
    }
  }

  static func star(_ md5: MD5, _ isStarred: Bool?, _ local: inout LocalRow, _ table: LocalTable) throws {
    local.isStarred = isStarred
    guard isStarred == true, local.backup == .notBackedUp || local.backup == .error else { return }
    let lookup = PhotoLookup(connection: table.connection, catalogue: table.catalogue)
    if try lookup.isOnRemote(md5) { return }
    local.backup = .queued
    local.queued = try table.nextQueuePosition()
    local.error = nil
  }

  /// Changes a photo's local row in a transaction.
  func changeLocal(_ md5: MD5, _ change: (inout LocalRow, LocalTable, Int64) throws -> Void) throws {
    try write { transaction, id in
      guard try PhotoLookup(connection: transaction.connection, catalogue: id).photo(md5) != nil else {
        throw SatchelError(.notFound, "\(directory): has no photo \(md5)")
      }
      let table = LocalTable(connection: transaction.connection, catalogue: id)
      var local = try table.row(md5) ?? LocalRow()
      try change(&local, table, transaction.now)
      try table.put(md5, local)
      notify([md5], in: transaction)
    }
  }
}
