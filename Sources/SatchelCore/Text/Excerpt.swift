import CUTF8Proc

/// A part of a text around something that was found in it.
package enum Excerpt {
  /// The length of an excerpt before and after the beginning of what was found, in grapheme clusters: what people
  /// see as one character.
  private static let (before, after) = (40, 80)
  /// The maximum length of each half in scalars: a cluster may have any number of marks.
  private static let maxScalars = 640

  /// Returns the part of a text around the scalar at `start`; an ellipsis stands for what is left out.
  package static func text(_ text: String, around start: Int) -> String {
    let scalars = Array(text.unicodeScalars)
    guard !scalars.isEmpty else { return "" }
    let clusters = clusters(of: scalars)
    func offset(_ cluster: Int) -> Int { cluster < clusters.count ? clusters[cluster] : scalars.count }
    func isSpace(_ cluster: Int) -> Bool { scalars[clusters[cluster]] == " " }
    let middle = max(0, (clusters.firstIndex { $0 > start } ?? clusters.count) - 1)
    var from = max(0, middle - before)
    while from < middle, offset(middle) - offset(from) > maxScalars { from += 1 }
    var to = min(clusters.count, middle + after)
    while to > middle + 1, offset(to) - offset(middle) > maxScalars { to -= 1 }
    // Not within a word, where there are spaces nearby.
    if from > 0, let space = (from..<min(from + 20, middle)).first(where: isSpace) { from = space + 1 }
    if to < clusters.count, let space = (max(middle + 1, to - 20)..<to).last(where: isSpace) { to = space }
    var excerpt = String.UnicodeScalarView()
    excerpt.append(contentsOf: scalars[offset(from)..<offset(to)])
    return (from > 0 ? "…" : "") + String(excerpt) + (to < clusters.count ? "…" : "")
  }

  /// Returns the offsets at which grapheme clusters (UAX #29) begin.
  private static func clusters(of scalars: [Unicode.Scalar]) -> [Int] {
    var starts = [0]
    var state: Int32 = 0
    for index in 1..<max(1, scalars.count) {
      let isBreak = utf8proc_grapheme_break_stateful(
        Int32(bitPattern: scalars[index - 1].value), Int32(bitPattern: scalars[index].value), &state)
      if isBreak { starts.append(index) }
    }
    return starts
  }
}
