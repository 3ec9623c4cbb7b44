import CPattern

/// A compiled regular expression of ECMAScript.
// Unchecked: matching does not modify the compiled pattern, so threads may share it.
final class JSONPattern: @unchecked Sendable {
  /// The result of a match; `undecided` when a limit was reached.
  enum Outcome { case matches, differs, undecided }

  let source: String
  private let compiled: OpaquePointer

  /// Compiles a pattern.
  ///
  /// - Throws: `JSONError` without a pointer, with the error and its offset in the pattern, or when PCRE2 is
  ///   not installed
  init(_ source: String) throws(JSONError) {
    self.source = source
    let pattern = Array(source.utf8)
    // Compiled as it is written first, so that an error names the offset in the source.
    let own = try Self.compile(pattern)
    guard let rewritten = ECMAScriptPattern.rewritten(pattern) else {
      compiled = own
      return
    }
    cpattern_free(own)
    compiled = try Self.compile(rewritten)
  }

  private static func compile(_ pattern: [UInt8]) throws(JSONError) -> OpaquePointer {
    var message = [CChar](repeating: 0, count: 256)
    var offset = 0
    if let compiled = cpattern_compile(pattern, pattern.count, &offset, &message, message.count) {
      return compiled
    }
    let reason = String(
      decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    throw cpattern_load(nil, 0)
      ? JSONError("invalid regular expression: \(reason), at byte \(offset)") : JSONError(reason)
  }

  deinit { cpattern_free(compiled) }

  /// Searches the bytes of a string for the pattern.
  func match(_ text: UnsafeRawBufferPointer) -> Outcome {
    switch cpattern_match(compiled, text.baseAddress?.assumingMemoryBound(to: UInt8.self), text.count) {
    case CPATTERN_MATCHES: return .matches
    case CPATTERN_DIFFERS: return .differs
    default: return .undecided
    }
  }
}

/// Rewrites what PCRE2 reads differently from ECMA-262, whose \s is the white space and the line ends of
/// Unicode, and which has no [:classes:].
enum ECMAScriptPattern {
  /// Both end with a range, after which a hyphen stands for itself, as after \s.
  private static let space =
    #"\ufeff\u00a0\u1680\u2028\u2029\u202f\u205f\u3000 \t-\r\u2000-\u200a"#
  private static let other =
    #"\x00-\x08\x0e-\x1f!-\u009f\u00a1-\u167f\u1681-\u1fff\u200b-\u2027\u202a-\u202e\u2030-\u205e"#
    + #"\u2060-\u2fff\u3001-\ufefe\uff00-\u{10ffff}"#

  /// Returns the pattern for PCRE2; nil when it is the same.
  ///
  /// - Parameter pattern: one that PCRE2 accepts
  static func rewritten(_ pattern: [UInt8]) -> [UInt8]? {
    var result: [UInt8] = []
    var isChanged = false
    var isInClass = false
    var index = 0
    while index < pattern.count {
      let byte = pattern[index]
      let next = index + 1 < pattern.count ? pattern[index + 1] : 0
      switch byte {
      case UInt8(ascii: "\\") where next | 0x20 == UInt8(ascii: "s"):
        let isSpace = next == UInt8(ascii: "s")
        switch (isInClass, isSpace) {
        case (true, _): result += (isSpace ? space : other).utf8
        case (false, true): result += "[\(space)]".utf8
        case (false, false): result += "[^\(space)]".utf8
        }
        isChanged = true
        index += 2
        continue
      case UInt8(ascii: "\\"):
        result += pattern[index..<min(index + 2, pattern.count)]
        index += 2
        continue
      case UInt8(ascii: "[") where isInClass:
        result += #"\["#.utf8
        isChanged = true
        index += 1
        continue
      case UInt8(ascii: "["): isInClass = true
      case UInt8(ascii: "]"): isInClass = false
      default: break
      }
      result.append(byte)
      index += 1
    }
    return isChanged ? result : nil
  }
}
