import SatchelCore

/// The ids and digests of a result, which a live query keeps instead of documents.
///
/// The digest of a record covers its revision, times, status and document, so that a migration, which leaves
/// the revision, is a change too.
final class LiveState: Sendable {
  /// The ids, one after the other, and their lengths.
  private let ids: [UInt8]
  private let lengths: [UInt8]
  private let digests: [Int]

  private init(_ ids: [UInt8], _ lengths: [UInt8], digests: [Int]) {
    (self.ids, self.lengths, self.digests) = (ids, lengths, digests)
  }

  /// A result that is being read.
  struct Builder {
    private var ids: [UInt8] = []
    private var lengths: [UInt8] = []
    private var digests: [Int] = []

    /// - Throws: as `Candidate.plain`
    mutating func add(_ candidate: borrowing Candidate, for query: CompiledQuery) throws {
      var hasher = try Self.metadata(candidate)
      if query.wantsDocuments {
        try candidate.plain { document in
          guard let projection = query.projection else { return hasher.combine(bytes: document) }
          projection.apply(to: document).withUnsafeBytes { hasher.combine(bytes: $0) }
        }
      }
      add(candidate.key, hasher)
    }

    /// - Parameter more: the rest of a hit
    /// - Throws: as `Candidate.plain`
    mutating func add(_ candidate: borrowing Candidate, _ more: [UInt8]) throws {
      var hasher = try Self.metadata(candidate)
      try candidate.plain { hasher.combine(bytes: $0) }
      more.withUnsafeBytes { hasher.combine(bytes: $0) }
      add(candidate.key, hasher)
    }

    mutating func add(_ id: [UInt8], _ content: [UInt8]) {
      var hasher = Hasher()
      content.withUnsafeBytes { hasher.combine(bytes: $0) }
      id.withUnsafeBytes { add($0, hasher) }
    }

    private static func metadata(_ candidate: borrowing Candidate) throws -> Hasher {
      var hasher = Hasher()
      hasher.combine(candidate.revision)
      hasher.combine(candidate.created)
      hasher.combine(candidate.modified)
      hasher.combine(try candidate.syncStatus().rawValue)
      return hasher
    }

    private mutating func add(_ key: UnsafeRawBufferPointer, _ hasher: Hasher) {
      // No id is longer; one in a damaged file is distinguished by its beginning, like the key of a group.
      let id = key.prefix(Int(UInt8.max))
      ids.append(contentsOf: id)
      lengths.append(UInt8(truncatingIfNeeded: id.count))
      digests.append(hasher.finalize())
    }

    var state: LiveState { LiveState(Self.exact(ids), Self.exact(lengths), digests: Self.exact(digests)) }

    /// Returns a copy without the memory that was reserved for more elements.
    private static func exact<Element>(_ list: [Element]) -> [Element] {
      var copy: [Element] = []
      copy.reserveCapacity(list.count)
      copy.append(contentsOf: list)
      return copy
    }
  }

  func isSame(as other: LiveState) -> Bool {
    self === other || hasSameIDs(as: other) && digests == other.digests
  }

  private func hasSameIDs(as other: LiveState) -> Bool { lengths == other.lengths && ids == other.ids }

  private var keys: [ArraySlice<UInt8>] {
    var start = 0
    return lengths.map { length in
      defer { start += Int(length) }
      return ids[start..<start + Int(length)]
    }
  }

  /// Returns what makes this result of another one; of none, all records are inserted.
  func changes(since old: LiveState?) -> RecordChanges {
    let keys = keys
    func text(_ key: ArraySlice<UInt8>) -> String { String(decoding: key, as: UTF8.self) }
    var changes = RecordChanges()
    guard let old else {
      changes.inserted = keys.map(text)
      return changes
    }
    if hasSameIDs(as: old) {
      changes.changed = keys.indices.filter { digests[$0] != old.digests[$0] }.map { text(keys[$0]) }
      return changes
    }
    let oldKeys = old.keys
    let positions = Dictionary(zip(oldKeys, oldKeys.indices)) { first, _ in first }
    var isKept = [Bool](repeating: false, count: oldKeys.count)
    var kept: [(key: ArraySlice<UInt8>, position: Int)] = []
    for (number, key) in keys.enumerated() {
      guard let position = positions[key] else {
        changes.inserted.append(text(key))
        continue
      }
      isKept[position] = true
      kept.append((key, position))
      if digests[number] != old.digests[position] { changes.changed.append(text(key)) }
    }
    changes.removed = oldKeys.indices.filter { !isKept[$0] }.map { text(oldKeys[$0]) }
    let staying = Self.ascending(kept.map(\.position))
    changes.moved = kept.filter { !staying.contains($0.position) }.map { text($0.key) }
    return changes
  }

  /// Returns the longest ascending subsequence: with it, the fewest records are moved.
  private static func ascending(_ positions: [Int]) -> Set<Int> {
    // For each length, the index of the smallest last element of a subsequence.
    var ends: [Int] = []
    var previous = [Int?](repeating: nil, count: positions.count)
    for (index, position) in positions.enumerated() {
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = (low + high) / 2
        if positions[ends[middle]] < position { low = middle + 1 } else { high = middle }
      }
      previous[index] = low > 0 ? ends[low - 1] : nil
      if low == ends.count { ends.append(index) } else { ends[low] = index }
    }
    var found: Set<Int> = []
    var index = ends.last
    while let current = index {
      found.insert(positions[current])
      index = previous[current]
    }
    return found
  }
}

/// The differences between a result of a live query and the one before, by ids.
public struct RecordChanges: Equatable, Sendable {
  /// In the order of the new result.
  public var inserted: [String] = []
  /// In the order of the old result.
  public var removed: [String] = []
  /// Those whose place among the records of both results is another; the fewest that are.
  public var moved: [String] = []
  /// Those of both results whose document or metadata is another.
  public var changed: [String] = []

  public init() {}
}

/// A result of a live query.
public struct LiveResult: Sendable {
  public var records: [Record]
  /// The changes since the result that was reported before; of the first one, all records are inserted.
  public var changes: RecordChanges
}
