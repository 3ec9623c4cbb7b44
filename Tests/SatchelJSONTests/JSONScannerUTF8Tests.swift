import SatchelJSON
import SatchelTesting
import Testing

@Suite("The scanner: UTF-8")
struct JSONScannerUTF8Tests {
  @Test(
    "invalid UTF-8 is refused at its first byte: in the middle, before the quote, and at the end",
    arguments: [
      [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF],
      [0xF0, 0x80, 0x80, 0x80],
      [0xF0, 0x8F, 0xBF, 0xBF], [0xED, 0xA0, 0x80], [0xED, 0xAF, 0xBF], [0xED, 0xB0, 0x80],
      [0xED, 0xBF, 0xBF],
      [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFE], [0xFF],
      [0xC3], [0xE2], [0xE2, 0x82], [0xF0], [0xF0, 0x9F], [0xF0, 0x9F, 0x98], [0xE2, 0x28, 0xA1],
      [0xE2, 0x82, 0x28],
      [0xF0, 0x28, 0x8C, 0xBC], [0xF0, 0x90, 0x28, 0xBC], [0xF0, 0x90, 0x8C, 0x28], [0xC3, 0x28],
      [0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80],
    ] as [[UInt8]])
  func invalid(sequence: [UInt8]) {
    let quote: UInt8 = 0x22
    for before in 0...9 {
      let start = [quote] + [UInt8](repeating: 0x61, count: before)
      for text in [
        start + sequence, start + sequence + [quote], start + sequence + Array("abcdefghij\"".utf8),
      ] {
        let error = JSONScannerTests.refusal(text)
        #expect(error?.reason == "invalid UTF-8")
        #expect(error?.position?.offset == start.count)
        #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
      }
    }
    // In a key, and outside of strings.
    #expect(
      JSONScannerTests.refusal([0x7B, quote] + sequence + [quote] + Array(":1}".utf8))?.position?.offset == 2)
    #expect(JSONScannerTests.refusal(Array("[1,".utf8) + sequence + [0x5D])?.position?.offset == 3)
  }

  @Test("two bytes are accepted in a string exactly when they are UTF-8 without required escapes")
  func everyPair() {
    var wrong: [[UInt8]] = []
    for first in UInt8.min...UInt8.max {
      for second in UInt8.min...UInt8.max where !isPlainText([first, second], agreesWith: [first, second]) {
        wrong.append([first, second])
      }
    }
    #expect(wrong.isEmpty)
  }

  @Test("random sequences of three to six high bytes are accepted exactly when Swift accepts them")
  func randomSequences() {
    var generator = SeededRandom(seed: 7)
    var wrong: [[UInt8]] = []
    var accepted = 0
    let edges: [UInt8] = [
      0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC2, 0xDF, 0xE0, 0xE1, 0xED, 0xEF, 0xF0, 0xF4,
    ]
    for _ in 0..<40_000 {
      let bytes = (0..<Int.random(in: 3...6, using: &generator)).map { _ in
        edges.randomElement(using: &generator) ?? 0x80
      }
      if String(validating: bytes, as: UTF8.self) != nil { accepted += 1 }
      if !isPlainText(bytes, agreesWith: bytes) { wrong.append(bytes) }
    }
    #expect(wrong.isEmpty)
    #expect(accepted > 100)
  }

  private func isPlainText(_ bytes: [UInt8], agreesWith text: [UInt8]) -> Bool {
    let isText = String(validating: bytes, as: UTF8.self) != nil
    let needsEscape = text.contains { $0 < 0x20 || $0 == 0x22 || $0 == 0x5C }
    if needsEscape {
      // Quotes and backslashes have other rules; alone they must only not trap.
      _ = JSONScannerTests.refusal([0x22] + bytes + [0x22])
      return true
    }
    return (JSONScannerTests.refusal([0x22] + bytes + [0x22]) == nil) == isText
  }

  @Test("every scalar is accepted and round-trips")
  func everyScalar() throws {
    var scalars = String.UnicodeScalarView()
    for number in stride(from: UInt32(0x20), through: 0x10FFFF, by: 5) {
      if let scalar = Unicode.Scalar(number), scalar != "\"", scalar != "\\" { scalars.append(scalar) }
    }
    let text = "\"" + String(scalars) + "\""
    #expect(JSONScannerTests.refusal(text) == nil)
    let value = try JSONValue(parsing: text)
    #expect(value.stringValue.map { Array($0.utf8) == Array(String(scalars).utf8) } == true)
  }
}
