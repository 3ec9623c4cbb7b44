import SatchelCore
import SatchelJSON
import SatchelStorage

extension PhotoCatalogue {
  /// Returns conflicts of the conflict log, oldest first: local changes that the remote or a file overwrote.
  ///
  /// - Parameters:
  ///   - id: the last conflict of the previous page; 0 for the first page
  ///   - limit: the maximum number of conflicts
  /// - Throws: `.invalid` for a limit less than 1, `.closed`, `.damaged`
  public func conflicts(after id: Int64 = 0, limit: Int = 1000) throws -> [PhotoConflict] {
    guard limit > 0 else { throw SatchelError(.invalid, "limit: \(limit) is less than 1") }
    return try read(otherwise: []) { connection, catalogue in
      try ConflictTable(connection: connection, catalogue: catalogue).rows(after: id, limit: Int64(limit))
    }
  }

  /// Returns the number of conflicts in the conflict log.
  public func conflictCount() throws -> Int64 {
    try read(otherwise: 0) { try ConflictTable(connection: $0, catalogue: $1).count() }
  }

  /// Repeats a change that was overwritten, and removes the conflict from the conflict log. The next sync
  /// uploads the change like any other.
  ///
  /// - Throws: `.notFound` when there is no such conflict, `.readOnly`, `.closed`
  public func reapply(_ id: Int64) throws {
    try withConflict(id) { conflict in
      if let photo = conflict.local { try upsert([photo]) } else { try delete([conflict.md5]) }
    }
  }

  /// Removes a conflict from the conflict log.
  ///
  /// - Throws: `.notFound` when there is no such conflict, `.readOnly`, `.closed`
  public func dismiss(_ id: Int64) throws { try withConflict(id) { _ in } }

  private func withConflict(_ id: Int64, _ body: (PhotoConflict) throws -> Void) throws {
    try write { transaction, catalogue in
      let table = ConflictTable(connection: transaction.connection, catalogue: catalogue)
      guard let conflict = try table.row(id) else {
        throw SatchelError(.notFound, "\(directory): has no conflict \(id)")
      }
      try body(conflict)
      try table.remove(id)
      notify([conflict.md5], in: transaction)
    }
  }
}

/// A local change that was overwritten.
public struct PhotoConflict: Sendable, Equatable, Identifiable, JSONConvertible {
  /// The operation that overwrote the change.
  public enum Cause: String, Sendable {
    /// The remote.
    case sync
    /// An imported file.
    case `import`
  }

  /// The kind of the local change.
  public enum Kind: String, Sendable {
    case upsert, delete
  }

  public var id: Int64
  public var md5: MD5
  /// When it was overwritten: Unix milliseconds.
  public var time: Int64
  public var cause: Cause
  /// The local row that lost; nil for a deletion.
  public var local: Photo?
  /// The row that won; nil when the other side has none.
  public var remote: Photo?
  /// The common version of the row; nil when it did not exist.
  public var base: Photo?

  public var kind: Kind { local == nil ? .delete : .upsert }
  public var shard: Shard.Index { md5.shard }

  /// The conflict as a JSON object: id, md5, shard, time, cause, kind, local, remote, base.
  public var json: JSONValue {
    [
      "id": .int(id), "md5": .string(md5.description), "shard": .int(Int64(shard.number)), "time": .int(time),
      "cause": .string(cause.rawValue), "kind": .string(kind.rawValue), "local": local?.json ?? .null,
      "remote": remote?.json ?? .null, "base": base?.json ?? .null,
    ]
  }
}
