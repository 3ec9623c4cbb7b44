#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A hash table of ids with open addressing, over hashes that were computed while reading.
///
/// A lookup in a large story is bound by memory latency. Therefore the ids are stored contiguously, and the
/// buckets of a batch of lookups are prefetched before the first one is compared.
struct StoryIDTable {
  private struct Bucket {
    var hash: UInt32 = 0
    /// The index plus one; 0 for a free bucket.
    var entry: UInt32 = 0
    /// The offset of the id in the pool, and its size in bytes.
    var start: UInt32 = 0
    var count: UInt32 = 0
  }

  private var buckets: ContiguousArray<Bucket>
  private var pool: ContiguousArray<UInt8> = []
  private let mask: Int

  /// The number of lookups in a batch.
  private static let batch = 16

  /// Creates a table for at most `capacity` ids.
  init(capacity: Int) {
    var size = 16
    while size < capacity * 2 { size *= 2 }
    buckets = ContiguousArray(repeating: Bucket(), count: size)
    mask = size - 1
    pool.reserveCapacity(capacity * 16)
  }

  /// Inserts the id of a record, unless an earlier record has it.
  ///
  /// - Returns: the earlier record; nil when the id was inserted
  mutating func insert(_ index: Int, _ id: UnsafeRawBufferPointer, hash: UInt32) -> Int? {
    var slot = Int(hash) & mask
    while buckets[slot].entry != 0 {
      if buckets[slot].hash == hash, hasBytes(buckets[slot], id) { return Int(buckets[slot].entry) - 1 }
      slot = (slot + 1) & mask
    }
    buckets[slot] = Bucket(
      hash: hash, entry: UInt32(truncatingIfNeeded: index + 1), start: UInt32(truncatingIfNeeded: pool.count),
      count: UInt32(truncatingIfNeeded: id.count))
    pool.append(contentsOf: id)
    return nil
  }

  /// Inserts the id of a record, and computes its hash.
  mutating func insert(_ index: Int, _ id: UnsafeRawBufferPointer) -> Int? {
    insert(index, id, hash: Self.hash(id))
  }

  /// Returns the record that has an id.
  func find(_ id: UnsafeRawBufferPointer) -> Int? { find(id, hash: Self.hash(id)) }

  @inline(__always)
  private func find(_ id: UnsafeRawBufferPointer, hash: UInt32) -> Int? {
    buckets.withUnsafeBufferPointer { buckets in
      var slot = Int(hash) & mask
      while buckets[slot].entry != 0 {
        if buckets[slot].hash == hash, hasBytes(buckets[slot], id) { return Int(buckets[slot].entry) - 1 }
        slot = (slot + 1) & mask
      }
      return nil
    }
  }

  /// Looks up the targets of choices.
  ///
  /// - Parameter found: called for each choice whose target exists
  func find(
    targetsOf choices: UnsafeBufferPointer<StoryTable.Choice>, in text: StoryText,
    found: (_ choice: Int, _ record: Int) -> Void
  ) {
    var prefetched: UInt32 = 0
    for first in stride(from: 0, to: choices.count, by: Self.batch) {
      let batch = first..<min(choices.count, first + Self.batch)
      buckets.withUnsafeBufferPointer { buckets in
        for choice in batch { prefetched ^= buckets[Int(choices[choice].targetHash) & mask].hash }
      }
      for choice in batch where choices[choice].flags.contains(.hasTarget) {
        let target = text.bytes(choices[choice].target)
        if let record = find(target, hash: choices[choice].targetHash) { found(choice, record) }
      }
    }
    // Without a use, the compiler would remove the prefetch.
    withExtendedLifetime(prefetched) {}
  }

  @inline(__always)
  private func hasBytes(_ bucket: Bucket, _ id: UnsafeRawBufferPointer) -> Bool {
    guard Int(bucket.count) == id.count, let other = id.baseAddress else {
      return bucket.count == 0 && id.isEmpty
    }
    return pool.withUnsafeBytes { pool in
      guard let base = pool.baseAddress else { return false }
      return memcmp(base + Int(bucket.start), other, id.count) == 0
    }
  }

  /// Returns a hash with a seed for each process, so that ids cannot be chosen to collide.
  static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    var hasher = Hasher()
    hasher.combine(bytes: bytes)
    return UInt32(truncatingIfNeeded: hasher.finalize())
  }
}
