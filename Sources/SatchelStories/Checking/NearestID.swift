/// Finds the ids that misspelt ones were meant to be.
///
/// Every missing id is compared with every id while that is affordable, and two slips are forgiven. Beyond that one slip
/// is, found by looking up what is left of an id without one of its bytes: time grows with the ids, not with ids times
/// missing ones.
struct NearestID {
  /// Pairs that are compared at most; most of them cost one comparison of two words.
  private static let affordablePairs = 200_000_000
  private static let lengths = 2...256

  private let analysis: StoryAnalysis
  private var distance = EditDistance()

  /// Of each missing id that is near to one, the segment that has the nearest.
  static func segments(for missing: Set<[UInt8]>, in analysis: StoryAnalysis) -> [[UInt8]: Int] {
    var search = NearestID(analysis: analysis)
    let missing = missing.filter { lengths.contains($0.count) }
    guard !missing.isEmpty else { return [:] }
    let isAffordable = missing.count <= affordablePairs / max(1, analysis.table.segments.count)
    return isAffordable ? search.compare(missing) : search.lookUp(missing)
  }

  private func id(_ segment: Int) -> UnsafeRawBufferPointer {
    analysis.table.text.bytes(analysis.table.segments[segment].id)
  }

  private mutating func compare(_ missing: Set<[UInt8]>) -> [[UInt8]: Int] {
    let signatures = ContiguousArray(analysis.table.segments.indices.map { Self.signature(id($0)) })
    var result: [[UInt8]: Int] = [:]
    for text in missing {
      let signature = text.withUnsafeBytes { Self.signature($0) }
      // A slip for every three bytes: "ab" is not near "xy".
      var bound = min(2, max(1, text.count / 3)) + 1
      for (segment, other) in signatures.enumerated() {
        // A slip changes at most two kinds of bytes.
        guard (signature ^ other).nonzeroBitCount <= 2 * (bound - 1) else { continue }
        let bytes = id(segment)
        guard !bytes.isEmpty, let found = distance.between(text, bytes, below: bound) else { continue }
        bound = found
        result[text] = segment
      }
    }
    return result
  }

  private mutating func lookUp(_ missing: Set<[UInt8]>) -> [[UInt8]: Int] {
    var variants: [Int: [UInt8]] = [:]
    for text in missing { text.withUnsafeBytes { bytes in Self.forEachVariant(bytes) { variants[$0] = text } } }
    var result: [[UInt8]: Int] = [:]
    for segment in analysis.table.segments.indices {
      let bytes = id(segment)
      guard Self.lengths.contains(bytes.count) else { continue }
      Self.forEachVariant(bytes) { variant in
        guard let text = variants[variant], result[text] == nil else { return }
        if distance.between(text, bytes, below: 2) != nil { result[text] = segment }
      }
    }
    return result
  }

  /// Which kinds of bytes a text holds.
  private static func signature(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    bytes.reduce(0) { $0 | 1 << UInt64($1 & 63) }
  }

  /// Names the text, and the text less each of its bytes, by their hashes.
  private static func forEachVariant(_ bytes: UnsafeRawBufferPointer, _ body: (Int) -> Void) {
    func name(without index: Int) -> Int {
      var hasher = Hasher()
      hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: bytes[..<index]))
      if index < bytes.count { hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: bytes[(index + 1)...])) }
      return hasher.finalize()
    }
    for index in 0...bytes.count { body(name(without: index)) }
  }
}
