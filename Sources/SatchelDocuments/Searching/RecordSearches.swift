import SatchelCore
import SatchelJSON
import SatchelStorage

/// The indexes of texts and of positions that a collection declares.
final class RecordSearches: Sendable {
  let texts: RecordTextIndex?
  let positions: RecordPositionIndex?

  /// Creates the indexes that are declared; nil for none.
  init?(_ declaration: StoredDeclaration, of collection: Int64) throws {
    if declaration.search.isEmpty && declaration.positions.isEmpty { return nil }
    texts =
      declaration.search.isEmpty
      ? nil : try RecordTextIndex(collection: collection, paths: declaration.search)
    positions =
      declaration.positions.isEmpty
      ? nil : try RecordPositionIndex(collection: collection, paths: declaration.positions)
  }

  /// - Throws: `.invalid` for too many paths
  static func checkCounts(_ declaration: CollectionDeclaration) throws {
    for (name, paths, limit) in [
      ("search", declaration.search, RecordTextIndex.maxPaths),
      ("positions", declaration.positions, RecordPositionIndex.maxPaths),
    ] where paths?.count ?? 0 > limit {
      throw SatchelError(
        .invalid, "\(declaration.name): \"\(name)\" has at most \(limit) paths, not \(paths?.count ?? 0)")
    }
  }

  /// Whether two versions of a document have the same bytes at a path.
  static func isSame(_ path: DocumentPath, _ old: DocumentReader, _ new: DocumentReader) -> Bool {
    guard let one = old.find(path), let other = new.find(path) else {
      return old.find(path) == nil && new.find(path) == nil
    }
    return UnsafeRawBufferPointer(rebasing: old.bytes[one.rawRange])
      .hasSameBytes(as: UnsafeRawBufferPointer(rebasing: new.bytes[other.rawRange]))
  }

  /// Updates the indexes for a record that was written; in the transaction that writes it.
  ///
  /// - Parameters:
  ///   - old: the document that was replaced; empty for none
  ///   - new: both as they are stored
  /// - Returns: whether the index of texts was changed
  func changed(
    _ row: Int64, from old: UnsafeRawBufferPointer, to new: UnsafeRawBufferPointer, _ connection: Connection
  ) throws -> Bool {
    let isNew = old.isEmpty
    if let positions, isNew || !positions.hasSamePositions(old, new) {
      try positions.changed(row, new, connection, isKnown: true)
    }
    guard let texts, isNew || !texts.hasSameTexts(old, new) else { return false }
    return try texts.changed(row, new, connection, isKnown: true)
  }

  /// Updates the indexes for a record that was deleted; in the transaction that deletes it.
  ///
  /// - Returns: whether the index of texts was changed
  func removed(_ row: Int64, _ connection: Connection) throws -> Bool {
    try positions?.removed(row, connection, isKnown: true)
    return try texts?.removed(row, connection, isKnown: true) ?? false
  }

  // MARK: All records

  /// Removes what the indexes have of a collection; the next search adds what there is then.
  static func clear(_ collection: Int64, _ connection: Connection) throws {
    try RecordTextIndex.clear(collection, connection)
    try RecordPositionIndex.clear(collection, connection)
  }

  /// Removes what the indexes have of a collection where another declaration has other paths, and where a migration may
  /// have changed every document: what is no longer declared may be sensitive from now on.
  static func clear(
    _ collection: Int64, declared before: StoredDeclaration, now: StoredDeclaration, isMigrated: Bool,
    _ connection: Connection
  ) throws {
    if isMigrated || before.search != now.search { try RecordTextIndex.clear(collection, connection) }
    if isMigrated || before.positions != now.positions {
      try RecordPositionIndex.clear(collection, connection)
    }
  }

  /// Makes the indexes again, empty, for all collections; the next searches fill them.
  static func removeAll(_ connection: Connection) throws {
    guard try RecordSearchState.exists(connection) else { return }
    try RecordTextIndex.removeAll(connection)
    try RecordPositionIndex.removeAll(connection)
  }

  // MARK: Checking

  /// Reports the first defect of each index.
  func check(_ connection: Connection, _ report: (_ table: String, _ message: String) -> Void) throws {
    if let fault = try texts?.fault(connection) { report("record_text", fault) }
    if let fault = try positions?.fault(connection) { report("record_position", fault) }
  }
}

extension RecordWork {
  /// Whether a collection of the store was searched. One that was not has no tables of these indexes.
  private func isSearched() throws -> Bool {
    if let hasSearches { return hasSearches }
    let found = try RecordSearchState.exists(connection)
    hasSearches = found
    return found
  }

  /// Updates the indexes of texts and of positions for a record that was written.
  ///
  /// - Parameters:
  ///   - body: the document as it is stored
  ///   - old: the one that it replaces; nil for none
  func updateSearches(
    _ row: Int64, _ body: UnsafeRawBufferPointer, replacing old: [UInt8]?, in collection: CollectionState
  ) throws {
    guard let searches = try collection.rules.searches, try isSearched() else { return }
    let isChanged = try (old ?? []).withUnsafeBytes {
      try searches.changed(row, from: $0, to: body, connection)
    }
    if isChanged { changesTexts = true }
  }

  /// Updates them for a record that is deleted.
  func removeFromSearches(_ row: Int64, in collection: CollectionState) throws {
    guard let searches = try collection.rules.searches, try isSearched() else { return }
    if try searches.removed(row, connection) { changesTexts = true }
  }
}
