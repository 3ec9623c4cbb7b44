/// A file beside the store that takes what the store cannot: only ever appended to, checksummed and synced.
///
/// Several threads and processes may use it at once: each call takes the file's lock for as long as it runs.
package struct SpillFile: Sendable {
  package let path: String
  private let storePath: String
  private let patience: Int
  private let calls: FileCalls

  /// - Parameters:
  ///   - store: path of the store that it belongs to
  ///   - patience: how long a call waits for the lock, in milliseconds
  package init(store: String, patience: Int = 5000, calls: FileCalls = .system) {
    storePath = store
    path = store + ".spill"
    self.patience = patience
    self.calls = calls
  }

  /// Whether there is something in it. Costs one look at the directory.
  package var isPending: Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_size > 0
  }

  /// Adds an entry; when it returns, the entry survives a loss of power.
  ///
  /// - Returns: the entry's number
  /// - Throws: `.full`, `.io`, `.readOnly`, `.busy`, `.invalid` for an empty payload or one over 1 GiB; the file
  ///   holds nothing of the entry then
  @discardableResult
  package func append(_ payload: UnsafeRawBufferPointer) throws -> Int64 {
    guard !payload.isEmpty, payload.count <= SpillFormat.longestPayload else {
      throw SatchelError(.invalid, "\(path): an entry of \(payload.count) bytes")
    }
    let file = try locked(O_RDWR | O_CREAT)
    let size = Int64(try file.status().st_size)
    do {
      let identity = try size == 0 ? Self.newIdentity() : identity(of: file)
      let head = size == 0 ? SpillFormat.head(identity: identity) : []
      let offset = size + Int64(head.count)
      try file.write(head + SpillFormat.frame(payload, at: offset, identity: identity), at: size)
      try file.sync()
      if size == 0 { try DiskFile.syncDirectory(of: path, calls: calls) }
      return offset
    } catch let error as SatchelError {
      throw takeBack(file, size, after: error)
    }
  }

  /// As the other `append`.
  @discardableResult
  package func append(_ payload: [UInt8]) throws -> Int64 {
    try payload.withUnsafeBytes { try append($0) }
  }

  /// Everything that stands in it; nil when it does not exist or is empty.
  package func read() throws -> SpillContent? {
    guard isPending else { return nil }
    do {
      return try content(of: locked(O_RDONLY))
    } catch let error as SatchelError where error.code == .notFound {
      return nil
    }
  }

  /// Ends the file once all entries of `content` are in the store.
  ///
  /// - Parameter time: Unix milliseconds, for the name of a file that is set aside
  package func finish(_ content: SpillContent, time: Int64) throws -> SpillOutcome {
    let file: DiskFile
    do {
      file = try locked(O_RDONLY)
    } catch let error as SatchelError where error.code == .notFound {
      // Another process came first.
      return .removed
    }
    guard let now = try self.content(of: file) else { return .removed }
    guard now == content else { return .kept }
    if !now.isComplete { return .setAside(try rename(time)) }
    guard unlink(path) == 0 else { throw SatchelError(errno: errno, path) }
    try DiskFile.syncDirectory(of: path, calls: calls)
    return .removed
  }

  /// Renames the file; nothing is ever deleted.
  ///
  /// - Returns: its new path; nil when there is none
  package func setAside(time: Int64) throws -> String? {
    guard isPending else { return nil }
    let file = try locked(O_RDONLY)
    return try withExtendedLifetime(file.descriptor) { try rename(time) }
  }

  private func rename(_ time: Int64) throws -> String {
    let target = try StoreFile.setAside(path, time: time)
    try DiskFile.syncDirectory(of: path, calls: calls)
    return target
  }

  private func content(of file: borrowing DiskFile) throws -> SpillContent? {
    let bytes = try file.read()
    guard !bytes.isEmpty else { return nil }
    let (identity, frames, damages) = SpillFormat.parse(bytes)
    return SpillContent(identity: (identity ?? []).hexadecimal, frames: frames, damages: damages)
  }

  private func identity(of file: borrowing DiskFile) throws -> [UInt8] {
    if let identity = SpillFormat.identity(ofHead: try file.read(SpillFormat.headSize)) {
      return identity
    }
    // The head is damaged: the entries know.
    return SpillFormat.parse(try file.read()).identity ?? Self.newIdentity()
  }

  private static func newIdentity() -> [UInt8] { (0..<16).map { _ in UInt8.random(in: .min ... .max) } }

  /// Undoes an append that failed, so that its caller's “no” is the truth.
  private func takeBack(_ file: borrowing DiskFile, _ size: Int64, after error: SatchelError) -> SatchelError
  {
    var error = error
    do {
      try file.truncate(to: size)
      if size == 0 { unlink(path) }
    } catch let second {
      error.message += "; nor could the entry be taken back, it may still be replayed (\(second))"
    }
    return error
  }

  /// The file with its lock held; closing it lets go.
  private func locked(_ flags: Int32) throws -> DiskFile {
    let start = Clock.steadyMilliseconds
    while true {
      let file = try DiskFile(path, flags | O_NONBLOCK, mode: storeMode, calls: calls)
      guard try file.status().st_mode & S_IFMT == S_IFREG else {
        throw SatchelError(.invalid, "\(path): not a regular file")
      }
      while flock(file.descriptor, LOCK_EX | LOCK_NB) != 0 {
        let code = errno
        guard code == EWOULDBLOCK || code == EINTR else { throw SatchelError(errno: code, path) }
        guard Clock.steadyMilliseconds - start < Int64(patience) else {
          throw SatchelError(.busy, "\(path): locked by another for more than \(patience) ms")
        }
        usleep(2000)
      }
      // Whoever held it may have removed or renamed it.
      if try file.isAtPath { return file }
    }
  }

  /// Whoever may read the store may read what is on its way there.
  private var storeMode: mode_t {
    var status = stat()
    return stat(storePath, &status) == 0 ? status.st_mode & 0o666 : 0o644
  }
}
