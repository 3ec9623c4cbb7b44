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
package struct StoryIDTable {
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
  package init(capacity: Int) {
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
    let (slot, earlier) = buckets.withUnsafeBufferPointer { buckets in
      var slot = Int(hash) & mask
      while buckets[slot].entry != 0 {
        if buckets[slot].hash == hash, hasBytes(buckets[slot], id) {
          return (slot, Int(buckets[slot].entry) - 1)
        }
        slot = (slot &+ 1) & mask
      }
      return (slot, -1)
    }
    guard earlier < 0 else { return earlier }
    buckets[slot] = Bucket(
      hash: hash, entry: UInt32(truncatingIfNeeded: index + 1), start: UInt32(truncatingIfNeeded: pool.count),
      count: UInt32(truncatingIfNeeded: id.count))
    pool.append(contentsOf: id)
    return nil
  }

  /// Inserts the id of a record, and computes its hash.
  package mutating func insert(_ index: Int, _ id: UnsafeRawBufferPointer) -> Int? {
    insert(index, id, hash: Self.hash(id))
  }

  /// Returns the record that has an id.
  package func find(_ id: UnsafeRawBufferPointer) -> Int? { find(id, hash: Self.hash(id)) }

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
  @_optimize(speed)
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
      // Then the ids of the buckets, which are elsewhere in memory.
      pool.withUnsafeBufferPointer { pool in
        buckets.withUnsafeBufferPointer { buckets in
          for choice in batch {
            let bucket = buckets[Int(choices[choice].targetHash) & mask]
            if bucket.hash == choices[choice].targetHash, bucket.count > 0 {
              prefetched ^= UInt32(pool[Int(bucket.start)])
            }
          }
        }
      }
      for choice in batch
      where choices[choice].flags.rawValue & StoryTable.ChoiceFlags.hasTarget.rawValue != 0 {
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
  package static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt32 { StoryHash.process(bytes) }
}

/// A keyed hash of ids, by multiplication with secret words, of which both halves of the product are kept, as wyhash
/// does it. The standard library's takes 250 instructions for an id, this one 30: PROFILES.md, W4.
struct StoryHash: Sendable {
  private let one: UInt64
  private let other: UInt64

  /// The hash with the seed of this process.
  static let process = StoryHash(one: .random(in: 1 ... .max) | 1, other: .random(in: 1 ... .max) | 1)

  @inline(__always)
  func callAsFunction(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    guard let base = bytes.baseAddress else { return 0 }
    var state = other ^ UInt64(truncatingIfNeeded: bytes.count) &* 0x9E37_79B9_7F4A_7C15
    var offset = 0
    while bytes.count &- offset > 16 {
      state = Self.product(Self.word(base, offset) ^ one, Self.word(base, offset &+ 8) ^ state)
      offset &+= 16
    }
    let (first, last) = Self.tail(base + offset, bytes.count &- offset)
    let hash = Self.product(first ^ one, last ^ state)
    return UInt32(truncatingIfNeeded: hash ^ hash &>> 32)
  }

  /// Returns up to 16 bytes as two words, which overlap.
  @inline(__always)
  private static func tail(_ base: UnsafeRawPointer, _ count: Int) -> (UInt64, UInt64) {
    if count >= 8 { return (word(base, 0), word(base, count &- 8)) }
    if count >= 4 {
      return (
        UInt64(base.loadUnaligned(as: UInt32.self)),
        UInt64(base.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self))
      )
    }
    guard count > 0 else { return (0, 0) }
    let bytes = base.assumingMemoryBound(to: UInt8.self)
    return (UInt64(bytes[0]) | UInt64(bytes[count &>> 1]) &<< 8, UInt64(bytes[count &- 1]))
  }

  @inline(__always)
  private static func word(_ base: UnsafeRawPointer, _ offset: Int) -> UInt64 {
    base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
  }

  @inline(__always)
  private static func product(_ one: UInt64, _ other: UInt64) -> UInt64 {
    let (high, low) = one.multipliedFullWidth(by: other)
    return high ^ low
  }
}
