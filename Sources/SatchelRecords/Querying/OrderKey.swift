/// Values as bytes whose order is the order that a query asks for, several after one another.
enum OrderKey {
  /// Appends a value's part.
  static func append(_ value: FieldValue, descending: Bool, to bytes: inout [UInt8]) {
    let start = bytes.count
    switch value {
    case .missing: bytes.append(0)
    case .string(let text): append(text, to: &bytes)
    case .ownedString(let text): text.withUnsafeBytes { append($0, to: &bytes) }
    default: ValueKey.append(value, to: &bytes)
    }
    if descending { for index in start..<bytes.count { bytes[index] = ~bytes[index] } }
  }

  /// A whole text, with an end that sorts before everything that may follow.
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

/// Rows with their order keys, to be sorted.
struct OrderedRows {
  private struct Entry {
    var start: Int
    var end: Int
    var row: Int64
  }

  private let order: [CompiledQuery.Order]
  private var room: [UInt8] = []
  private var entries: [Entry] = []

  init(_ order: [CompiledQuery.Order]) { self.order = order }

  var isEmpty: Bool { entries.isEmpty }

  mutating func add(_ candidate: borrowing Candidate) throws {
    let start = room.count
    for part in order {
      OrderKey.append(try candidate.field(part.path), descending: part.isDescending, to: &room)
    }
    entries.append(Entry(start: start, end: room.count, row: candidate.row))
  }

  /// The rows in order, equal ones as they arrived; nothing is left.
  mutating func take() -> [Int64] {
    room.withUnsafeBytes { room in
      entries.sort { left, right in
        let order = UnsafeRawBufferPointer(rebasing: room[left.start..<left.end]).order(
          against: UnsafeRawBufferPointer(rebasing: room[right.start..<right.end]))
        return order == 0 ? left.row < right.row : order < 0
      }
    }
    defer {
      entries.removeAll(keepingCapacity: true)
      room.removeAll(keepingCapacity: true)
    }
    return entries.map(\.row)
  }
}
