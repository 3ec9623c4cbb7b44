import SatchelStorage

/// Fills a new index from the records that are there: sorted first, so that the table grows at its end.
struct IndexBuild {
  private struct Entry {
    var start: Int
    var end: Int
    var row: Int64
  }

  private let connection: Connection
  private let row: CollectionRow
  private let index: CollectionShape.Index

  init(_ connection: Connection, _ row: CollectionRow, _ index: CollectionShape.Index) {
    self.connection = connection
    self.row = row
    self.index = index
  }

  /// - Throws: `.invalid` when the index is unique and two records have one value; it names both
  func run() throws {
    var room: [UInt8] = []
    var entries: [Entry] = []
    try RecordFetch(connection, row).all { candidate in
      let start = room.count
      let field = candidate.document.field(index.path)
      ValueKey.append(field, to: &room)
      if index.isUnique { try checkKind(field, candidate) }
      if room.count > start { entries.append(Entry(start: start, end: room.count, row: candidate.row)) }
      return true
    }
    try room.withUnsafeBytes { room in
      func key(_ entry: Entry) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: room[entry.start..<entry.end])
      }
      entries.sort { left, right in
        let order = key(left).order(against: key(right))
        return order == 0 ? left.row < right.row : order < 0
      }
      if index.isUnique {
        var first = 0
        for position in entries.indices.dropFirst() {
          if key(entries[position]).order(against: key(entries[first])) != 0 {
            first = position
          } else {
            try checkDistinct(
              entries[first..<position].map(\.row), entries[position].row, key(entries[first]))
          }
        }
      }
      let table = ValueTable(connection: connection)
      for entry in entries { try table.insert(index.id, key(entry), entry.row) }
    }
    try connection.run(
      "UPDATE record_index SET entries = ? WHERE id = ?", .integer(Int64(entries.count)), .integer(index.id))
  }

  private func checkKind(_ field: FieldValue, _ candidate: borrowing Candidate) throws {
    switch field {
    case .array, .object:
      throw SatchelError(
        .invalid,
        "\(row.name)/\(String(decoding: candidate.key, as: UTF8.self)): \(index.path.pointer): a unique index is "
          + "of numbers, texts and truth values only")
    default: break
    }
  }

  /// Records with one key have one value, unless that is a text longer than keys are.
  private func checkDistinct(_ others: [Int64], _ place: Int64, _ key: UnsafeRawBufferPointer) throws {
    guard key.first != ValueKey.null else { return }
    for other in others {
      if !ValueKey.decidesOrder(key), try text(other) != text(place) { continue }
      throw SatchelError(
        .invalid,
        "\(row.name): \(index.path.pointer) cannot be unique: \(try id(other)) and \(try id(place)) have one value"
      )
    }
  }

  private func text(_ place: Int64) throws -> [UInt8] {
    let body = try RecordTable(connection: connection).body(place) ?? []
    return body.withUnsafeBytes { DocumentReader($0).field(index.path).withText { Array($0) } ?? [] }
  }

  private func id(_ place: Int64) throws -> String {
    String(decoding: try RecordTable(connection: connection).key(place) ?? [], as: UTF8.self)
  }
}
