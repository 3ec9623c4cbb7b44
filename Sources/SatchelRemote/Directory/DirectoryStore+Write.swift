import SatchelCore

extension DirectoryStore: LazyObjectStore {
  public func put(
    _ key: ObjectKey, _ body: [UInt8], condition: ObjectCondition, metadata: ObjectMetadata,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    try put(
      key, body, condition: condition, metadata: metadata, isDurable: true, cancellation: cancellation)
  }

  package func putLazily(_ key: ObjectKey, _ body: [UInt8], cancellation: Cancellation)
    throws(ObjectStoreError)
  {
    _ = try put(
      key, body, condition: .ifAbsent, metadata: .none, isDurable: false, cancellation: cancellation)
  }

  package func makeDurable(_ prefix: ObjectPrefix) throws(ObjectStoreError) {
    // A directory that was removed had no object left.
    try tree.directory(prefix.text.split(separator: "/").map(String.init)[...])?.sync(tree.calls)
  }

  private func put(
    _ key: ObjectKey, _ body: [UInt8], condition: ObjectCondition, metadata: ObjectMetadata, isDurable: Bool,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    try cancellation.check()
    let path = try tree.path(to: key)
    guard let name = path.last, Int64(body.count) <= StoredObject.maximumSize else {
      throw ObjectStoreError(.failed(.full), "\(key): the object is larger than 1 GiB")
    }
    let etag = ETag(hash: SHA256.digest(body))
    guard let incoming = try tree.directory(Self.incoming, making: true) else { throw vanished(key) }
    // The body is written before the lock is taken, so that writers of other objects do not wait for it.
    let file = try IncomingFile(in: incoming, tree.calls)
    try file.write(body, cancellation)
    try locked(cancellation) { () throws(ObjectStoreError) in
      do throws(ObjectStoreError) {
        try check(condition, on: key, at: path, cancellation)
      } catch {
        // The object may be the caller's own, whose directory could not be synced, and the caller continues
        // from it.
        if isDurable { try tree.directory(path.dropLast())?.sync(tree.calls) }
        throw error
      }
      try writeID()
      guard let parent = try tree.directory(path.dropLast(), making: true) else { throw vanished(key) }
      try self.metadata.prepare(metadata, of: key, with: etag)
      try file.move(to: parent, name, isDurable: isDurable)
      self.metadata.removeOthers(key, keeping: etag)
    }
    return etag
  }

  public func delete(_ key: ObjectKey, ifMatch known: ETag?, cancellation: Cancellation)
    throws(ObjectStoreError)
  {
    try cancellation.check()
    let path = try tree.path(to: key)
    guard let name = path.last, try tree.root() != nil else { return }
    try locked(cancellation) { () throws(ObjectStoreError) in
      if let known { try check(.ifMatch(known), on: key, at: path, cancellation) }
      guard let parent = try tree.directory(path.dropLast()) else { return }
      if try tree.object(key, named: name, in: parent) != nil, unlinkat(parent.number, name, 0) != 0 {
        throw .system(errno, key.text)
      }
      do throws(ObjectStoreError) {
        // Also when there is no object: an earlier call may have removed it, and could not sync the directory.
        try parent.sync(tree.calls)
      } catch {
        throw ObjectStoreError(.unknownOutcome(retryAfter: nil), "\(key): \(error.message)")
      }
      metadata.removeOthers(key, keeping: nil)
      removeEmpty(path.dropLast())
    }
  }

  private func locked(
    _ cancellation: Cancellation, _ body: () throws(ObjectStoreError) -> Void
  ) throws(ObjectStoreError) {
    guard let reserved = try tree.directory([DirectoryTree.reserved], making: true) else {
      throw ObjectStoreError(
        .transient(retryAfter: nil),
        "\(DirectoryTree.reserved): the store's directory was removed during the write")
    }
    let lock = try DirectoryLock(in: reserved, timeout: timeout, cancellation)
    try body()
    _ = consume lock
  }

  private func check(
    _ condition: ObjectCondition, on key: ObjectKey, at path: [String], _ cancellation: Cancellation
  ) throws(ObjectStoreError) {
    switch condition {
    case .none: return
    case .ifAbsent:
      guard try tree.object(key, path: path) == nil else {
        throw ObjectStoreError(.preconditionFailed, "\(key): the object already exists")
      }
    case .ifMatch(let known):
      guard let file = try tree.object(key, path: path) else {
        throw ObjectStoreError(.notFound, "\(key): the object does not exist")
      }
      guard try file.etag(cancellation) == known else {
        throw ObjectStoreError(.preconditionFailed, "\(key): the object has been changed: its ETag differs")
      }
    }
  }

  private func vanished(_ key: ObjectKey) -> ObjectStoreError {
    ObjectStoreError(.transient(retryAfter: nil), "\(key): its directory was removed during the write")
  }

  /// Removes directories that contain no objects: an empty directory would prevent an object with the same
  /// key.
  private func removeEmpty(_ path: ArraySlice<String>) {
    var path = path
    while let name = path.popLast(), let parent = try? tree.directory(path),
      unlinkat(parent.number, name, AT_REMOVEDIR) == 0
    {
      ETagCacheFile(tree, of: (path + [name, ""]).joined(separator: "/")).remove()
    }
  }
}
