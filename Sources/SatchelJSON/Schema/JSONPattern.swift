import CPattern

/// A compiled regular expression.
// Unchecked: the compiled pattern is not changed by matching, and threads may share it.
final class JSONPattern: @unchecked Sendable {
  /// What a match came to.
  enum Outcome { case matches, differs, undecided }

  let source: String
  private let compiled: OpaquePointer

  /// - Throws: `JSONError` without a pointer, saying what is wrong where in the pattern, or that PCRE2 is missing.
  init(_ source: String) throws(JSONError) {
    self.source = source
    var message = [CChar](repeating: 0, count: 256)
    var offset = 0
    var source = source
    let pattern = source.withUTF8 {
      cpattern_compile($0.baseAddress, $0.count, &offset, &message, message.count)
    }
    guard let pattern else {
      let reason = String(
        decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      throw cpattern_load(nil, 0)
        ? JSONError("no regular expression: \(reason), at byte \(offset)") : JSONError(reason)
    }
    compiled = pattern
  }

  deinit { cpattern_free(compiled) }

  /// Whether it is found anywhere in a text.
  func match(_ text: String) -> Outcome {
    var text = text
    switch text.withUTF8({ cpattern_match(compiled, $0.baseAddress, $0.count) }) {
    case CPATTERN_MATCHES: return .matches
    case CPATTERN_DIFFERS: return .differs
    default: return .undecided
    }
  }
}
