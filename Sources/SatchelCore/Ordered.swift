/// Sorting where its speed does not count: the standard library's `sorted` is compiled for each type of element, some
/// 3 KB each time, and this one once.
extension Sequence {
  /// Returns the elements in order; equal ones stay in theirs.
  package func ordered(by isBefore: (Element, Element) throws -> Bool) rethrows -> [Element] {
    let elements = Array(self)
    return try orderOfIndices(elements.count) { try isBefore(elements[$0], elements[$1]) }.map {
      elements[$0]
    }
  }
}

extension Sequence where Element: Comparable {
  package func ordered() -> [Element] { ordered(by: <) }
}

// Not compiled again for each comparison that is passed to it.
@inline(never) @_semantics("optimize.no.crossmodule")
package func orderOfIndices(_ count: Int, by isBefore: (Int, Int) throws -> Bool) rethrows -> [Int] {
  try (0..<count).sorted(by: isBefore)
}
