import SatchelCore
import SatchelDocuments
import SatchelJSON
import SatchelStorage

/// Stores small values that an app changes often: settings, navigation, search history, favourites,
/// behaviour.
///
/// A change is applied in memory, where every read sees it at once. It is saved to the file after the delays
/// of `StateOptions`, by `flush()`, or when the store is closed. Changes are saved, not results, so the
/// changes of several handles and processes add up. A change is not part of the current transaction. Safe to
/// use from any number of threads.
public final class StateStore: Sendable {
  /// The maximum size of a value in bytes, as JSON.
  public static let maximumBytes = 16 << 20
  /// The maximum number of levels of a value: it is stored, spooled and sent inside of other values.
  public static let maximumDepth = 500

  let context: StateContext
  let saver: StateSaver
  var database: Database { context.database }
  var outbox: Outbox { context.outbox }
  var keyring: Keyring { context.keyring }
  /// The declared defaults of values.
  let defaults = Locked(JSONObject())

  /// Reads nothing.
  ///
  /// - Parameter documents: of the same store; its outbox is drained when all entry kinds are registered
  package init(_ documents: RecordStore, options: StateOptions = StateOptions()) {
    let (database, outbox, cache) = (documents.database, documents.outbox, StateCache())
    context = StateContext(documents, cache)
    saver = StateSaver(options: options, spooled: Self.spooled(outbox, database))
    outbox.register(StateEntry.kind, of: .state) { [weak documents, cache] entry, transaction, database in
      let context = try StateContext(of: documents, cache)
      try context.prepare()
      try StateEntry(json: entry, keys: database.keyring.keys).apply(in: transaction, context)
    }
    registerSealed()
    database.whenClosing { [weak self] _ in try self?.close() }
  }

  // The documents are still there, which the steps of closing would not find any more.
  deinit { try? close() }

  /// Saves pending changes for the last time; later changes are rejected.
  private func close() throws { try saver.close(in: context) }

  /// Returns the operations that an earlier handle left in the outbox file and that could not be drained yet;
  /// reads apply them on top of the store.
  private static func spooled(_ outbox: Outbox, _ database: Database) -> [StateOperation] {
    guard outbox.isSpooled, !database.options.isReadOnly else { return [] }
    return outbox.waiting(StateEntry.kind)
      .compactMap { try? StateEntry(json: $0, keys: database.keyring.keys) }.flatMap(\.operations)
  }

  /// Sets when changes are saved.
  public func configure(_ options: StateOptions) { saver.configure(options) }

  // MARK: Values

  /// Sets a value.
  ///
  /// - Parameters:
  ///   - key: 1 to 255 bytes that do not begin with `@stories/`, which is reserved; so for all names of state
  ///   - sensitive: whether the value is stored encrypted (AES-256-GCM), in the outbox file too; requires
  ///     `setKey` first
  ///   - synced: whether the key is synchronized from now on, also when its value is removed and set again;
  ///     nil leaves that as it is. With false, the key's changes are not sent, and those of other devices are
  ///     not applied.
  /// - Returns: the strings of the value of more than 1 MiB, which should be assets; it was set as it is
  /// - Throws: `SatchelError` `.invalid` for an invalid key or value, and for a key that cannot be synchronized: with a
  ///   control character, or more than 249 bytes; `.unauthorized` for a sensitive value without an encryption key;
  ///   `.readOnly`, `.closed`
  @discardableResult
  public func set(
    _ key: String, _ value: JSONValue, sensitive: Bool = false, synced: Bool? = nil
  ) throws -> [DocumentWarning] {
    try set(Self.value(key), value, sensitive: sensitive, synced: synced)
  }

  private static func value(_ key: String) throws -> StateID {
    StateID(.value, try StateName(ofHost: key, as: "key"))
  }

  @discardableResult
  func set(
    _ id: StateID, _ value: JSONValue, sensitive: Bool = false, synced: Bool?
  ) throws -> [DocumentWarning] {
    let mark = try StateMark.requested(synced, of: id)
    return try locating(id.details) {
      let warnings = try Self.check(value, at: id.location)
      if sensitive {
        try seal(value, as: id, marking: mark)
      } else {
        try add(StateTarget(id: id), .set(value), marking: mark)
      }
      return warnings
    }
  }

  /// Sets whether a value is synchronized; see `set(_:_:sensitive:synced:)`.
  ///
  /// - Throws: `SatchelError` `.invalid` for an invalid key, and for one that is too long to be synchronized;
  ///   `.readOnly`, `.closed`
  public func setSynced(_ key: String, _ synced: Bool = true) throws {
    let id = try Self.value(key)
    try mark(id, StateMark.requested(synced, of: id))
  }

  /// Returns a value, or its declared default; nil when the key has neither.
  ///
  /// - Throws: `SatchelError` `.unauthorized` for a sensitive value whose encryption key is not set, `.damaged`
  ///   for one that was modified outside of the library, `.closed`, `.io`
  public func get(_ key: String) throws -> JSONValue? {
    try checkOpen()
    let id = try Self.value(key)
    // Read the store before the keyring: a new key is in the keyring before the first value is sealed with
    // it.
    return try locating(id.details) {
      guard let document = try value(id) else { return defaults.withLock { $0[key] } }
      guard case .value(let value) = try document.opened(keyring.keys) else { return nil }
      return value
    }
  }

  /// Sets a value that is encoded as JSON; see `set(_:_:sensitive:synced:)`.
  // A literal is a JSONValue, which keeps the order of its keys.
  @_disfavoredOverload
  @discardableResult
  public func set<Value: Encodable>(
    _ key: String, _ value: Value, sensitive: Bool = false, synced: Bool? = nil
  ) throws -> [DocumentWarning] {
    let json: JSONValue
    do {
      json = try JSONValue(encoding: value)
    } catch let error as EncodingError {
      throw SatchelError(.invalid, "state/\(key): \(JSONError(error))", underlying: error)
    }
    return try set(key, json, sensitive: sensitive, synced: synced)
  }

  /// Returns a value, decoded; nil when the key has none.
  ///
  /// - Throws: as `get(_:)`, and `.invalid` when it cannot be decoded as that type
  public func get<Value: Decodable>(_ key: String, as type: Value.Type) throws -> Value? {
    guard let value = try get(key) else { return nil }
    do {
      return try value.decode(as: type)
    } catch let error as DecodingError {
      throw SatchelError(.invalid, "state/\(key): \(JSONError(error))", underlying: error)
    }
  }

  /// Removes a value; a sensitive one can be removed without the encryption key.
  public func remove(_ key: String) throws {
    try add(StateTarget(id: Self.value(key)), .remove)
  }

  /// Returns the keys that begin with a prefix, in byte order.
  public func keys(prefix: String = "") throws -> [String] {
    try checkOpen()
    return try read(saver.values(prefix: prefix)) { reader, unsaved in
      var keys = Set(try reader?.names(prefix: prefix) ?? [])
      for operation in unsaved {
        if operation.action == .remove {
          keys.remove(operation.id.name)
        } else {
          keys.insert(operation.id.name)
        }
      }
      return keys.filter { !$0.isReserved }.ordered().map(\.text)
    }
  }

  /// Saves pending changes and drains the outbox file. When it returns, earlier changes survive the end of
  /// the process.
  ///
  /// - Returns: whether the changes are in the store; false when they were spooled, because it cannot be written
  /// - Throws: `SatchelError` `.invalid` inside a transaction of the same thread, which could still be rolled
  ///   back; `.busy` during a batch that was begun on this thread; `.full`, `.io` and others when the outbox
  ///   file could not be written either: the changes stay in memory.
  @discardableResult
  public func flush() throws -> Bool {
    try checkOpen()
    if database.options.isReadOnly { return true }
    guard !database.isInTransaction else {
      throw SatchelError(.invalid, "state cannot be flushed inside a transaction; flush before or after it")
    }
    try database.refuseDuringOtherBatch()
    let isSpooled = try saver.save(in: context)
    return !isSpooled
  }

  // MARK: Lists, sets and scores

  /// Returns a list, the newest item first. Each push applies the bounds of its own handle.
  ///
  /// - Parameters:
  ///   - limit: the maximum number of items; nil for no limit
  ///   - maxAge: the maximum age of an item in milliseconds, by the store's clock; nil for no limit
  ///   - isUnique: whether pushing an item that is in the list moves it to the front
  ///   - sensitive: whether the items, including the existing ones, are stored encrypted from now on; nil
  ///     does not change that
  ///   - synced: whether the list is synchronized, as for `set(_:_:sensitive:synced:)`; with true, the bounds
  ///     also apply when changes of two devices are merged
  /// - Throws: `SatchelError` `.invalid` for invalid bounds, and as `setSensitive(_:_:isSensitive:)`
  public func list(
    _ name: String, limit: Int? = nil, maxAge: Int64? = nil, isUnique: Bool = false,
    sensitive: Bool? = nil, synced: Bool? = nil
  ) throws -> StateList {
    guard limit.map({ $0 > 0 }) ?? true else { throw SatchelError(.invalid, "limit: must be 1 or more") }
    guard maxAge.map({ (1...StoreClock.latest).contains($0) }) ?? true else {
      throw SatchelError(.invalid, "max_age: must be 1 ms or more, and within reason")
    }
    let bounds = StateBounds(limit: limit, maxAge: maxAge, isUnique: isUnique)
    let id = StateID(.list, try StateName(ofHost: name, as: "list"))
    try setSensitive(id, sensitive)
    try mark(id, StateMark.requested(synced, of: id, bounds: bounds))
    return StateList(state: self, id: id, bounds: bounds)
  }

  /// Returns a set of values.
  ///
  /// - Parameters:
  ///   - sensitive: whether the members are stored encrypted, as for a list
  ///   - synced: whether the set is synchronized, as for `set(_:_:sensitive:synced:)`
  public func set(named name: String, sensitive: Bool? = nil, synced: Bool? = nil) throws -> StateSet {
    let id = StateID(.set, try StateName(ofHost: name, as: "set"))
    try setSensitive(id, sensitive)
    try mark(id, StateMark.requested(synced, of: id))
    return StateSet(state: self, id: id)
  }

  /// Returns scores: numbers by key that are added to and kept within bounds.
  ///
  /// - Parameters:
  ///   - sensitive: whether the scores and their keys are stored encrypted, as for a list
  ///   - synced: whether the scores are synchronized, as for `set(_:_:sensitive:synced:)`; with true, the bounds also
  ///     apply when changes of two devices are merged
  /// - Throws: `.invalid` for bounds that are not finite, and as `setSensitive(_:_:isSensitive:)`
  public func scores(
    _ name: String, bounds: ClosedRange<Double> = -1...1, sensitive: Bool? = nil, synced: Bool? = nil
  ) throws -> StateScores {
    guard bounds.lowerBound.isFinite, bounds.upperBound.isFinite else {
      throw SatchelError(.invalid, "bounds: must be finite")
    }
    let id = StateID(.scores, try StateName(ofHost: name, as: "scores"))
    try setSensitive(id, sensitive)
    try mark(id, StateMark.requested(synced, of: id, bounds: StateBounds(range: bounds)))
    return StateScores(state: self, id: id, bounds: bounds)
  }
}

/// Options that determine when changes of state are saved.
public struct StateOptions: Equatable, Sendable {
  /// The time from the last change to the save, in milliseconds.
  public var saveDelay: Int
  /// The number of pending changes that are saved immediately.
  public var maxPending: Int
  /// The maximum time from the first pending change to the save, in milliseconds.
  public var maxDelay: Int

  /// - Parameters: 0 or less selects the default: a save delay of 2 s, 10 pending changes, a maximum delay of
  ///   5 s
  public init(saveDelay: Int = 0, maxPending: Int = 0, maxDelay: Int = 0) {
    self.saveDelay = saveDelay > 0 ? saveDelay : 2000
    self.maxPending = maxPending > 0 ? maxPending : 10
    self.maxDelay = maxDelay > 0 ? maxDelay : 5000
  }
}
