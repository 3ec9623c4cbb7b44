import SatchelJSON
import Testing

@Suite("The scanner: what is JSON")
struct JSONScannerTests {
  /// Returns the scanner's error; nil when it accepts the text.
  static func refusal(_ bytes: [UInt8]) -> JSONError? {
    // A copy of the exact size, so that the address sanitizer detects reading one byte too many.
    let exact = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    defer { exact.deallocate() }
    exact.copyBytes(from: bytes)
    do throws(JSONError) {
      try JSONScanner.check(UnsafeRawBufferPointer(exact))
      return nil
    } catch {
      return error
    }
  }

  static func refusal(_ text: String) -> JSONError? { refusal(Array(text.utf8)) }

  @Test(
    "valid texts are accepted",
    arguments: [
      "null", "true", "false", "0", "-0", "-0.0", "\"\"", "[]", "{}", " \t\r\n1 \t\r\n", "[ ]", "{ }",
      "9223372036854775807", "-9223372036854775808", "1e-400", "-1e-400", "0.1", "1E2", "1e+2", "1e-2",
      "1.5e3", "9223372036854775808", "-9223372036854775809", "92233720368547758070", "1e400", "-1e400",
      "1e309",
      "1e9999999999", "1.7976931348623159e308", "1e9223372036854775806", "0e99999999999999999999",
      "0e0", "123456789012345678901234567890.0", "1.7976931348623157e308", "5e-324",
      #""\"\\\/\b\f\n\r\t\u0041""#, #""\ud83d\ude00""#, #""\uD83D\uDE00""#, #""\u0000""#, "\"\u{7F}\"",
      "\"\u{FEFF}\"", "\"\u{FFFF}\u{10FFFF}\"", #"{"":1}"#, #"{"a":1,"b":1,"A":1}"#, #"{"a":{"a":1}}"#,
      #"[{"a":1},{"a":1}]"#, "[[],[]]",
    ])
  func accepted(text: String) {
    #expect(JSONScannerTests.refusal(text) == nil)
  }

  @Test(
    "invalid texts are refused",
    arguments: [
      "", " ", "[", "{", "]", "}", "[1,]", "[,1]", "[1 2]", "[1,,2]", "{,}", "{\"a\"}", "{\"a\":}",
      "{\"a\":1,}",
      "{\"a\" 1}", "{a:1}", "{1:1}", "{\"a\":1 \"b\":2}", "{\"a\":1]", "[1}", "1 2", "1,", "[] []", "nul",
      "nulll",
      "True", "tru", "NaN", "nan", "-NaN", "Infinity", "-Infinity", "inf", "undefined", "'a'", "01", "-01",
      "00",
      "-", "+1", ".5", "1.", "-.5", "1.e5", "1e", "1e+", "1e-", "0x10", "1_000", "1e5.5", "1f", "--1",
      "1e9223372036854775807", "-1e9223372036854775808", "1e99999999999999999999", #""\x""#, #""\u""#,
      #""\u12""#, #""\u12G4""#, #""\u+123""#, #""\U0041""#,
      "\"",
      "\"a", "\"\\", "\"\\\"", "\"\\u", "\"\\ud83d", "\"\\ud83d\\u", "// x\n1", "/**/1", "1 // x", "\u{A0}1",
      "\u{B}1",
      "\u{C}1", "\u{0}", "1\u{0}", "[1\u{0}]", "\u{FEFF}1", "1\u{FEFF}", "{\"a\":1,\"a\":2}",
      "{\"\":1,\"\":2}",
    ])
  func refused(text: String) throws {
    let error = try #require(JSONScannerTests.refusal(text))
    let position = try #require(error.position)
    #expect((0...text.utf8.count).contains(position.offset))
    #expect(!error.reason.isEmpty)
  }

  @Test(
    "a lone surrogate is refused at any position",
    arguments: [
      #""\ud800""#, #""\udbff""#, #""\udc00""#, #""\udfff""#, #""\udc00\ud800""#, #""\ud800\ud800""#,
      #""\ud800\u0041""#, #""\ud800x""#, #""\ud800\n""#, #""\udc00\udc00""#, #""\ud83d\ude00\ude00""#,
      #"{"\ud800":1}"#, #"{"\udc00\ud800":1}"#,
    ])
  func loneSurrogate(text: String) {
    #expect(JSONScannerTests.refusal(text)?.reason == "a lone surrogate")
  }

  @Test("a NUL is allowed in a string, not in a key")
  func nulInKey() {
    #expect(JSONScannerTests.refusal(#"{"a":"\u0000"}"#) == nil)
    let error = JSONScannerTests.refusal(#"{"a":{"b\u0000c":1}}"#)
    #expect(error?.reason == "NUL in a key")
    #expect(error?.pointer == "/a")
    #expect(error?.position == JSONPosition(offset: 6, line: 1, column: 7))
  }

  @Test("every control character must be escaped", arguments: 0..<0x20 as Range<UInt8>)
  func controlCharacter(byte: UInt8) {
    let error = JSONScannerTests.refusal([0x5B, 0x22, 0x61, byte, 0x22, 0x5D])
    #expect(error?.reason == "a control character inside a string")
    #expect(error?.position?.offset == 3)
    #expect(error?.pointer == "/0")
    let escape = "\"\\u00" + (byte < 16 ? "0" : "1") + String(byte % 16, radix: 16) + "\""
    #expect(JSONScannerTests.refusal(escape) == nil)
  }

  @Test("512 levels are accepted, one more is refused with its position", arguments: ["[", "{\"k\":"])
  func depth(opening: String) {
    let closing = opening == "[" ? "]" : "}"
    func nested(_ levels: Int) -> String {
      String(repeating: opening, count: levels - 1) + (opening == "[" ? "[]" : "{}")
        + String(repeating: closing, count: levels - 1)
    }
    #expect(JSONScannerTests.refusal(nested(512)) == nil)
    let error = JSONScannerTests.refusal(nested(513))
    #expect(error?.reason == "more than 512 levels")
    #expect(error?.pointer == String(repeating: opening == "[" ? "/0" : "/k", count: 512))
    #expect(error?.position?.offset == 512 * opening.utf8.count)
    // Far deeper and unclosed: the limit applies before memory grows.
    #expect(
      JSONScannerTests.refusal(String(repeating: opening, count: 200_000))?.reason == "more than 512 levels")
    // Siblings do not count as levels.
    #expect(
      JSONScannerTests.refusal("[" + Array(repeating: "[]", count: 2000).joined(separator: ",") + "]") == nil)
  }

  @Test("every truncated text is refused without a trap")
  func prefixes() {
    let text =
      #"{"a":[1,-2.5e-3,true,false,null,"x\n\u00e9\ud83d\ude00é€😀"],"b\u0062":{"":{},"c":[[]]},"n":9223372036854775807}"#
    let bytes = Array(text.utf8)
    #expect(JSONScannerTests.refusal(bytes) == nil)
    for count in bytes.indices {
      let error = JSONScannerTests.refusal(Array(bytes[..<count]))
      #expect(error != nil, "the first \(count) bytes were accepted")
      #expect(error?.position.map { $0.offset <= count } == true)
    }
    for start in 1..<bytes.count {
      #expect(
        JSONScannerTests.refusal(Array(bytes[start...])) != nil || bytes[start...].first == 0x7D,
        "the bytes from \(start) on were accepted")
    }
  }
}
