/// The bytes of an image file, or of a part of it. Each read is checked against the part's bounds.
package struct ImageBytes {
  package enum Order { case big, little }

  package let source: ImageSource
  /// The offset in the source.
  private let start: Int64
  package let count: Int64

  package init(_ source: ImageSource) { self.init(source, start: 0, count: source.size) }

  /// Bytes in memory.
  package init(_ memory: [UInt8]) { self.init(ImageSource(memory)) }

  private init(_ source: ImageSource, start: Int64, count: Int64) {
    (self.source, self.start, self.count) = (source, start, count)
  }

  /// Returns a part; nil unless all of it is within these bytes.
  package func part(_ offset: Int64, _ count: Int64) -> ImageBytes? {
    guard offset >= 0, count >= 0, offset <= self.count, count <= self.count - offset else { return nil }
    return ImageBytes(source, start: start + offset, count: count)
  }

  /// Returns the part from an offset to the end; empty when the offset is not within these bytes.
  package func part(from offset: Int64) -> ImageBytes {
    let offset = min(max(offset, 0), count)
    return ImageBytes(source, start: start + offset, count: count - offset)
  }

  /// Returns the part from an offset on: `count` bytes, or as many as there are.
  package func part(_ offset: Int64, atMost count: Int64) -> ImageBytes {
    let rest = part(from: offset)
    return rest.part(0, max(count, 0)) ?? rest
  }

  /// Returns bytes; nil when they are not within these, or cannot be read.
  package func bytes(_ offset: Int64, _ count: Int) -> [UInt8]? {
    with(offset, count: count) { Array($0) }
  }

  /// Returns the first bytes, `limit` at most; empty when they cannot be read.
  package func prefix(_ limit: Int) -> [UInt8] { bytes(0, Int(min(Int64(limit), count))) ?? [] }

  package func starts(with text: StaticString) -> Bool { has(text, at: 0) }

  /// Whether a text is at an offset.
  package func has(_ text: StaticString, at offset: Int64) -> Bool {
    with(offset, count: text.utf8CodeUnitCount) { found in
      found.elementsEqual(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    } ?? false
  }

  package func byte(_ offset: Int64) -> UInt8? { with(offset, count: 1) { $0[0] } }

  /// Returns an unsigned number of up to eight bytes.
  package func number(_ offset: Int64, size: Int, _ order: Order) -> UInt64? {
    with(offset, count: size) { bytes in
      switch order {
      case .big: bytes.reduce(0) { $0 << 8 | UInt64($1) }
      case .little: bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
      }
    }
  }

  package func uint16(_ offset: Int64, _ order: Order) -> Int64? {
    number(offset, size: 2, order).map { Int64($0) }
  }
  package func uint32(_ offset: Int64, _ order: Order) -> Int64? {
    number(offset, size: 4, order).map { Int64($0) }
  }

  private func with<Result>(
    _ offset: Int64, count: Int, _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result? {
    guard let part = part(offset, Int64(count)) else { return nil }
    return source.read(at: part.start, count: count, body)
  }
}

/// A file, or memory, of which `ImageBytes` are parts.
///
/// The file is untrusted, and may change or fail while it is read. The number of reads and bytes is limited, so that no
/// file costs more than a fixed amount of work, whatever its structure says.
package final class ImageSource {
  /// The number of reads: some ten times those of a picture of a thousand tiles.
  private static let maxReads = 250_000
  /// The number of bytes that are read from the file, besides its head.
  private static let maxBytes: Int64 = 32 << 20
  /// The size of a read from the file: the headers of neighbouring boxes and entries are in one.
  private static let pageSize: Int64 = 4096

  package let size: Int64
  private let memory: [UInt8]
  /// Valid while the source is used.
  private let head: UnsafeRawBufferPointer
  private let file: Int32
  private var page: [UInt8] = []
  private var pageStart: Int64 = 0
  private var readsLeft = maxReads
  private var bytesLeft = maxBytes
  /// Whether bytes of the file could not be read.
  package private(set) var hasFailed = false

  /// - Parameters:
  ///   - head: the file's first bytes, valid while the source is used
  ///   - file: a descriptor for the others; nil when there are no others
  ///   - size: the file's size
  package init(head: UnsafeRawBufferPointer, file: Int32?, size: Int64) {
    memory = []
    self.head = head
    self.file = file ?? -1
    self.size = file == nil ? Int64(head.count) : max(size, 0)
  }

  package init(_ memory: [UInt8]) {
    self.memory = memory
    head = UnsafeRawBufferPointer(start: nil, count: 0)
    file = -1
    size = Int64(memory.count)
  }

  /// Allows as much work again: to read values, once the structure was read.
  package func renewLimits() { (readsLeft, bytesLeft) = (Self.maxReads, Self.maxBytes) }

  /// Passes bytes to `body`; the range is within the size.
  ///
  /// - Returns: nil when they cannot be read, or the limit of work is reached
  fileprivate func read<Result>(
    at offset: Int64, count: Int, _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result? {
    guard readsLeft > 0 else {
      hasFailed = true
      return nil
    }
    readsLeft -= 1
    if !memory.isEmpty {
      return memory.withUnsafeBytes { part(of: $0, at: offset, count: count).map(body) }
    }
    if let part = part(of: head, at: offset, count: count) { return body(part) }
    if !isInPage(offset, count), !load(at: offset, count: max(Int64(count), Self.pageSize)) { return nil }
    guard isInPage(offset, count) else {
      hasFailed = true
      return nil
    }
    return page.withUnsafeBytes { part(of: $0, at: offset - pageStart, count: count).map(body) } ?? nil
  }

  private func part(
    of bytes: UnsafeRawBufferPointer, at offset: Int64, count: Int
  ) -> UnsafeRawBufferPointer? {
    guard offset >= 0, count >= 0, let start = Int(exactly: offset), start <= bytes.count,
      count <= bytes.count - start
    else { return nil }
    return UnsafeRawBufferPointer(rebasing: bytes[start..<start + count])
  }

  private func isInPage(_ offset: Int64, _ count: Int) -> Bool {
    offset >= pageStart && offset - pageStart <= Int64(page.count)
      && Int64(count) <= Int64(page.count) - (offset - pageStart)
  }

  /// Reads from the file into the page.
  private func load(at offset: Int64, count: Int64) -> Bool {
    let wanted = min(count, size - offset)
    guard file >= 0, wanted > 0, wanted <= bytesLeft, let room = Int(exactly: wanted) else {
      hasFailed = true
      return false
    }
    bytesLeft -= wanted
    page = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
      while count < room {
        let got = pread(
          file, buffer.baseAddress?.advanced(by: count), room - count, off_t(offset) + off_t(count))
        if got < 0, errno == EINTR { continue }
        if got <= 0 { break }
        count += got
      }
    }
    pageStart = offset
    return true
  }
}
