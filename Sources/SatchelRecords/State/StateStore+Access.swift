import SatchelJSON
import SatchelStorage

extension StateStore {
  func checkOpen() throws {
    if database.isClosed { throw SatchelError(.closed, "\(database.path): the store is closed") }
  }

  /// Takes a change in.
  func add(_ target: StateTarget, _ action: StateOperation.Action) throws {
    try checkWritable()
    try saver.add(target, action, in: database)
  }

  /// Takes a change in, and gives what `body` read just before it.
  func add<Result>(
    _ target: StateTarget, _ action: StateOperation.Action, reading body: () throws -> Result
  ) throws -> Result {
    try checkWritable()
    return try saver.add(target, action, in: database, reading: body)
  }

  private func checkWritable() throws {
    try checkOpen()
    guard !database.options.isReadOnly else {
      throw SatchelError(.readOnly, "\(database.path): opened to read only")
    }
  }

  /// Reads one state of the store, and which of some changes are not in it; `changes` were taken from memory
  /// before.
  ///
  /// - Parameter body: gets no reader while the store has no state
  func read<Result>(
    _ changes: [StateOperation], _ body: (StateReader?, [StateOperation]) throws -> Result
  ) throws -> Result {
    guard try database.has(StateSchema.subject) else { return try body(nil, changes) }
    return try database.read { connection in
      let reader = StateReader(
        tables: StateTables(connection: connection), now: try database.time(connection))
      return try body(reader, reader.unsaved(changes))
    }
  }

  /// A value or member as it stands, with the newest change that is about it.
  func stored(_ target: StateTarget) throws -> (bytes: [UInt8], isSealed: Bool)? {
    // What waits is newer than anything in the store.
    if let waiting = saver.waiting(target) { return waiting.action.stored }
    let changes = saver.operations(of: target)
    do {
      return try read(changes) { reader, unsaved in
        if let newest = unsaved.last { return newest.action.stored }
        return try reader?.tables.value(target)
      }
    } catch let error as SatchelError where error.isAboutStore {
      // A store that can neither be written nor read: the spill file has what counts.
      guard let newest = changes.last else { throw error }
      return newest.action.stored
    }
  }

  /// A value as JSON.
  ///
  /// - Throws: `.invalid` for what has no form in JSON, and what is too large
  static func bytes(of value: JSONValue, at place: String) throws -> [UInt8] {
    let bytes = try naming(place) { try value.serialized() }
    guard bytes.count <= maximumBytes else {
      throw SatchelError(.invalid, "\(place): has \(bytes.count) bytes, and may have \(maximumBytes)")
    }
    return bytes
  }

  static func value(of bytes: [UInt8], at place: String) throws -> JSONValue {
    do {
      return try JSONValue(parsing: bytes)
    } catch {
      throw SatchelError(.damaged, "\(place): is no JSON any more: \(error)", underlying: error)
    }
  }
}

extension StateOperation.Action {
  /// What stands there after it; nil for nothing.
  var stored: (bytes: [UInt8], isSealed: Bool)? {
    if case .set(let bytes, let isSealed) = self { return (bytes, isSealed) }
    return nil
  }
}
