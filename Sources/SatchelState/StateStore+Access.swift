import SatchelCore
import SatchelJSON
import SatchelStorage

extension StateStore {
  func checkOpen() throws {
    if database.isClosed { throw SatchelError(.closed, "\(database.path): the store is closed") }
  }

  /// Adds a change to those in memory.
  ///
  /// - Parameter mark: is saved together with the change
  func add(_ target: StateTarget, _ action: StateOperation.Action, marking mark: StateMark? = nil) throws {
    try checkWritable()
    try saver.add(target, action, marking: mark, in: database)
  }

  /// Adds a mark to the changes in memory, unless it is set already. Does nothing in a store opened
  /// read-only.
  func mark(_ id: StateID, _ mark: StateMark?) throws {
    guard let mark, !database.options.isReadOnly else { return }
    try checkOpen()
    if try self.mark(of: id) != mark { try add(.mark(id), .mark(mark)) }
  }

  /// Returns the mark, with a pending change to it applied; nil when unknown.
  private func mark(of id: StateID) throws -> StateMark? {
    let changes = saver.operations(of: .mark(id))
    do {
      return try read(changes) { reader, unsaved in
        if case .mark(let mark)? = unsaved.last?.action { return mark }
        return try reader?.tables.mark(id)
      }
    } catch let error as SatchelError where error.isAboutStore {
      // Setting it again changes nothing.
      return nil
    }
  }

  /// Adds a change to those in memory, and returns what `body` read just before it.
  func add<Result>(
    _ target: StateTarget, _ action: StateOperation.Action, reading body: () throws -> Result
  ) throws -> Result {
    try checkWritable()
    return try saver.add(target, action, in: database, reading: body)
  }

  func checkWritable() throws {
    try checkOpen()
    guard !database.options.isReadOnly else {
      throw SatchelError(.readOnly, "\(database.path): opened read-only")
    }
    try database.refuseWhileMigrating()
  }

  /// Reads one snapshot of the store, and the given changes that the snapshot does not contain. `changes`
  /// must have been read from memory before.
  ///
  /// - Parameter body: receives nil for the reader when the store has no state tables
  func read<Result>(
    _ changes: [StateOperation], _ body: (StateReader?, [StateOperation]) throws -> Result
  ) throws -> Result {
    guard try database.has(StateSchema.subject) else { return try body(nil, changes) }
    return try database.read { connection in
      let reader = StateReader(
        tables: StateTables(connection: connection, keyring: keyring), now: database.clock.now())
      return try body(reader, reader.unsaved(changes))
    }
  }

  /// Returns a value or member, with the newest change to it applied.
  func stored(_ target: StateTarget) throws -> (bytes: [UInt8], isSealed: Bool)? {
    try newest(of: target) {
      $0.action.stored
    } stored: {
      try $0.value(target)
    }
  }

  /// Returns a value with the time of its last change, in Unix milliseconds.
  func timed(_ name: StateName) throws -> (bytes: [UInt8], isSealed: Bool, time: Int64)? {
    try newest(of: .value(name)) { change in
      change.action.stored.map { ($0.bytes, $0.isSealed, change.time) }
    } stored: {
      try $0.timedValue(name)
    }
  }

  private func newest<Content>(
    of target: StateTarget, changed: (StateOperation) -> Content?, stored: (StateTables) throws -> Content?
  ) throws -> Content? {
    // A pending change is newer than anything in the store.
    if let pending = saver.pending(target) { return changed(pending) }
    let changes = saver.operations(of: target)
    do {
      return try read(changes) { reader, unsaved in
        if let newest = unsaved.last { return changed(newest) }
        return try reader.flatMap { try stored($0.tables) }
      }
    } catch let error as SatchelError where error.isAboutStore {
      // When the store can be neither written nor read, the outbox file decides.
      guard let newest = changes.last else { throw error }
      return changed(newest)
    }
  }

  /// Returns a value serialized as JSON.
  ///
  /// - Throws: `.invalid` for a value that cannot be represented in JSON or is larger than `maximumBytes`
  static func bytes(of value: JSONValue, at location: String) throws -> [UInt8] {
    let bytes = try naming(location) { try value.serialized() }
    guard bytes.count <= maximumBytes else {
      throw SatchelError(.invalid, "\(location): has \(bytes.count) bytes; the maximum is \(maximumBytes)")
        .at(limit: maximumBytes)
    }
    return bytes
  }

  static func value(of bytes: [UInt8], at location: String) throws -> JSONValue {
    do {
      return try JSONValue(parsing: bytes)
    } catch {
      throw SatchelError(.damaged, "\(location): the stored value is not JSON: \(error)", underlying: error)
    }
  }
}

extension StateOperation.Action {
  /// The stored value after this action; nil when the action stores no value.
  var stored: (bytes: [UInt8], isSealed: Bool)? {
    if case .set(let bytes, let isSealed) = self { return (bytes, isSealed) }
    return nil
  }
}

/// One snapshot of the store.
struct StateReader {
  let tables: StateTables
  /// The store's time.
  let now: Int64

  /// Returns the given changes that the snapshot does not contain.
  ///
  /// The changes must have been read from memory before the snapshot was taken: a change that is saved
  /// meanwhile is recognised by its sequence number, and counts once.
  func unsaved(_ operations: [StateOperation]) throws -> [StateOperation] {
    var through: [Int64: Int64] = [:]
    return try operations.filter { operation in
      let saved = try through[operation.writer] ?? tables.saved(operation.writer)
      through[operation.writer] = saved
      return operation.sequence > saved
    }.map { $0.credible(at: now) }
  }
}
