/// The words of a search.
package struct SearchQuery {
  /// A word that begins a word of the text, or a part of a run.
  package struct Term: Hashable {
    package var scalars: [Int32]
    package var isRun: Bool
  }

  /// The maximum number of words, and of characters of a run.
  package static let maxCount = 64

  package var terms: [Term] = []

  /// - Throws: `.invalid` for too many words
  package init(_ text: String) throws {
    var terms: [Term] = []
    var exceedsLimit = false
    SearchTokenizer.visit(text) { word in
      let term = Term(scalars: Array(word.scalars), isRun: word.isRun)
      // Compares with a bounded number of terms, so that the time is linear in the text.
      if exceedsLimit || terms.contains(term) { return }
      exceedsLimit = terms.count == Self.maxCount || term.isRun && term.scalars.count > Self.maxCount
      terms.append(term)
    }
    guard !exceedsLimit else {
      throw SatchelError(
        .invalid, "text: a search has at most \(Self.maxCount) words, and a run as many characters")
    }
    self.terms = terms
  }

  /// The query for FTS5: all terms must match, a word as a prefix and a part of a run as a phrase of pairs.
  package var expression: String {
    terms.map { term in
      var tokens: [UInt8] = []
      guard term.isRun, term.scalars.count > 1 else {
        SearchTokenizer.append(term.scalars[...], to: &tokens)
        return "\"\(String(decoding: tokens.dropLast(), as: UTF8.self))\"*"
      }
      for index in term.scalars.indices.dropLast() {
        SearchTokenizer.append(term.scalars[index...].prefix(2), to: &tokens)
      }
      return "\"\(String(decoding: tokens.dropLast(), as: UTF8.self))\""
    }.joined(separator: " ")
  }

  /// The query for FTS5 in some columns only.
  package func expression(in columns: [String]) -> String {
    "{\(columns.joined(separator: " "))} : (\(expression))"
  }

  /// Returns the position of a term in a word; nil when it does not occur.
  package func offset(of term: Term, in word: SearchTokenizer.Word) -> Int? {
    guard term.isRun == word.isRun, term.scalars.count <= word.scalars.count else { return nil }
    guard term.isRun else { return word.scalars.starts(with: term.scalars) ? 0 : nil }
    let last = word.scalars.endIndex - term.scalars.count
    return (word.scalars.startIndex...last).first { word.scalars[$0...].starts(with: term.scalars) }
      .map { $0 - word.scalars.startIndex }
  }
}
