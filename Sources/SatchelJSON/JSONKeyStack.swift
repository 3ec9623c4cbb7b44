#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The keys of all objects that are open, innermost last, so that duplicates are found without a hash table.
///
/// Few keys are compared as they come. Beyond `fewKeys` they are sorted once, when their object ends, which
/// keeps the cost at n log n whatever the keys are.
struct JSONKeyStack {
  private static let fewKeys = 12
  private let base: UnsafePointer<UInt8>
  private var slices: ContiguousArray<JSONSlice> = []

  init(_ base: UnsafePointer<UInt8>) {
    self.base = base
    slices.reserveCapacity(64)
  }

  var count: Int { slices.count }

  func last(before index: Int) -> JSONSlice? { index > 0 && index <= slices.count ? slices[index - 1] : nil }

  mutating func truncate(to count: Int) { slices.removeSubrange(count...) }

  /// Adds a key to the object whose keys begin at `first`.
  ///
  /// - Returns: whether one of its first keys has the same bytes.
  @inline(__always)
  mutating func append(_ slice: JSONSlice, frame first: Int) -> Bool {
    var isDuplicate = false
    if slices.count - first <= Self.fewKeys {
      for index in first..<slices.count where isEqual(slices[index], slice) { isDuplicate = true }
    }
    slices.append(slice)
    return isDuplicate
  }

  /// A key of the object that stands there twice, among many or behind escapes.
  func duplicate(from first: Int, hasEscapedKey: Bool) -> JSONSlice? {
    if hasEscapedKey {
      var seen: Set<String> = []
      // Text, not Character by Character: "é" and its decomposed form are two keys.
      return slices[first...].first { !seen.insert(JSONEscape.identity(of: text($0))).inserted }
    }
    guard slices.count - first > Self.fewKeys else { return nil }
    let sorted = slices[first...].sorted { isOrdered($0, $1) }
    for index in sorted.indices.dropFirst() where isEqual(sorted[index - 1], sorted[index]) {
      return sorted[index - 1].start > sorted[index].start ? sorted[index - 1] : sorted[index]
    }
    return nil
  }

  /// The key as text, escapes resolved.
  func text(_ slice: JSONSlice) -> String {
    JSONEscape.resolved(UnsafeRawBufferPointer(start: base + slice.start, count: slice.count))
  }

  func holdsNul(_ slice: JSONSlice) -> Bool { text(slice).utf8.contains(0) }

  private func isEqual(_ one: JSONSlice, _ other: JSONSlice) -> Bool {
    one.count == other.count && memcmp(base + one.start, base + other.start, one.count) == 0
  }

  private func isOrdered(_ one: JSONSlice, _ other: JSONSlice) -> Bool {
    if one.count != other.count { return one.count < other.count }
    return memcmp(base + one.start, base + other.start, one.count) < 0
  }
}
