/// Finds texts that occur more than once, without a table of all of them.
///
/// Of most a few bits, all in one small map, tell that nothing like it came before. Only the rest is looked at.
enum DuplicateIDs {
  /// What mostly differs where texts do: their last bytes, their first ones, and their length.
  ///
  /// Cheap, and nothing to rely on: texts with the same mark are compared through a table with a keyed hash.
  @inline(__always)
  static func mark(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    var mark = UInt64(truncatingIfNeeded: bytes.count)
    if bytes.count >= 8 {
      mark ^= bytes.loadUnaligned(fromByteOffset: bytes.count - 8, as: UInt64.self)
      mark = mark &* 0x9E37_79B9_7F4A_7C15 ^ bytes.loadUnaligned(as: UInt64.self)
    } else {
      for byte in bytes { mark = mark << 8 | UInt64(byte) }
    }
    return UInt32(truncatingIfNeeded: (mark &* 0x9E37_79B9_7F4A_7C15) >> 32)
  }

  /// - Parameters:
  ///   - mark: of the text of each of `count` records; nil for one without
  ///   - bytes: the text of a record
  /// - Returns: the records whose text an earlier one has, each with the first that has it
  static func find(
    count: Int, mark: (Int) -> UInt32?, bytes: (Int) -> UnsafeRawBufferPointer
  ) -> [(record: Int, earlier: Int)] {
    var seen = Map(count: count)
    var suspects = Map(count: count / 8)
    var hasSuspects = false
    for record in 0..<count {
      guard let mark = mark(record), seen.insert(mark) else { continue }
      _ = suspects.insert(mark)
      hasSuspects = true
    }
    guard hasSuspects else { return [] }
    let records = (0..<count).filter { mark($0).map { suspects.contains($0) } ?? false }
    var table = StoryIDTable(capacity: records.count)
    return records.compactMap { record in
      table.insert(record, bytes(record)).map { (record, $0) }
    }
  }

  /// A set of marks that may claim to hold one more than it does, never one less.
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
    mutating func insert(_ mark: UInt32) -> Bool {
      let word = Int(mark >> 6) & mask
      let bit: UInt64 = 1 << UInt64(mark & 63)
      let wasThere = bits[word] & bit != 0
      bits[word] |= bit
      return wasThere
    }

    @inline(__always)
    func contains(_ mark: UInt32) -> Bool { bits[Int(mark >> 6) & mask] & (1 << UInt64(mark & 63)) != 0 }
  }
}
