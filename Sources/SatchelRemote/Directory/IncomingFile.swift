import SatchelCore

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

  /// - Parameter directory: on the same file system as the final directory
  init(in directory: consuming Descriptor, _ calls: FileCalls) throws(ObjectStoreError) {
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
      self.calls = calls
      return
    }
  }

  /// The file's current status.
  var status: stat? { file.status }

  deinit { if !hasMoved { unlinkat(directory.number, name, 0) } }

  /// Writes the whole content, and syncs it to stable storage.
  func write(_ bytes: [UInt8], _ cancellation: Cancellation) throws(ObjectStoreError) {
    var offset = 0
    while offset < bytes.count {
      try cancellation.check()
      let part = min(bytes.count - offset, 1 << 20)
      let written = bytes.withUnsafeBytes { bytes in
        pwrite(file.number, bytes.baseAddress?.advanced(by: offset), part, off_t(offset))
      }
      if written < 0 {
        if errno == EINTR { continue }
        throw .system(errno, "writing a temporary file")
      }
      offset += written
    }
    try file.sync(calls)
  }

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
      try parent.sync(calls)
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
