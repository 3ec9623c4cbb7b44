import SatchelJSON
import SatchelStorage

/// Small values that an app changes often: settings, navigation, search history, favourites, behaviour.
///
/// A change is in memory at once, where every read sees it, and in the file after a little quiet, with a
/// batch, by `flush()` or when the store is closed. What is saved are changes, not results: those of several
/// handles and processes add up. It is no part of a transaction under way. Safe to use from any number of
/// threads.
public final class StateStore: Sendable {
  /// The most bytes of a value, as JSON.
  public static let maximumBytes = 16 << 20

  let database: Database
  let journal: Journal
  let saver: StateSaver
  let keyring = Keyring()

  /// - Parameter journal: has replayed before, or will when all kinds of entries are registered
  /// - Throws: `.newer` when the store's state is of a newer version, `.closed`, `.io`
  package init(database: Database, journal: Journal, options: StateOptions = StateOptions()) throws {
    self.database = database
    self.journal = journal
    if try database.has(StateSchema.subject) { try database.prepare(StateSchema.subject) }
    journal.register(StateEntry.kind) { entry, transaction, database in
      try database.prepare(StateSchema.subject)
      try StateEntry(json: entry).apply(in: transaction)
    }
    saver = StateSaver(journal: journal, options: options, spilled: Self.spilled(journal, database))
    database.whenClosing { [saver] in try saver.close(in: $0) }
  }

  /// What an earlier handle left in the spill file, and the store cannot take in yet: reads see it all the
  /// same.
  private static func spilled(_ journal: Journal, _ database: Database) -> [StateOperation] {
    guard journal.isSpilled, !database.options.isReadOnly else { return [] }
    return journal.waiting(StateEntry.kind).compactMap { try? StateEntry(json: $0) }.flatMap(\.operations)
  }

  /// Says when changes are saved.
  public func configure(_ options: StateOptions) { saver.configure(options) }

  // MARK: Values

  /// Sets a value.
  ///
  /// - Parameters:
  ///   - key: 1 to 255 bytes
  ///   - sensitive: stored encrypted (AES-256-GCM), in the spill file too; needs `setKey` before
  /// - Throws: `SatchelError` `.invalid` for a key or value that is none, and without the key; `.readOnly`,
  ///   `.closed`
  public func set(_ key: String, _ value: JSONValue, sensitive: Bool = false) throws {
    let name = try StateName(key, as: "key")
    let bytes = try Self.bytes(of: value, at: "state/\(key)")
    guard sensitive else { return try add(.value(name), .set(bytes, isSealed: false)) }
    try seal(bytes, as: name)
  }

  /// A value; nil when there is none.
  ///
  /// - Throws: `SatchelError` `.invalid` for a sensitive value without its key, `.damaged` for one that was
  ///   changed from outside, `.closed`, `.io`
  public func get(_ key: String) throws -> JSONValue? {
    try checkOpen()
    let name = try StateName(key, as: "key")
    // A new key is in the ring before the first value is sealed with it: the ring is asked after the store.
    guard let stored = try stored(.value(name)) else { return nil }
    let place = "state/\(key)"
    let bytes =
      stored.isSealed ? try SealedValue.open(stored.bytes, by: keyring.keys, at: place) : stored.bytes
    return try Self.value(of: bytes, at: place)
  }

  /// Removes a value, sensitive or not; no key is needed.
  public func remove(_ key: String) throws {
    try add(.value(try StateName(key, as: "key")), .remove)
  }

  /// The keys that begin with a prefix, in the order of their bytes.
  public func keys(prefix: String = "") throws -> [String] {
    try checkOpen()
    let changes = saver.operations { $0.kind == .value && $0.name.text.utf8.starts(with: prefix.utf8) }
    return try read(changes) { reader, unsaved in
      var keys = Set(
        try reader?.tables.keys(in: StateSpace.values, prefix: prefix).map(StateName.init(sound:)) ?? [])
      for operation in unsaved {
        if operation.action == .remove {
          keys.remove(operation.target.name)
        } else {
          keys.insert(operation.target.name)
        }
      }
      return keys.sorted().map(\.text)
    }
  }

  /// Saves what is pending, and takes in what was spilled. What was changed before survives a kill
  /// afterwards.
  ///
  /// - Returns: whether it is in the spill file, since the store cannot be written
  /// - Throws: `SatchelError` `.invalid` inside a transaction of the same thread, which decides itself what
  ///   becomes of it; `.busy` beside a batch that was begun on this thread; `.full`, `.io` and the like when the spill file could not take it either: it stays in
  ///   memory.
  @discardableResult
  public func flush() throws -> Bool {
    try checkOpen()
    if database.options.isReadOnly { return false }
    guard !database.isWriting else {
      throw SatchelError(.invalid, "state cannot be flushed inside a transaction")
    }
    try database.refuseBesideBatch()
    return try saver.save(in: database)
  }

  // MARK: Lists, sets and scores

  /// A list, the newest item first. Bounds are those of whoever pushes.
  ///
  /// - Parameters:
  ///   - limit: the most items; nil for any number
  ///   - maximumAge: the greatest age of an item in milliseconds, by the store's clock; nil for any
  ///   - isUnique: an item that is there already moves to the front
  public func list(
    _ name: String, limit: Int? = nil, maximumAge: Int64? = nil, isUnique: Bool = false
  ) throws -> StateList {
    guard limit.map({ $0 > 0 }) ?? true else { throw SatchelError(.invalid, "limit: must be 1 or more") }
    guard maximumAge.map({ (1...SteadyClock.latest).contains($0) }) ?? true else {
      throw SatchelError(.invalid, "maximum_age: must be 1 ms or more, and within reason")
    }
    let bounds = StateListBounds(limit: limit, maximumAge: maximumAge, isUnique: isUnique)
    return StateList(state: self, name: try StateName(name, as: "list"), bounds: bounds)
  }

  /// A set of values.
  public func set(named name: String) throws -> StateSet {
    StateSet(state: self, name: try StateName(name, as: "set"))
  }

  /// Numbers that are added to, and stay within bounds.
  ///
  /// - Throws: `.invalid` for bounds that are not finite
  public func scores(_ name: String, bounds: ClosedRange<Double> = -1...1) throws -> StateScores {
    guard bounds.lowerBound.isFinite, bounds.upperBound.isFinite else {
      throw SatchelError(.invalid, "bounds: must be finite")
    }
    return StateScores(state: self, name: try StateName(name, as: "scores"), bounds: bounds)
  }
}
