/// Finds strings that occur more than once, without a table of all of them.
///
/// A Bloom filter excludes most records; only the remaining candidates are compared.
package enum DuplicateIDs {
  /// - Parameters:
  ///   - hash: returns the hash, by `StoryIDTable`, of the string of each of `count` records; nil for a
  ///     record without one
  ///   - bytes: returns the string of a record
  /// - Returns: the records whose string occurs earlier, each with the first record that has it
  @inline(__always)
  package static func find(
    count: Int, hash: (Int) -> UInt32?, bytes: (Int) -> UnsafeRawBufferPointer
  ) -> [(record: Int, earlier: Int)] {
    var seen = BloomFilter(count: count)
    var suspects = BloomFilter(count: count / 8)
    var hasSuspects = false
    for record in 0..<count {
      guard let hash = hash(record), seen.insert(hash) else { continue }
      _ = suspects.insert(hash)
      hasSuspects = true
    }
    guard hasSuspects else { return [] }
    let records = (0..<count).filter { hash($0).map { suspects.contains($0) } ?? false }
    var table = StoryIDTable(capacity: records.count)
    return records.compactMap { record in
      table.insert(record, bytes(record), hash: hash(record) ?? 0).map { (record, $0) }
    }
  }

  /// A set of hashes with false positives, but without false negatives.
  private struct BloomFilter {
    private var bits: ContiguousArray<UInt64>
    private let mask: Int

    init(count: Int) {
      var words = 4
      // Sixteen bits for each id: one in sixteen is a false positive.
      while words * 4 < count { words *= 2 }
      bits = ContiguousArray(repeating: 0, count: words)
      mask = words - 1
    }

    /// - Returns: whether the set may have contained the hash
    @inline(__always)
    mutating func insert(_ hash: UInt32) -> Bool {
      let word = Int(hash >> 6) & mask
      let bit: UInt64 = 1 << UInt64(hash & 63)
      let wasSet = bits[word] & bit != 0
      bits[word] |= bit
      return wasSet
    }

    @inline(__always)
    func contains(_ hash: UInt32) -> Bool { bits[Int(hash >> 6) & mask] & (1 << UInt64(hash & 63)) != 0 }
  }
}
