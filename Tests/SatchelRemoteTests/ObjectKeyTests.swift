import Testing

import SatchelRemote

@Suite("Object keys")
struct ObjectKeyTests {
  @Test(
    "are refused when they could escape their prefix, or are invalid",
    arguments: [
      "", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/..", "a/../b", "a/./b", "./a", "a\u{0}b", "a\nb",
      "a\u{7F}",
      "a\u{85}b", String(repeating: "x", count: 1025), String(repeating: "é", count: 513),
    ])
  func refused(text: String) throws {
    #expect(try reason { _ = try ObjectKey(text) } == .invalidKey)
  }

  @Test(
    "are accepted otherwise",
    arguments: [
      "a", "a/b", "...", "..a", "a..", ".a", " ", "a b", "a\\b", "é", "😀/%2e%2e/+",
      String(repeating: "x", count: 1024),
      String(repeating: "é", count: 512),
    ])
  func taken(text: String) throws {
    let key = try ObjectKey(text)
    #expect(Array(key.text.utf8) == Array(text.utf8))
    #expect(key.components.joined(separator: "/") == text)
  }

  @Test("that are refused appear in messages without control characters")
  func message() throws {
    do {
      _ = try ObjectKey("a\u{1B}[31m\nb")
      Issue.record("taken")
    } catch {
      #expect(error.message == "the key \"a[31mb\" contains a control character")
    }
  }

  @Test("are compared by their bytes, not as strings are")
  func bytes() throws {
    let (composed, decomposed) = (try ObjectKey("\u{E9}"), try ObjectKey("e\u{301}"))
    #expect(composed.text == decomposed.text)
    #expect(composed != decomposed)
    #expect(Set([composed, decomposed]).count == 2)
    #expect(decomposed < composed)
    #expect(try ObjectKey("Z") < ObjectKey("a"))
    #expect(try ObjectKey("a-") < ObjectKey("a/b"))
  }

  @Test(
    "begin with prefixes, which may end anywhere, but not escape the store",
    arguments: [
      ("", true), ("a/", true), ("a/b", true), ("/", false), ("/a", false), ("a//", false), ("..", false),
      ("../", false), ("a/../", false), ("a\u{0}", false),
    ])
  func prefixes(text: String, isFine: Bool) throws {
    #expect(try reason { _ = try ObjectPrefix(text) } == (isFine ? nil : .invalidKey))
  }

  @Test("ETags are valid in a header")
  func tags() {
    for text in ["", "a b", "a\r\n", "é", String(repeating: "x", count: 1025)] { #expect(ETag(text) == nil) }
    #expect(ETag("\"abc\"")?.text == "\"abc\"")
    #expect(ETag("\"abc\"") != ETag("abc"))
  }

  @Test("metadata is valid in headers")
  func metadata() throws {
    for (name, value) in [
      ("", "a"), ("A", "a"), ("a b", "a"), ("a:", "a"), ("é", "a"), ("a", " b"), ("a", "b "), ("a", "b  c"),
      ("a", "é"),
      ("a", "b\nc"), ("a", String(repeating: "x", count: 2048)),
    ] {
      #expect(try reason { _ = try ObjectMetadata([name: value]) } == .failed(.invalid), "\(name): \(value)")
    }
    let fine = ["a-1": "", "b": "one two: three", "c": String(repeating: "x", count: 2029)]
    #expect(try ObjectMetadata(fine).values == fine)
  }
}
