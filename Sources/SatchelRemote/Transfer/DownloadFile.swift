import SatchelCore

/// The temporary file of a download, beside its target: `{target}.part`. It stays when a download that may go on ends,
/// so that the next one continues with it, and takes the target's place when it is complete and verified.
package final class DownloadFile {
  /// A smaller beginning is not worth a file that stays.
  private static let minimumToKeep: Int64 = 1 << 20

  private let file: DiskFile
  private let path: String
  private let mayStay: Bool
  private let calls: FileCalls
  /// The bytes so far.
  package private(set) var count: Int64
  private var isCommitted = false

  /// - Parameters:
  ///   - path: the target, in a directory that exists
  ///   - resuming: whether to continue with what an earlier download left, and to leave what this one could not
  ///     finish: only where the content is verified by a checksum afterwards
  /// - Throws: `SatchelError`: `.busy` while another download writes the file, `.invalid` for a device, a pipe or a
  ///   socket at `path`, `.io` and others
  package init(replacing path: String, resuming: Bool, calls: FileCalls = .system) throws {
    try DiskFile.refuseSpecial(path)
    file = try AtomicFile.locked(path + AtomicFile.partSuffix, mode: 0o644, on: .fail, calls)
    self.path = path
    self.calls = calls
    mayStay = resuming
    count = resuming ? Int64(try file.status().st_size) : 0
    if !resuming { try file.truncate(to: 0) }
  }

  deinit { if !isCommitted, !mayStay || count < Self.minimumToKeep { unlink(file.path) } }

  func append(_ block: UnsafeRawBufferPointer) throws(ObjectStoreError) {
    try converting { try file.write(block, at: count) }
    count += Int64(block.count)
  }

  func restart() throws(ObjectStoreError) {
    try converting { try file.truncate(to: 0) }
    count = 0
  }

  /// Adds the bytes so far to a hash.
  func update(_ hash: inout ContentHash, _ cancellation: Cancellation) throws(ObjectStoreError) {
    guard count > 0 else { return }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: FileBody.blockSize, alignment: 16)
    defer { buffer.deallocate() }
    var offset: Int64 = 0
    while offset < count {
      try cancellation.check()
      let length = Int(min(Int64(buffer.count), count - offset))
      var got = 0
      try converting { got = try file.read(into: .init(rebasing: buffer[..<length]), at: offset) }
      guard got == length else {
        throw ObjectStoreError(.failed(.io), "\(file.path): another program changes it", faultClass: .object)
      }
      hash.update(UnsafeRawBufferPointer(rebasing: buffer[..<length]))
      offset += Int64(length)
    }
  }

  /// Syncs the file, and gives it the target's name.
  ///
  /// - Parameter beforeRename: gets the temporary file's path, when the file is complete
  package func commit(syncsDirectory: Bool = true, beforeRename: (_ part: String) throws -> Void = { _ in })
    throws
  {
    try file.sync()
    try beforeRename(file.path)
    guard calls.rename(file.path, path) == 0 else { throw SatchelError(errno: errno, path) }
    isCommitted = true
    if syncsDirectory { try DiskFile.syncDirectory(of: path, calls: calls) }
  }

  private func converting(_ body: () throws -> Void) throws(ObjectStoreError) {
    do {
      try body()
    } catch {
      let error = SatchelError(converting: error)
      // The disk of this end, as a whole.
      throw ObjectStoreError(.failed(error.code), error.message, faultClass: .remote)
    }
  }
}
