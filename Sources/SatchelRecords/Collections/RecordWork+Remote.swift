import SatchelCore
import SatchelStorage

extension RecordWork {
  /// Applies the remote version of a record: the collection's rules are checked, and the record gets the
  /// remote times.
  func applyRemote(
    _ content: RecordContent, _ key: String, _ local: RecordContent?, in collection: WorkingCollection
  ) throws {
    var key = key
    try key.withUTF8 { key in
      let key = UnsafeRawBufferPointer(key)
      guard let document = content.document else {
        return try applyRemoteDeletion(content, key, local, collection)
      }
      try RecordID.check(key, in: collection.name)
      let revision = max((local?.revision ?? 0) + 1, content.revision)
      if local?.document == document, let row = try find(key, in: collection).row {
        return try changing { try setTimes(row, content, revision) }
      }
      try document.withUnsafeBytes { _ = try put(key, $0, in: collection) }
      guard let row = try find(key, in: collection).row else { return }
      try changing { try setTimes(row, content, revision) }
    }
  }

  private func applyRemoteDeletion(
    _ content: RecordContent, _ key: UnsafeRawBufferPointer, _ local: RecordContent?,
    _ collection: WorkingCollection
  ) throws {
    if try find(key, in: collection).row != nil { _ = try delete(key, from: collection) }
    try changing {
      try SyncTable(connection: connection, collection: collection.id).setDeleted(
        key, revision: max((local?.revision ?? 0) + 1, content.revision), created: content.created,
        deleted: content.modified)
    }
  }

  private func setTimes(_ row: Int64, _ content: RecordContent, _ revision: Int64) throws {
    try RecordTable(connection: connection).setTimes(
      row, revision: revision, created: content.created, modified: content.modified)
  }

  /// Sets a record's revision and times to those of another copy.
  func setTimes(
    _ key: UnsafeRawBufferPointer, revision: Int64, created: Int64, modified: Int64,
    in collection: WorkingCollection
  ) throws {
    guard let row = try find(key, in: collection).row else { return }
    try changing {
      try RecordTable(connection: connection).setTimes(
        row, revision: revision, created: created, modified: modified)
    }
  }
}
