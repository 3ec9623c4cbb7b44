import SatchelCore

/// The place of a record in the order of a query, from which the next page goes on: also when the record was changed
/// or deleted since.
struct QueryCursor: Sendable {
  private static let version: UInt8 = 1

  /// The record's key in the order, as of `OrderedRows`.
  let key: [UInt8]
  let row: Int64
  /// The key of the first value of the order in an index.
  private let first: [UInt8]

  init(_ candidate: borrowing Candidate, _ order: [CompiledQuery.Order]) throws {
    var (key, first): ([UInt8], [UInt8]) = ([], [])
    try OrderedRows.append(candidate, order, to: &key)
    if let path = order.first?.path { ValueKey.append(try candidate.field(path), to: &first) }
    (self.key, self.first, row) = (key, first, candidate.row)
  }

  /// Reads the text of a cursor.
  ///
  /// - Throws: `.invalid` for another text, and for a cursor of a query with another order
  init(_ text: String, _ order: [CompiledQuery.Order]) throws {
    let start = 15
    guard let bytes = Array(text.utf8).withUnsafeBytes({ Base64.decoded($0) }), bytes.count >= start,
      bytes[0] == Self.version
    else { throw SatchelError(.invalid, "query: /after: is not the cursor of a page") }
    func number(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
    guard number(1..<5) == UInt64(Self.signature(of: order)) else {
      throw SatchelError(.invalid, "query: /after: is the cursor of a query with another order")
    }
    row = Int64(bitPattern: number(5..<13))
    let end = start + Int(number(13..<15))
    guard end <= bytes.count else {
      throw SatchelError(.invalid, "query: /after: is not the cursor of a page")
    }
    (first, key) = (Array(bytes[start..<end]), Array(bytes[end...]))
  }

  /// Returns the text of the cursor.
  func text(_ order: [CompiledQuery.Order]) -> String {
    var bytes = [Self.version]
    withUnsafeBytes(of: Self.signature(of: order).bigEndian) { bytes.append(contentsOf: $0) }
    withUnsafeBytes(of: row.bigEndian) { bytes.append(contentsOf: $0) }
    withUnsafeBytes(of: UInt16(truncatingIfNeeded: first.count).bigEndian) { bytes.append(contentsOf: $0) }
    bytes += first
    bytes += key
    var text: [UInt8] = []
    Base64.append(bytes, to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  /// Whether a record comes after the place.
  func isBefore(_ candidate: borrowing Candidate, _ order: [CompiledQuery.Order]) throws -> Bool {
    if order.isEmpty { return candidate.row > row }
    var key: [UInt8] = []
    try OrderedRows.append(candidate, order, to: &key)
    let difference = key.withUnsafeBytes { left in self.key.withUnsafeBytes { left.order(against: $0) } }
    return difference == 0 ? candidate.row > row : difference > 0
  }

  /// The keys of an index in whose order a query begins that the records after the place have; some of those with the
  /// key of the place come before it. Nil when the place does not say it.
  ///
  /// - Parameter isOne: whether the index is of one path
  func keys(
    _ wanted: [CompiledQuery.Order], _ index: QueryPlan.IndexOrder, isOne: Bool
  ) -> KeyRanges? {
    guard let first = wanted.first else { return nil }
    if isOne { return keys(first) }
    guard index.covered == wanted.count else { return nil }
    // Values that are cut in the index have the same beginning.
    let beginning = key.prefix(ValueKey.maxLength)
    let range =
      index.isBackward
      ? KeyRange(lower: [0], upper: KeyRange(prefix: index.prefix + beginning.map { ~$0 }).upper)
      : KeyRange(lower: index.prefix + beginning, upper: [0xFF])
    return KeyRanges([range], 3)
  }

  private func keys(_ order: CompiledQuery.Order) -> KeyRanges {
    let isNull = (first.first ?? ValueKey.missing) <= ValueKey.null
    let (part, other) = isNull ? (KeyRange.nulls, KeyRange.values) : (KeyRange.values, KeyRange.nulls)
    let same =
      order.isDescending
      ? KeyRange(lower: part.lower, upper: ValueKey.successor(first))
      : KeyRange(lower: first, upper: part.upper)
    let hasOther = isNull != (order.nullsLast ?? order.isDescending)
    return KeyRanges(hasOther ? isNull ? [same, other] : [other, same] : [same], 3)
  }

  /// A number that differs for most orders (FNV-1a, 32 bits).
  private static func signature(of order: [CompiledQuery.Order]) -> UInt32 {
    var hash: UInt32 = 2_166_136_261
    for part in order {
      let nulls = part.nullsLast.map { $0 ? ">" : "<" } ?? ""
      for byte in "\(part.isDescending ? "-" : "")\(part.path.text)\(nulls)\u{0}".utf8 {
        hash = (hash ^ UInt32(byte)) &* 16_777_619
      }
    }
    return hash
  }
}
