import SatchelCore

/// A parsed page of a table's B-tree.
struct BTreePage {
  struct Cell {
    /// The row number; 0 in a table WITHOUT ROWID.
    var key: Int64
    /// The payload's size in bytes.
    var size: Int
    /// The range of the payload's first bytes in the page.
    var local: Range<Int>
    /// The first overflow page.
    var overflow: Int?
  }

  /// The numbers of the child pages; 0 for an unreadable one.
  var children: [Int] = []
  var cells: [Cell] = []
  /// The number of malformed cells.
  var badCells = 0

  /// Parses a page.
  ///
  /// - Returns: nil when it is not a page of such a B-tree
  init?(_ page: [UInt8], number: Int, hasRowID: Bool, _ file: PageFile) {
    let start = number == 1 ? 100 : 0
    let (interior, leaf): (UInt8, UInt8) = hasRowID ? (5, 13) : (2, 10)
    let kind = page[start]
    guard kind == interior || kind == leaf else { return nil }
    let isLeaf = kind == leaf
    let head = start + (isLeaf ? 8 : 12)
    let count = page.number(2, at: start + 3)
    guard head + 2 * count <= file.usable else { return nil }
    for index in 0..<count {
      var offset = page.number(2, at: head + 2 * index)
      guard offset >= head + 2 * count, offset < file.usable else {
        if isLeaf { badCells += 1 } else { children.append(0) }
        continue
      }
      if !isLeaf {
        children.append(page.number(4, at: offset))
        offset += 4
        // In a table with row numbers, only leaves contain rows.
        if hasRowID { continue }
      }
      guard let cell = Self.cell(page, at: offset, hasRowID: hasRowID, usable: file.usable) else {
        badCells += 1
        continue
      }
      cells.append(cell)
    }
    if !isLeaf { children.append(page.number(4, at: start + 8)) }
  }

  private static func cell(_ page: [UInt8], at start: Int, hasRowID: Bool, usable: Int) -> Cell? {
    var offset = start
    guard let (size, length) = page.varint(at: offset), size > 0, size <= 1 << 31 else { return nil }
    offset += length
    var key: Int64 = 0
    if hasRowID {
      guard let (value, length) = page.varint(at: offset) else { return nil }
      key = value
      offset += length
    }
    let maxLocal = hasRowID ? usable - 35 : (usable - 12) * 64 / 255 - 23
    let total = Int(size)
    if total <= maxLocal {
      guard offset + total <= usable else { return nil }
      return Cell(key: key, size: total, local: offset..<offset + total, overflow: nil)
    }
    let minLocal = (usable - 12) * 32 / 255 - 23
    let fitting = minLocal + (total - minLocal) % (usable - 4)
    let local = fitting <= maxLocal ? fitting : minLocal
    guard offset + local + 4 <= usable else { return nil }
    return Cell(
      key: key, size: total, local: offset..<offset + local, overflow: page.number(4, at: offset + local))
  }
}

/// A value of a row in the file format (SQLite file format, 2.1).
enum StoredValue: Equatable {
  case null
  case integer(Int64)
  case real(Double)
  case text([UInt8])
  case blob([UInt8])

  /// Parses a record; nil unless all its bytes are accounted for.
  ///
  /// - Parameter sound: the number of bytes before those that may have been lost, and are zeros: only blobs have such
  ///   bytes otherwise
  static func record(_ bytes: [UInt8], sound: Int) -> [StoredValue]? {
    guard let (headSize, first) = bytes.varint(at: 0), headSize >= Int64(first),
      headSize <= Int64(bytes.count)
    else { return nil }
    var offset = first
    var content = Int(headSize)
    var values: [StoredValue] = []
    while offset < Int(headSize) {
      guard let (kind, length) = bytes.varint(at: offset), offset + length <= Int(headSize) else {
        return nil
      }
      offset += length
      guard let (value, size) = value(of: kind, bytes, at: content) else { return nil }
      values.append(value)
      content += size
      if content > sound, size > 0 {
        guard case .blob = value else { return nil }
      }
    }
    return content == bytes.count ? values : nil
  }

  private static func value(of kind: Int64, _ bytes: [UInt8], at start: Int) -> (StoredValue, Int)? {
    switch kind {
    case 0: return (.null, 0)
    case 8, 9: return (.integer(kind - 8), 0)
    case 1...7:
      let size = [1, 2, 3, 4, 6, 8, 8][Int(kind) - 1]
      guard start + size <= bytes.count else { return nil }
      let bits = UInt64(truncatingIfNeeded: bytes.number(size, at: start))
      if kind == 7 { return (.real(Double(bitPattern: bits)), size) }
      let shift = 64 - size * 8
      return (.integer(Int64(bitPattern: bits << shift) >> shift), size)
    case 12...:
      let size = (kind - 12) / 2
      guard size <= Int64(bytes.count - start) else { return nil }
      let content = Array(bytes[start..<start + Int(size)])
      guard kind % 2 == 1 else { return (.blob(content), content.count) }
      // Satchel writes UTF-8 only: any other bytes are damaged.
      guard String(validating: content, as: UTF8.self) != nil else { return nil }
      return (.text(content), content.count)
    default: return nil
    }
  }
}
