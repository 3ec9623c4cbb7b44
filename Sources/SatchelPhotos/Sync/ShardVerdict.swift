import SatchelStorage

/// Whether a shard's object may be applied. A value made from values: it asks neither disk nor network.
///
/// A checksum decides where there is one: the manifest's, or the one that the writer left with the object. Without
/// either, the object is the work of another program that has not yet written the manifest, or it is damaged. A file
/// has no final newline, so one that was cut at a row looks whole; only a comparison with what was synced before
/// tells the two apart.
enum ShardVerdict: Equatable, Sendable {
  /// A checksum proves the bytes.
  case proven
  /// No checksum proves them, but they are whole and no cut of what was synced before.
  case plausible
  case damaged(ShardDamage)
  /// Nothing here can tell.
  case undecided

  /// Judges bytes that no checksum proves.
  ///
  /// - Parameters:
  ///   - contradicted: the writer's own checksum is another one
  ///   - base: the bytes that the manifest names; nil where this device does not have them
  ///   - expected: how many photos the manifest's version has, where that is known
  init(
    unproven object: UnsafeRawBufferPointer, shard: Shard.Index, contradicted: Bool,
    base: UnsafeRawBufferPointer?, expected: Int64?
  ) {
    if object.isEmpty {
      self = .damaged(.empty)
      return
    }
    guard let comparison = try? ShardComparison(object, with: base, shard: shard) else {
      self = .damaged(.corrupt)
      return
    }
    if contradicted || !comparison.isWhole {
      self = .damaged(comparison.endsEarly || comparison.isCut ? .cut : .corrupt)
    } else if base != nil {
      self = comparison.isCut ? .damaged(.cut) : .plausible
    } else if let expected {
      self = comparison.photos >= expected ? .plausible : .damaged(.cut)
    } else {
      self = .undecided
    }
  }
}

/// An object's rows, compared with those of the version that was synced before.
struct ShardComparison {
  let photos: Int64
  /// Whether each line is a photo of the shard, or one that the earlier version kept as well.
  let isWhole: Bool
  /// Whether only the last line is broken.
  let endsEarly: Bool
  /// Whether the object is the earlier version without its end or its beginning.
  let isCut: Bool
  /// Rows that the earlier version does not have.
  let added: [RejectedRow]

  init(_ object: UnsafeRawBufferPointer, with base: UnsafeRawBufferPointer?, shard: Shard.Index) throws {
    let file = try ShardFile(object, shard: shard)
    let before = try base.map { try ShardFile($0, shard: shard) }
    let content = try ShardContent(object, shard: shard)
    photos = Int64(file.entries.count)

    var known: [[UInt8]: Int] = [:]
    if let before {
      for range in before.kept { known[Array(before.bytes[within: before.place(range)]), default: 0] += 1 }
    }
    let strange = content.rejected.filter { row in
      guard let left = known[row.raw], left > 0 else { return true }
      known[row.raw] = left - 1
      return false
    }
    // A row of format 5 at the end of a file of format 6 is one that lost its last column.
    let last = content.entries.max { $0.range.lowerBound < $1.range.lowerBound }
    let losesColumn = last.map { !$0.isCanonical && content.entries.contains(where: \.isCanonical) } ?? false
    isWhole = strange.isEmpty && !losesColumn
    let end = max(last?.line ?? 0, content.rejected.last?.line ?? 0)
    endsEarly = !isWhole && last != nil && strange.allSatisfy { $0.line == end }

    guard let before else {
      (isCut, added) = (false, [])
      return
    }
    var (added, isCutRow) = ([RejectedRow](), false)
    for entry in file.entries {
      let line = file.line(entry)
      let earlier = before.line(of: entry.md5)
      if ShardEdit.isSame(line, earlier) { continue }
      if let earlier, entry.md5 == file.entries.last?.md5, earlier.count > line.count,
        earlier.starts(with: line)
      {
        isCutRow = true
      } else {
        added.append(RejectedRow(line: entry.line, fault: .discarded, raw: Array(line)))
      }
    }
    self.added = added
    let missing = before.entries.indices.filter { file.line(of: before.entries[$0].md5) == nil }
    let isEnd = missing.first.map { $0 + missing.count == before.entries.count } ?? false
    let isBeginning = missing.last.map { $0 + 1 == missing.count } ?? false
    let isPart = object.count < before.bytes.count && before.bytes.starts(with: object)
    isCut = isPart || added.isEmpty && !file.entries.isEmpty && (isCutRow || isEnd || isBeginning)
    withExtendedLifetime((file, before)) {}
  }
}
