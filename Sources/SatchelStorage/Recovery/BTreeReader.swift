import SatchelCore

/// Reads the rows of a table from the readable parts of its B-tree (SQLite file format, 1.6).
///
/// SQLite stops reading a table at its first bad page. This reader handles each page separately, and finds
/// the pages whose parent is destroyed through the pointer map, which has every page's parent.
final class BTreeReader {
  /// The lost parts of a table.
  struct Loss: Equatable {
    /// Destroyed pages; the number of their rows is unknown.
    var pages = 0
    /// Lost rows on readable pages.
    var rows = 0
  }

  private let file: PageFile
  private var visited: [Bool]
  /// The B-tree of each destroyed page.
  private var destroyed: [Int: Int] = [:]
  private var losses: [Int: Loss] = [:]

  init(_ file: PageFile) {
    visited = [Bool](repeating: false, count: file.count + 1)
    self.file = file
  }

  func page(_ number: Int) throws -> [UInt8]? { try file.page(number) }
  func pointer(to number: Int) throws -> (kind: UInt8, parent: Int)? { try file.pointer(to: number) }
  func loss(of root: Int) -> Loss { losses[root] ?? Loss() }

  /// Visits every readable row of the B-tree at `root`.
  ///
  /// - Parameter hasRowID: whether the table has row numbers, as opposed to WITHOUT ROWID
  func rows(
    root: Int, hasRowID: Bool, visit: (_ key: Int64, _ values: [StoredValue]) throws -> Void
  ) throws {
    var waiting = [root]
    while true {
      guard let number = waiting.popLast() else {
        // Then the children of destroyed pages, and their own children; no page is read twice.
        guard let orphans = try orphans(of: root), !orphans.isEmpty else { return }
        waiting = orphans.reversed()
        continue
      }
      guard number >= 1, number < visited.count, !visited[number] else {
        // A pointer past the end of the file, or to a page of another B-tree: the page it should point to is
        // lost.
        losses[root, default: Loss()].pages += 1
        if number >= visited.count { destroyed[number] = root }
        continue
      }
      visited[number] = true
      guard let page = try file.page(number),
        let node = BTreePage(page, number: number, hasRowID: hasRowID, file)
      else {
        destroyed[number] = root
        losses[root, default: Loss()].pages += 1
        continue
      }
      waiting += node.children.reversed()
      losses[root, default: Loss()].rows += node.badCells
      for cell in node.cells {
        guard let (bytes, sound) = try payload(cell, page),
          let values = StoredValue.record(bytes, sound: sound), !values.isEmpty
        else {
          losses[root, default: Loss()].rows += 1
          continue
        }
        try visit(cell.key, values)
      }
    }
  }

  /// Returns the unread pages whose parent is destroyed.
  private func orphans(of root: Int) throws -> [Int]? {
    let lost = Set(destroyed.filter { $0.value == root }.keys)
    guard !lost.isEmpty else { return nil }
    var found: [Int] = []
    for number in 3..<max(3, visited.count) where !visited[number] {
      // 5: a B-tree page that is not a root.
      guard let (kind, parent) = try file.pointer(to: number), kind == 5, lost.contains(parent) else {
        continue
      }
      found.append(number)
    }
    return found
  }

  /// Returns a cell's payload; nil when its chain of overflow pages is broken.
  ///
  /// A page of zeros ends a chain as the last page does: it may be a bad sector, and the bytes on it lost.
  ///
  /// - Returns: the payload, and the number of its bytes before a page of zeros
  private func payload(_ cell: BTreePage.Cell, _ page: [UInt8]) throws -> (bytes: [UInt8], sound: Int)? {
    var bytes = Array(page[cell.local])
    var sound = bytes.count
    guard var next = cell.overflow else { return (bytes, sound) }
    while bytes.count < cell.size {
      guard next > 1, let page = try file.page(next) else { return nil }
      bytes += page[4..<4 + min(file.usable - 4, cell.size - bytes.count)]
      if page.contains(where: { $0 != 0 }) { sound = bytes.count }
      next = page.number(4, at: 0)
    }
    return next == 0 ? (bytes, sound) : nil
  }
}

/// The tables of a database file and the root pages of their B-trees.
struct StoredSchema: Equatable {
  struct Table: Equatable {
    var name: String
    var root: Int
  }

  var tables: [Table] = []

  /// Reads the readable part of `sqlite_schema`, which is a B-tree like others.
  init(_ reader: BTreeReader) throws {
    var found: [Table] = []
    try reader.rows(root: 1, hasRowID: true) { _, values in
      guard values.count >= 4, values[0] == .text(Array("table".utf8)), case .text(let name) = values[1],
        case .integer(let root) = values[3], root > 1
      else { return }
      found.append(Table(name: String(decoding: name, as: UTF8.self), root: Int(clamping: root)))
    }
    tables = found
  }
}
