import SatchelStorage

/// A shard's file that was read: its content as it is written, and where each line of it stands.
///
/// Made outside of any transaction. Lines only point to bytes: whoever uses them extends this value's lifetime. Memory: 56 bytes a photo, and the file once more when it is not as it would be
/// written.
struct ShardFile {
  /// Bytes from which hashing is worth a thread of its own.
  private static let threadWorth = 1 << 18

  let shard: Shard.Index
  /// The content as it is written: the bytes that were given, or part of them, or `owned`.
  let bytes: UnsafeRawBufferPointer
  /// In the order of their md5.
  let entries: [ShardContent.Entry]
  /// Lines that are no photos, in the order in which they stand.
  let kept: [Range<Int>]
  /// What was not taken of the file as given.
  let rejected: [RejectedRow]
  /// SHA-256 of `bytes`.
  let checksum: String
  /// SHA-256 of the file as given.
  let source: String
  /// Where the first line begins in the buffer that entries refer to.
  private let origin: Int
  private let owned: OwnedBytes?

  /// Reads a file.
  ///
  /// - Parameters:
  ///   - file: must stay as it is while this value is used
  ///   - source: its SHA-256, where it is known
  /// - Throws: `SatchelError` (`invalid`) when more than a million lines are no rows
  init(_ file: UnsafeRawBufferPointer, shard: Shard.Index, source known: String? = nil) throws {
    self.shard = shard
    let hash = known == nil && file.count >= Self.threadWorth ? Hashing(file) : nil
    defer { hash?.wait() }
    let content = try ShardContent(file, shard: shard)
    if content.kept.isEmpty, let whole = Self.whole(content) {
      bytes = file[within: whole]
      origin = whole.lowerBound
      owned = nil
      entries = content.entries
      kept = []
      rejected = content.rejected
    } else {
      let (written, rejected) = try ShardContent.reading(file, shard: shard) {
        ($0.written(from: $1), $0.rejected)
      }
      let owned = OwnedBytes(written)
      // Read again, since lines stand elsewhere now.
      let content = try ShardContent(owned.bytes, shard: shard)
      bytes = owned.bytes
      origin = 0
      self.owned = owned
      entries = content.entries
      kept = content.kept.sorted { $0.lowerBound < $1.lowerBound }
      self.rejected = rejected
    }
    source = known ?? hash?.checksum() ?? Shard.checksum(file)
    checksum = bytes.count == file.count && owned == nil ? source : Shard.checksum(bytes)
  }

  /// A photo's line.
  func line(_ entry: ShardContent.Entry) -> UnsafeRawBufferPointer { bytes[within: place(entry.range)] }

  /// Where a range of an entry or a kept line stands in `bytes`.
  func place(_ range: Range<Int>) -> Range<Int> {
    range.lowerBound - origin..<range.upperBound - origin
  }

  /// A photo's line; nil when the file has none.
  func line(of md5: MD5) -> UnsafeRawBufferPointer? {
    let position = position(of: md5)
    guard position < entries.count, entries[position].md5 == md5 else { return nil }
    return line(entries[position])
  }

  /// The first entry that is not before a photo.
  func position(of md5: MD5) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].md5 < md5 { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Where the rows stand, when they follow each other as they are written.
  private static func whole(_ content: ShardContent) -> Range<Int>? {
    guard let first = content.entries.first, let last = content.entries.last else { return 0..<0 }
    var end = first.range.lowerBound - 1
    for entry in content.entries {
      guard entry.isCanonical, entry.range.lowerBound == end + 1 else { return nil }
      end = entry.range.upperBound
    }
    return first.range.lowerBound..<last.range.upperBound
  }
}
