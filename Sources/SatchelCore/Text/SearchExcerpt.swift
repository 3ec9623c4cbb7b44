/// Finds the text, of several, that has most of the words of a search, and where they are in it.
package struct SearchExcerpt {
  private let query: SearchQuery
  private var best: (count: Int, text: String, start: Int)?
  /// The number of the text that was chosen, in the order in which they were considered.
  package private(set) var chosen: Int?
  private var considered = 0

  package init(_ query: SearchQuery) { self.query = query }

  /// Examines a text. Of several with as many words the first one is chosen.
  package mutating func consider(_ text: UnsafeRawBufferPointer) {
    defer { considered += 1 }
    var (terms, start): (Set<SearchQuery.Term>, Int?) = ([], nil)
    SearchTokenizer.visit(text) { word in
      for term in query.terms where !terms.contains(term) {
        guard let offset = query.offset(of: term, in: word) else { continue }
        terms.insert(term)
        start = start ?? word.start + offset
      }
    }
    guard let start, terms.count > best?.count ?? 0 else { return }
    best = (terms.count, String(decoding: text, as: UTF8.self), start)
    chosen = considered
  }

  /// The part of the chosen text around the first of the words; nil when none has any.
  package var text: String? { best.map { Excerpt.text($0.text, around: $0.start) } }

  /// Returns the ranges of a text, in bytes of UTF-8 and in ascending order, that were found: words of which a word of
  /// the search is the beginning, and parts of runs.
  package static func highlights(of query: SearchQuery, in text: String) -> [Range<Int>] {
    var found: [Range<Int>] = []
    SearchTokenizer.visit(text) { word in
      for term in query.terms {
        guard let offset = query.offset(of: term, in: word) else { continue }
        let start = word.start + offset
        let range = start..<(word.isRun ? start + term.scalars.count : max(start, word.end))
        if let last = found.last, range.lowerBound <= last.upperBound {
          found[found.count - 1] =
            min(last.lowerBound, range.lowerBound)..<max(last.upperBound, range.upperBound)
        } else {
          found.append(range)
        }
      }
    }
    guard !found.isEmpty else { return [] }
    // From scalars to bytes.
    var offsets = [0]
    for scalar in text.unicodeScalars { offsets.append((offsets.last ?? 0) + UTF8.width(scalar)) }
    return found.map {
      offsets[min($0.lowerBound, offsets.count - 1)]..<offsets[min($0.upperBound, offsets.count - 1)]
    }
  }
}
