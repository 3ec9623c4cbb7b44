extension Store {
  /// Returns the entries of the conflict log, of all subjects, oldest first.
  ///
  /// They are resolved by `RecordCollection.resolve(_:_:)` and `PhotoCatalogue.resolve(_:_:)`.
  ///
  /// - Parameters:
  ///   - id: the last conflict of the previous page; 0 for the first page
  ///   - limit: the maximum number of conflicts
  /// - Throws: `SatchelError` `.invalid` for a limit less than 1; `.unauthorized` for versions of records with sensitive
  ///   fields when the key is not set; `.damaged`, `.closed`, `.io`
  public func conflicts(after id: Int64 = 0, limit: Int = 100) throws -> [ConflictEntry] {
    guard limit > 0 else { throw SatchelError(.invalid, "limit: must be 1 or more") }
    guard try database.has(ConflictSchema.subject) else { return [] }
    return try database.read { connection in
      try ConflictLog(connection).rows(of: nil, after: id, limit: limit).map { row in
        switch row.owner.subject {
        case .records: try recordStore.conflict(row, connection)
        case .photos: try PhotoCatalogue.conflict(row, connection)
        }
      }
    }
  }
}
