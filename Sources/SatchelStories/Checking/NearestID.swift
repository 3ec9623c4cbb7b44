import SatchelJSON

/// Finds the nearest existing ids to misspelt ones; of equally near ids, the first in the file.
///
/// A distance of one edit is found by looking up the id without each of its bytes, in time proportional to
/// the ids. A distance of two edits is found by comparing with every id, within a limit on the cost.
struct NearestID {
  /// The maximum number of pairs of a missing id and an existing one for which comparing costs less than
  /// building a table.
  private static let maxComparedPairs = 1_000_000
  /// The maximum total size of the missing ids that are looked up, in bytes: each byte takes about 40 bytes
  /// of memory.
  private static let maxLookUpBytes = 2_000_000
  /// The lengths of missing ids that are searched: shorter ones are near to every id, and longer ones are not
  /// misspellings.
  private static let lengths = 2...256

  /// The maximum sum of compared pairs and computed cells of distance tables.
  private static let maxSteps = 200_000_000

  private let analysis: StoryAnalysis
  private let missing: [[UInt8]]
  private var distance = EditDistance()

  private init(_ missing: [[UInt8]], _ analysis: StoryAnalysis) {
    self.analysis = analysis
    self.missing = missing
  }

  /// Returns, for each missing id with a near one, the segment that has the nearest.
  ///
  /// - Parameter missing: distinct ids, the most important first
  static func segments(for missing: some Sequence<[UInt8]>, in analysis: StoryAnalysis) -> [[UInt8]: Int] {
    var bytes = 0
    let searched = Array(
      missing.filter { lengths.contains($0.count) }.prefix {
        bytes += $0.count
        return bytes <= maxLookUpBytes
      })
    guard searched.count > maxComparedPairs / max(1, analysis.table.segments.count) else {
      return compare(searched, in: analysis)
    }
    var found = lookUp(searched, in: analysis)
    let rest = searched.filter { maxEdits($0) > 1 && found[$0] == nil }
    guard !rest.isEmpty else { return found }
    found.merge(compare(rest, in: analysis)) { one, _ in one }
    return found
  }

  /// Returns the maximum distance: one edit for every three bytes, and at most two, so that "ab" is not near
  /// "xy".
  private static func maxEdits(_ text: [UInt8]) -> Int { min(2, max(1, text.count / 3)) }

  private func id(_ segment: Int) -> UnsafeRawBufferPointer {
    analysis.table.text.bytes(analysis.table.segments[segment].id)
  }

  // MARK: - Comparing

  /// Returns the nearest ids within the maximum distance, by comparing each missing id with each existing
  /// one.
  static func compare(_ missing: [[UInt8]], in analysis: StoryAnalysis) -> [[UInt8]: Int] {
    var search = NearestID(missing, analysis)
    return search.compareAll()
  }

  private mutating func compareAll() -> [[UInt8]: Int] {
    guard !missing.isEmpty else { return [:] }
    let ids = ContiguousArray(
      analysis.table.segments.indices.map { (signature: Self.signature(id($0)), count: id($0).count) })
    var result: [[UInt8]: Int] = [:]
    var pairs = 0
    for text in missing {
      pairs += ids.count
      guard pairs + distance.cells <= Self.maxSteps else { break }
      let signature = text.withUnsafeBytes { Self.signature($0) }
      var bound = Self.maxEdits(text) + 1
      for (segment, other) in ids.enumerated() {
        // An edit changes the length by at most one, and at most two byte classes.
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

  /// Returns the set of byte classes that occur in a string.
  private static func signature(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    bytes.reduce(0) { $0 | 1 << UInt64($1 & 63) }
  }

  // MARK: - Looking up

  /// Returns the nearest ids within one edit.
  static func lookUp(_ missing: [[UInt8]], in analysis: StoryAnalysis) -> [[UInt8]: Int] {
    var search = NearestID(missing, analysis)
    let found = search.lookUpAll()
    return zip(missing, found).reduce(into: [:]) { result, pair in result[pair.0] = pair.1 }
  }

  /// A string without the byte at an offset, identified by its hash.
  private struct Deletion: Hashable {
    var hash: UInt64
    var offset: Int
  }

  private mutating func lookUpAll() -> [Int?] {
    var found = missing.map { transposedOrWithExtraByte($0) }
    var hashes = VariantHash()
    var wholes: [UInt64: Int] = [:]
    // The strings that share a deletion, as linked lists in one array.
    var deletions: [Deletion: Int] = [:]
    var entries: ContiguousArray<(text: Int32, next: Int32)> = []
    var hasLength = [Bool](repeating: false, count: Self.lengths.upperBound + 2)
    for (index, text) in missing.enumerated() where Self.lengths.contains(text.count) {
      hasLength[text.count] = true
      text.withUnsafeBytes { bytes in
        wholes[VariantHash.whole(bytes)] = index
        hashes.forEach(bytes) { offset, hash in
          let key = Deletion(hash: hash, offset: offset)
          let next = deletions.updateValue(entries.count, forKey: key) ?? -1
          entries.append((Int32(truncatingIfNeeded: index), Int32(truncatingIfNeeded: next)))
        }
      }
    }
    for segment in analysis.table.segments.indices {
      let bytes = id(segment)
      guard bytes.count > 0, bytes.count < hasLength.count,
        hasLength[bytes.count] || hasLength[bytes.count - 1]
      else { continue }
      hashes.forEach(bytes) { offset, hash in
        // An insertion into the missing id.
        if let index = wholes[hash] { record(segment, for: index, &found) }
        // A substitution. The first segment is nearest to all strings that share the deletion.
        guard hasLength[bytes.count] else { return }
        var entry = deletions.removeValue(forKey: Deletion(hash: hash, offset: offset)) ?? -1
        while entry >= 0 {
          record(segment, for: Int(entries[entry].text), &found)
          entry = Int(entries[entry].next)
        }
      }
    }
    return found
  }

  private mutating func record(_ segment: Int, for index: Int, _ found: inout [Int?]) {
    guard segment < found[index] ?? .max, distance.between(missing[index], id(segment), below: 2) != nil
    else {
      return
    }
    found[index] = segment
  }

  /// Returns the first segment whose id is the string with two bytes transposed or one byte deleted.
  private func transposedOrWithExtraByte(_ text: [UInt8]) -> Int? {
    var first: Int?
    var variant = text
    func lookUpVariant() {
      let segment = variant.withUnsafeBytes { raw in
        raw.isEmpty ? nil : analysis.graph.ids.find(raw)
      }
      if let segment { first = min(first ?? .max, segment) }
    }
    for index in text.indices.dropLast() where text[index] != text[index + 1] {
      variant.swapAt(index, index + 1)
      lookUpVariant()
      variant.swapAt(index, index + 1)
    }
    // From the last byte to the first: each byte moves into the gap after it.
    guard var left = variant.popLast() else { return nil }
    lookUpVariant()
    for index in variant.indices.reversed() {
      swap(&variant[index], &left)
      lookUpVariant()
    }
    return first
  }
}
