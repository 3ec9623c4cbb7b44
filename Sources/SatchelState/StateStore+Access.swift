import SatchelAssets
import SatchelCore
import SatchelJSON
import SatchelStorage

extension StateStore {
  func checkOpen() throws {
    if database.isClosed { throw SatchelError(.closed, "\(database.path): the store is closed") }
  }

  func checkWritable() throws {
    try checkOpen()
    guard !database.options.isReadOnly else {
      throw SatchelError(.readOnly, "\(database.path): opened read-only")
    }
    try database.refuseWhileMigrating()
  }

  // MARK: Changing

  /// Adds a change to those in memory.
  ///
  /// - Parameter mark: is saved together with the change
  func add(_ target: StateTarget, _ action: StateOperation.Action, marking mark: StateMark? = nil) throws {
    try checkWritable()
    try saver.add(target, action, marking: mark, in: context)
  }

  /// Adds a change to those in memory, and returns what `body` read just before it.
  func add<Result>(
    _ target: StateTarget, _ action: StateOperation.Action, reading body: () throws -> Result
  ) throws -> Result {
    try checkWritable()
    return try saver.add(target, action, in: context, reading: body)
  }

  /// Adds a mark to the changes in memory, unless it is set already. Does nothing in a store opened
  /// read-only.
  func mark(_ id: StateID, _ mark: StateMark?) throws {
    guard let mark, !database.options.isReadOnly else { return }
    try checkOpen()
    let target = StateTarget(id: id, isMark: true)
    do {
      let known = try read(saver.operations(of: target)) { reader, unsaved -> StateMark? in
        if case .mark(let mark)? = unsaved.last?.action { return mark }
        return try reader?.document(id)?.mark
      }
      if known == mark { return }
    } catch let error as SatchelError where error.isAboutStore {
      // Setting it again changes nothing.
    }
    try add(target, .mark(mark))
  }

  /// Saves pending changes before something that is one transaction of its own.
  ///
  /// - Parameter action: what cannot be done otherwise, for the messages
  /// - Throws: `.invalid` inside a transaction, `.busy` where changes stay in the outbox file
  func saveFirst(_ action: @autoclosure () -> String) throws {
    guard !database.isInTransaction else {
      throw SatchelError(.invalid, "\(action()) inside a transaction; do so before or after it")
    }
    guard try flush() else {
      throw SatchelError(.busy, "\(action()) while the outbox file has changes that were not drained")
    }
  }

  /// Changes the store in one transaction.
  func write(_ body: (inout StateWork) throws -> Void) throws {
    try outbox.write(in: database) { transaction in
      var work = StateWork(context, transaction)
      try body(&work)
      try work.finish()
    }
  }

  /// Removes everything from a list, a set or scores, in one transaction, before this returns. Pending
  /// changes are saved first. Requires no encryption key, so that content that was sealed with a lost key can
  /// be removed.
  ///
  /// - Parameters:
  ///   - kind: not a value, which `remove` removes
  ///   - name: 1 to 255 bytes
  /// - Throws: `SatchelError` `.invalid` for a value, for an invalid name, and inside a transaction of the same thread;
  ///   `.busy`, `.full` and others when the store cannot be written, or has changes in its outbox file: nothing is
  ///   removed then; `.readOnly`, `.closed`
  public func clear(_ kind: Change.StateKey.Kind, _ name: String) throws {
    let id = StateID(kind, try StateName(ofHost: name, as: "name"))
    guard kind != .value else {
      throw SatchelError(.invalid, "\(id.location): a value is removed by its key")
    }
    try clear(id)
  }

  func clear(_ id: StateID) throws {
    try checkWritable()
    try saveFirst("\(id.location): cannot be cleared")
    if try context.hasTables { try write { try $0.clear(id) } }
  }

  // MARK: Reading

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

  /// Returns the document of a value, with the newest change to it applied; nil where it has none.
  func value(_ id: StateID) throws -> StateDocument? {
    let document = try newest(of: StateTarget(id: id)) { change in
      var document = StateDocument(id)
      document.apply(change)
      return document
    } stored: {
      try $0.document(id)
    }
    return document?.hasContent == true ? document : nil
  }

  /// Whether a set has a member, with the newest change to it applied.
  func hasMember(_ target: StateTarget) throws -> Bool {
    try newest(of: target) {
      $0.action != .remove
    } stored: { reader in
      guard let key = target.key, case .set(let members) = try reader.content(target.id) else { return nil }
      return members[key] != nil
    } ?? false
  }

  /// Returns a score, with the changes to it applied; nil for none.
  func score(_ target: StateTarget) throws -> Double? {
    try read(saver.operations(of: target)) { reader, unsaved in
      var score: Double?
      if let key = target.key, case .scores(let scores)? = try reader?.content(target.id) {
        score = scores[key]
      }
      return unsaved.reduce(score) { $1.action.score(after: $0) }
    }
  }

  private func newest<Content>(
    of target: StateTarget, changed: (StateOperation) -> Content,
    stored: (StateReader) throws -> Content?
  ) throws -> Content? {
    // A pending change is newer than anything in the store.
    if let pending = saver.pending(target) { return changed(pending) }
    let changes = saver.operations(of: target)
    do {
      return try read(changes) { reader, unsaved in
        if let newest = unsaved.last { return changed(newest) }
        return try reader.flatMap(stored)
      }
    } catch let error as SatchelError where error.isAboutStore {
      // When the store can be neither written nor read, the outbox file decides.
      guard let newest = changes.last else { throw error }
      return changed(newest)
    }
  }

  /// Returns the content of a set or scores with the unsaved changes applied.
  func content(_ id: StateID) throws -> StateContent {
    try checkOpen()
    return try content(id, with: saver.operations { $0.id == id && !$0.isMark }).content
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

  /// Checks a value that a host gave.
  ///
  /// - Returns: the warnings
  /// - Throws: `.invalid` for a value that cannot be represented in JSON, is larger than `maximumBytes`, has more levels
  ///   than `maximumDepth`, or a member `_asset` that is no reference
  @discardableResult
  static func check(_ value: JSONValue, at location: String) throws -> [DocumentWarning] {
    guard value.depth <= maximumDepth else {
      throw SatchelError(.invalid, "\(location): has more than \(maximumDepth) levels").at(
        limit: maximumDepth)
    }
    let text = try naming(location) { try value.serialized() }
    guard text.count <= maximumBytes else {
      throw SatchelError(
        .invalid,
        "\(location): has \(text.count) bytes; the maximum is \(maximumBytes); put large content as assets, to "
          + "which values refer"
      ).at(limit: maximumBytes)
    }
    let warnings = text.withUnsafeBytes { LargeStrings.warnings(in: $0) }
    guard text.withUnsafeBytes(AssetReferences.mayContain) else { return warnings }
    if let problem = AssetReferences(in: value).problems.first {
      throw SatchelError(.invalid, "\(location): \(problem.pointer): \(problem.reason)").at(
        pointer: problem.pointer)
    }
    return warnings
  }
}
