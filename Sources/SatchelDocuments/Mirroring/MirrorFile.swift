import SatchelCore
import SatchelJSON
import SatchelStorage

/// A collection as one JSON text with one record a line, which a person can read. With a checksum it is:
///
///     {"format":1,"collection":"courses","version":1,"records":[
///     {"id":"c1","revision":3,"created":0,"modified":0,"document":{"title":"Algebra"}},
///     …
///     ],"sha256":"…"}
///
/// The checksum covers all bytes up to the "]" that ends the records, and detects loss and damage. To edit such
/// a mirror by hand, remove the member "sha256". The plain layouts are `{id: document, …}` and
/// `[document, …]`.
package struct MirrorFile: Sendable, Equatable {
  /// The format version that is written, and the newest that can be read.
  package static let format: Int64 = 1
  package let collection: String
  /// The version of the collection's documents.
  package let version: Int
  /// SHA-256 of the file that this one replaced, in a file written before the commit with its records; nil
  /// for a file that was written after its commit, or has no checksum.
  let previous: String?
  /// Ordered by the bytes of their ids; in a plain layout as they are in the file, or were inserted.
  package let records: [MirrorRecord]
  package let layout: MirrorLayout

  package init(collection: String, version: Int, records: some Sequence<MirrorRecord>) {
    self.init(collection: collection, version: version, previous: nil, records: records, .checksummed)
  }

  /// A new file in the given format.
  package init(
    collection: String, version: Int, records: some Sequence<MirrorRecord>, as format: MirrorFormat
  ) {
    self.init(
      collection: collection, version: version, previous: nil, records: records, MirrorLayout(new: format))
  }

  init(
    collection: String, version: Int, previous: String?, records: some Sequence<MirrorRecord>,
    _ layout: MirrorLayout
  ) {
    self.collection = collection
    self.version = version
    self.previous = previous
    self.records = layout == .checksummed ? records.ordered(by: MirrorRecord.precedes) : Array(records)
    self.layout = layout
  }

  /// Returns the file's text.
  ///
  /// - Throws: `SatchelError` `.invalid`, naming the record, for a document with too many levels, that is not
  ///   a JSON object, or that has another id where the layout has the record's
  package func serialized() throws -> [UInt8] {
    if layout != .checksummed { return try plainText() }
    var text: [UInt8] = []
    text.reserveCapacity(records.reduce(256) { $0 + $1.document.count + 160 })
    text.append(contentsOf: "{\"format\":\(MirrorFile.format),\"collection\":".utf8)
    JSONValue.write(collection, into: &text)
    text.append(contentsOf: ",\"version\":\(version)".utf8)
    if let previous {
      text.append(contentsOf: ",\"previous\":".utf8)
      JSONValue.write(previous, into: &text)
    }
    text.append(contentsOf: ",\"records\":[\n".utf8)
    for (index, record) in records.enumerated() {
      if index > 0 { text.append(contentsOf: ",\n".utf8) }
      text.append(contentsOf: "{\"id\":".utf8)
      JSONValue.write(record.id, into: &text)
      let facts =
        "\"revision\":\(record.revision),\"created\":\(record.created),\"modified\":\(record.modified)"
      text.append(contentsOf: ",\(facts),\"document\":".utf8)
      do {
        try MirrorDocument.append(record.document, to: &text, maximumDepth: layout.maximumDepth)
      } catch {
        throw SatchelError(.invalid, "\(collection)/\(record.id): \(error)", underlying: error)
      }
      text.append(UInt8(ascii: "}"))
    }
    text.append(contentsOf: "\n]".utf8)
    let checksum = SHA256.digest(text).hexadecimal
    text.append(contentsOf: ",\"sha256\":\"\(checksum)\"}\n".utf8)
    return text
  }
}

/// A record of a mirror.
package struct MirrorRecord: Sendable, Equatable {
  package var id: String
  /// 0 for a record of a plain file, which has neither revision nor times.
  package var revision: Int64
  /// Unix milliseconds.
  package var created: Int64
  /// Unix milliseconds.
  package var modified: Int64
  /// A JSON object; a mirror omits its white space.
  package var document: [UInt8]

  package init(id: String, revision: Int64, created: Int64, modified: Int64, document: [UInt8]) {
    self.id = id
    self.revision = revision
    self.created = created
    self.modified = modified
    self.document = document
  }

  /// Returns whether one record comes before another in a mirror: by the bytes of the ids.
  static func precedes(_ one: MirrorRecord, _ other: MirrorRecord) -> Bool {
    one.id.utf8.lexicographicallyPrecedes(other.id.utf8)
  }
}

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

/// The bytes of a mirror's file as read.
struct MirrorImage {
  var bytes: [UInt8]
  /// SHA-256 of the bytes.
  var digest: String
  var stamp: Stamp

  /// Identity, size and times of a file, by which a change or replacement is detected without reading it.
  struct Stamp: Equatable {
    var device: UInt64
    var inode: UInt64
    var size: Int64
    var modified: [Int]
    var changed: [Int]

    init(_ status: stat) {
      device = UInt64(truncatingIfNeeded: status.st_dev)
      inode = UInt64(truncatingIfNeeded: status.st_ino)
      size = Int64(truncatingIfNeeded: status.st_size)
      #if canImport(Darwin)
        modified = [status.st_mtimespec.tv_sec, status.st_mtimespec.tv_nsec]
        changed = [status.st_ctimespec.tv_sec, status.st_ctimespec.tv_nsec]
      #else
        modified = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
        changed = [status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
      #endif
    }

    /// Returns the stamp of the current file; nil when it does not exist.
    static func now(_ path: String) -> Stamp? {
      var status = stat()
      return stat(path, &status) == 0 ? Stamp(status) : nil
    }
  }

  /// Reads a file; nil when it does not exist.
  ///
  /// - Throws: `SatchelError` `.invalid` for something that is not a regular file, or is too large;
  ///   `.io`, `.noMemory`
  static func read(_ path: String) throws -> MirrorImage? {
    guard let (bytes, status) = try MirrorFile.contents(of: path) else { return nil }
    return MirrorImage(bytes: bytes, digest: SHA256.digest(bytes).hexadecimal, stamp: Stamp(status))
  }
}
