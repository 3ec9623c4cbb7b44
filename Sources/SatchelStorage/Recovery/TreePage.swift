/// One page of a table's tree, taken apart.
struct TreePage {
  struct Cell {
    /// Row number; 0 in a table without.
    var key: Int64
    /// Bytes of the whole payload.
    var size: Int
    /// Where its first bytes stand in the page.
    var local: Range<Int>
    /// The page where it goes on.
    var overflow: Int?
  }

  /// Page numbers; 0 for one that cannot be read.
  var children: [Int] = []
  var cells: [Cell] = []
  /// Cells that make no sense.
  var badCells = 0

  /// - Returns: nil when it is no page of such a tree
  init?(_ page: [UInt8], number: Int, isKeyed: Bool, _ file: PageFile) {
    let start = number == 1 ? 100 : 0
    let (interior, leaf): (UInt8, UInt8) = isKeyed ? (5, 13) : (2, 10)
    let kind = page[start]
    guard kind == interior || kind == leaf else { return nil }
    let isLeaf = kind == leaf
    let head = start + (isLeaf ? 8 : 12)
    let count = page.number(2, at: start + 3)
    guard head + 2 * count <= file.usable else { return nil }
    for index in 0..<count {
      let offset = page.number(2, at: head + 2 * index)
      guard offset >= head + 2 * count, offset < file.usable else {
        if isLeaf { badCells += 1 } else { children.append(0) }
        continue
      }
      var place = offset
      if !isLeaf {
        children.append(page.number(4, at: place))
        place += 4
        // Of a table with row numbers, only the leaves hold rows.
        if isKeyed { continue }
      }
      guard let cell = Self.cell(page, at: place, isKeyed: isKeyed, usable: file.usable) else {
        badCells += 1
        continue
      }
      cells.append(cell)
    }
    if !isLeaf { children.append(page.number(4, at: start + 8)) }
  }

  private static func cell(_ page: [UInt8], at offset: Int, isKeyed: Bool, usable: Int) -> Cell? {
    var place = offset
    guard let (size, length) = page.variable(at: place), size > 0, size <= 1 << 31 else { return nil }
    place += length
    var key: Int64 = 0
    if isKeyed {
      guard let (value, length) = page.variable(at: place) else { return nil }
      key = value
      place += length
    }
    let most = isKeyed ? usable - 35 : (usable - 12) * 64 / 255 - 23
    let total = Int(size)
    if total <= most {
      guard place + total <= usable else { return nil }
      return Cell(key: key, size: total, local: place..<place + total, overflow: nil)
    }
    let least = (usable - 12) * 32 / 255 - 23
    let fitting = least + (total - least) % (usable - 4)
    let local = fitting <= most ? fitting : least
    guard place + local + 4 <= usable else { return nil }
    return Cell(
      key: key, size: total, local: place..<place + local, overflow: page.number(4, at: place + local))
  }
}
