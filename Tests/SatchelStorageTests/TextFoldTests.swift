import SatchelTesting
import Testing

@testable import SatchelCore

@Suite("Folding of texts") struct TextFoldTests {
  private func folded(_ bytes: [UInt8], _ fold: TextFold) -> [UInt8] {
    var result: [UInt8] = []
    bytes.withUnsafeBytes { fold.folded($0, into: &result) }
    return result
  }

  private func folded(_ text: String, _ fold: TextFold) -> String {
    String(decoding: folded(Array(text.utf8), fold), as: UTF8.self)
  }

  private let both: TextFold = [.case, .accent]

  @Test("Case, accents, and both") func examples() {
    #expect(folded("Crème BRÛLÉE", both) == "creme brulee")
    #expect(folded("Crème BRÛLÉE", .case) == "crème brûlée")
    #expect(folded("Crème BRÛLÉE", .accent) == "Creme BRULEE")
    #expect(folded("STRASSE", .case) == folded("Straße", .case))
    #expect(folded("Łódź, Ærø, Ðakovo", both) == "lodz, aero, ðakovo")
    #expect(folded("ŁÓDŹ ÆRØ", .accent) == "LODZ AERO")
    #expect(folded("İstanbul ISPARTA ılıca", both) == "istanbul isparta ilica")
    #expect(folded("Ἀθῆναι ЙОД", both) == "αθηναι иод")
    #expect(folded("ΟΔΟΣ", .case) == folded("οδος", .case))
  }

  @Test("Marks that are part of a word stay, and Korean stays whole") func marks() {
    for text in ["한국어", "กี่", "हिन्दी", "がぎ", "மொழி", NormalForm.decomposed("Việt")] {
      #expect(folded(text, .accent) == (text.hasPrefix("V") ? "Viet" : text))
    }
    #expect(folded(NormalForm.decomposed("한국어 が"), both) == "한국어 が")
    #expect(folded("שָׁלוֹם", .accent) == "שלום")
  }

  @Test("Without an option texts are brought into NFC", arguments: 0..<20) func canonical(_ seed: Int) {
    var random = SeededRandom(seed: UInt64(seed))
    let parts = [
      "a", "Z", " ", "é", "e\u{301}", "\u{301}", "\u{323}", "\u{327}", "ß", "ø", "İ", "한", "\u{1161}", "が",
      "ก", "\u{E35}", "ǖ", "中", "\u{345}", "ﬁ", "ẞ",
    ]
    for _ in 0..<50 {
      let text = (0..<random.below(8)).map { _ in random.pick(parts) }.joined()
      #expect(folded(text, []).unicodeScalars.elementsEqual(NormalForm.composed(text).unicodeScalars))
      for fold in [[], .case, .accent, both] as [TextFold] {
        let once = folded(text, fold)
        #expect(Array(folded(once, fold).utf8) == Array(once.utf8), "\(text.debugDescription)")
        #expect(
          Array(folded(NormalForm.decomposed(text), fold).utf8) == Array(once.utf8),
          "\(text.debugDescription)")
      }
    }
  }

  @Test("Bytes that are not UTF-8 are kept", arguments: 0..<20) func invalid(_ seed: Int) {
    #expect(folded([0x41, 0xC3, 0x42], both) == [0x61, 0xC3, 0x62])
    #expect(folded([0xFF, 0xC3, 0x89], both) == [0xFF, 0x65])
    var random = SeededRandom(seed: UInt64(seed))
    for _ in 0..<100 {
      let bytes = (0..<random.below(12)).map { _ in UInt8(truncatingIfNeeded: random.below(256)) }
      let once = folded(bytes, both)
      #expect(folded(once, both) == once)
    }
  }
}
