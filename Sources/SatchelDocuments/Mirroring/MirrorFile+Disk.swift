import SatchelCore
import SatchelJSON
import SatchelStorage

extension MirrorFile {
  /// Reads the mirror of a collection; nil when there is no such file.
  ///
  /// - Throws: `SatchelError` `.invalid` with line, column and pointer for a file that is damaged or not a
  ///   mirror; `.io`, `.noMemory`.
  package static func read(_ path: String, collection: String) throws -> MirrorFile? {
    try read(path, as: .checksummed, collection: collection, version: 1)
  }

  /// Reads the mirror of a collection in the given format; see `read(_:collection:)`.
  static func read(
    _ path: String, as format: MirrorFormat, collection: String, version: Int
  ) throws -> MirrorFile? {
    guard let (bytes, _) = try contents(of: path) else { return nil }
    do {
      return try MirrorFile(parsing: bytes, as: format, collection: collection, version: version)
    } catch let error as JSONError {
      throw SatchelError(error, in: path)
    }
  }

  /// Returns the bytes of a file; nil when it does not exist.
  static func contents(of path: String) throws -> (bytes: [UInt8], status: stat)? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      let code = errno
      if code == ENOENT { return nil }
      throw SatchelError(errno: code, path, denied: .io)
    }
    defer { close(descriptor) }
    return try bytes(descriptor, path)
  }

  /// Replaces the mirror's file atomically: the content is written to a temporary file, synced and renamed,
  /// so that a reader sees either the old or the new file, also after a power cut. Writers of several
  /// processes wait for each other. Where `path` is a symbolic link, the file that it names is replaced, and the link
  /// stays.
  ///
  /// - Parameter path: a file in an existing directory; the text is first written to `path` with ".part"
  /// - Throws: as `serialized()`; `SatchelError` `.full`, `.readOnly`, `.io` and others: the file is
  ///   unchanged then.
  package func write(to path: String) throws {
    let text = try serialized()
    try Self.write(text, to: AtomicFile(replacing: path, followsLinks: true))
  }

  /// Writes a serialized mirror; see `write(to:)`.
  static func write(_ text: [UInt8], to file: consuming AtomicFile) throws {
    try text.withUnsafeBytes { try file.append($0) }
    try file.commit()
  }

  private static func bytes(_ descriptor: Int32, _ path: String) throws -> (bytes: [UInt8], status: stat) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw SatchelError(errno: errno, path, denied: .io) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw SatchelError(.invalid, "\(path): not a regular file")
    }
    let size = Int(clamping: status.st_size)
    guard size <= maximumSize else {
      throw SatchelError(
        .invalid, "\(path): has \(size) bytes; a mirror has at most \(maximumSize)"
      ).at(limit: maximumSize)
    }
    let bytes = try [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      while count < size {
        let got = pread(descriptor, buffer.baseAddress.map { $0 + count }, size - count, off_t(count))
        let code = errno
        if got < 0, code == EINTR { continue }
        guard got >= 0 else { throw SatchelError(errno: code, path, denied: .io) }
        if got == 0 { break }
        count += got
      }
    }
    return (bytes, status)
  }
}
