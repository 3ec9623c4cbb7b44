import SatchelStorage

extension PhotoCatalogue {
  /// Local changes that lost against the master or a file, oldest first.
  ///
  /// - Parameters:
  ///   - id: of the last one of the page before; 0 for the first page
  ///   - limit: how many at most
  /// - Throws: `.invalid` for a limit less than 1, `.closed`, `.damaged`
  public func conflicts(after id: Int64 = 0, limit: Int = 1000) throws -> [PhotoConflict] {
    guard limit > 0 else { throw SatchelError(.invalid, "limit: \(limit) is less than 1") }
    return try read(otherwise: []) { connection, catalogue in
      try ConflictTable(connection: connection, catalogue: catalogue).rows(after: id, limit: Int64(limit))
    }
  }

  /// How many conflicts are in the log.
  public func conflictCount() throws -> Int64 {
    try read(otherwise: 0) { try ConflictTable(connection: $0, catalogue: $1).count() }
  }

  /// Makes a change that lost again: as any change, it is sent with the next sync. The conflict leaves the log.
  ///
  /// - Throws: `.notFound` when there is no such conflict, `.readOnly`, `.closed`
  public func reapply(_ id: Int64) throws {
    try withConflict(id) { conflict in
      if let photo = conflict.local { try upsert([photo]) } else { try delete([conflict.md5]) }
    }
  }

  /// Takes a conflict out of the log.
  ///
  /// - Throws: `.notFound` when there is no such conflict, `.readOnly`, `.closed`
  public func dismiss(_ id: Int64) throws { try withConflict(id) { _ in } }

  private func withConflict(_ id: Int64, _ body: (PhotoConflict) throws -> Void) throws {
    try write { transaction, catalogue in
      let table = ConflictTable(connection: transaction.connection, catalogue: catalogue)
      guard let conflict = try table.row(id) else {
        throw SatchelError(.notFound, "\(directory): no conflict \(id)")
      }
      try body(conflict)
      try table.remove(id)
      note([conflict.md5], in: transaction)
    }
  }
}
