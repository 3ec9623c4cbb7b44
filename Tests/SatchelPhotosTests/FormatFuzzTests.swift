import SatchelTesting
import Testing

@testable import SatchelPhotos

@Suite("Reading a shard of hostile bytes") struct FormatFuzzTests {
  /// A shard with every kind of line.
  static let seed: [UInt8] = {
    let a = FormatFixture.md5(1)
    let lines = [
      "\u{FEFF}md5,filename,size,photodate,modified,width,height,applePhotoID\r", "\(a),a.jpg,1,2,3,4,5,",
      "\(FormatFixture.md5(2)),\"b, \"\"c\"\".jpg\",10,-20,30.5,,,X/L0",
      "\(FormatFixture.md5(3)),É\0.jpg,1,2,3,4,5\r",
      "\(FormatFixture.md5(4)),\"two\r\nlines\",1,2,3,4,5,\"x\ny\"", "not \"a row", "",
      a.uppercased() + ",d,1,2,3,4,5,",
      "\(FormatFixture.md5(5)),\"unclosed,1,2,3,4,5,", "\(FormatFixture.md5(6)),\",1,2,3,,,",
      "\(FormatFixture.md5(7)),e,1,2,3,,,\"", "\(FormatFixture.md5(8)),\"f\ng\",ten,2,3,,,",
      "1\(a.dropFirst()),h,1,2,3,,,\r\r",
    ]
    return Array(lines.joined(separator: "\n").utf8)
  }()

  @Test("Every prefix of a shard") func prefixes() throws {
    for count in Portion.of(0...Self.seed.count) {
      #expect(try Self.fault(Array(Self.seed.prefix(count))) == nil)
    }
  }

  @Test("Every suffix of a shard") func suffixes() throws {
    for count in Portion.of(0...Self.seed.count) {
      #expect(try Self.fault(Array(Self.seed.suffix(count))) == nil)
    }
  }

  @Test("Twenty thousand mutations", arguments: Portion.of(0..<20)) func mutations(_ seed: Int) throws {
    var generator = SeededRandom(seed: UInt64(seed))
    let tokens = [
      "\"", "\"\"", ",", "\n", "\r", "\r\n", "\u{FEFF}", "0", "-", ".", "md5,", ",\"\n", "\",\"",
      "9999999999",
    ]
    for _ in 0..<1000 {
      var bytes = Self.seed
      for _ in 0...generator.below(8) {
        let offset = generator.below(bytes.count)
        switch generator.below(5) {
        case 0: bytes[offset] = UInt8(truncatingIfNeeded: generator.next())
        case 1: bytes.remove(at: offset)
        case 2: bytes.insert(contentsOf: generator.pick(tokens).utf8, at: offset)
        case 3: bytes.removeSubrange(offset..<min(bytes.count, offset + generator.below(60)))
        default:
          let from = generator.below(bytes.count)
          bytes.insert(
            contentsOf: Array(bytes[from..<min(bytes.count, from + generator.below(90))]), at: offset)
        }
        if bytes.isEmpty { bytes = [0x22] }
      }
      #expect(try Self.fault(bytes) == nil)
    }
  }

  @Test("Files of mostly quotes, commas and line ends", arguments: Portion.of(0..<20)) func soups(_ seed: Int)
    throws
  {
    var generator = SeededRandom(seed: UInt64(100 + seed))
    let parts = [
      "\"", "\"\"", ",", "\n", "\r", "x", ",1,2,3,,,", "\(FormatFixture.md5(1)),",
      "\(FormatFixture.md5(2)),\"",
      "\n\(FormatFixture.md5(3)),\"", "\",1,2,3,,,\n",
    ]
    for _ in 0..<500 {
      #expect(
        try Self.fault(Array((0..<generator.below(24)).map { _ in generator.pick(parts) }.joined().utf8))
          == nil)
    }
  }

  @Test(
    "Open quotes on every line take linear time", .timeLimit(.minutes(20)),
    arguments: [
      "a,\"b", "\"\"\"", "\",", "\",\"", "x,\"\"\"\"", "\"", "\"\"", ",\"", "\",\",\",\"", ",,,,,,,\"",
      "\r\r\r\r\r\rx", "\"\r",
    ])
  func linear(_ line: String) {
    let file = Array(String(repeating: line + "\n", count: 50_000).utf8)
    let count = file.withUnsafeBytes { bytes in
      var reader = ShardReader(bytes, shard: FormatFixture.shard)
      var count = 0
      while reader.next() != nil { count += 1 }
      return count
    }
    #expect(count >= 50_000 / 32)
    #expect(count <= 50_000)
  }

  @Test("Many invalid lines and one long row take linear time", .timeLimit(.minutes(20)))
  func wrongBesideLong() throws {
    let row = "\(FormatFixture.md5(1)),\(String(repeating: "x", count: 1_000_000)),1,2,3,,,"
    let wrong = (0..<20_000).map { "\(FormatFixture.md5(1)),w\($0)" }
    let outcome = try FormatFixture.open((wrong + [row]).joined(separator: "\n"))
    #expect(outcome.text == (wrong + [row]).sortedByBytes.joined(separator: "\n"))
  }

  /// Returns the first violated property of a file; nil when all hold.
  static func fault(_ file: [UInt8]) throws -> String? {
    let offset = file.withUnsafeBytes { misplaced($0) }
    let outcome = try FormatFixture.open(file)
    let again = try FormatFixture.open(outcome.written)
    let checks = [
      (offset == nil, "a line at \(offset ?? 0) is misplaced, or something is lost"),
      (outcome.isWritten == (outcome.written == file), "it does not know whether it is canonical"),
      (zip(outcome.photos, outcome.photos.dropFirst()).allSatisfy { $0.md5 < $1.md5 }, "rows out of order"),
      (again.written == outcome.written, "written again it is another file"),
      (again.photos == outcome.photos, "written and read it has other photos"),
      (again.isWritten, "what was written is not canonical"),
    ]
    return checks.first { !$0.0 }.map { "\($0.1): \(String(decoding: file, as: UTF8.self).debugDescription)" }
  }

  /// Returns the offset of a piece whose line number is wrong, or before which bytes are lost.
  private static func misplaced(_ bytes: UnsafeRawBufferPointer) -> Int? {
    var reader = ShardReader(bytes, shard: FormatFixture.shard)
    var end = 0
    var line = 1
    while let piece = reader.next() {
      let (range, number): (Range<Int>, Int)
      switch piece {
      case .photo(let row): (range, number) = (row.start..<row.end, row.line)
      case .rejected(let begin, _, let offset): (range, number) = (offset, begin)
      }
      guard range.lowerBound >= end, range.upperBound <= bytes.count, !range.isEmpty else { return end }
      let gap = bytes[within: end..<range.lowerBound]
      line += gap.count { $0 == UInt8(ascii: "\n") }
      guard holdsNothing(gap), number == line else { return end }
      line += bytes[within: range].count { $0 == UInt8(ascii: "\n") }
      end = range.upperBound
    }
    return holdsNothing(bytes[within: end..<bytes.count]) ? nil : end
  }

  /// Whether the bytes are only line ends, byte-order marks and headers.
  private static func holdsNothing(_ gap: UnsafeRawBufferPointer) -> Bool {
    gap.split(separator: UInt8(ascii: "\n")).allSatisfy { line in
      var line = line
      while line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
      while line.last == UInt8(ascii: "\r") { line = line.dropLast() }
      let text = String(decoding: line.filter { $0 != UInt8(ascii: "\"") }, as: UTF8.self).lowercased()
      return text.isEmpty || (text.hasPrefix("md5,") && (6...7).contains(text.count { $0 == "," }))
    }
  }
}
