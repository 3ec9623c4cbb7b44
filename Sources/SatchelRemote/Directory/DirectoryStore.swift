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
  /// Held by the writer of this store that has the directory's lock, or waits for it: the others wait without polling.
  private let turn = ConditionLock()

  public var listsETags: Bool { true }

  public var tagsContent: Bool { true }

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

/// The id of the directory: "id" of the JSON object in `.satchel/remote.json`.
extension DirectoryStore: PlacedStore {
  private static let name = "remote.json"
  private static let maxSize = 4096

  package func place() throws(ObjectStoreError) -> RemotePlace {
    if tree.forgetMovedRoot() { hasID.withLock { $0 = false } }
    guard let root = try tree.root() else { return .absent }
    if let id = try readID() { return .named(id) }
    let names = try DirectoryEntryName.all(in: root.descriptor)
    return names.allSatisfy { $0.text == DirectoryTree.reserved } ? .empty : .unnamed
  }

  package func setID(_ id: String) { knownID.withLock { $0 = id } }

  /// The beginning of the file; what another version may add follows.
  private static let start = #"{"id":""#
  private static let digits = 32

  /// Reads the id; nil where the file is missing or damaged.
  private func readID() throws(ObjectStoreError) -> String? {
    guard let reserved = try tree.directory([DirectoryTree.reserved]) else { return nil }
    let number = openat(reserved.number, Self.name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    guard number >= 0 else {
      if errno == ENOENT { return nil }
      throw .system(errno, "\(DirectoryTree.reserved)/\(Self.name)")
    }
    let file = Descriptor(number)
    var bytes = [UInt8](repeating: 0, count: Self.maxSize)
    let count = bytes.withUnsafeMutableBytes { pread(file.number, $0.baseAddress, $0.count, 0) }
    guard count > 0, bytes.starts(with: Self.start.utf8) else { return nil }
    let rest = bytes.prefix(count).dropFirst(Self.start.utf8.count)
    let id = String(decoding: rest.prefix(Self.digits), as: UTF8.self)
    guard HexadecimalName.isName(id, digits: Self.digits),
      rest.dropFirst(Self.digits).first == UInt8(ascii: "\"")
    else { return nil }
    return id
  }

  /// Gives the directory an id, if it has none. The caller holds the lock.
  func writeID() throws(ObjectStoreError) {
    if hasID.withLock({ $0 }) { return }
    if try readID() == nil {
      let id = knownID.withLock { $0 } ?? HexadecimalName.random(digits: Self.digits)
      guard let reserved = try tree.directory([DirectoryTree.reserved]),
        let incoming = try tree.directory(Self.incoming, making: true)
      else { return }
      let file = try IncomingFile(in: incoming, tree)
      try file.write(Array("\(Self.start)\(id)\"}".utf8), .never)
      try file.move(to: reserved, Self.name)
    }
    hasID.withLock { $0 = true }
  }
}

extension DirectoryStore: LazyObjectStore, TransferStore {
  public func put(
    _ key: ObjectKey, _ body: [UInt8], condition: ObjectCondition, metadata: ObjectMetadata,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    try put(
      key, condition: condition, metadata: metadata, isDurable: true, cancellation: cancellation
    ) { file throws(ObjectStoreError) in try Self.write(body, to: file, cancellation) }
  }

  package func putLazily(_ key: ObjectKey, _ body: [UInt8], cancellation: Cancellation)
    throws(ObjectStoreError)
  {
    _ = try put(
      key, condition: .ifAbsent, metadata: .none, isDurable: false, cancellation: cancellation
    ) { file throws(ObjectStoreError) in try Self.write(body, to: file, cancellation) }
  }

  private static func write(_ body: [UInt8], to file: IncomingFile, _ cancellation: Cancellation)
    throws(ObjectStoreError) -> [UInt8]
  {
    try file.write(body, cancellation)
    return SHA256.digest(body)
  }

  package func makeDurable(_ prefix: ObjectPrefix) throws(ObjectStoreError) {
    // A directory that was removed had no object left.
    try tree.directory(prefix.text.split(separator: "/").map(String.init)[...])?.syncNames(tree.calls)
  }

  /// Writes an object.
  ///
  /// - Parameter write: writes and syncs the body, and returns its SHA-256
  private func put(
    _ key: ObjectKey, condition: ObjectCondition, metadata: ObjectMetadata, isDurable: Bool,
    cancellation: Cancellation, write: (IncomingFile) throws(ObjectStoreError) -> [UInt8]
  ) throws(ObjectStoreError) -> ETag {
    try cancellation.check()
    let path = try tree.path(to: key)
    guard let name = path.last, let incoming = try tree.directory(Self.incoming, making: true) else {
      throw vanished(key)
    }
    // The body is written before the lock is taken, so that writers of other objects do not wait for it.
    let file = try IncomingFile(in: incoming, tree)
    let etag = ETag(hash: try write(file))
    try locked(cancellation) { () throws(ObjectStoreError) in
      do throws(ObjectStoreError) {
        try check(condition, on: key, at: path, cancellation)
      } catch {
        // The object may be the caller's own, whose directory could not be synced, and the caller continues
        // from it.
        if isDurable { try tree.directory(path.dropLast())?.syncNames(tree.calls) }
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

  package var transferLimits: TransferLimits { TransferLimits(object: .max, whole: .max) }

  package func put(
    _ key: ObjectKey, _ body: FileBody, condition: ObjectCondition, metadata: ObjectMetadata, isDurable: Bool,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    try put(
      key, condition: condition, metadata: metadata, isDurable: isDurable, cancellation: cancellation
    ) { file throws(ObjectStoreError) in
      let digests = try body.forEachBlock(cancellation) { block throws(ObjectStoreError) in
        try file.append(block)
      }
      try file.sync()
      return digests.sha256
    }
  }

  package func read(
    _ key: ObjectKey, from offset: Int64, ifMatch known: ETag?, into receiver: any BodyReceiver,
    cancellation: Cancellation
  ) throws(ObjectStoreError) {
    try cancellation.check()
    let path = try tree.path(to: key)
    guard let file = try tree.object(key, path: path) else {
      throw ObjectStoreError(.notFound, "\(key): the object does not exist")
    }
    let current = known == nil ? nil : try file.etag(cancellation)
    guard offset <= file.size, known == current else {
      throw ObjectStoreError(.preconditionFailed, "\(key): the object has been changed")
    }
    // Without an ETag, which would need another reading: an open file remains the same version.
    try receiver.begin(size: file.size, etag: nil)
    try file.forEachPart(from: offset, to: receiver.end, cancellation) { part throws(ObjectStoreError) in
      try receiver.receive(part)
    }
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
        try parent.syncNames(tree.calls)
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
    let start = Clock.monotonic.now()
    while !turn.lock(milliseconds: 50) {
      try cancellation.check()
      guard Clock.monotonic.now() - start < timeout else { throw DirectoryLock.isHeld(for: timeout) }
    }
    defer { turn.unlock() }
    let lock = try DirectoryLock(in: reserved, of: tree, timeout: timeout, cancellation)
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
