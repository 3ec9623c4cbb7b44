import SatchelCore
import SatchelStorage

/// Fills a new index from the existing records: the entries are sorted first, so that the table grows at its
/// end.
struct IndexBuild {
  private struct Entry {
    var start: Int
    var end: Int
    var row: Int64
  }

  private let connection: Connection
  private let row: CollectionState
  private let index: CollectionIndex

  init(_ connection: Connection, _ row: CollectionState, index: CollectionIndex) {
    self.connection = connection
    self.row = row
    self.index = index
  }

  /// Adds an index to a collection.
  ///
  /// - Throws: as `run`
  static func add(
    _ definition: IndexDefinition, isUnique: Bool, to row: CollectionState, _ connection: Connection
  ) throws {
    try connection.run(
      "INSERT INTO record_index(collection, definition, is_unique) VALUES(?, ?, ?)", .integer(row.id),
      .text(definition.text), .integer(isUnique ? 1 : 0))
    let index = CollectionIndex(id: connection.lastInsertedRow, definition, isUnique: isUnique)
    try IndexBuild(connection, row, index: index).run()
  }

  /// - Throws: `.constraint` when the index is unique and two records have the same value; the message names
  ///   both
  func run() throws {
    var buffer: [UInt8] = []
    var entries: [Entry] = []
    // The records without a value, of which any number may be in a unique index.
    var without: Set<Int64> = []
    try RecordFetch(connection, row).all { candidate in
      let (record, id) = (candidate.row, candidate.key)
      try index.eachKey(of: candidate.indexed, into: &buffer) { range, key in
        if index.isUnique {
          if key.hasContainer { throw index.unacceptable(id, in: row) }
          if key.hasNull { without.insert(record) }
        }
        entries.append(Entry(start: range.lowerBound, end: range.upperBound, row: record))
      }
      return true
    }
    try buffer.withUnsafeBytes { buffer in
      func key(_ entry: Entry) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: buffer[entry.start..<entry.end])
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
          } else if !without.contains(entries[position].row) {
            try checkDistinct(
              entries[first..<position].map(\.row), entries[position].row, key: key(entries[first]))
          }
        }
      }
      let table = ValueTable(connection: connection)
      for entry in entries { try table.insert(index.id, key(entry), row: entry.row) }
    }
  }

  /// Records with the same key have the same value, unless it is longer than a key can hold.
  private func checkDistinct(_ others: [Int64], _ record: Int64, key: UnsafeRawBufferPointer) throws {
    for other in others {
      if !ValueKey.decidesOrder(key), try whole(other) != whole(record) { continue }
      let (record, other) = (try id(record), try id(other))
      throw SatchelError(
        .constraint,
        "\(row.name): \(index.pointer) cannot be unique: \(other) and \(record) have the same value",
        underlying: BlockingRecord(name: "\(row.name)/\(other)")
      ).at(.record(row.name, record.utf8, pointer: index.pointer))
    }
  }

  private func whole(_ record: Int64) throws -> [UInt8] {
    try RecordTable(connection: connection).wholeKey(record, index)
  }

  private func id(_ record: Int64) throws -> String {
    String(decoding: try RecordTable(connection: connection).key(record) ?? [], as: UTF8.self)
  }
}
