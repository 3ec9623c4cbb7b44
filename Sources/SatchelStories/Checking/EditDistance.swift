/// How many slips of the pen lie between two texts: a byte too many, too few, another one, or two exchanged.
struct EditDistance {
  // Rows of the table of distances, kept between calls.
  private var beforeLast: [Int] = []
  private var last: [Int] = []
  private var current: [Int] = []

  /// The optimal string alignment distance, when it is below a bound.
  mutating func between(_ one: [UInt8], _ other: UnsafeRawBufferPointer, below bound: Int) -> Int? {
    guard abs(one.count - other.count) < bound else { return nil }
    last.removeAll(keepingCapacity: true)
    last.append(contentsOf: 0...other.count)
    for row in one.indices {
      current.removeAll(keepingCapacity: true)
      current.append(row + 1)
      var smallest = row + 1
      for column in 0..<other.count {
        let replaced = last[column] + (one[row] == other[column] ? 0 : 1)
        var cost = min(replaced, last[column + 1] + 1, current[column] + 1)
        if row > 0, column > 0, one[row] == other[column - 1], one[row - 1] == other[column] {
          cost = min(cost, beforeLast[column - 1] + 1)
        }
        current.append(cost)
        smallest = min(smallest, cost)
      }
      if smallest >= bound { return nil }
      swap(&beforeLast, &last)
      swap(&last, &current)
    }
    return last[other.count] < bound ? last[other.count] : nil
  }
}
