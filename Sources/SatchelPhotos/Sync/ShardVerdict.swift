import SatchelCore
import SatchelRemote
import SatchelStorage

/// Decides whether a shard's object may be applied. A value without access to disk or network.
///
/// A checksum decides if there is one: the manifest's, or the one that the writer stored with the object.
/// Without either, another program wrote the object and has not yet written the manifest, or the object is
/// damaged. A file has no final newline, so one that was truncated between rows looks complete; only a
/// comparison with the version synchronized last distinguishes the two.
enum ShardVerdict: Equatable, Sendable {
  /// A checksum proves the bytes.
  case proven
  /// No checksum proves the bytes, but they are complete and not a truncation of the version synchronized
  /// last.
  case plausible
  case damaged(ShardDamage)
  /// This device cannot decide.
  case undecided

  /// Judges bytes that no checksum proves.
  ///
  /// - Parameters:
  ///   - contradicted: whether the writer stored another checksum
  ///   - base: the bytes that the manifest names; nil when this device does not have them
  ///   - expected: the number of photos in the manifest's version, if known
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

/// A comparison of an object's rows with those of the version synchronized before.
struct ShardComparison {
  let photos: Int64
  /// Whether each line is a photo of the shard, or a kept line of the earlier version.
  let isWhole: Bool
  /// Whether only the last line is malformed.
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
      for range in before.kept { known[Array(before.bytes[within: before.offsets(range)]), default: 0] += 1 }
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

/// The damage of a shard's object in the remote.
package enum ShardDamage: String, Sendable, CaseIterable, CustomStringConvertible {
  case missing, empty, cut, corrupt, outdated

  /// The reason in words.
  package var description: String {
    switch self {
    case .missing: "there is no object, although the manifest names one"
    case .empty: "the object is empty, although the manifest names photos"
    case .cut: "the object is truncated"
    case .corrupt: "its bytes differ from those that were written"
    case .outdated: "the object is an earlier version than the one last synced"
    }
  }
}

/// Whether an object's bytes are the ones that its writer meant, judged by the object alone.
enum ObjectProof: Sendable {
  /// The bytes have the checksum in the metadata, or the MD5 that is the etag.
  case sound
  /// The bytes do not have the checksum in the metadata.
  case broken
  /// There is nothing to compare the bytes with.
  case unknown

  /// An etag that is the SHA-256 of the body proves nothing: a directory store computes it from the current
  /// bytes.
  init(_ object: StoredObject, checksum: String) {
    let claimed = object.metadata[SyncRemote.checksumName]
    if claimed == checksum {
      self = .sound
    } else if object.etag.text.filter({ $0 != "\"" }) == MD5(of: object.body).description {
      self = .sound
    } else {
      self = claimed == nil ? .unknown : .broken
    }
  }
}
