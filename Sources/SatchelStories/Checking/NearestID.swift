/// Finds the ids that misspelt ones were meant to be: the nearest, and of equally near ones the first of the file.
///
/// One slip is found by looking up what is left of an id without one of its bytes, in time that grows with the ids. Two
/// slips are found by comparing with every id, as long as that is affordable.
struct NearestID {
  /// Pairs of a missing id and another that cost less to compare than a table to look up in.
  private static let fewPairs = 1_000_000
  /// Bytes of missing ids that are looked up: it takes some 40 bytes of memory for each.
  private static let affordableBytes = 2_000_000
  /// Of missing ids; shorter ones are near to anything, and longer ones no slips.
  private static let lengths = 2...256

  /// Pairs that may be looked at, and cells of tables of distances that may be filled, together.
  private static let affordableSteps = 200_000_000

  private let analysis: StoryAnalysis
  private let missing: [[UInt8]]
  private var distance = EditDistance()

  private init(_ missing: [[UInt8]], _ analysis: StoryAnalysis) {
    self.analysis = analysis
    self.missing = missing
  }

  /// Of each missing id that is near to one, the segment that has the nearest.
  ///
  /// - Parameter missing: different ones, the most important first
  static func segments(for missing: some Sequence<[UInt8]>, in analysis: StoryAnalysis) -> [[UInt8]: Int] {
    var bytes = 0
    let affordable = Array(
      missing.filter { lengths.contains($0.count) }.prefix {
        bytes += $0.count
        return bytes <= affordableBytes
      })
    guard affordable.count > fewPairs / max(1, analysis.table.segments.count) else {
      return compare(affordable, in: analysis)
    }
    var found = lookUp(affordable, in: analysis)
    let rest = affordable.filter { slips($0) > 1 && found[$0] == nil }
    guard !rest.isEmpty else { return found }
    found.merge(compare(rest, in: analysis)) { one, _ in one }
    return found
  }

  /// How many slips are forgiven: one for every three bytes, and two at most; "ab" is not near "xy".
  private static func slips(_ text: [UInt8]) -> Int { min(2, max(1, text.count / 3)) }

  private func id(_ segment: Int) -> UnsafeRawBufferPointer {
    analysis.table.text.bytes(analysis.table.segments[segment].id)
  }

  // MARK: - Comparing

  /// The nearest within the slips that are forgiven, by comparing each with each.
  static func compare(_ missing: [[UInt8]], in analysis: StoryAnalysis) -> [[UInt8]: Int] {
    var search = NearestID(missing, analysis)
    return search.compared()
  }

  private mutating func compared() -> [[UInt8]: Int] {
    guard !missing.isEmpty else { return [:] }
    let ids = ContiguousArray(
      analysis.table.segments.indices.map { (signature: Self.signature(id($0)), count: id($0).count) })
    var result: [[UInt8]: Int] = [:]
    var pairs = 0
    for text in missing {
      pairs += ids.count
      guard pairs + distance.cells <= Self.affordableSteps else { break }
      let signature = text.withUnsafeBytes { Self.signature($0) }
      var bound = Self.slips(text) + 1
      for (segment, other) in ids.enumerated() {
        // A slip changes the length by at most one, and at most two kinds of bytes.
        guard other.count > 0, abs(other.count - text.count) < bound,
          (signature ^ other.signature).nonzeroBitCount <= 2 * (bound - 1),
          let found = distance.between(text, id(segment), below: bound)
        else { continue }
        bound = found
        result[text] = segment
        if found <= 1 { break }
      }
    }
    return result
  }

  /// Which kinds of bytes a text holds.
  private static func signature(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    bytes.reduce(0) { $0 | 1 << UInt64($1 & 63) }
  }

  // MARK: - Looking up

  /// The nearest within one slip.
  static func lookUp(_ missing: [[UInt8]], in analysis: StoryAnalysis) -> [[UInt8]: Int] {
    var search = NearestID(missing, analysis)
    let found = search.lookedUp()
    return zip(missing, found).reduce(into: [:]) { result, pair in result[pair.0] = pair.1 }
  }

  /// A text without the byte at a place.
  private struct Gap: Hashable {
    var hash: UInt64
    var place: Int
  }

  private mutating func lookedUp() -> [Int?] {
    var found = missing.map { exchangedOrTooMany($0) }
    var hashes = VariantHash()
    var wholes: [UInt64: Int] = [:]
    // Texts that share a gap, as lists in one array.
    var gaps: [Gap: Int] = [:]
    var entries: ContiguousArray<(text: Int32, next: Int32)> = []
    var hasLength = [Bool](repeating: false, count: Self.lengths.upperBound + 2)
    for (index, text) in missing.enumerated() where Self.lengths.contains(text.count) {
      hasLength[text.count] = true
      text.withUnsafeBytes { bytes in
        wholes[VariantHash.whole(bytes)] = index
        hashes.forEach(bytes) { place, hash in
          let next = gaps.updateValue(entries.count, forKey: Gap(hash: hash, place: place)) ?? -1
          entries.append((Int32(truncatingIfNeeded: index), Int32(truncatingIfNeeded: next)))
        }
      }
    }
    for segment in analysis.table.segments.indices {
      let bytes = id(segment)
      guard bytes.count > 0, bytes.count < hasLength.count,
        hasLength[bytes.count] || hasLength[bytes.count - 1]
      else { continue }
      hashes.forEach(bytes) { place, hash in
        // One byte too few.
        if let index = wholes[hash] { take(segment, for: index, &found) }
        // Another one. The first segment is nearest to all that share the gap.
        guard hasLength[bytes.count] else { return }
        var entry = gaps.removeValue(forKey: Gap(hash: hash, place: place)) ?? -1
        while entry >= 0 {
          take(segment, for: Int(entries[entry].text), &found)
          entry = Int(entries[entry].next)
        }
      }
    }
    return found
  }

  private mutating func take(_ segment: Int, for index: Int, _ found: inout [Int?]) {
    guard segment < found[index] ?? .max, distance.between(missing[index], id(segment), below: 2) != nil
    else {
      return
    }
    found[index] = segment
  }

  /// The first segment that a text leads to with two bytes exchanged, or one left out.
  private func exchangedOrTooMany(_ text: [UInt8]) -> Int? {
    var first: Int?
    var variant = text
    func look() {
      let segment = variant.withUnsafeBytes { raw in
        raw.isEmpty ? nil : analysis.graph.ids.find(raw)
      }
      if let segment { first = min(first ?? .max, segment) }
    }
    for index in text.indices.dropLast() where text[index] != text[index + 1] {
      variant.swapAt(index, index + 1)
      look()
      variant.swapAt(index, index + 1)
    }
    // From the last byte to the first: each byte moves into the gap behind it.
    guard var left = variant.popLast() else { return nil }
    look()
    for index in variant.indices.reversed() {
      swap(&variant[index], &left)
      look()
    }
    return first
  }
}
