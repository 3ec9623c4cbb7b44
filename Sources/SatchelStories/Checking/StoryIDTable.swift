/// Finds ids by their bytes: open addressing over indices, without a copy of any id.
struct StoryIDTable {
  private struct Bucket {
    var hash: UInt32
    /// 0 is free, else an index plus one.
    var entry: UInt32
  }

  private var buckets: ContiguousArray<Bucket>
  private let mask: Int

  /// A table for at most `capacity` ids.
  init(capacity: Int) {
    var size = 16
    while size < capacity * 2 { size *= 2 }
    buckets = ContiguousArray(repeating: Bucket(hash: 0, entry: 0), count: size)
    mask = size - 1
  }

  /// Adds the id of a record, unless an earlier record has it.
  ///
  /// - Returns: the earlier record.
  @inline(__always)
  mutating func insert(
    _ index: Int, _ id: StorySlice, in text: StoryText, id idOf: (Int) -> StorySlice
  ) -> Int? {
    let hash = Self.hash(text.bytes(id))
    var slot = Int(hash) & mask
    while buckets[slot].entry != 0 {
      let bucket = buckets[slot]
      let other = Int(bucket.entry) - 1
      if bucket.hash == hash, text.areEqual(idOf(other), id) { return other }
      slot = (slot + 1) & mask
    }
    buckets[slot] = Bucket(hash: hash, entry: UInt32(truncatingIfNeeded: index + 1))
    return nil
  }

  /// The record that has an id.
  @inline(__always)
  func find(_ id: StorySlice, in text: StoryText, id idOf: (Int) -> StorySlice) -> Int? {
    find(text.bytes(id)) { text.areEqual(idOf($0), id) }
  }

  /// The record that has an id which need not stand in the story.
  @inline(__always)
  func find(_ id: UnsafeRawBufferPointer, isSame: (Int) -> Bool) -> Int? {
    let hash = Self.hash(id)
    var slot = Int(hash) & mask
    while buckets[slot].entry != 0 {
      if buckets[slot].hash == hash, isSame(Int(buckets[slot].entry) - 1) { return Int(buckets[slot].entry) - 1 }
      slot = (slot + 1) & mask
    }
    return nil
  }

  /// Seeded anew by each process, so that nobody can choose ids that collide.
  @inline(__always)
  private static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    var hasher = Hasher()
    hasher.combine(bytes: bytes)
    return UInt32(truncatingIfNeeded: hasher.finalize())
  }
}
