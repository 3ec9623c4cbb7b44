import SatchelTesting
import Testing

@testable import SatchelCore

@Suite("Unicode's root order") struct RootOrderTests {
  private func key(_ bytes: [UInt8]) -> [UInt8] {
    var key: [UInt8] = []
    bytes.withUnsafeBytes { RootOrder.append(keyOf: $0, to: &key) }
    return key
  }

  private func key(_ text: String) -> [UInt8] { key(Array(text.utf8)) }

  private func compare(_ one: [UInt8], _ other: [UInt8]) -> Int {
    one == other ? 0 : one.lexicographicallyPrecedes(other) ? -1 : 1
  }

  /// Returns a key without the text at its end.
  private func levels(_ key: [UInt8]) -> [UInt8] {
    var index = 0
    while index < key.count, key[index] != 0 { index += 2 }
    var zeros = 0
    let primaryEnd = min(index, key.count)
    while index < key.count, zeros < 3 {
      if key[index] == 0 { zeros += 1 }
      index += 1
    }
    var levels = Array(key[..<min(index, key.count)])
    while levels.count > primaryEnd, levels.last == 0 { levels.removeLast() }
    return levels
  }

  @Test("Examples are in the order of a dictionary") func examples() {
    let titles = [
      "", " a", "2 eggs", "älplermagronen", "apfelmus", "cote", "coté", "côte", "côté", "New York", "Newark",
      "resume", "Resume", "résumé", "Résumé", "strasse", "straße", "Zabaione", "Ψωμί", "Борщ", "Йогурт",
      "한국어",
      "かき", "がき", "中文", "𠀀",
    ]
    #expect(titles.shuffled().sorted { compare(key($0), key($1)) < 0 } == titles)
    #expect(RootOrder.version.hasPrefix("15.0.0/"))
  }

  @Test("Every entry of the published table is where that table has it") func published() throws {
    let published = PublishedOrder.shared
    try #require(published.entries.count > 30_000, "apt-get install unicode-data")
    var texts: [(text: String, levels: [[UInt16]])] = []
    for characters in published.entries.keys {
      var text = String.UnicodeScalarView()
      for character in characters { text.append(try #require(Unicode.Scalar(character))) }
      texts.append((String(text), published.levels(of: String(text))))
    }
    check(texts)
  }

  @Test("Ideographs and characters without an entry are where UTS #10 has them") func implicit() {
    var texts: [(text: String, levels: [[UInt16]])] = []
    for start in [
      0x3400, 0x4DB0, 0x4E00, 0x9FF0, 0xFA0C, 0x17000, 0x18AF0, 0x18B00, 0x18CF0, 0x18D00, 0x18D80, 0x1B170,
      0x1B2F0,
      0x20000, 0x2A6D0, 0x2A730, 0x2B810, 0x2CEA0, 0x2EBD8, 0x30000, 0x31340, 0x323A8, 0x3FFF0, 0xE000,
      0x10FFF0,
    ] as [UInt32] {
      for scalar in (start..<start + 16).compactMap(Unicode.Scalar.init) {
        texts.append((String(scalar), PublishedOrder.shared.levels(of: String(scalar))))
      }
    }
    check(texts)
  }

  /// Compares the order of neighbours in the published order.
  private func check(_ texts: [(text: String, levels: [[UInt16]])]) {
    let sorted = texts.sorted { PublishedOrder.compare($0.levels, $1.levels) < 0 }
    var wrong: [String] = []
    for (one, next) in zip(sorted, sorted.dropFirst()) {
      let expected = PublishedOrder.compare(one.levels, next.levels)
      let found = compare(levels(key(one.text)), levels(key(next.text)))
      if expected != found { wrong.append("\(one.text.debugDescription) \(next.text.debugDescription)") }
    }
    #expect(wrong == [], "\(wrong.count) of \(texts.count)")
  }

  /// Characters of many kinds: contractions, marks of several classes, vowels before their consonant, ideographs.
  private static let parts = [
    "a", "b", "A", "z", " ", "-", "1", "²", "é", "e\u{301}", "\u{301}", "\u{323}", "\u{302}", "l", "·", "L",
    "ß",
    "Æ", "ø", "ﬁ", "И", "\u{306}", "\u{345}", "เ", "ก", "ไ", "ข", "\u{E4D}", "\u{E32}", "\u{FB2}", "\u{F71}",
    "\u{F80}", "\u{F81}", "\u{9C7}", "\u{9BE}", "\u{9D7}", "ا", "\u{653}", "\u{654}", "\u{655}", "한",
    "\u{1112}",
    "\u{1161}", "か", "が", "カ", "ｶ", "㈀", "㍿", "中", "㐀", "𠀀", "⺀", "𗀀", "\u{0}", "\u{AD}", "\u{FFFF}", "😀",
    "\u{6581}", "\u{1B05}", "\u{1B35}", "\u{DD9}", "\u{DCF}", "\u{DCA}", "\u{CC6}", "\u{CC2}", "\u{CD5}", "Ａ",
  ]

  private func text(_ random: inout SeededRandom, _ maxCount: Int) -> String {
    (0..<random.below(maxCount)).map { _ in random.pick(Self.parts) }.joined()
  }

  @Test("Random texts are ordered as by the published table", arguments: 0..<20) func random(_ seed: Int) {
    var random = SeededRandom(seed: UInt64(seed))
    for _ in 0..<200 {
      let (one, other) = (text(&random, 6), text(&random, 6))
      let (first, second) = (
        PublishedOrder.shared.levels(of: one), PublishedOrder.shared.levels(of: other)
      )
      let expected = PublishedOrder.compare(first, second)
      let found = compare(levels(key(one)), levels(key(other)))
      #expect(expected == found, "\(one.debugDescription) \(other.debugDescription)")
    }
  }

  @Test("Only canonically equivalent texts have one key", arguments: 0..<20) func identity(_ seed: Int) {
    var random = SeededRandom(seed: UInt64(seed))
    for _ in 0..<200 {
      let (one, other) = (text(&random, 4), text(&random, 4))
      // Strings of Swift are equal when they are canonically equivalent.
      #expect((key(one) == key(other)) == (one == other), "\(one.debugDescription) \(other.debugDescription)")
      #expect(key(one) == key(NormalForm.decomposed(one)), "\(one.debugDescription)")
      #expect(key(one) == key(NormalForm.composed(one)), "\(one.debugDescription)")
    }
  }

  @Test("Bytes that are not UTF-8, and long texts, have keys of their own") func hostile() {
    let texts: [[UInt8]] = [
      [0x61, 0xC3], [0x61, 0xFF], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0x80],
      Array("a\u{FFFD}".utf8),
    ]
    #expect(Set(texts.map(key)).count == texts.count)
    let marks = String(repeating: "\u{301}\u{323}", count: 50_000)
    let long = [
      marks, String(repeating: "x", count: 100_000), String(repeating: "\u{FB2}\u{F71}", count: 20_000),
    ]
    for text in long {
      #expect(key(text + "a") != key(text + "b"))
      #expect(key(text).count < text.utf8.count + 10_000)
    }
    #expect(compare(key("x"), key(long[1])) < 0)
  }
}
