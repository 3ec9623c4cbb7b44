import SatchelCore

/// An object store in a directory, which any number of threads and processes may share.
///
/// An object's file has the key as its relative path, and contains only the body. Therefore a key cannot be
/// both an object and a prefix of others ("a" and "a/b"), its components have at most 255 bytes, and no key
/// begins with ".satchel", the directory of the store's lock, temporary files, metadata and cached ETags.
///
/// An ETag is the SHA-256 of the body. Equal bytes have the same ETag, which is safe: the condition of a
/// write is that the content that the writer has read is still current. In return, files written by other
/// programs have ETags too, and their changes are detected. Computing an ETag reads the file; listings cache
/// the ETags of unchanged files.
public final class DirectoryStore: ObjectStore {
  static let incoming: ArraySlice = [DirectoryTree.reserved, "incoming"]

  /// The directory's real path, also while it does not exist; nil when that is not UTF-8.
  public let identity: String?
  let tree: DirectoryTree
  /// The id that the directory is known to have had, and whether it has one.
  let knownID = Locked<String?>(nil)
  let hasID = Locked(false)
  /// The maximum wait for other writers, in milliseconds.
  let timeout: Int64

  public var listsETags: Bool { true }

  var metadata: MetadataFiles { MetadataFiles(tree: tree) }

  /// Creates nothing: the first write creates the directory.
  ///
  /// - Parameters:
  ///   - path: a directory; its parent must exist when it is first written to
  ///   - timeout: the maximum wait for other writers before a write fails as transient, in milliseconds
  /// - Throws: `.denied`, or `.failed` with the directory's problem
  public convenience init(path: String, timeout: Int64 = 30_000) throws(ObjectStoreError) {
    try self.init(path: path, timeout: timeout, calls: .system)
  }

  package init(path: String, timeout: Int64 = 30_000, calls: FileCalls) throws(ObjectStoreError) {
    tree = try DirectoryTree(path, calls)
    identity = Self.realPath(path).map { "directory \($0)" }
    self.timeout = timeout
    if let incoming = try tree.directory(Self.incoming) { IncomingFile.clean(incoming) }
  }

  /// The real path of a file; of one that does not exist, below the real path of its directory.
  private static func realPath(_ path: String) -> String? {
    if let real = realpath(path, nil) {
      defer { free(real) }
      return String(validatingCString: real)
    }
    let parts = path.split(separator: "/")
    guard errno == ENOENT, let name = parts.last, name != "..", name != "." else { return nil }
    let parent = (path.hasPrefix("/") ? "/" : "") + parts.dropLast().joined(separator: "/")
    return realPath(parent.isEmpty ? "." : parent).map { $0 == "/" ? "/\(name)" : "\($0)/\(name)" }
  }

  public func get(
    _ key: ObjectKey, ifNoneMatch known: ETag?, limit: Int64, cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectReading {
    try cancellation.check()
    let path = try tree.path(to: key)
    return try reading(key, at: path) { file, hasChanged throws(ObjectStoreError) in
      let (body, etag) = try file.body(limit: limit, cancellation)
      if etag == known { return .notModified }
      let metadata = try self.metadata.read(key, etag)
      return try hasChanged() ? nil : .object(StoredObject(body: body, etag: etag, metadata: metadata))
    }
  }

  public func head(_ key: ObjectKey, cancellation: Cancellation) throws(ObjectStoreError) -> ObjectHead {
    try cancellation.check()
    let path = try tree.path(to: key)
    return try reading(key, at: path) { file, hasChanged throws(ObjectStoreError) in
      let etag = try file.etag(cancellation)
      let metadata = try self.metadata.read(key, etag)
      return try hasChanged() ? nil : ObjectHead(size: file.size, etag: etag, metadata: metadata)
    }
  }

  /// Reads until content and metadata are consistent: a writer removes the old metadata after replacing the
  /// old content, so they are consistent if the content is still the current one afterwards.
  private func reading<Value>(
    _ key: ObjectKey, at path: [String],
    _ body: (borrowing ObjectFile, _ hasChanged: () throws(ObjectStoreError) -> Bool) throws(ObjectStoreError)
      -> Value?
  ) throws(ObjectStoreError) -> Value {
    for _ in 0..<100 {
      guard let file = try tree.object(key, path: path) else {
        throw ObjectStoreError(.notFound, "\(key): the object does not exist")
      }
      let value = try body(file) { () throws(ObjectStoreError) in
        guard let now = try tree.object(key, path: path) else { return true }
        return !now.isSame(as: file)
      }
      if let value { return value }
    }
    throw ObjectStoreError(.transient(retryAfter: nil), "\(key): the object kept changing while it was read")
  }
}

extension DirectoryStore {
  public func list(
    _ prefix: ObjectPrefix, from continuation: ObjectPage.Continuation?, limit: Int,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectPage {
    var walk = DirectoryWalk(
      tree, prefix: Array(prefix.text.utf8), after: continuation.map { Array($0.text.utf8) },
      limit: min(max(limit, 1), 1000), cancellation: cancellation)
    guard let root = try tree.root() else { return ObjectPage(entries: [], skipped: 0, next: nil) }
    try walk.visit(root.descriptor, path: "")
    let next = walk.isFull ? walk.entries.last.map { ObjectPage.Continuation($0.key.text) } : nil
    return ObjectPage(entries: walk.entries, skipped: walk.skipped, next: next)
  }
}
