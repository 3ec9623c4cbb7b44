import SatchelCore
import SatchelStorage

extension StateStore {
  /// Sets the encryption key for sensitive values.
  ///
  /// - Parameter key: 32 bytes, from the host's keychain; copied, never stored
  /// - Throws: `SatchelError` `.invalid` for another length, and when stored values are sealed with another
  ///   key; nothing is changed then.
  public func setKey(_ key: [UInt8]) throws {
    try checkOpen()
    let key = try EncryptionKey(key)
    if let other = try sealed(notBy: key) {
      throw SatchelError(.invalid, "key: “\(other)” is sealed with another key")
    }
    try whileNotRotating { keyring.use(key) }
    keyring.notify()
  }

  /// Runs `body` while no other thread changes the key. `body` must not read or write the store, because a
  /// thread that does may be waiting for this lock.
  private func whileNotRotating<Result>(_ body: () throws -> Result) throws -> Result {
    guard keyring.rotating.lock(milliseconds: Int(database.options.busyTimeout)) else {
      throw SatchelError(.busy, "another thread is changing the key; try again")
    }
    defer { keyring.rotating.unlock() }
    return try body()
  }

  /// Reseals all sensitive values with another key, in one transaction.
  ///
  /// - Throws: `SatchelError` `.invalid` when the current key was not set, when a value cannot be opened with
  ///   it, and inside a transaction of the same thread; `.busy`, `.full` and others: the current key stays in
  ///   use then.
  public func rotateKey(to key: [UInt8]) throws {
    let key = try EncryptionKey(key)
    guard !database.isWriting else {
      throw SatchelError(
        .invalid, "the key cannot be changed inside a transaction; change it before or after it")
    }
    try keyring.rotating.withLock {
      guard let current = keyring.current else {
        throw SatchelError(.invalid, "the current key was not set; set it before changing it")
      }
      if current.name == key.name { return }
      guard try flush() else {
        throw SatchelError(
          .busy, "the key cannot be changed while the outbox file has changes that were not drained")
      }
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

  static func reseal(
    with key: EncryptionKey, _ keys: Keyring.Keys, _ transaction: Transaction
  ) throws {
    let tables = StateTables(connection: transaction.connection)
    for name in try tables.sealedKeys() {
      let (target, location) = (StateTarget.value(StateName(sound: name)), "state/\(name)")
      guard let sealed = try tables.value(target)?.bytes, SealedValue.keyName(of: sealed) != key.name else {
        continue
      }
      var text = try SealedValue.open(sealed, by: keys, at: location)
      defer { text.withUnsafeMutableBytes { eraseMemory($0) } }
      let resealed = SealedValue.seal(text, by: key, at: location)
      try tables.set(target, resealed, isSealed: true, time: transaction.now)
    }
  }

  /// Seals a sensitive value and adds the change.
  func seal(_ bytes: [UInt8], as name: StateName, marking mark: StateMark? = nil) throws {
    let location = "state/\(name.text)"
    while true {
      guard let key = keyring.current else {
        throw SatchelError(.invalid, "\(location): is sensitive; set the encryption key first")
      }
      // A store has one key: another process may have changed it.
      if let other = try sealed(notBy: key) {
        // Another thread may have resealed the store, and not have updated the keyring yet.
        if try whileNotRotating({ keyring.current?.name != key.name }) { continue }
        throw SatchelError(
          .invalid,
          "\(location): the key is not the store's current key: “\(other)” is sealed with another key")
      }
      let sealed = SealedValue.seal(bytes, by: key, at: location)
      let isAdded = try whileNotRotating {
        guard keyring.current?.name == key.name else { return false }
        try add(.value(name), .set(sealed, isSealed: true), marking: mark)
        return true
      }
      if isAdded { return }
    }
  }

  /// Returns the key of a value, or the name of a collection, that is sealed with another encryption key.
  private func sealed(notBy key: EncryptionKey) throws -> String? {
    let changes = saver.operations { $0.kind == .value }
    do {
      return try read(changes) { reader, unsaved in
        for operation in unsaved {
          guard case .set(let bytes, isSealed: true) = operation.action else { continue }
          if SealedValue.keyName(of: bytes) != key.name { return operation.target.name.text }
        }
        // Values that a pending change removes or replaces do not count.
        let replaced = Set(unsaved.map(\.target.name))
        let own = try reader?.tables.sealed(notBy: key.name).first {
          !replaced.contains(StateName(sound: $0))
        }
        if let own { return own }
        // On the connection that is held: threads that each wait for a second one would wait for each other.
        let other = { [keyring] in try keyring.sealed(notBy: key.name, except: StateSchema.subject.name, $0) }
        return try reader.map { try other($0.tables.connection) } ?? database.read(other)
      }
    } catch let error as SatchelError where error.isAboutStore {
      // An unreadable store cannot be checked; a value sealed now is kept in the outbox file.
      return nil
    }
  }
}
