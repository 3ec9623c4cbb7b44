import SatchelCore

/// The bytes of a body: those of a file, or bytes that are made while they are read.
package protocol BodySource: Sendable {
  /// The size in bytes.
  var size: Int64 { get }

  /// The error for bytes that are not those of an earlier reading, or not the expected ones.
  var changed: ObjectStoreError { get }

  /// Fills the buffer with the bytes at an offset; the source has them.
  ///
  /// - Throws: errors of the class `object`
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ObjectStoreError)

  /// - Throws: `changed` when the source has been written since it was opened
  func checkUnchanged() throws(ObjectStoreError)
}

/// The body of a write: a range of an open file, or of another source, which is read in blocks while it is sent, any
/// number of times.
///
/// Each reading yields the same bytes: a file that changes meanwhile fails the reading before its last block, so that
/// no store has a whole object of it.
package struct FileBody: Sendable {
  /// The size of the blocks.
  package static let blockSize = 1 << 18

  /// The file, for messages.
  package let name: String
  /// The size in bytes.
  package let count: Int64
  private let file: any BodySource
  private let start: Int64
  private let checksum: ContentChecksum?
  /// Gets the number of bytes of each block that is sent.
  private var observer: (@Sendable (Int) throws(ObjectStoreError) -> Void)?
  /// Known after the first reading.
  private let known = Locked<ContentDigests?>(nil)

  /// - Parameters:
  ///   - file: an open regular file; it is duplicated, and may be closed
  ///   - name: for messages
  ///   - checksum: that of the bytes, where it is known
  /// - Throws: `.failed`, of the class `object`
  package init(_ file: Int32, name: String, checksum: ContentChecksum? = nil) throws(ObjectStoreError) {
    try self.init(SourceFile(duplicating: file, name), name: name, checksum: checksum)
  }

  package init(_ source: any BodySource, name: String, checksum: ContentChecksum? = nil) {
    file = source
    self.name = name
    self.checksum = checksum
    (start, count) = (0, source.size)
  }

  private init(part range: Range<Int64>, of whole: FileBody) {
    (file, name, checksum) = (whole.file, whole.name, nil)
    (start, count) = (whole.start + range.lowerBound, Int64(range.count))
    observer = whole.observer
  }

  /// The same body, of which `observer` also gets the number of bytes of each block that is sent; it may break off.
  func observed(by observer: @escaping @Sendable (Int) throws(ObjectStoreError) -> Void) -> FileBody {
    var body = self
    let earlier = self.observer
    body.observer = { count throws(ObjectStoreError) in
      try earlier?(count)
      try observer(count)
    }
    return body
  }

  fileprivate func noteSent(_ count: Int) throws(ObjectStoreError) { try observer?(count) }

  /// A part of the body; the range is inside of it.
  func part(_ range: Range<Int64>) -> FileBody { FileBody(part: range, of: self) }

  /// Returns the digests; reads the file the first time.
  ///
  /// - Throws: `.failed(.invalid)` of the class `object` for other bytes than the checksum's; `.cancelled`
  package func digests(_ cancellation: Cancellation) throws(ObjectStoreError) -> ContentDigests {
    if let known = known.withLock({ $0 }) { return known }
    return try forEachBlock(cancellation, isSending: false) { _ in }
  }

  /// Reads the file in blocks, and returns the digests.
  ///
  /// - Parameter isSending: whether the blocks are sent, or only looked at
  /// - Throws: as `digests`, before `receive` gets the last block; the errors of `receive`
  @discardableResult
  package func forEachBlock(
    _ cancellation: Cancellation, isSending: Bool = true,
    _ receive: (UnsafeRawBufferPointer) throws(ObjectStoreError) -> Void
  ) throws(ObjectStoreError) -> ContentDigests {
    let reader = FileBodyReader(self, isSending: isSending)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.blockSize, alignment: 16)
    defer { buffer.deallocate() }
    while true {
      try cancellation.check()
      let count = try reader.read(into: buffer)
      if count == 0 { break }
      try receive(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
    return try reader.digests()
  }

  fileprivate func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ObjectStoreError)
  {
    try file.read(into: buffer, at: start + offset)
  }

  /// Checks the digests of a complete reading, and keeps them.
  ///
  /// - Throws: `.failed(.invalid)` for others than those of an earlier one, or of the checksum
  func accept(_ digests: ContentDigests) throws(ObjectStoreError) {
    let isSame = known.withLock { known in
      guard known == nil || known == digests else { return false }
      known = digests
      return true
    }
    guard isSame, checksum?.matches(digests) != false else { throw file.changed }
  }

  /// - Throws: `.failed(.invalid)` when the file has been written since it was opened
  func checkUnchanged() throws(ObjectStoreError) { try file.checkUnchanged() }
}

/// Reads a body once, from its begin to its end.
final class FileBodyReader {
  private let body: FileBody
  private let isSending: Bool
  private var offset: Int64 = 0
  private var hash = ContentHash()
  private var whole: ContentDigests?

  init(_ body: FileBody, isSending: Bool) {
    self.body = body
    self.isSending = isSending
  }

  /// Reads the next bytes.
  ///
  /// - Returns: their number; 0 at the end
  /// - Throws: `.failed(.invalid)` instead of the last bytes when they are not those of an earlier reading, or of the
  ///   checksum
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(ObjectStoreError) -> Int {
    let count = Int(min(Int64(buffer.count), body.count - offset))
    if count > 0 {
      let block = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
      try body.read(into: block, at: offset)
      hash.update(UnsafeRawBufferPointer(block))
      offset += Int64(count)
      if isSending { try body.noteSent(count) }
    }
    if offset == body.count { _ = try digests() }
    return count
  }

  /// The digests of the whole body, after the last block.
  func digests() throws(ObjectStoreError) -> ContentDigests {
    if let whole { return whole }
    let digests = hash.digests()
    try body.accept(digests)
    whole = digests
    return digests
  }

  func rewind() { (offset, hash, whole) = (0, ContentHash(), nil) }
}

/// An open file that is read from several threads.
private final class SourceFile: BodySource {
  let size: Int64
  private let file: Descriptor
  private let name: String
  private let modified: Int64

  init(duplicating file: Int32, _ name: String) throws(ObjectStoreError) {
    let number = fcntl(file, F_DUPFD_CLOEXEC, 0)
    guard number >= 0 else { throw .local(errno, name) }
    self.file = Descriptor(number)
    self.name = name
    guard let status = self.file.status else { throw .local(errno, name) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw ObjectStoreError(.failed(.invalid), "\(name): not a regular file", faultClass: .object)
    }
    (size, modified) = (Int64(status.st_size), status.contentTime.nanoseconds)
  }

  var changed: ObjectStoreError {
    ObjectStoreError(
      .failed(.invalid), "\(name): does not have the expected bytes: it was changed", faultClass: .object)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ObjectStoreError) {
    var done = 0
    while done < buffer.count {
      let count = pread(
        file.number, buffer.baseAddress?.advanced(by: done), buffer.count - done, off_t(offset) + off_t(done))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .local(errno, name) }
      guard count > 0 else { throw changed }
      done += count
    }
  }

  func checkUnchanged() throws(ObjectStoreError) {
    guard let status = file.status, Int64(status.st_size) == size, status.contentTime.nanoseconds == modified
    else { throw changed }
  }
}

extension ObjectStoreError {
  /// The error of a file at this end, from `errno`: one of its object, unless the whole disk is full or gone.
  static func local(_ code: Int32, _ path: String) -> ObjectStoreError {
    let (status, faultClass): (SatchelError.Code, FaultClass) =
      switch code {
      case ENOSPC, EDQUOT: (.full, .remote)
      case EROFS: (.readOnly, .remote)
      case ENOENT: (.notFound, .object)
      case EACCES, EPERM: (.readOnly, .object)
      case ENOMEM: (.noMemory, .remote)
      default: (.io, .object)
      }
    return ObjectStoreError(
      .failed(status), "\(path): \(String(cString: strerror(code)))", faultClass: faultClass)
  }
}

extension ObjectStoreError {
  /// Whether the file at this end does not have the bytes that it was expected to have.
  package var isOfFile: Bool { reason == .failed(.invalid) && faultClass == .object }
}
