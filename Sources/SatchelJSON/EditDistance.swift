/// Computes the number of edits between two strings: insertions, deletions, substitutions and transpositions
/// of bytes.
package struct EditDistance {
  /// The number of table cells that were computed so far, as a measure of the cost.
  package private(set) var cells = 0
  // Rows of the table of distances, kept between calls.
  private var beforeLast: [Int] = []
  private var last: [Int] = []
  private var current: [Int] = []

  package init() {}

  /// Returns the optimal string alignment distance; nil when it is not below the bound.
  package mutating func between(_ one: [UInt8], _ other: UnsafeRawBufferPointer, below bound: Int) -> Int? {
    guard abs(one.count - other.count) < bound else { return nil }
    // A common prefix and suffix need no computation.
    let shorter = min(one.count, other.count)
    var start = 0
    while start < shorter, one[start] == other[start] { start += 1 }
    var end = 0
    while end < shorter - start, one[one.count - 1 - end] == other[other.count - 1 - end] { end += 1 }
    let columns = other.count - end
    last.removeAll(keepingCapacity: true)
    last.append(contentsOf: 0...columns - start)
    for row in start..<one.count - end {
      cells += columns - start
      current.removeAll(keepingCapacity: true)
      current.append(row - start + 1)
      var smallest = row - start + 1
      for column in start..<columns {
        let cell = column - start
        let replaced = last[cell] + (one[row] == other[column] ? 0 : 1)
        var cost = min(replaced, last[cell + 1] + 1, current[cell] + 1)
        if row > start, column > start, one[row] == other[column - 1], one[row - 1] == other[column] {
          cost = min(cost, beforeLast[cell - 1] + 1)
        }
        current.append(cost)
        smallest = min(smallest, cost)
      }
      if smallest >= bound { return nil }
      swap(&beforeLast, &last)
      swap(&last, &current)
    }
    return last[columns - start] < bound ? last[columns - start] : nil
  }
}

extension EditDistance {
  /// Returns the name that was probably meant by one that does not exist: at most two edits away, one for every
  /// three bytes.
  package static func nearest(to name: String, among names: some Sequence<String>) -> String? {
    let text = Array(name.utf8)
    guard (2...64).contains(text.count) else { return nil }
    var bound = min(2, max(1, text.count / 3)) + 1
    var distance = EditDistance()
    var nearest: String?
    for known in names {
      let edits = Array(known.utf8).withUnsafeBytes { distance.between(text, $0, below: bound) }
      guard let edits else { continue }
      (bound, nearest) = (edits, known)
    }
    return nearest
  }
}
