import SatchelStorage

/// Which object stores are known to heed conditions: asking costs some requests, and once in a while is enough.
///
/// A success is remembered in the satchel file where the store has an identity, and else while the value lives. What
/// failed is asked again each time.
package struct ProbedStores: Sendable {
  /// How long a success counts, in milliseconds: a store may be replaced by another at the same address.
  package static let validity: Int64 = 30 * 24 * 60 * 60 * 1000

  private struct Known {
    weak var store: AnyObject?
    var prefix: ObjectPrefix
  }

  /// Stores without an identity that passed.
  private static let living = Guarded<[Known]>([])

  private let database: Database?

  /// - Parameter database: where a success is remembered; nil for nowhere
  package init(_ database: Database?) { self.database = database }

  /// Makes sure that a store heeds conditions; asks it only when that is not known. Not to be called in a transaction.
  ///
  /// - Parameters:
  ///   - asked: is sent the requests; the store itself, or one around it
  ///   - prefix: where the probe's object is written; what passed there is known for there only
  /// - Throws: `SatchelError` (`invalid`) when the store ignores conditions, or what remembering met;
  ///   `ObjectStoreError` that asking met
  package func check(
    _ store: any ObjectStore, asking asked: any ObjectStore, under prefix: ObjectPrefix,
    retry: Retry = Retry(), cancellation: Cancellation = .never
  ) throws {
    if try isKnown(store, prefix) { return }
    let verdict = try ConditionProbe().probe(
      asked, under: prefix, retry: retry, cancellation: cancellation)
    if case .ignored(let what) = verdict {
      throw SatchelError(
        .invalid,
        "the object store ignores conditions, so that two devices at once could overwrite each other: \(what)"
      )
    }
    try remember(store, prefix)
  }

  // MARK: Memory

  private func isKnown(_ store: any ObjectStore, _ prefix: ObjectPrefix) throws -> Bool {
    guard let identity = store.identity, let database else {
      let object = Self.object(store)
      return Self.living.withLock { living in
        living.removeAll { $0.store == nil }
        return living.contains { $0.store === object && $0.prefix.text == prefix.text }
      }
    }
    guard try database.prepare(RemoteSchema.subject) else { return false }
    return try database.read { connection in
      let now = try database.time(connection)
      let passed = try connection.first(
        "SELECT passed FROM remote_probe WHERE remote = ? AND prefix = ?", .text(identity),
        .text(prefix.text)
      ) { try $0.integer(0) }
      // One that is told to have passed in the future was told by a clock that was wrong.
      guard let passed, passed >= 0, passed <= now else { return false }
      return now - passed < Self.validity
    }
  }

  private func remember(_ store: any ObjectStore, _ prefix: ObjectPrefix) throws {
    guard let identity = store.identity, let database else {
      // Only what is an object can be known again.
      guard let object = Self.object(store) else { return }
      Self.living.withLock { $0.append(Known(store: object, prefix: prefix)) }
      return
    }
    guard !database.options.isReadOnly else { return }
    try database.write { transaction in
      try transaction.connection.run(
        "INSERT OR REPLACE INTO remote_probe(remote, prefix, passed) VALUES(?, ?, ?)", .text(identity),
        .text(prefix.text), .integer(transaction.now))
    }
  }

  private static func object(_ store: any ObjectStore) -> AnyObject? {
    type(of: store) is AnyClass ? store as AnyObject : nil
  }
}
