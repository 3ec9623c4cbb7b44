#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Finds ids by their bytes: open addressing over hashes that were noted while reading.
///
/// A look-up in a large story waits for memory, not for the processor. So the ids lie together instead of where the file
/// has them, and the buckets of some askers are asked for before the first is looked at.
struct StoryIDTable {
  private struct Bucket {
    var hash: UInt32 = 0
    /// 0 is free, else an index plus one.
    var entry: UInt32 = 0
    /// Where the id begins in the pool, and its bytes.
    var start: UInt32 = 0
    var count: UInt32 = 0
  }

  private var buckets: ContiguousArray<Bucket>
  private var pool: ContiguousArray<UInt8> = []
  private let mask: Int

  /// Askers whose look-ups go together.
  private static let batch = 16

  /// A table for at most `capacity` ids.
  init(capacity: Int) {
    var size = 16
    while size < capacity * 2 { size *= 2 }
    buckets = ContiguousArray(repeating: Bucket(), count: size)
    mask = size - 1
    pool.reserveCapacity(capacity * 16)
  }

  /// Adds the id of a record, unless an earlier record has it.
  ///
  /// - Returns: the earlier record.
  mutating func insert(_ index: Int, _ id: UnsafeRawBufferPointer, hash: UInt32) -> Int? {
    var slot = Int(hash) & mask
    while buckets[slot].entry != 0 {
      if buckets[slot].hash == hash, holds(buckets[slot], id) { return Int(buckets[slot].entry) - 1 }
      slot = (slot + 1) & mask
    }
    buckets[slot] = Bucket(
      hash: hash, entry: UInt32(truncatingIfNeeded: index + 1), start: UInt32(truncatingIfNeeded: pool.count),
      count: UInt32(truncatingIfNeeded: id.count))
    pool.append(contentsOf: id)
    return nil
  }

  /// As `insert`, for an id whose hash was not noted.
  mutating func insert(_ index: Int, _ id: UnsafeRawBufferPointer) -> Int? {
    insert(index, id, hash: Self.hash(id))
  }

  /// The record that has an id.
  func find(_ id: UnsafeRawBufferPointer) -> Int? { find(id, hash: Self.hash(id)) }

  @inline(__always)
  private func find(_ id: UnsafeRawBufferPointer, hash: UInt32) -> Int? {
    buckets.withUnsafeBufferPointer { buckets in
      var slot = Int(hash) & mask
      while buckets[slot].entry != 0 {
        if buckets[slot].hash == hash, holds(buckets[slot], id) { return Int(buckets[slot].entry) - 1 }
        slot = (slot + 1) & mask
      }
      return nil
    }
  }

  /// The records that the targets of choices name.
  ///
  /// - Parameter found: hears of each choice whose target there is
  func find(
    targetsOf choices: UnsafeBufferPointer<StoryTable.Choice>, in text: StoryText,
    found: (_ choice: Int, _ record: Int) -> Void
  ) {
    var ahead: UInt32 = 0
    for first in stride(from: 0, to: choices.count, by: Self.batch) {
      let batch = first..<min(choices.count, first + Self.batch)
      buckets.withUnsafeBufferPointer { buckets in
        for choice in batch { ahead ^= buckets[Int(choices[choice].targetHash) & mask].hash }
      }
      for choice in batch where choices[choice].flags.contains(.hasTarget) {
        let target = text.bytes(choices[choice].target)
        if let record = find(target, hash: choices[choice].targetHash) { found(choice, record) }
      }
    }
    // Without a use, looking ahead would be left out.
    withExtendedLifetime(ahead) {}
  }

  @inline(__always)
  private func holds(_ bucket: Bucket, _ id: UnsafeRawBufferPointer) -> Bool {
    guard Int(bucket.count) == id.count, let other = id.baseAddress else {
      return bucket.count == 0 && id.isEmpty
    }
    return pool.withUnsafeBytes { pool in
      guard let base = pool.baseAddress else { return false }
      return memcmp(base + Int(bucket.start), other, id.count) == 0
    }
  }

  /// Seeded anew by each process, so that nobody can choose ids that collide.
  static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    var hasher = Hasher()
    hasher.combine(bytes: bytes)
    return UInt32(truncatingIfNeeded: hasher.finalize())
  }
}
