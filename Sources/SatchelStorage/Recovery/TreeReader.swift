/// Reads the rows of a table out of whatever is left of its tree (SQLite file format, 1.6).
///
/// SQLite gives a table up at its first bad page. Here each page stands for itself, and pages whose parent is
/// destroyed are found again by the pointer map, which tells every page's parent.
final class TreeReader {
  /// What could not be read of a table.
  struct Loss: Equatable {
    /// Pages that are destroyed; how many rows they held is not known.
    var pages = 0
    /// Rows on pages that can be read otherwise.
    var rows = 0
  }

  private let file: PageFile
  private var visited: [Bool]
  /// Destroyed pages, by the tree that they belong to.
  private var destroyed: [Int: Int] = [:]
  private var losses: [Int: Loss] = [:]

  init(_ file: PageFile) {
    visited = [Bool](repeating: false, count: file.count + 1)
    self.file = file
  }

  var pageCount: Int { file.count }
  func page(_ number: Int) throws -> [UInt8]? { try file.page(number) }
  func pointer(to number: Int) throws -> (kind: UInt8, parent: Int)? { try file.pointer(to: number) }
  func loss(of root: Int) -> Loss { losses[root] ?? Loss() }

  /// Visits every row of the tree at `root` that can be read.
  ///
  /// - Parameter isKeyed: whether it is a table with row numbers; else WITHOUT ROWID
  func rows(
    root: Int, isKeyed: Bool, visit: (_ key: Int64, _ values: [StoredValue]) throws -> Void
  ) throws {
    try walk([root], root: root, isKeyed: isKeyed, visit)
    // Those behind a destroyed page, and behind them their own children; a page that is there twice is not read
    // twice.
    while let orphans = try orphans(of: root), !orphans.isEmpty {
      try walk(orphans, root: root, isKeyed: isKeyed, visit)
    }
  }

  private func walk(
    _ start: [Int], root: Int, isKeyed: Bool, _ visit: (Int64, [StoredValue]) throws -> Void
  ) throws {
    var waiting = Array(start.reversed())
    while let number = waiting.popLast() {
      guard number >= 1, number < visited.count, !visited[number] else {
        // A pointer behind the end, or to what another tree has: the page that was meant is lost.
        losses[root, default: Loss()].pages += 1
        if number >= visited.count { destroyed[number] = root }
        continue
      }
      visited[number] = true
      guard let page = try file.page(number),
        let node = TreePage(page, number: number, isKeyed: isKeyed, file)
      else {
        destroyed[number] = root
        losses[root, default: Loss()].pages += 1
        continue
      }
      waiting += node.children.reversed()
      losses[root, default: Loss()].rows += node.badCells
      for cell in node.cells {
        guard let bytes = try payload(cell, page), let values = StoredValue.record(bytes), !values.isEmpty
        else {
          losses[root, default: Loss()].rows += 1
          continue
        }
        try visit(cell.key, values)
      }
    }
  }

  /// Pages that nobody has read and whose parent is destroyed.
  private func orphans(of root: Int) throws -> [Int]? {
    let lost = Set(destroyed.filter { $0.value == root }.keys)
    guard !lost.isEmpty else { return nil }
    var found: [Int] = []
    for number in 3..<max(3, visited.count) where !visited[number] {
      // 5: a page of a tree that is not its root.
      guard let (kind, parent) = try file.pointer(to: number), kind == 5, lost.contains(parent) else {
        continue
      }
      found.append(number)
    }
    return found
  }

  /// All bytes of a cell's payload; nil when its chain of pages is broken.
  private func payload(_ cell: TreePage.Cell, _ page: [UInt8]) throws -> [UInt8]? {
    var bytes = Array(page[cell.local])
    guard var next = cell.overflow else { return bytes }
    while bytes.count < cell.size {
      guard next > 1, let page = try file.page(next) else { return nil }
      bytes += page[4..<4 + min(file.usable - 4, cell.size - bytes.count)]
      next = page.number(4, at: 0)
    }
    return next == 0 ? bytes : nil
  }
}
