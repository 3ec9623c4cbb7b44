import SatchelJSON
import SatchelTesting
import Testing

@testable import SatchelDocuments
@testable import SatchelRecords

@Suite("Numbers beyond Int64 and beyond a double in records")
struct BigNumberTests {
  private static func number(_ text: String) throws -> JSONValue { try JSONValue(parsing: text) }

  /// Longer than a key of an index, and equal in more digits than it has.
  private static let long = String(repeating: "7", count: 700)

  /// In ascending order.
  private static let ordered = [
    "-1e999999999999", "-\(long)2", "-\(long)1", "-1e400", "-18446744073709551616.5e2",
    "-18446744073709551617",
    "-18446744073709551616.0", "-9223372036854775809", "-9223372036854775808", "-1", "0.5",
    "9223372036854775807",
    "9223372036854775808", "9223372036854775809", "18446744073709551615", "18446744073709551616",
    "18446744073709551617", "1e300", "1.7976931348623157e308",
    "17976931348623158" + String(repeating: "0", count: 292),
    "1e309", "1e400", "\(long)1", "\(long)2", "1e999999999999",
  ]

  @Test("keys of an index have the exact order of numbers, as far as they reach")
  func keys() throws {
    var last: (key: [UInt8], isExact: Bool)?
    for text in Self.ordered {
      let key = Operand(try Self.number(text)).key()
      #expect(key.bytes.withUnsafeBytes { ValueKey.decidesOrder($0) } == key.isExact, "\(text)")
      #expect(key.isExact == (text.utf8.count < 500), "\(text)")
      if let last, last.isExact || key.isExact {
        #expect(last.key.lexicographicallyPrecedes(key.bytes), "\(text)")
      }
      last = (key.bytes, key.isExact)
    }
    #expect(try Operand(Self.number("1e400")).key().bytes == Operand(Self.number("10.0E399")).key().bytes)
    #expect(
      try Operand(Self.number("18446744073709551616")).key().bytes
        == Operand(Self.number("18446744073709551616.0")).key().bytes)
  }

  @Test("each range and order is exact, with an index and without", arguments: [true, false])
  func ranges(isIndexed: Bool) throws {
    let shelf = try RecordShelf()
    let records = try shelf.collection("numbers", indexes: isIndexed ? [RecordIndex("n")] : [])
    var random = SeededRandom(seed: 7)
    let ids = Self.ordered.indices.map { String($0) }
    for position in Self.ordered.indices.shuffled(using: &random) {
      try records.put(ids[position], ["n": Self.number(Self.ordered[position])])
    }
    #expect(try records.ids(RecordQuery(order: [.init("n")])) == ids)
    #expect(
      try records.ids(RecordQuery(order: [.init("n", descending: true)], limit: 4))
        == ids.reversed().prefix(4).map { $0 })
    for (position, text) in Self.ordered.enumerated() {
      let operand = try Self.number(text)
      func matching(_ test: RecordTest) throws -> [String] {
        let filter = RecordFilter.field("n", test)
        let found = try records.ids(RecordQuery(filter, order: [.init("n")]))
        #expect(try records.count(filter) == found.count)
        return found
      }
      #expect(try matching(.less(operand)) == Array(ids[..<position]), "\(text)")
      #expect(try matching(.lessOrEqual(operand)) == Array(ids[...position]), "\(text)")
      #expect(try matching(.greater(operand)) == Array(ids[(position + 1)...]), "\(text)")
      #expect(try matching(.greaterOrEqual(operand)) == Array(ids[position...]), "\(text)")
      #expect(try matching(.equals(operand)) == [ids[position]], "\(text)")
      #expect(try matching(.oneOf([operand, 1, 2, 3, 4, "x"])) == [ids[position]], "\(text)")
      #expect(try matching(.notEquals(operand)).count == ids.count - 1, "\(text)")
    }
  }

  @Test("a number that is too long for a key is unique by all of its digits, also when the index is new")
  func unique() throws {
    let shelf = try RecordShelf()
    let records = try shelf.collection("numbers")
    try records.put("a", ["n": Self.number(Self.long + "1")])
    try records.put("b", ["n": Self.number(Self.long + "2")])
    let unique = try shelf.collection("numbers", indexes: [RecordIndex("n", unique: true)])
    #expect(throws: (any Error).self) { try unique.put("c", ["n": Self.number(Self.long + "1")]) }
    #expect(throws: (any Error).self) { try unique.put("c", ["n": Self.number(Self.long + "1.0")]) }
    try unique.put("c", ["n": Self.number(Self.long + "3")])
    try shelf.expectSound()
  }
}
