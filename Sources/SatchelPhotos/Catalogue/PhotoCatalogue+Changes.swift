import SatchelStorage

extension PhotoCatalogue {
  /// What changed here since the last agreement with the master, in the order of md5; deletions included.
  ///
  /// - Parameters:
  ///   - md5: of the last change of the page before; nil for the first page
  ///   - limit: how many at most
  /// - Throws: `.invalid` for a limit less than 1, `.closed`, `.damaged`
  public func changes(after md5: MD5? = nil, limit: Int = 1000) throws -> [PhotoChange] {
    guard limit > 0 else { throw SatchelError(.invalid, "limit: \(limit) is less than 1") }
    guard let start = md5.map(\.next) ?? MD5(high: 0, low: 0) else { return [] }
    return try read(otherwise: []) { connection, id in
      var changes: [PhotoChange] = []
      for shard in Shard.Index.all.dropFirst(start.shard.number) where changes.count < limit {
        let record = try ShardTable(connection: connection, catalogue: id).record(shard)
        let bounds = MD5.bounds(of: shard)
        let range = max(start, bounds.lowerBound)...bounds.upperBound
        guard record.hasChanges else { continue }
        try LocalChanges.each(connection, catalogue: id, record: record, in: range) { change in
          // Stored while an upload is under way, though nothing changed.
          if change.local != change.base { changes.append(try Self.change(change)) }
          return changes.count < limit
        }
      }
      return changes
    }
  }

  private static func change(_ change: LocalChange) throws -> PhotoChange {
    func photo(_ line: [UInt8]?) throws -> Photo? {
      try line?.withUnsafeBytes { try PhotoLookup.parse($0, change.md5) }
    }
    return PhotoChange(md5: change.md5, photo: try photo(change.local), base: try photo(change.base))
  }
}
