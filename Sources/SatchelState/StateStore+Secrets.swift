import SatchelCore
import SatchelDocuments
import SatchelJSON
import SatchelStorage

extension StateStore {
  /// Sets the encryption key for sensitive values, lists, sets and scores.
  ///
  /// - Parameter key: 32 bytes, from the host's keychain; copied, never stored
  /// - Throws: `SatchelError` `.invalid` for another length; `.unauthorized` when stored values are sealed with another
  ///   key; nothing is changed then.
  public func setKey(_ key: [UInt8]) throws {
    try checkOpen()
    let key = try EncryptionKey(key)
    if let other = try sealed(notBy: key) {
      throw SatchelError(.unauthorized, "key: “\(other)” is sealed with another key")
    }
    try whileNotRotating { keyring.use(key) }
    keyring.notify()
  }

  /// Runs `body` while no other thread changes the key. `body` must not read or write the store, because a
  /// thread that uses the store may be waiting for this lock.
  private func whileNotRotating<Result>(_ body: () throws -> Result) throws -> Result {
    guard keyring.rotating.lock(milliseconds: Int(database.options.busyTimeout)) else {
      throw SatchelError(.busy, "another thread is changing the key; try again")
    }
    defer { keyring.rotating.unlock() }
    return try body()
  }

  /// Reseals all sensitive content with another key, in one transaction.
  ///
  /// - Throws: `SatchelError` `.unauthorized` when the current key was not set, and when a value cannot be opened with
  ///   it; `.invalid` inside a transaction of the same thread; `.busy`, `.full` and others: the current key stays in
  ///   use then.
  public func rotateKey(to key: [UInt8]) throws {
    let key = try EncryptionKey(key)
    guard !database.isInTransaction else {
      throw SatchelError(
        .invalid, "the key cannot be changed inside a transaction; change it before or after it")
    }
    try keyring.rotating.withLock {
      guard let current = keyring.current else {
        throw SatchelError(.unauthorized, "the current key was not set; set it before changing it")
      }
      if current.name == key.name { return }
      try saveFirst("the key cannot be changed")
      keyring.add(key)
      do {
        try outbox.write(in: database) { try keyring.reseal(with: key, in: $0) }
      } catch {
        keyring.remove(key)
        throw error
      }
      keyring.use(key)
    }
  }

  /// Registers the sealed content of state with the keyring, and applies waiting changes when a key is set.
  func registerSealed() {
    keyring.register(
      Keyring.Sealed(
        of: StateEntry.kind,
        find: { name, connection in
          try ReservedReader.exist(connection) ? StateReader.sealed(notBy: name, connection) : nil
        },
        reseal: { [weak documents = context.documents, cache = context.cache] key, keys, transaction in
          guard try ReservedReader.exist(transaction.connection) else { return }
          var work = StateWork(try StateContext(of: documents, cache), transaction)
          try work.reseal(with: key, keys)
          try work.finish()
        }))
    keyring.whenSet { [weak self] in
      guard let self, !database.options.isReadOnly, !database.isInTransaction else { return }
      saver.open(by: keyring.keys)
      // Changes that cannot be written now are written by the next save.
      try? applyWaiting()
    }
  }

  private func applyWaiting() throws {
    guard try context.hasTables else { return }
    var isWaiting = false
    try database.read { connection in
      try ReservedReader.eachSealed(connection, states { if !$1.waiting.isEmpty { isWaiting = true } })
    }
    if isWaiting { try write { try $0.applyWaiting() } }
  }

  // MARK: Lists, sets and scores

  /// Sets whether a list, a set or scores are stored encrypted: existing content is sealed or opened, in one
  /// transaction, before this returns. Pending changes are saved first. Does nothing when it would not
  /// change.
  ///
  /// - Parameters:
  ///   - kind: not a value, which is sensitive or not each time it is set
  ///   - name: 1 to 255 bytes; it is not encrypted
  /// - Throws: `SatchelError` `.invalid` for a value, for an invalid name and inside a transaction of the same thread;
  ///   `.unauthorized` for existing content whose key is not set; `.busy`, `.full` and others when the store
  ///   cannot be written, or has changes in its outbox file: nothing is changed then
  public func setSensitive(_ kind: Change.StateKey.Kind, _ name: String, isSensitive: Bool = true) throws {
    try setSensitive(StateID(kind, StateName(ofHost: name, as: "name")), isSensitive)
  }

  /// - Parameter isSensitive: nil changes nothing
  func setSensitive(_ id: StateID, _ isSensitive: Bool?) throws {
    guard let isSensitive else { return }
    guard id.kind != .value else {
      throw SatchelError(.invalid, "\(id.location): a value is made sensitive by setting it so")
    }
    try checkOpen()
    let isSoAlready = try read([]) { reader, _ in
      try (reader?.document(id)?.isSensitive ?? false) == isSensitive
    }
    if isSoAlready || database.options.isReadOnly { return context.cache.note(id, isSensitive: isSensitive) }
    // Spooled changes keep the form in which they were made.
    try saveFirst("\(id.location): cannot be made sensitive, or not,")
    try context.prepare()
    let wasSensitive = try context.isSensitive(id)
    // First, so that concurrent additions are not spooled in plain text.
    if isSensitive { context.cache.note(id, isSensitive: true) }
    do {
      try write { work in
        try work.applyWaiting(of: id)
        try work.setSensitive(id, isSensitive)
      }
    } catch {
      context.cache.note(id, isSensitive: wasSensitive)
      throw error
    }
    context.cache.note(id, isSensitive: isSensitive)
  }

  /// Checks that a change of a list, a set or scores can be sealed, if they are sensitive.
  ///
  /// - Throws: `.unauthorized` when their key is not set, or is another one
  func checkKey(of id: StateID) throws {
    guard try context.isSensitive(id) else { return }
    guard keyring.current != nil else {
      throw SatchelError.keyNotSet(id.location).at(id.details)
    }
    do {
      try read([]) { reader, _ in
        guard let name = try reader?.document(id)?.keyName, keyring.keys[name] == nil else { return }
        throw SatchelError.otherKey(id.location)
      }
    } catch let error as SatchelError where error.isAboutStore {
      // When the store can be neither written nor read, the change goes to the outbox file.
    }
  }

  // MARK: Values

  /// Seals a sensitive value and adds the change.
  func seal(_ value: JSONValue, as id: StateID, marking mark: StateMark? = nil) throws {
    let location = id.location
    while true {
      guard let key = keyring.current else {
        throw SatchelError.keyNotSet(location)
      }
      // A store has one key: another process may have changed it.
      if let other = try sealed(notBy: key) {
        // Another thread may have resealed the store, and not have updated the keyring yet.
        if try whileNotRotating({ keyring.current?.name != key.name }) { continue }
        throw SatchelError.notTheKey(location, other)
      }
      let sealed = try StateDocument.sealed(.value(value), of: id, by: key)
      let isAdded = try whileNotRotating {
        guard keyring.current?.name == key.name else { return false }
        try add(StateTarget(id: id), .seal(sealed), marking: mark)
        return true
      }
      if isAdded { return }
    }
  }

  /// Returns the key of a value, or the name of a collection, that is sealed with another encryption key.
  private func sealed(notBy key: EncryptionKey) throws -> String? {
    let changes = saver.values(prefix: "")
    do {
      return try read(changes) { reader, unsaved in
        for operation in unsaved {
          guard case .seal(let bytes) = operation.action else { continue }
          if SealedValue.keyName(of: bytes) != key.name { return operation.id.name.text }
        }
        // Values that a pending change removes or replaces do not count.
        let replaced = Set(unsaved.map(\.id))
        if let reader, let own = try StateReader.sealed(notBy: key.name, except: replaced, reader.connection)
        {
          return own
        }
        // Uses the connection that is held: threads that each wait for a second one would deadlock.
        let other = { [keyring] in try keyring.sealed(notBy: key.name, except: StateEntry.kind, $0) }
        return try reader.map { try other($0.connection) } ?? database.read(other)
      }
    } catch let error as SatchelError where error.isAboutStore {
      // An unreadable store cannot be checked; a value sealed now is kept in the outbox file.
      return nil
    }
  }
}
