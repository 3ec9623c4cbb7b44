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
    try saver.add(target, action, marking: mark, in: context)
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
        return try reader?.document(id)?.mark
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
    return try saver.add(target, action, in: context, reading: body)
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
    guard try context.documents.hasReserved else { return try body(nil, changes) }
    let hasSaved = try changes.isEmpty || database.has(OutboxSchema.subject)
    // In a transaction, what is read may be rolled back.
    let cache = database.isInTransaction ? nil : context.cache
    return try context.documents.readReserved { documents in
      let reader = StateReader(documents, keyring, cache: cache, now: database.clock.now())
      return try body(reader, hasSaved ? reader.unsaved(changes) : changes)
    }
  }

  /// A value as it is kept, and the time of its last change in Unix milliseconds.
  enum StoredValue {
    case plain(JSONValue, time: Int64)
    case sealed([UInt8], time: Int64)

    var time: Int64 {
      switch self {
      case .plain(_, let time), .sealed(_, let time): time
      }
    }
  }

  /// Returns a value, with the newest change to it applied.
  func stored(_ name: StateName) throws -> StoredValue? {
    let id = StateID(.value, name)
    return try newest(of: .value(name)) { change in
      guard let (bytes, isSealed) = change.action.stored else { return nil }
      return try isSealed
        ? .sealed(bytes, time: change.time)
        : .plain(Self.value(of: bytes, at: id.location), time: change.time)
    } stored: { reader in
      guard let document = try reader.document(id) else { return nil }
      switch document.content {
      case .plain(.value(let value?)): return .plain(value, time: document.modified)
      case .plain: return nil
      case .sealed(let bytes): return .sealed(bytes, time: document.modified)
      }
    }
  }

  /// Whether a set has a member, with the newest change to it applied.
  func hasMember(_ target: StateTarget) throws -> Bool {
    try newest(of: target) { change in
      change.action.stored.map { _ in true }
    } stored: { reader in
      guard let key = target.key, case .set(let members) = try reader.content(target.id) else { return nil }
      return members[key].map { _ in true }
    } ?? false
  }

  /// Opens a value.
  ///
  /// - Throws: `.unauthorized` when its key is not set, `.damaged`
  func value(_ stored: StoredValue, of name: StateName) throws -> JSONValue {
    switch stored {
    case .plain(let value, _): return value
    case .sealed(let bytes, _):
      let id = StateID(.value, name)
      let text = try SealedValue.open(
        bytes, by: keyring.keys, at: id.location, sealedAt: StateDocument.context(id))
      return try Self.value(of: text, at: id.location)
    }
  }

  private func newest<Content>(
    of target: StateTarget, changed: (StateOperation) throws -> Content?,
    stored: (StateReader) throws -> Content?
  ) throws -> Content? {
    // A pending change is newer than anything in the store.
    if let pending = saver.pending(target) { return try changed(pending) }
    let changes = saver.operations(of: target)
    do {
      return try read(changes) { reader, unsaved in
        if let newest = unsaved.last { return try changed(newest) }
        return try reader.flatMap(stored)
      }
    } catch let error as SatchelError where error.isAboutStore {
      // When the store can be neither written nor read, the outbox file decides.
      guard let newest = changes.last else { throw error }
      return try changed(newest)
    }
  }

  /// Returns the content of a list, a set or scores with the unsaved changes applied, and the time at which it was read.
  ///
  /// - Parameter changes: read from memory before
  func content(_ id: StateID, with changes: [StateOperation]) throws -> (content: StateContent, now: Int64) {
    try read(changes) { reader, unsaved in
      var content = try reader?.content(id) ?? StateContent(id.kind)
      for operation in unsaved { content.apply(operation) }
      return (content, reader?.now ?? database.clock.now())
    }
  }

  /// Returns a value serialized as JSON.
  ///
  /// - Throws: `.invalid` for a value that cannot be represented in JSON, is larger than `maximumBytes` or has more
  ///   levels than `maximumDepth`
  static func bytes(of value: JSONValue, at location: String) throws -> [UInt8] {
    guard value.depth <= maximumDepth else {
      throw SatchelError(.invalid, "\(location): has more than \(maximumDepth) levels").at(
        limit: maximumDepth)
    }
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
