import Testing

@testable import SatchelPhotos

/// Judging bytes that no checksum proves.
struct ShardVerdictTests {
  static let shard = Shard.Index.all[2]

  static func row(_ number: Int, _ name: String = "a.jpg", id: String = "ABC-DEF") -> String {
    "2" + String(repeating: "0", count: 30) + String(number, radix: 16) + ",\(name),1,2,3,400,300,\(id)"
  }

  static let rows = (1...6).map { row($0) }
  static let text = rows.joined(separator: "\n")

  private func verdict(
    _ object: String, base: String? = text, expected: Int64? = nil, contradicted: Bool = false
  ) -> ShardVerdict {
    var (object, base) = (object, base)
    return object.withUTF8 { object in
      func judge(_ base: UnsafeRawBufferPointer?) -> ShardVerdict {
        ShardVerdict(
          unproven: UnsafeRawBufferPointer(object), shard: Self.shard, contradicted: contradicted, base: base,
          expected: expected)
      }
      if var text = base { return text.withUTF8 { judge(UnsafeRawBufferPointer($0)) } }
      base = nil
      return judge(nil)
    }
  }

  @Test("every truncation of the version synchronized before is damage") func everyTruncationVersion() {
    for length in 0..<Self.text.utf8.count {
      let cut = String(decoding: Self.text.utf8.prefix(length), as: UTF8.self)
      #expect(verdict(cut) == .damaged(length == 0 ? .empty : .cut), "\(length) bytes")
    }
    #expect(
      verdict(Self.rows.dropFirst(2).joined(separator: "\n")) == .damaged(.cut), "its beginning is missing")
  }

  @Test("a complete file that adds, changes or leaves out rows is plausible") func completeFileAdds() {
    #expect(verdict((Self.rows + [Self.row(9)]).joined(separator: "\n")) == .plausible)
    #expect(verdict((Self.rows.dropLast() + [Self.row(6, "b.jpg")]).joined(separator: "\n")) == .plausible)
    #expect(verdict((Self.rows[..<2] + Self.rows[3...]).joined(separator: "\n")) == .plausible)
    #expect(verdict(Self.text + "\n") == .plausible, "a final newline loses nothing")
  }

  @Test("bytes that are not a file of the shard are damage") func bytesNotFile() {
    #expect(verdict("\u{1}\u{2}garbage\nmore") == .damaged(.corrupt))
    #expect(verdict(Self.text.replacing("2000", with: "3000")) == .damaged(.corrupt))
    #expect(verdict(Self.text, contradicted: true) == .damaged(.corrupt))
    #expect(
      verdict(Self.text + "\n" + Self.row(9).dropLast(10)) == .damaged(.cut), "the last row lost a column")
  }

  @Test("without the bytes that the manifest names the count of photos decides") func withoutBytesManifest() {
    #expect(verdict(Self.text, base: nil) == .undecided)
    #expect(verdict(Self.text, base: nil, expected: 6) == .plausible)
    #expect(verdict(Self.text, base: nil, expected: 7) == .damaged(.cut))
    #expect(verdict("", base: nil) == .damaged(.empty))
  }

  @Test("lines that were kept before are not damage") func linesKeptBefore() {
    let base = Self.text + "\nno photo"
    #expect(verdict(Self.text + "\n" + Self.row(9) + "\nno photo", base: base) == .plausible)
    #expect(verdict(Self.text + "\nno photo\nanother", base: base) == .damaged(.cut))
  }
}
