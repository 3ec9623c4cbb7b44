import SatchelStorage

/// A file that is being written where no key leads, until it is complete and takes its place.
///
/// Its writer holds a lock on it, so that what a crashed one left behind can be told from what is in work.
final class IncomingFile {
  private let directory: Descriptor
  private let file: Descriptor
  private let name: String
  private var hasMoved = false

  /// - Parameter directory: on the same file system as the place where the file shall go
  init(in directory: consuming Descriptor) throws(ObjectStoreError) {
    while true {
      let name = (0..<2).map { _ in UInt64.random(in: .min ... .max).bytes.hexadecimal }.joined()
      let number = openat(directory.number, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
      guard number >= 0 else {
        if errno == EEXIST || errno == EINTR { continue }
        throw .system(errno, "a new file")
      }
      let file = Descriptor(number)
      guard flock(number, LOCK_EX) == 0 else {
        let code = errno
        unlinkat(directory.number, name, 0)
        if code == EINTR { continue }
        throw .system(code, "a new file")
      }
      // Somebody who cleans may have come between the making and the locking.
      guard let status = file.status, status.st_nlink > 0 else { continue }
      self.directory = directory
      self.file = file
      self.name = name
      return
    }
  }

  /// As it is by now.
  var status: stat? { file.status }

  deinit { if !hasMoved { unlinkat(directory.number, name, 0) } }

  /// Writes the whole content, durably.
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
        throw .system(errno, "writing")
      }
      offset += written
    }
    try file.sync()
  }

  /// Takes the place of what stands under a name, at once for everyone who looks.
  ///
  /// - Throws: `.unknownOutcome` when it is there, but may be lost with the power
  func move(to place: borrowing Descriptor, _ target: String) throws(ObjectStoreError) {
    guard renameat(directory.number, name, place.number, target) == 0 else { throw .system(errno, target) }
    hasMoved = true
    do throws(ObjectStoreError) {
      try place.sync()
    } catch {
      throw ObjectStoreError(.unknownOutcome(retryAfter: nil), "\(target): \(error.message)")
    }
  }

  /// Removes what crashed writers left in a directory.
  static func clean(_ directory: borrowing Descriptor) {
    guard let names = try? DirectoryName.all(in: directory) else { return }
    for name in names where name.isReadable {
      let number = openat(directory.number, name.text, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
      guard number >= 0 else { continue }
      let file = Descriptor(number)
      if flock(file.number, LOCK_EX | LOCK_NB) == 0 { unlinkat(directory.number, name.text, 0) }
    }
  }
}
