/// The entries of one block, where they lie.
struct KeyBlock {
  private static let entrySize = 16

  private let bytes: UnsafeRawBufferPointer
  let count: Int

  /// - Throws: `.damaged` for what is no row of entries
  init(_ bytes: UnsafeRawBufferPointer, _ connection: Connection) throws {
    guard bytes.count % Self.entrySize == 0 else {
      throw SatchelError(
        .damaged, "\(connection.path): an index of ids has a block of \(bytes.count) bytes")
    }
    self.bytes = bytes
    count = bytes.count / Self.entrySize
  }

  @inline(__always)
  func hash(at index: Int) -> Int64 { number(at: index * Self.entrySize) }

  func row(at index: Int) -> Int64 { number(at: index * Self.entrySize + 8) }

  func entry(at index: Int) -> KeyBlocks.Entry { (hash(at: index), row(at: index)) }

  @inline(__always)
  private func number(at offset: Int) -> Int64 {
    Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int64.self))
  }

  /// The first entry whose hash is not below one.
  func firstIndex(of hash: Int64) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self.hash(at: middle) < hash { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Its entries and others, both ascending; each once.
  func merged(with others: ArraySlice<KeyBlocks.Entry>) -> [KeyBlocks.Entry] {
    var merged: [KeyBlocks.Entry] = []
    merged.reserveCapacity(count + others.count)
    var index = 0
    for other in others {
      while index < count, entry(at: index) < other {
        merged.append(entry(at: index))
        index += 1
      }
      if index < count, entry(at: index) == other { continue }
      merged.append(other)
    }
    while index < count {
      merged.append(entry(at: index))
      index += 1
    }
    return merged
  }

  /// All but one entry; nil when that is not there.
  func bytes(without entry: KeyBlocks.Entry) -> [UInt8]? {
    var index = firstIndex(of: entry.hash)
    while index < count, self.entry(at: index) < entry { index += 1 }
    guard index < count, self.entry(at: index) == entry else { return nil }
    let start = index * Self.entrySize
    var rest = Array(bytes[..<start])
    rest += bytes[(start + Self.entrySize)...]
    return rest
  }

  static func bytes(of entries: ArraySlice<KeyBlocks.Entry>) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: entries.count * entrySize) { buffer, count in
      let bytes = UnsafeMutableRawBufferPointer(buffer)
      for entry in entries {
        bytes.storeBytes(of: entry.hash.littleEndian, toByteOffset: count, as: Int64.self)
        bytes.storeBytes(of: entry.row.littleEndian, toByteOffset: count + 8, as: Int64.self)
        count += entrySize
      }
    }
  }
}
