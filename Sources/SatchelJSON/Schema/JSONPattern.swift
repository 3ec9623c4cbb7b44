import CPattern

/// A compiled regular expression.
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
        ? JSONError("invalid regular expression: \(reason), at byte \(offset)") : JSONError(reason)
    }
    compiled = pattern
  }

  deinit { cpattern_free(compiled) }

  /// Searches a string for the pattern.
  func match(_ text: String) -> Outcome {
    var text = text
    switch text.withUTF8({ cpattern_match(compiled, $0.baseAddress, $0.count) }) {
    case CPATTERN_MATCHES: return .matches
    case CPATTERN_DIFFERS: return .differs
    default: return .undecided
    }
  }
}
