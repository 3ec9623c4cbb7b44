import Testing

@testable import SatchelPhotos

@Suite("Lines that are not rows are reported and kept") struct FormatRejectionTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var name: String
    var line: String
    var fault: RowFault
    var testDescription: String { name }

    init(_ name: String, _ line: String, _ fault: RowFault) {
      self.name = name
      self.line = line
      self.fault = fault
    }
  }

  static let a = FormatFixture.md5(1)
  static let b = FormatFixture.md5(2)
  static let c = FormatFixture.md5(3)

  static let cases = [
    Case("no row", "not a row", .columns),
    Case("white space", "  ", .columns),
    Case("six columns", "\(b),b,1,2,3,4", .columns),
    Case("nine columns", "\(b),b,1,2,3,4,5,,", .columns),
    Case("very many columns", "\(b)" + String(repeating: ",", count: 1000), .columns),
    Case(
      "header with another first name", "id,filename,size,photodate,modified,width,height,applePhotoID", .md5),
    Case("md5 and no header", "md5,filename,size", .columns),
    Case("a short md5", "\(b.dropLast()),b,1,2,3,,,", .md5),
    Case("a long md5", "\(b)0,b,1,2,3,,,", .md5),
    Case("another digit", "\(b.dropLast())g,b,1,2,3,,,", .md5),
    Case("an md5 after a space", " \(b.dropLast()),b,1,2,3,,,", .md5),
    Case("an md5 of wide digits", "０\(b.dropFirst(3)),b,1,2,3,,,", .md5),
    Case("another shard", "1\(b.dropFirst()),b,1,2,3,,,", .wrongShard),
    Case("another shard in upper case", "F\(b.dropFirst()),b,1,2,3,,,", .wrongShard),
    Case("no size", "\(b),b,,2,3,,,", .size),
    Case("a word for a size", "\(b),b,ten,2,3,,,", .size),
    Case("a size below nothing", "\(b),b,-1,2,3,,,", .size),
    Case("a fraction of a byte", "\(b),b,1.5,2,3,,,", .size),
    Case("a size beyond Int64", "\(b),b,9223372036854775808,2,3,,,", .size),
    Case("a huge size", "\(b),b,\(String(repeating: "9", count: 5000)),2,3,,,", .size),
    Case("no photodate", "\(b),b,1,,3,,,", .photodate),
    Case("a date for a photodate", "\(b),b,1,2024-01-01,3,,,", .photodate),
    Case("two points", "\(b),b,1,1.2.3,3,,,", .photodate),
    Case("a point at the end", "\(b),b,1,1.,3,,,", .photodate),
    Case("a point at the beginning", "\(b),b,1,.5,3,,,", .photodate),
    Case("an exponent", "\(b),b,1,1e9,3,,,", .photodate),
    Case("a plus", "\(b),b,1,+1,3,,,", .photodate),
    Case("a lonely minus", "\(b),b,1,-,3,,,", .photodate),
    Case("two signs", "\(b),b,1,--1,3,,,", .photodate),
    Case("a space before a number", "\(b),b,1, 1,3,,,", .photodate),
    Case("below Int64", "\(b),b,1,2,-9223372036854775809,,,", .modified),
    Case("below Int64 by a fraction", "\(b),b,1,2,-9223372036854775808.5,,,", .modified),
    Case("no number at all", "\(b),b,1,2,nan,,,", .modified),
    Case("a width below nothing", "\(b),b,1,2,3,-4,5,", .width),
    Case("a word for a height", "\(b),b,1,2,3,4,tall,", .height),
    Case("a bare quote", "\(b),b\",1,2,3,,,", .bareQuote),
    Case("text after a quote", "\(b),\"b\"x,1,2,3,,,", .quote),
    Case("an unclosed quote", "\(b),\"b,1,2,3,,,", .quote),
    Case("an unclosed last quote", "\(b),b,1,2,3,,,\"", .quote),
    Case("a carriage return in a field", "\(b),b\rb,1,2,3,,,", .carriageReturn),
  ]

  @Test("at every position of the file", arguments: cases) func rejects(_ example: Case) throws {
    let first = "\(Self.a),a,1,2,3,,,"
    let last = "\(Self.c),c,1,2,3,,,"
    let alone = try FormatFixture.open(example.line)
    #expect(alone.faults == [example.fault])
    #expect(alone.rejected.first?.raw == Array(example.line.utf8))
    #expect(alone.text == example.line)
    for (lines, line) in [
      ([example.line, first, last], 1), ([first, example.line, last], 2), ([first, last, example.line], 3),
    ] {
      for end in ["\n", "\r\n"] {
        let outcome = try FormatFixture.open(lines.joined(separator: end))
        #expect(outcome.photos.map(\.filename) == ["a", "c"])
        #expect(outcome.faults == [example.fault])
        #expect(outcome.lines == [line])
        #expect(outcome.rejected.first?.raw == Array(example.line.utf8))
        // Sorted by its bytes.
        #expect(outcome.text == [first, last, example.line].sortedByBytes.joined(separator: "\n"))
      }
    }
  }

  @Test(
    "Strings that are not UTF-8",
    arguments: [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0xC0, 0xAF]] as [[UInt8]])
  func notUTF8(_ bytes: [UInt8]) throws {
    let name = Array("\(Self.a),".utf8) + bytes + Array(",1,2,3,,,".utf8)
    #expect(try FormatFixture.open(name).faults == [.filename])
    let identifier = Array("\(Self.a),a,1,2,3,,,".utf8) + bytes
    let outcome = try FormatFixture.open(identifier)
    #expect(outcome.faults == [.applePhotoID])
    #expect(outcome.written == identifier)
  }

  @Test("Of rows with one md5 the last wins, and the others are reported") func duplicates() throws {
    let outcome = try FormatFixture.open(
      "\(Self.b),first,1,2,3,,,\n\(Self.a),a,1,2,3,,,\n\(Self.b),second,1,2,3,,,\n\(Self.b.uppercased()),third,1,2,3,,,"
    )
    #expect(outcome.photos.map(\.filename) == ["a", "third"])
    #expect(outcome.faults == [.duplicate, .duplicate])
    #expect(outcome.lines == [1, 3])
    #expect(outcome.rejected.last?.raw == Array("\(Self.b),second,1,2,3,,,".utf8))
    #expect(outcome.text == "\(Self.a),a,1,2,3,,,\n\(Self.b),third,1,2,3,,,")
  }

  @Test("An invalid row of several lines is kept in one piece") func wholeRow() throws {
    let row = "\(Self.b),\"two\nlines\",ten,2,3,,,"
    let outcome = try FormatFixture.open("\(row)\n\(Self.a),a,1,2,3,,,\nlast")
    #expect(outcome.rejected.map(\.raw) == [Array(row.utf8), Array("last".utf8)])
    #expect(outcome.lines == [1, 4])
    #expect(outcome.text == "\(Self.a),a,1,2,3,,,\n\(row)\nlast")
  }

  @Test("A quote that is closed some rows later swallows none of them") func swallowedRows() throws {
    let outcome = try FormatFixture.open(
      "\(Self.a),\"a,1,2,3,,,\n\(Self.b),b,1,2,3,,,\n\(Self.c),c\",1,2,3,x,,")
    #expect(outcome.photos.map(\.filename) == ["b"])
    #expect(outcome.faults == [.quote, .bareQuote])
    #expect(outcome.lines == [1, 3])
  }

  @Test("Lines that parse differently when sorted are parsed from their written form") func mergingLines()
    throws
  {
    // In order, the first line's open quote is closed by the second's.
    let file = "\(Self.b),\",1,2,3,,,\nmiddle \"x\n\(Self.a),\"a"
    let outcome = try FormatFixture.open(file)
    #expect(outcome.lines == [1, 2, 3])
    #expect(outcome.photos.map(\.filename) == ["a\n\(Self.b),"])
    let again = try FormatFixture.open(outcome.written)
    #expect(again.written == outcome.written)
    #expect(again.photos == outcome.photos)
  }

  @Test("A file without any row is refused") func noShard() throws {
    let file = [UInt8](repeating: 0, count: ShardContent.maxRejected + 1).flatMap { _ in
      [0x61, 0x0A] as [UInt8]
    }
    #expect(throws: (any Error).self) { try FormatFixture.open(file) }
  }

  @Test("Every fault has a description") func words() {
    #expect(Set(RowFault.allCases.map(\.description)).count == RowFault.allCases.count)
    #expect(RowFault.allCases.allSatisfy { $0.description.count > 10 })
  }
}

extension [String] {
  /// In the order of their bytes.
  var sortedByBytes: [String] { sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } }
}
