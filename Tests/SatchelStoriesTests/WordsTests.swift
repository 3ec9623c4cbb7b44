import SatchelJSON
import SatchelTesting
import Testing

@testable import SatchelStories

@Suite("Words are counted as word processors do") struct WordsTests {
  /// Returns the number of words of a segment's text, given as it is escaped in JSON.
  private func count(escaped text: String) throws -> Int {
    let story = """
      {"segments":[{"id":"a","text":"\(text)","isAuthenticPath":true,"isEnding":true,"choices":[]}]}
      """
    return try Story(Array(story.utf8), source: .json).statistics.words
  }

  static let examples: [(String, Int)] = [
    ("", 0), (" ", 0), ("one", 1), ("one two", 2), ("  one  two  ", 2), ("one-two", 1), ("it's", 1),
    ("1,000 . !", 3),
    ("one\\ntwo", 2), ("one\\ttwo\\rthree\\fx\\by", 5), ("\\n\\r\\t", 0), ("a\\\"b", 1), ("\\\"a\\\" b", 2),
    ("a\\\\nb", 1), ("a\\\\ b", 2), ("a\\/b", 1), ("\\\\", 1),
    // An escaped character is the same character.
    ("a\\u0020b", 2), ("a\\u000Ab\\u00a0c", 3), ("\\u0020", 0), ("\\u3000\\u00A0", 0), ("\\u0061\\u0062", 1),
    ("\\u4e2d\\u6587", 2), ("\\ud842\\udfb7\\u8001", 2), ("\\ud83d\\udc09", 1), ("caf\\u00e9 au lait", 3),
    // No-break and other typographic spaces.
    ("a\u{A0}b", 2), ("10\u{202F}000", 2), ("a\u{2003}b\u{2009}c\u{205F}d\u{1680}e\u{85}f", 6),
    ("\u{200B}", 0),
    ("a\u{2028}b\u{2029}c", 3), ("\u{3000}", 0),
    // Every ideograph and kana is a word; CJK punctuation is not.
    ("中文", 2), ("你好，世界！", 4), ("你好。世界", 4), ("さくら", 3), ("スキー", 3), ("人々", 2), ("ｽｷｰ", 3), ("「中」", 1),
    ("。", 0), ("𠮷野家", 3), ("豈", 1), ("Tom去了school", 4), ("中 文", 2), ("ア・イ", 2), ("か\u{3099}", 1),
    // Scripts with spaces are separated by them.
    ("Der Schnee fällt", 3), ("ｈｅｌｌｏ ｗｏｒｌｄ", 2), ("한국어 문장", 2), ("Жили-были дед да баба", 4), ("🐉 🐉🐉", 2),
    ("مرحبا بالعالم", 2), ("e\u{301}le\u{300}ve", 1), ("a\u{7F}b", 1), ("„Ja“ – nein", 3),
  ]

  @Test("Texts in many languages", arguments: examples) func example(_ text: String, _ words: Int) throws {
    #expect(try count(escaped: text) == words)
  }

  /// Counts byte by byte.
  private func naive(_ bytes: some Sequence<UInt8>) -> Int {
    var words = 0
    var isSpace = true
    for byte in bytes {
      if byte > 0x20, isSpace { words += 1 }
      isSpace = byte <= 0x20
    }
    return words
  }

  @Test("Counting eight bytes at a time equals counting one at a time, at every alignment", arguments: 0...17)
  func alignments(_ offset: Int) {
    var random = SeededRandom(seed: UInt64(offset))
    for _ in 0..<300 {
      let bytes = (0..<80).map { _ in
        random.once(in: 3) ? UInt8(random.below(0x21)) : UInt8(0x21 + random.below(0x5F))
      }
      bytes.withUnsafeBytes { raw in
        for count in 0...40 {
          let part = UnsafeRawBufferPointer(rebasing: raw[offset..<offset + count])
          #expect(WordCount.count(part, isEscaped: false) == naive(part))
        }
      }
    }
  }

  @Test(
    "A long text, with more words at one place of the vectors than a byte counts", arguments: [1, 3, 16, 31])
  func long(_ length: Int) {
    var random = SeededRandom(seed: UInt64(length))
    let word = [UInt8](repeating: 0x61, count: length) + [0x20]
    let bytes = Array((0..<20_000).map { _ in random.once(in: 9) ? [0x20] : word }.joined())
    bytes.withUnsafeBytes { #expect(WordCount.count($0, isEscaped: true) == naive(bytes)) }
  }

  @Test("A non-ASCII character does not change the words around it") func mixed() {
    var random = SeededRandom(seed: 3)
    for _ in 0..<2_000 {
      let text = (0..<30).map { _ in random.pick([" ", "\n", "a", "b", "é", "ß", "\u{A0}"]) }.joined()
      let words = text.split { $0.isWhitespace }.count
      var copy = text
      #expect(copy.withUTF8 { WordCount.count(UnsafeRawBufferPointer($0), isEscaped: false) } == words)
    }
  }

  @Test("Every white space of Unicode separates words") func spaces() {
    for value in UInt32(0x80)...0x10FFFF {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let isSpace = WordCount.kind(of: value) == .space
      if isSpace != (scalar.properties.isWhitespace || value == 0x200B) {
        Issue.record("U+\(String(value, radix: 16))")
      }
    }
  }

  @Test("Every unified ideograph is a word") func ideographs() {
    for value in UInt32(0x3400)...0x3FFFF {
      guard let scalar = Unicode.Scalar(value), scalar.properties.isUnifiedIdeograph else { continue }
      if WordCount.kind(of: value) != .word { Issue.record("U+\(String(value, radix: 16))") }
    }
  }

  @Test("Escapes count as the characters that they encode") func escapes() throws {
    var random = SeededRandom(seed: 9)
    for _ in 0..<3_000 {
      let text = (0..<random.below(24)).map { _ in
        random.pick([" ", "\n", "\t", "x", "\"", "\\", "/", "中", "。", "🐉", "é", "\u{A0}", "n", "u0020"])
      }.joined()
      var plain = text
      let words = plain.withUTF8 { WordCount.count(UnsafeRawBufferPointer($0), isEscaped: false) }
      var escaped = ""
      for unit in text.utf16 {
        let digits = String(unit, radix: 16)
        switch unit {
        case 0x0A: escaped += "\\n"
        case 0x09: escaped += "\\t"
        case 0x22: escaped += "\\\""
        case 0x5C: escaped += "\\\\"
        case 0x2F: escaped += "\\/"
        case 0x80...: escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        default: escaped.unicodeScalars.append(Unicode.Scalar(UInt8(unit)))
        }
      }
      #expect(
        escaped.withUTF8 { WordCount.count(UnsafeRawBufferPointer($0), isEscaped: true) } == words, "\(text)")
    }
  }
}
