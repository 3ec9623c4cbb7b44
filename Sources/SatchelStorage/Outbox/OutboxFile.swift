import SatchelCore

/// The append-only file `….outbox` for entries that the store cannot accept; checksummed and synced.
///
/// Several threads and processes may use it at once: each call holds the file's lock while it runs.
package struct OutboxFile: Sendable {
  package let path: String
  private let store: DatabaseFileNames
  private let timeout: Int
  private let calls: FileCalls

  /// Creates a value; touches no file.
  ///
  /// - Parameters:
  ///   - store: the path of the store to which the file belongs
  ///   - timeout: the time that a call waits for the lock, in milliseconds
  package init(store: String, timeout: Int = 5000, calls: FileCalls = .system) {
    self.store = DatabaseFileNames(store)
    path = self.store.outbox
    self.timeout = timeout
    self.calls = calls
  }

  /// Whether the file has content. Costs one system call.
  package var isPending: Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_size > 0
  }

  /// Appends an entry; when this returns, the entry survives a power loss.
  ///
  /// - Returns: the entry's number
  /// - Throws: `.full`, `.io`, `.readOnly`, `.busy`, `.invalid` for a payload that is empty or larger than 1
  ///   GiB; the file then contains nothing of the entry
  @discardableResult
  package func append(_ payload: UnsafeRawBufferPointer) throws -> Int64 {
    guard !payload.isEmpty, payload.count <= OutboxFormat.maxPayloadSize else {
      throw SatchelError(
        .invalid,
        "\(path): an entry must have 1 to \(OutboxFormat.maxPayloadSize) bytes, not \(payload.count)")
    }
    let file = try locked(O_RDWR | O_CREAT)
    let size = Int64(try file.status().st_size)
    do {
      let identity = try size == 0 ? Self.newIdentity() : identity(of: file)
      let head = size == 0 ? OutboxFormat.header(identity: identity) : []
      let offset = size + Int64(head.count)
      try file.write(head + OutboxFormat.frame(payload, at: offset, identity: identity), at: size)
      try file.sync()
      if size == 0 { try DiskFile.syncDirectory(of: path, calls: calls) }
      return offset
    } catch let error as SatchelError {
      throw undoAppend(file, size, after: error)
    }
  }

  /// Appends an entry, as the other `append`.
  @discardableResult
  package func append(_ payload: [UInt8]) throws -> Int64 {
    try payload.withUnsafeBytes { try append($0) }
  }

  /// Returns the file's content; nil when it does not exist or is empty.
  package func read() throws -> OutboxContent? {
    guard isPending else { return nil }
    do {
      return try content(of: locked(O_RDONLY))
    } catch let error as SatchelError where error.code == .notFound {
      return nil
    }
  }

  /// Removes the file once all entries of `content` are in the store; renames it when it is damaged.
  ///
  /// - Parameter time: Unix milliseconds, for the quarantine name
  package func finish(_ content: OutboxContent, time: Int64) throws -> OutboxFileOutcome {
    let file: DiskFile
    do {
      file = try locked(O_RDONLY)
    } catch let error as SatchelError where error.code == .notFound {
      // Another process has removed it.
      return .removed
    }
    guard let now = try self.content(of: file) else { return .removed }
    guard now == content else { return .kept }
    if !now.isComplete { return .quarantine(try rename(time)) }
    guard unlink(path) == 0 else { throw SatchelError(errno: errno, path) }
    try DiskFile.syncDirectory(of: path, calls: calls)
    return .removed
  }

  /// Removes the file, whatever it contains.
  package func discard() throws {
    guard isPending else { return }
    let file = try locked(O_RDONLY)
    try withExtendedLifetime(file.descriptor) {
      guard unlink(path) == 0 else { throw SatchelError(errno: errno, path) }
    }
    try DiskFile.syncDirectory(of: path, calls: calls)
  }

  /// Renames the file to a quarantine name; nothing is deleted.
  ///
  /// - Returns: its new path; nil when there is no file
  package func quarantine(time: Int64) throws -> String? {
    guard isPending else { return nil }
    let file = try locked(O_RDONLY)
    return try withExtendedLifetime(file.descriptor) { try rename(time) }
  }

  private func rename(_ time: Int64) throws -> String {
    let target = try StoreFile.quarantine(path, time: time)
    try DiskFile.syncDirectory(of: path, calls: calls)
    return target
  }

  private func content(of file: borrowing DiskFile) throws -> OutboxContent? {
    let bytes = try file.read()
    guard !bytes.isEmpty else { return nil }
    let (identity, frames, damages) = OutboxFormat.parse(bytes)
    return OutboxContent(identity: (identity ?? []).hexadecimal, frames: frames, damages: damages)
  }

  private func identity(of file: borrowing DiskFile) throws -> [UInt8] {
    if let identity = OutboxFormat.identity(ofHeader: try file.read(OutboxFormat.headerSize)) {
      return identity
    }
    // The header is damaged: take the identity from the entries.
    return OutboxFormat.parse(try file.read()).identity ?? Self.newIdentity()
  }

  private static func newIdentity() -> [UInt8] { (0..<16).map { _ in UInt8.random(in: .min ... .max) } }

  /// Reverts a failed append, so that the entry is not drained although its append failed.
  private func undoAppend(_ file: borrowing DiskFile, _ size: Int64, after error: SatchelError)
    -> SatchelError
  {
    var error = error
    do {
      try file.truncate(to: size)
      if size == 0 { unlink(path) }
    } catch let second {
      error.message +=
        "; the entry could not be removed from the file either, and may still be applied (\(second))"
    }
    return error
  }

  /// Opens the file and locks it; closing it releases the lock.
  private func locked(_ flags: Int32) throws -> DiskFile {
    let start = Clock.monotonic.now()
    while true {
      let file = try DiskFile(path, flags | O_NONBLOCK, mode: store.permissions, calls: calls)
      guard try file.status().st_mode & S_IFMT == S_IFREG else {
        throw SatchelError(.invalid, "\(path): not a regular file")
      }
      while flock(file.descriptor, LOCK_EX | LOCK_NB) != 0 {
        let code = errno
        guard code == EWOULDBLOCK || code == EINTR else { throw SatchelError(errno: code, path) }
        guard Clock.monotonic.now() - start < Int64(timeout) else {
          throw SatchelError(
            .busy, "\(path): another thread or process has held its lock for more than \(timeout) ms")
        }
        usleep(2000)
      }
      // The previous lock owner may have removed or renamed the file.
      if try file.isAtPath { return file }
    }
  }
}

extension Outbox {
  /// Whether the outbox file contains entries.
  package var isSpooled: Bool { outboxFile?.isPending ?? false }
}
