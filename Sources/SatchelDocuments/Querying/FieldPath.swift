import SatchelCore
import SatchelJSON
import SatchelStorage

/// The path of an index, a relation or a query: into the document, or to a field of the record itself.
enum FieldPath: Equatable, Sendable {
  case document(DocumentPath)
  case id
  case created
  case modified
  case revision
  case syncStatus

  /// Reads a path of a query.
  init(_ text: String) throws {
    switch text {
    case "@id": self = .id
    case "@created": self = .created
    case "@modified": self = .modified
    case "@revision": self = .revision
    case "@sync_status": self = .syncStatus
    default: self = .document(try DocumentPath(text))
    }
  }
}

/// A path to a value in a document.
struct DocumentPath: Sendable {
  /// The path as it was declared.
  let text: String
  let path: JSONPath
  /// The components as UTF-8.
  let keys: [[UInt8]]
  /// Whether the path may lead into arrays: only JSON Pointers do.
  let reachesArrays: Bool

  /// - Throws: `.invalid` for an invalid path, and for one to the whole document
  init(_ text: String) throws {
    self.text = text
    do {
      path = try JSONPath(text)
    } catch let error as JSONError {
      throw SatchelError(.invalid, "\"\(text)\" is not a path: \(error.reason)")
    }
    guard !path.components.isEmpty else {
      throw SatchelError(.invalid, "the path is empty; it must name a field")
    }
    guard text.utf8.first != UInt8(ascii: "@") else {
      throw SatchelError(
        .invalid,
        "\"\(text)\": not a field of a record; the fields are @id, @created, @modified, @revision and @sync_status"
      )
    }
    keys = path.components.map { Array($0.utf8) }
    reachesArrays = path.isPointer
  }

  var pointer: String { path.pointer }
}

extension DocumentPath: Equatable {
  /// Whether both lead to the same value in every document.
  static func == (left: DocumentPath, right: DocumentPath) -> Bool {
    left.keys == right.keys && (left.reachesArrays == right.reachesArrays || !left.hasIndex)
  }

  private var hasIndex: Bool {
    keys.contains { $0.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } }
  }
}

/// Encodes values as bytes in the order that a query requests; the keys of several values are concatenated.
enum OrderKey {
  /// Appends the key of one value.
  static func append(_ value: FieldValue, descending: Bool, to bytes: inout [UInt8]) {
    let start = bytes.count
    switch value {
    case .string(let text): append(text, to: &bytes)
    case .ownedString(let text): text.withUnsafeBytes { append($0, to: &bytes) }
    case .bigNumber(let number): ValueKey.appendWhole(number, to: &bytes)
    default: ValueKey.append(value, to: &bytes)
    }
    if descending { for index in start..<bytes.count { bytes[index] = ~bytes[index] } }
  }

  /// Appends a whole string, with a terminator that sorts before everything that may follow.
  private static func append(_ text: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
    bytes.append(ValueKey.string)
    for byte in text {
      bytes.append(byte)
      if byte == 0 { bytes.append(0xFF) }
    }
    bytes.append(0)
    bytes.append(0)
  }
}

extension RecordTable {
  /// Returns the key of a record's whole value at a path, by which values are compared whose key in an index does
  /// not identify them.
  func wholeKey(_ row: Int64, _ path: DocumentPath) throws -> [UInt8] {
    let body = try body(row) ?? []
    var key: [UInt8] = []
    body.withUnsafeBytes { OrderKey.append(DocumentReader($0).field(path), descending: false, to: &key) }
    return key
  }
}

/// Rows with their order keys, for sorting.
struct OrderedRows {
  private struct Entry {
    var start: Int
    var end: Int
    var row: Int64
  }

  private let order: [CompiledQuery.Order]
  private var buffer: [UInt8] = []
  private var entries: [Entry] = []

  init(_ order: [CompiledQuery.Order]) { self.order = order }

  var isEmpty: Bool { entries.isEmpty }

  mutating func add(_ candidate: borrowing Candidate) throws {
    let start = buffer.count
    for part in order {
      OrderKey.append(try candidate.field(part.path), descending: part.isDescending, to: &buffer)
    }
    entries.append(Entry(start: start, end: buffer.count, row: candidate.row))
  }

  /// The number of comparisons after which sorting may be stopped: a few milliseconds of them.
  private static let checkInterval = 1 << 16

  /// Removes all rows and returns them in order, equal ones in insertion order.
  ///
  /// - Throws: `.cancelled` when the call has to stop
  mutating func removeSorted() throws -> [Int64] {
    var comparisons = 0
    try buffer.withUnsafeBytes { buffer in
      try entries.sort { left, right in
        comparisons += 1
        if comparisons % Self.checkInterval == 0 { try InterruptibleCall.check() }
        let order = UnsafeRawBufferPointer(rebasing: buffer[left.start..<left.end]).order(
          against: UnsafeRawBufferPointer(rebasing: buffer[right.start..<right.end]))
        return order == 0 ? left.row < right.row : order < 0
      }
    }
    defer {
      entries.removeAll(keepingCapacity: true)
      buffer.removeAll(keepingCapacity: true)
    }
    return entries.map(\.row)
  }
}
