import SatchelStorage

/// Finds the row of a variant: the entity id, its scope, and the place it is for.
///
/// Rows beyond setting 'indexed_through' are not in `entity_index` yet: an index of hashes costs a random page
/// for every entity, which is most of what persisting would cost. They are kept here in memory and are merged
/// in sorted order, many payloads at once, inside a payload's own transaction. Nothing depends on the memory:
/// whoever lacks it (another process, a new start) reads the few thousand rows in question.
final class VariantIndex: Sendable {
  /// Rows that may be waiting in memory.
  private static let mostWaiting = 8192

  /// The rows behind `floor`, up to `seen`, by hash.
  private struct Tail {
    var floor: Int64 = 0
    var seen: Int64 = 0
    var rows: [Int64: [Int64]] = [:]

    mutating func add(_ hash: Int64, _ row: Int64) {
      rows[hash, default: []].append(row)
      seen = max(seen, row)
    }
  }

  private let tail = Guarded(Tail())

  struct Variant {
    var entityID: String
    var scope: Scope
    /// Row of the place, 0 for `global`.
    var place: Int64
  }

  /// 64 bits of SHA-256: nobody can make ids that collide.
  static func hash(_ variant: Variant) -> Int64 {
    var hash = SHA256()
    var prefix = (Int64(variant.scope.rawValue).littleEndian, variant.place.littleEndian)
    withUnsafeBytes(of: &prefix) { hash.update($0) }
    var id = variant.entityID
    id.withUTF8 { hash.update(UnsafeRawBufferPointer($0)) }
    var digest: Int64 = 0
    withUnsafeMutableBytes(of: &digest) { hash.digest(into: $0) }
    return Int64(littleEndian: digest)
  }

  // MARK: Looking up

  /// One connection's state of the store, to look several variants up in. Used by the thread that made it.
  final class View {
    private let index: VariantIndex
    private let connection: Connection
    /// Rows up to here are in the index, as this state has it.
    private let floor: Int64
    /// Rows that the memory no longer has: this state is older than a merge, which may have come after it.
    private var older: (through: Int64, rows: [Int64: [Int64]]) = (0, [:])

    fileprivate init(_ index: VariantIndex, _ connection: Connection, floor: Int64) {
      self.index = index
      self.connection = connection
      self.floor = floor
    }

    /// The row of a variant; nil when there is none.
    func find(_ variant: Variant, hash: Int64) throws -> Int64? {
      let (waiting, merged) = index.tail.withLock { ($0.rows[hash] ?? [], $0.floor) }
      if merged > floor, merged > older.through {
        older = (merged, try VariantIndex.scan(connection, from: floor, through: merged))
      }
      for row in waiting + (older.rows[hash] ?? []) {
        if try isVariant(row, variant) { return row }
      }
      let statement = try connection.prepared("SELECT entity FROM entity_index WHERE hash = ?")
      defer { statement.reset() }
      try statement.bind(.integer(hash), at: 1)
      while try statement.step() {
        let row = statement.integer(0)
        if try isVariant(row, variant) { return row }
      }
      return nil
    }

    func find(_ variant: Variant) throws -> Int64? { try find(variant, hash: VariantIndex.hash(variant)) }

    private func isVariant(_ row: Int64, _ variant: Variant) throws -> Bool {
      let statement = try connection.prepared("SELECT entity_id, scope, place FROM entity WHERE id = ?")
      defer { statement.reset() }
      try statement.bind(.integer(row), at: 1)
      guard try statement.step() else { return false }
      var id = variant.entityID
      let bytes = statement.bytes(0)
      return id.withUTF8({ bytes.hasSameBytes(as: UnsafeRawBufferPointer($0)) })
        && statement.integer(1) == Int64(variant.scope.rawValue) && statement.integer(2) == variant.place
    }
  }

  /// Catches up with what a connection sees. Inside a write the view stays true through `add`.
  func view(of connection: Connection) throws -> View {
    let floor = try Self.indexedThrough(connection)
    let newest = try Self.newestRow(connection)
    try tail.withLock { tail in
      // The memory holds all rows between its floor and what it has seen. Others have merged beyond that: it
      // begins anew, rather than with a gap that an older state would fall into.
      if floor > tail.seen { tail = Tail(floor: floor, seen: floor) }
      guard tail.seen < newest else { return }
      for (hash, rows) in try Self.scan(connection, from: tail.seen, through: newest) {
        for row in rows { tail.add(hash, row) }
      }
      tail.seen = newest
    }
    return View(self, connection, floor: floor)
  }

  private static func scan(
    _ connection: Connection, from floor: Int64, through newest: Int64
  ) throws -> [Int64: [Int64]] {
    var rows: [Int64: [Int64]] = [:]
    try connection.each(
      "SELECT id, entity_id, scope, place FROM entity WHERE id > ? AND id <= ?", .integer(floor),
      .integer(newest)
    ) { row in
      guard let scope = Scope(rawValue: Int(row.integer(2))) else { return }
      let variant = Variant(entityID: row.text(1), scope: scope, place: row.integer(3))
      rows[hash(variant), default: []].append(row.integer(0))
    }
    return rows
  }

  static func indexedThrough(_ connection: Connection) throws -> Int64 {
    try connection.number("SELECT value FROM setting WHERE key = 'indexed_through'")
  }

  private static func newestRow(_ connection: Connection) throws -> Int64 {
    try connection.number("SELECT max(id) FROM entity")
  }

  // MARK: Adding

  /// The row that the next new entity takes. Rows are never taken twice, though the newest may be removed:
  /// what other processes remember of a row stays true.
  static func nextRow(_ connection: Connection) throws -> Int64 {
    try max(newestRow(connection), indexedThrough(connection)) + 1
  }

  /// Remembers a row that the transaction has just made.
  func add(_ hash: Int64, row: Int64, in transaction: Transaction) {
    tail.withLock { $0.add(hash, row) }
    transaction.onFailure { [self] in forget() }
  }

  private func forget() { tail.withLock { $0 = Tail(floor: $0.floor, seen: $0.floor, rows: [:]) } }

  /// Merges what waits when it has become much.
  func mergeIfMuch(in transaction: Transaction) throws {
    if tail.withLock({ $0.rows.count }) >= Self.mostWaiting { try merge(in: transaction) }
  }

  /// Brings the index up to date with all rows.
  func merge(in transaction: Transaction) throws {
    let connection = transaction.connection
    let floor = try Self.indexedThrough(connection)
    let newest = try Self.newestRow(connection)
    guard newest > floor else { return }
    _ = try view(of: connection)
    var entries = tail.withLock { tail in
      tail.rows.flatMap { hash, rows in rows.filter { $0 > floor && $0 <= newest }.map { (hash, $0) } }
    }
    entries.sort { $0 < $1 }
    let insert = try connection.prepared("INSERT OR IGNORE INTO entity_index(hash, entity) VALUES(?, ?)")
    defer { insert.reset() }
    for (hash, row) in entries {
      try insert.bind(.integer(hash), at: 1)
      try insert.bind(.integer(row), at: 2)
      _ = try insert.step()
      insert.reset()
    }
    try connection.run(
      "INSERT INTO setting(key, value) VALUES('indexed_through', ?1) ON CONFLICT DO UPDATE SET value = ?1",
      .integer(newest))
    let before = tail.withLock { tail in
      let before = tail
      tail = Tail(floor: newest, seen: newest, rows: [:])
      return before
    }
    transaction.onFailure { [self] in tail.withLock { $0 = Tail(floor: before.floor, seen: before.floor) } }
  }
}
