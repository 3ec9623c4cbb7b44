import SatchelCore
import SatchelJSON
import SatchelStorage

extension PhotoCatalogue {
  /// Returns the local changes since the last sync, in the order of md5; deletions included.
  ///
  /// - Parameters:
  ///   - md5: the last change of the previous page; nil for the first page
  ///   - limit: the maximum number of changes
  /// - Throws: `.invalid` for a limit less than 1, `.closed`, `.damaged`
  public func changes(after md5: MD5? = nil, limit: Int = 1000) throws -> [PhotoChange] {
    guard limit > 0 else { throw SatchelError(.invalid, "limit: \(limit) is less than 1") }
    guard let start = md5.map(\.next) ?? MD5(high: 0, low: 0) else { return [] }
    return try readInterruptibly(otherwise: []) { connection, id in
      var changes: [PhotoChange] = []
      for shard in Shard.Index.all.dropFirst(start.shard.number) where changes.count < limit {
        let record = try ShardTable(connection: connection, catalogue: id).record(shard)
        guard record.hasChanges else { continue }
        let first = max(start, MD5.bounds(of: shard).lowerBound)
        if record.isUnmet {
          let rows = try PhotoLineReader(connection, catalogue: id, shard, from: first)
          while let md5 = rows.md5, changes.count < limit {
            let photo = try PhotoLookup.parse(rows.line, md5)
            changes.append(PhotoChange(md5: md5, photo: photo, base: nil))
            try rows.advance()
          }
          continue
        }
        let table = PhotoTable(connection: connection, catalogue: id)
        let rows = try BaseReader(connection, catalogue: id, shard, from: first)
        while let md5 = rows.md5, let row = rows.row, changes.count < limit {
          let base = try row.base.line.map { try PhotoLookup.parse($0, md5) }
          let photo = try table.photo(md5)
          // A change without effect is stored while an upload is pending.
          if photo != base { changes.append(PhotoChange(md5: md5, photo: photo, base: base)) }
          try rows.advance()
        }
      }
      return changes
    }
  }
}

/// A local change of a photo since the last sync.
public struct PhotoChange: Sendable, Equatable, JSONConvertible {
  public var md5: MD5
  /// The local photo; nil when it was deleted.
  public var photo: Photo?
  /// The photo as it was at the last sync; nil when it is new.
  public var base: Photo?

  public enum Kind: String, Sendable {
    case upsert, delete
  }

  public var kind: Kind { photo == nil ? .delete : .upsert }

  /// The change as a JSON object: md5, kind, photo, base.
  public var json: JSONValue {
    [
      "md5": .string(md5.description), "kind": .string(kind.rawValue), "photo": photo?.json ?? .null,
      "base": base?.json ?? .null,
    ]
  }
}
