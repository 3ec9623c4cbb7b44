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
