import SatchelTesting
import Testing

@testable import SatchelCore

@Suite("Tokens of ASCII are those of any text") struct SearchTokensTests {
  private func tokens(of text: String, _ append: (UnsafeRawBufferPointer, inout [UInt8]) -> Void) -> String {
    var tokens: [UInt8] = []
    Array(text.utf8).withUnsafeBytes { append($0, &tokens) }
    return String(decoding: tokens, as: UTF8.self)
  }

  @Test("Words, digits and separators") func examples() {
    #expect(
      tokens(of: "It's 12 o'Clock, [A_z]!") { SearchTokenizer.appendTokens(of: $0, to: &$1) }
        == "it s 12 o clock a z ")
    #expect(tokens(of: "") { SearchTokenizer.appendTokens(of: $0, to: &$1) } == "")
    #expect(tokens(of: " .\u{0}\u{7F}") { SearchTokenizer.appendTokens(of: $0, to: &$1) } == "")
  }

  @Test("Random texts, with words in several scripts", arguments: 0..<200) func agreement(_ seed: Int) {
    var random = SeededRandom(seed: UInt64(seed))
    let parts = [
      "a", "Zoo", "9", " ", ". ", "@", "[", "`", "{", "é", "e\u{301}", "\u{301}", "中文", "ß", "Ω", "\u{AD}",
      "\u{FFFD}", "か", "İ",
      "x", "-",
    ]
    for _ in 0..<50 {
      let text = (0..<random.below(30)).map { _ in random.pick(parts) }.joined()
      let fast = tokens(of: text) { SearchTokenizer.appendTokens(of: $0, to: &$1) }
      #expect(fast == tokens(of: text) { SearchTokenizer.appendWords($0, to: &$1) }, "\(text)")
    }
  }

  @Test("Invalid UTF-8") func invalid() {
    for bytes in [[0x61, 0xC3, 0x20, 0x62], [0x61, 0xE4, 0xB8], [0xFF, 0x61], [0x61, 0x80, 0x62]] as [[UInt8]]
    {
      var (fast, plain): ([UInt8], [UInt8]) = ([], [])
      bytes.withUnsafeBytes {
        SearchTokenizer.appendTokens(of: $0, to: &fast)
        SearchTokenizer.appendWords($0, to: &plain)
      }
      #expect(fast == plain)
    }
  }
}
