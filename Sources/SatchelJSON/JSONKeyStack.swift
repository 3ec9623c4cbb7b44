#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The keys of all open objects, innermost last, for the detection of duplicate keys without a hash table.
///
/// The first `linearSearchLimit` keys of an object are compared when they are added. With more keys, all are
/// sorted once at the end of the object, which limits the cost to O(n log n) for any keys.
struct JSONKeyStack {
  private static let linearSearchLimit = 12
  private let base: UnsafePointer<UInt8>
  /// Places for keys. Those from `count` on are free: a place is never removed.
  private var slices: ContiguousArray<JSONSlice> = []
  private(set) var count = 0

  init(_ base: UnsafePointer<UInt8>) {
    self.base = base
    slices.reserveCapacity(64)
  }

  func last(before index: Int) -> JSONSlice? { index > 0 && index <= count ? slices[index - 1] : nil }

  mutating func truncate(to count: Int) { self.count = count }

  /// Adds a key to the object whose keys begin at `first`.
  ///
  /// - Returns: whether one of the object's first keys has the same bytes
  @inline(__always)
  mutating func append(_ slice: JSONSlice, frame first: Int) -> Bool {
    var isDuplicate = false
    if count - first <= Self.linearSearchLimit {
      for index in first..<count where isEqual(slices[index], slice) { isDuplicate = true }
    }
    if count < slices.count { slices[count] = slice } else { slices.append(slice) }
    count += 1
    return isDuplicate
  }

  /// Returns the object's first duplicate key that `append` could not detect: among many keys, or with
  /// escapes.
  func duplicate(from first: Int, hasEscapedKey: Bool) -> JSONSlice? {
    if hasEscapedKey {
      var seen: Set<JSONKey> = []
      return slices[first..<count].first { !seen.insert(JSONKey(text: text($0))).inserted }
    }
    guard count - first > Self.linearSearchLimit else { return nil }
    let sorted = slices[first..<count].sorted { isOrdered($0, $1) }
    var earliest: JSONSlice?
    for (one, other) in zip(sorted, sorted.dropFirst()) where isEqual(one, other) {
      if other.start < earliest?.start ?? Int.max { earliest = other }
    }
    return earliest
  }

  /// Decodes a key.
  func text(_ slice: JSONSlice) -> String {
    JSONEscape.resolved(UnsafeRawBufferPointer(start: base + slice.start, count: slice.count))
  }

  func containsNUL(_ slice: JSONSlice) -> Bool { text(slice).utf8.contains(0) }

  private func isEqual(_ one: JSONSlice, _ other: JSONSlice) -> Bool {
    one.count == other.count && base[one.start] == base[other.start]
      && memcmp(base + one.start, base + other.start, one.count) == 0
  }

  private func isOrdered(_ one: JSONSlice, _ other: JSONSlice) -> Bool {
    if one.count != other.count { return one.count < other.count }
    let order = memcmp(base + one.start, base + other.start, one.count)
    return order == 0 ? one.start < other.start : order < 0
  }
}

extension UnsafeRawBufferPointer {
  package func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    guard count > 0, let one = baseAddress, let two = other.baseAddress else { return true }
    return memcmp(one, two, count) == 0
  }
}
