import SatchelCore

/// An object's file, open for reading. It remains the same version while other writers replace the object.
struct ObjectFile: ~Copyable {
  let file: Descriptor
  let status: stat
  let key: ObjectKey

  init(file: consuming Descriptor, status: stat, key: ObjectKey) {
    self.file = file
    self.status = status
    self.key = key
  }

  var size: Int64 { Int64(status.st_size) }

  /// Whether both are the same file; valid only while one of them is open, because inodes are reused.
  func isSame(as other: borrowing ObjectFile) -> Bool {
    status.st_dev == other.status.st_dev && status.st_ino == other.status.st_ino
  }

  /// Computes the ETag by reading the whole content.
  func etag(_ cancellation: Cancellation) throws(ObjectStoreError) -> ETag {
    ETag(hash: try hash(cancellation))
  }

  /// Computes the SHA-256 of the content.
  func hash(_ cancellation: Cancellation) throws(ObjectStoreError) -> [UInt8] {
    var hash = SHA256()
    try forEachPart(cancellation) { hash.update($0) }
    return hash.digest()
  }

  /// - Throws: `.tooLarge`, before anything is read
  func body(
    limit: Int64, _ cancellation: Cancellation
  ) throws(ObjectStoreError) -> (body: [UInt8], etag: ETag) {
    guard size <= limit else { throw .tooLarge(key, limit: limit) }
    var (hash, body) = (SHA256(), [UInt8]())
    body.reserveCapacity(Int(size))
    try forEachPart(cancellation) { part in
      hash.update(part)
      body.append(contentsOf: part)
    }
    return (body, ETag(hash: hash.digest()))
  }

  /// Reads the content from an offset on.
  func forEachPart(
    from start: Int64 = 0, to end: Int64? = nil, _ cancellation: Cancellation,
    _ body: (UnsafeRawBufferPointer) throws(ObjectStoreError) -> Void
  ) throws(ObjectStoreError) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: Int(min(max(size, 1), Int64(FileBody.blockSize))), alignment: 16)
    defer { buffer.deallocate() }
    let end = min(end ?? size, size)
    var offset = start
    while offset < end {
      try cancellation.check()
      let length = Int(min(Int64(buffer.count), end - offset))
      let count = pread(file.number, buffer.baseAddress, length, off_t(offset))
      if count < 0 {
        if errno == EINTR { continue }
        // An unreadable sector, for example.
        let failure = ObjectStoreError.system(errno, key.text)
        throw errno == EIO ? failure.concerning(.object) : failure
      }
      guard count > 0 else { throw ObjectStoreError(.truncated, "\(key): the file shrank while it was read") }
      try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      offset += Int64(count)
    }
  }
}

/// The files with the objects' metadata: one small file for each object that has any.
///
/// A file is identified by the key and by the ETag of the content that it belongs to. Therefore it can be
/// written before the content is renamed to its final name, and a crash between the two leaves the old
/// content with its old metadata.
struct MetadataFiles {
  let tree: DirectoryTree

  func read(_ key: ObjectKey, _ etag: ETag) throws(ObjectStoreError) -> ObjectMetadata {
    guard let directory = try tree.directory(path(key)[...]) else { return .none }
    let number = openat(directory.number, etag.text, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard number >= 0 else {
      if errno == ENOENT { return .none }
      throw .system(errno, key.text)
    }
    let descriptor = Descriptor(number)
    guard let status = descriptor.status else { throw .system(errno, key.text) }
    // Twice the maximum of names and values, rounded up: each line has three more bytes.
    guard status.st_mode & S_IFMT == S_IFREG, status.st_size <= 4 * Int64(ObjectMetadata.maximumSize) else {
      throw damaged(key)
    }
    let bytes = try ObjectFile(file: descriptor, status: status, key: key).body(limit: 1 << 20, .never).body
    var values: [String: String] = [:]
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { throw damaged(key) }
      let name = String(decoding: line[..<colon], as: UTF8.self)
      values[name] = String(decoding: line[colon...].dropFirst(), as: UTF8.self)
    }
    guard let metadata = try? ObjectMetadata(values) else { throw damaged(key) }
    return metadata
  }

  private func damaged(_ key: ObjectKey) -> ObjectStoreError {
    ObjectStoreError(.failed(.damaged), "\(key): the metadata file is damaged")
  }

  /// Writes the metadata of content that is about to be renamed to its final name. The caller holds the
  /// store's lock.
  func prepare(_ metadata: ObjectMetadata, of key: ObjectKey, with etag: ETag) throws(ObjectStoreError) {
    let path = path(key)
    if metadata == .none {
      guard let directory = try tree.directory(path[...]) else { return }
      if unlinkat(directory.number, etag.text, 0) != 0, errno != ENOENT { throw .system(errno, key.text) }
      return try directory.syncNames(tree.calls)
    }
    guard let directory = try tree.directory(path[...], making: true),
      let incoming = try tree.directory(DirectoryStore.incoming, making: true)
    else {
      throw ObjectStoreError(
        .transient(retryAfter: nil), "\(key): its directory was removed during the write")
    }
    let file = try IncomingFile(in: incoming, tree)
    let lines = metadata.values.ordered { $0.key < $1.key }.map { "\($0.key):\($0.value)\n" }
    try file.write(Array(lines.joined().utf8), .never)
    try file.move(to: directory, etag.text)
  }

  /// Removes the metadata of other contents of a key, or of all if `etag` is nil. The caller holds the
  /// store's lock.
  func removeOthers(_ key: ObjectKey, keeping etag: ETag?) {
    let path = path(key)
    guard let directory = try? tree.directory(path[...]),
      let names = try? DirectoryEntryName.all(in: directory)
    else { return }
    for name in names where name.text != etag?.text { unlinkat(directory.number, name.text, 0) }
    if let parent = try? tree.directory(path.dropLast()), let last = path.last {
      // Fails, as intended, while the directory is not empty.
      unlinkat(parent.number, last, AT_REMOVEDIR)
    }
  }

  // The name is a hash, because a key may be longer than a file name can be.
  private func path(_ key: ObjectKey) -> [String] {
    [DirectoryTree.reserved, "metadata", SHA256.digest(key.text.utf8).hexadecimal]
  }
}

/// A temporary file, written outside of the key space and renamed to its final name when it is complete.
///
/// The writer holds an flock on it, which distinguishes files in use from those that a crashed writer left.
///
/// Not an `AtomicFile`: that one takes paths, follows symbolic links on them and writes into the target's
/// directory, where a listing would return its file as an object. This one takes open directories of a
/// `DirectoryTree`.
final class IncomingFile {
  private let directory: Descriptor
  private let file: Descriptor
  private let name: String
  private let calls: FileCalls
  private var hasMoved = false
  /// The bytes that were appended.
  private var size: Int64 = 0

  /// - Parameter directory: on the same file system as the final directory
  init(in directory: consuming Descriptor, _ tree: DirectoryTree) throws(ObjectStoreError) {
    while true {
      let name = (0..<2).map { _ in UInt64.random(in: .min ... .max).bytes.hexadecimal }.joined()
      let number = openat(directory.number, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
      guard number >= 0 else {
        if errno == EEXIST || errno == EINTR { continue }
        throw .system(errno, "creating a temporary file")
      }
      let file = Descriptor(number)
      guard flock(number, LOCK_EX) == 0 else {
        let code = errno
        unlinkat(directory.number, name, 0)
        if code == EINTR { continue }
        throw .system(code, "locking a temporary file")
      }
      // A cleanup may have removed the file between its creation and the flock.
      guard let status = file.status, status.st_nlink > 0 else { continue }
      self.directory = directory
      self.file = file
      self.name = name
      calls = tree.calls
      tree.share(number)
      return
    }
  }

  /// The file's current status.
  var status: stat? { file.status }

  deinit { if !hasMoved { unlinkat(directory.number, name, 0) } }

  /// Writes the whole content, and syncs it to stable storage.
  func write(_ bytes: [UInt8], _ cancellation: Cancellation) throws(ObjectStoreError) {
    for start in stride(from: 0, to: bytes.count, by: 1 << 20) {
      try cancellation.check()
      let failure = bytes[start..<min(start + 1 << 20, bytes.count)].withUnsafeBytes {
        block -> ObjectStoreError? in
        do throws(ObjectStoreError) {
          try append(block)
          return nil
        } catch { return error }
      }
      if let failure { throw failure }
    }
    try sync()
  }

  func append(_ block: UnsafeRawBufferPointer) throws(ObjectStoreError) {
    var done = 0
    while done < block.count {
      let count = pwrite(
        file.number, block.baseAddress?.advanced(by: done), block.count - done, off_t(size) + off_t(done))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .system(errno, "writing a temporary file") }
      done += count
    }
    size += Int64(block.count)
  }

  /// Syncs the content to stable storage.
  func sync() throws(ObjectStoreError) { try file.sync(calls) }

  /// Renames the file to its final name, and atomically replaces an existing file.
  ///
  /// - Parameter isDurable: whether the name survives a loss of power; else the caller syncs the directory later
  /// - Throws: `.unknownOutcome` when the rename succeeded but may not survive a power loss
  func move(to parent: borrowing Descriptor, _ target: String, isDurable: Bool = true)
    throws(ObjectStoreError)
  {
    guard renameat(directory.number, name, parent.number, target) == 0 else { throw .system(errno, target) }
    hasMoved = true
    guard isDurable else { return }
    do throws(ObjectStoreError) {
      try parent.syncNames(calls)
    } catch {
      throw ObjectStoreError(.unknownOutcome(retryAfter: nil), "\(target): \(error.message)")
    }
  }

  /// Removes the temporary files that crashed writers left in a directory.
  static func clean(_ directory: borrowing Descriptor) {
    guard let names = try? DirectoryEntryName.all(in: directory) else { return }
    for name in names where name.isReadable {
      let number = openat(directory.number, name.text, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
      guard number >= 0 else { continue }
      let file = Descriptor(number)
      if flock(file.number, LOCK_EX | LOCK_NB) == 0 { unlinkat(directory.number, name.text, 0) }
    }
  }
}

extension UInt64 {
  /// The bytes in big-endian order.
  var bytes: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: self >> (56 - 8 * $0)) } }
}
