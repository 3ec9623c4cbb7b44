import SatchelJSON
import SatchelTesting
import Testing

/// The scanner and the parser must accept and refuse the same texts.
@Suite("The scanner and JSONValue agree")
struct JSONAgreementTests {
  static let tokens: [[UInt8]] =
    [
      "[", "]", "{", "}", ",", ":", "\"", "\\", "-", "+", ".", "e", "E", "0", "1", "9223372036854775807",
      "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "1e400", "-1e400", "1e308",
      "1e9223372036854775807",
      "1e-400", "-0",
      "-0.0", "0.0e-0", "1.", ".1", "01", "1e", "1e+", "NaN", "Infinity", "-Infinity", "null", "nul", "true",
      "false",
      "True", "\"a\"", "\"a\":1,", ",\"a\":1", "\"\\u0061\":2,", "\"\":0,", "{}", "[]", "[[[[", "]]]]",
      "{\"a\":{\"a\":",
      "\\u0000", "\\ud800", "\\udc00", "\\ud83d\\ude00", "\\udc00\\ud800", "\\u00e9", "\\u", "\\u12", "\\x",
      "\\/",
      "\u{0}", "\u{1}", "\u{1F}", "\u{7F}", " ", "\t", "\n", "\r", "\r\n", "\u{B}", "\u{A0}", "\u{2028}",
      "\u{FEFF}",
      "é", "e\u{301}", "😀", "//", "/*", "#", "'", "`",
      "17976931348623157" + String(repeating: "0", count: 292),
      "17976931348623159" + String(repeating: "0", count: 292) + ".0",
      String(repeating: "9", count: 400) + ".0",
      "0." + String(repeating: "0", count: 400) + "1", "1e99999999999999999999", "1e-99999999999999999999",
      "\"" + String(repeating: "x", count: 300) + "\"",
    ].map { Array($0.utf8) } + [
      [0x80], [0xBF], [0xC0, 0x80], [0xC3], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xE2, 0x82],
      [0xEF, 0xBB, 0xBF],
      [0xF0, 0x9F, 0x98], [0xF0, 0x8F, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80], [0xF5], [0xFE], [0xFF],
    ]

  @Test("on difficult tokens, alone, in containers, in strings and in pairs")
  func nastyTokens() {
    func text(_ bytes: [UInt8]...) -> [UInt8] { bytes.flatMap { $0 } }
    for one in Self.tokens {
      agree(one)
      agree(text([0x5B], one, [0x5D]))
      agree(text([0x22], one, [0x22]))
      agree(text(Array("{\"k\":".utf8), one, [0x7D]))
      agree(text(Array("{\"".utf8), one, Array("\":1}".utf8)))
      agree(text(Array("{\"a\":1,\"".utf8), one, Array("\":1}".utf8)))
      for other in Self.tokens {
        agree(text([0x5B], one, other, [0x5D]))
        agree(text([0x22], one, other, [0x22]))
      }
    }
  }

  @Test(
    "at every depth about the limit", arguments: [1, 2, 510, 511, 512, 513, 514, 2047, 2048, 2049, 100_000])
  func depths(levels: Int) {
    for (opening, closing) in [("[", "]"), ("{\"a\":", "}"), ("[{\"\":", "}]")] {
      let open = Array(String(repeating: opening, count: levels).utf8)
      let close = Array(String(repeating: closing, count: levels).utf8)
      for inside in ["", "1", "[]", "{}", "\"[[[\"", "x"] {
        agree(open + Array(inside.utf8) + close)
        agree(open + Array(inside.utf8))
      }
    }
  }

  @Test(
    "on generated texts and their mutations",
    arguments: Portion.of(1...12 as ClosedRange<UInt64>, parts: 6))
  func mutations(seed: UInt64) throws {
    var generator = SeededRandom(seed: seed)
    var accepted = 0
    for _ in 0..<250 {
      let value = JSONFixture.random(&generator, levels: 3)
      let text = Array(Self.spaced(value, &generator).utf8)
      #expect(JSONScannerTests.refusal(text) == nil)
      if agree(text) { accepted += 1 }
      for _ in 0..<8 {
        var mutated = text
        for _ in 0..<Int.random(in: 1...3, using: &generator) { Self.mutate(&mutated, &generator) }
        if agree(mutated) { accepted += 1 }
      }
    }
    // Both accepted and refused texts must occur.
    #expect(accepted > 300 && accepted < 2000)
  }

  @Test("no path creates a key that cannot be parsed again", arguments: ["a\u{0}b", "/a\u{0}b", "a.\u{0}"])
  func nulInPath(path: String) throws {
    #expect(throws: JSONError.self) { try JSONPath(path) }
    let patch: JSONValue = [["op": "add", "path": .string("/" + path), "value": 1]]
    for config in [["target_path": .string(path)], ["operation": "patch"]] as [JSONValue] {
      #expect(throws: JSONError.self) { try JSONEdit(config: config).apply(to: ["a": [:]], new: patch) }
    }
  }

  /// Returns whether both accept a text; records an issue when they differ, also in the value.
  @discardableResult
  private func agree(_ bytes: [UInt8]) -> Bool {
    let refusal = JSONScannerTests.refusal(bytes)
    do {
      let value = try JSONValue(parsing: bytes)
      if let refusal {
        Issue.record("only the scanner refuses (\(refusal)): \(bytes.debugText)")
        return false
      }
      let taped = try bytes.withUnsafeBytes { try Self.value(of: JSONTape($0)) }
      if taped != value { Issue.record("the values differ: \(bytes.debugText)") }
      return true
    } catch {
      if refusal == nil { Issue.record("only JSONValue refuses (\(error)): \(bytes.debugText)") }
      return false
    }
  }

  /// Builds the tape's value without Jansson.
  private static func value(of tape: JSONTape, at index: Int = 0) throws -> JSONValue {
    switch tape[index].kind {
    case .null: return .null
    case .bool: return .bool(tape.text(index) == "true")
    case .integer: return .int(try #require(Int64(tape.text(index))))
    case .double: return .double(try #require(Double(tape.text(index))))
    case .bigNumber: return .bigNumber(try #require(JSONBigNumber(tape.text(index))))
    case .string: return .string(tape.text(index))
    case .array: return .array(try tape.children(of: index).map { try value(of: tape, at: $0) })
    case .object:
      return .object(
        JSONObject(try tape.children(of: index).map { (tape.text($0 - 1), try value(of: tape, at: $0)) }))
    }
  }

  private static func mutate(_ bytes: inout [UInt8], _ generator: inout SeededRandom) {
    let offset = Int.random(in: 0...bytes.count, using: &generator)
    let end = min(bytes.count, offset + Int.random(in: 0...12, using: &generator))
    switch Int.random(in: 0..<8, using: &generator) {
    case 0 where offset < bytes.count: bytes[offset] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
    case 1 where offset < bytes.count: bytes[offset] = UInt8.random(in: 0...255, using: &generator)
    case 2: bytes.removeSubrange(offset...)
    case 3: bytes.removeSubrange(offset..<end)
    case 4: bytes.insert(contentsOf: bytes[offset..<end], at: offset)
    case 5: bytes.replaceSubrange(offset..<end, with: tokens.randomElement(using: &generator) ?? [])
    case 6:
      let levels = Int.random(in: 500...515, using: &generator)
      bytes.insert(contentsOf: [UInt8](repeating: 0x5B, count: levels), at: 0)
      bytes.append(contentsOf: [UInt8](repeating: 0x5D, count: levels))
    default: bytes.insert(contentsOf: tokens.randomElement(using: &generator) ?? [], at: offset)
    }
  }

  /// Writes a value with random white space, and some letters as escapes.
  static func spaced(_ value: JSONValue, _ generator: inout SeededRandom) -> String {
    func space() -> String {
      [" ", "\n", "\t", "\r\n", "", "", "", ""].randomElement(using: &generator) ?? ""
    }
    func string(_ text: String) -> String {
      let plain = (try? JSONValue.string(text).text) ?? "\"\""
      guard Int.random(in: 0..<4, using: &generator) == 0 else { return plain }
      let units = text.utf16.map { unit -> String in
        let digits = String(unit, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      }
      return "\"" + units.joined() + "\""
    }
    switch value {
    case .array(let elements):
      return "[" + space()
        + elements.map { spaced($0, &generator) + space() }.joined(separator: "," + space()) + "]"
    case .object(let object):
      let members = object.map {
        string($0.key) + space() + ":" + space() + spaced($0.value, &generator) + space()
      }
      return "{" + space() + members.joined(separator: "," + space()) + "}"
    case .string(let text): return string(text)
    default: return (try? value.text) ?? "null"
    }
  }
}

extension [UInt8] {
  /// Returns at most 300 bytes, for messages.
  fileprivate var debugText: String {
    "\(String(decoding: prefix(300), as: UTF8.self).debugDescription) (\(count) bytes)"
  }
}
