import SatchelCore
import SatchelStorage

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
    try Self.append(candidate, order, to: &buffer)
    entries.append(Entry(start: start, end: buffer.count, row: candidate.row))
  }

  /// Appends the key of a record in an order.
  static func append(
    _ candidate: borrowing Candidate, _ order: [CompiledQuery.Order], to bytes: inout [UInt8]
  ) throws {
    for part in order {
      OrderKey.append(
        try candidate.field(part.path), descending: part.isDescending, nullsLast: part.nullsLast, to: &bytes)
    }
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
