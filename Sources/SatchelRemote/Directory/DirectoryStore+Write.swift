import SatchelStorage

extension DirectoryStore {
  public func put(
    _ key: ObjectKey, _ body: [UInt8], condition: ObjectCondition, metadata: ObjectMetadata,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    try cancellation.check()
    let way = try tree.way(to: key)
    guard let name = way.last, Int64(body.count) <= ObjectFile.maximumSize else {
      throw ObjectStoreError(.failed(.full), "\(key): larger than an object can be, 1 GiB")
    }
    let etag = ETag(hash: SHA256.digest(body))
    guard let incoming = try tree.directory(Self.incoming, making: true) else { throw vanished(key) }
    // The slow part before the lock is taken, so that writers of other objects do not wait for it.
    let file = try IncomingFile(in: incoming)
    try file.write(body, cancellation)
    try locked(cancellation) { () throws(ObjectStoreError) in
      try check(condition, key, way, cancellation)
      guard let place = try tree.directory(way.dropLast(), making: true) else { throw vanished(key) }
      try self.metadata.prepare(key, etag, metadata)
      try file.move(to: place, name)
      self.metadata.tidy(key, keeping: etag)
    }
    return etag
  }

  public func delete(_ key: ObjectKey, ifMatch known: ETag?, cancellation: Cancellation)
    throws(ObjectStoreError)
  {
    try cancellation.check()
    let way = try tree.way(to: key)
    guard let name = way.last else { return }
    try locked(cancellation) { () throws(ObjectStoreError) in
      if let known { try check(.ifMatch(known), key, way, cancellation) }
      guard try tree.object(key, way: way) != nil, let place = try tree.directory(way.dropLast()) else {
        return
      }
      guard unlinkat(place.number, name, 0) == 0 else { throw .system(errno, key.text) }
      do throws(ObjectStoreError) {
        try place.sync()
      } catch {
        throw ObjectStoreError(.unknownOutcome(retryAfter: nil), "\(key): \(error.message)")
      }
      metadata.tidy(key, keeping: nil)
      removeEmpty(way.dropLast())
    }
  }

  private func locked(
    _ cancellation: Cancellation, _ body: () throws(ObjectStoreError) -> Void
  ) throws(ObjectStoreError) {
    guard let reserved = try tree.directory([DirectoryTree.reserved], making: true) else {
      throw ObjectStoreError(.transient(retryAfter: nil), "the store's own directory vanished")
    }
    let lock = try DirectoryLock(in: reserved, patience: patience, cancellation)
    try body()
    _ = consume lock
  }

  private func check(
    _ condition: ObjectCondition, _ key: ObjectKey, _ way: [String], _ cancellation: Cancellation
  ) throws(ObjectStoreError) {
    switch condition {
    case .none: return
    case .ifAbsent:
      guard try tree.object(key, way: way) == nil else {
        throw ObjectStoreError(.preconditionFailed, "\(key): there is an object already")
      }
    case .ifMatch(let known):
      guard let file = try tree.object(key, way: way) else {
        throw ObjectStoreError(.notFound, "\(key): there is no such object")
      }
      guard try file.etag(cancellation) == known else {
        throw ObjectStoreError(.preconditionFailed, "\(key): the object is another one by now")
      }
    }
  }

  private func vanished(_ key: ObjectKey) -> ObjectStoreError {
    ObjectStoreError(.transient(retryAfter: nil), "\(key): its directory vanished")
  }

  /// Directories that no object is in are none of the store's: they would stand in the way of a key.
  private func removeEmpty(_ way: ArraySlice<String>) {
    var way = way
    while let name = way.popLast(), let parent = try? tree.directory(way),
      unlinkat(parent.number, name, AT_REMOVEDIR) == 0
    {
      TagFile(tree, of: (way + [name, ""]).joined(separator: "/")).remove()
    }
  }
}
