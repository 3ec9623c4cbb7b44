import SatchelStorage

/// Objects as the files of a directory: what an app embeds, and any number of threads and processes may share.
///
/// The file of an object stands where its key says and holds its body and nothing else. So a key cannot be both an
/// object and the beginning of others ("a" and "a/b"), its components have at most 255 bytes, and none begins with
/// ".satchel", where the store keeps its lock, files in work and metadata.
///
/// A tag is the SHA-256 of the body. Equal bytes have the same tag, which is harmless: a condition asks whether that
/// which the writer had read is still there, and it is. In return files that another program put there have tags too,
/// and one that it changed is noticed. Reading a tag costs reading the file; listings remember tags of files that are
/// not touched.
public final class DirectoryStore: ObjectStore {
  static let incoming: ArraySlice = [DirectoryTree.reserved, "incoming"]

  /// The directory's real path; nil when that is not UTF-8.
  public let identity: String?
  let tree: DirectoryTree
  /// How long to wait for other writers, in milliseconds.
  let patience: Int64

  public var listsTags: Bool { true }

  var metadata: MetadataFiles { MetadataFiles(tree: tree) }

  /// - Parameters:
  ///   - path: a directory, made when its parent exists
  ///   - patience: how long to wait for other writers before a write fails as transient, in milliseconds
  /// - Throws: `.denied`, or `.failed` with what is wrong with the directory
  public init(path: String, patience: Int64 = 30_000) throws(ObjectStoreError) {
    tree = try DirectoryTree(path)
    let real = realpath(path, nil)
    defer { free(real) }
    identity = real.flatMap { String(validatingCString: $0) }.map { "directory \($0)" }
    self.patience = patience
    if let incoming = try tree.directory(Self.incoming) { IncomingFile.clean(incoming) }
  }

  public func get(
    _ key: ObjectKey, ifNoneMatch known: ETag?, cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectReading {
    try cancellation.check()
    let way = try tree.way(to: key)
    return try reading(key, way) { file, again throws(ObjectStoreError) in
      let (body, etag) = try file.body(cancellation)
      if etag == known { return .notModified }
      let metadata = try self.metadata.read(key, etag)
      return try again() ? nil : .object(StoredObject(body: body, etag: etag, metadata: metadata))
    }
  }

  public func head(_ key: ObjectKey, cancellation: Cancellation) throws(ObjectStoreError) -> ObjectHead {
    try cancellation.check()
    let way = try tree.way(to: key)
    return try reading(key, way) { file, again throws(ObjectStoreError) in
      let etag = try file.etag(cancellation)
      let metadata = try self.metadata.read(key, etag)
      return try again() ? nil : ObjectHead(size: file.size, etag: etag, metadata: metadata)
    }
  }

  /// Reads until content and metadata belong together: a writer removes old metadata after the old content, so that
  /// they do when the content is still in its place afterwards.
  private func reading<Value>(
    _ key: ObjectKey, _ way: [String],
    _ body: (borrowing ObjectFile, _ again: () throws(ObjectStoreError) -> Bool) throws(ObjectStoreError) ->
      Value?
  ) throws(ObjectStoreError) -> Value {
    for _ in 0..<100 {
      guard let file = try tree.object(key, way: way) else {
        throw ObjectStoreError(.notFound, "\(key): there is no such object")
      }
      let value = try body(file) { () throws(ObjectStoreError) in
        guard let now = try tree.object(key, way: way) else { return true }
        return !now.isSame(as: file)
      }
      if let value { return value }
    }
    throw ObjectStoreError(.transient(retryAfter: nil), "\(key): is being written all the time")
  }
}
