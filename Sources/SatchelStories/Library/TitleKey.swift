import CUTF8Proc
import SatchelStorage

/// What titles are sorted by: their letters without case and diacritics.
enum TitleKey {
  /// Beyond so many scalars titles are not told apart: utf8proc takes time with the square of a run of marks.
  private static let longest = 256

  static func key(of title: String) -> String {
    let text = Array(String(String.UnicodeScalarView(title.unicodeScalars.prefix(longest))).utf8)
    let options = [
      UTF8PROC_STABLE, UTF8PROC_COMPAT, UTF8PROC_DECOMPOSE, UTF8PROC_CASEFOLD, UTF8PROC_STRIPMARK,
      UTF8PROC_IGNORE,
    ].reduce(0) { $0 | $1.rawValue }
    var folded: UnsafeMutablePointer<UInt8>?
    let count = utf8proc_map(text, text.count, &folded, utf8proc_option_t(options))
    defer { free(folded) }
    guard count >= 0, let folded else { return title }
    return String(decoding: UnsafeBufferPointer(start: folded, count: count), as: UTF8.self)
  }
}
