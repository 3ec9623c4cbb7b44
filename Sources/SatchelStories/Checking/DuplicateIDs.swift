/// Finds texts that occur more than once, without a table of all of them.
///
/// Of most a few bits, all in one small map, tell that nothing like it came before. Only the rest is looked at.
enum DuplicateIDs {
  /// - Parameters:
  ///   - hash: of the text of each of `count` records, by `StoryIDTable`; nil for one without
  ///   - bytes: the text of a record
  /// - Returns: the records whose text an earlier one has, each with the first that has it
  static func find(
    count: Int, hash: (Int) -> UInt32?, bytes: (Int) -> UnsafeRawBufferPointer
  ) -> [(record: Int, earlier: Int)] {
    var seen = Map(count: count)
    var suspects = Map(count: count / 8)
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

  /// A set of hashes that may claim to hold one more than it does, never one less.
  private struct Map {
    private var bits: ContiguousArray<UInt64>
    private let mask: Int

    init(count: Int) {
      var words = 4
      // Sixteen bits an id: one in sixteen is suspected for nothing.
      while words * 4 < count { words *= 2 }
      bits = ContiguousArray(repeating: 0, count: words)
      mask = words - 1
    }

    /// - Returns: whether it may have been there.
    @inline(__always)
    mutating func insert(_ hash: UInt32) -> Bool {
      let word = Int(hash >> 6) & mask
      let bit: UInt64 = 1 << UInt64(hash & 63)
      let wasThere = bits[word] & bit != 0
      bits[word] |= bit
      return wasThere
    }

    @inline(__always)
    func contains(_ hash: UInt32) -> Bool { bits[Int(hash >> 6) & mask] & (1 << UInt64(hash & 63)) != 0 }
  }
}
