import SatchelStorage

extension StateStore {
  /// Gives the key for sensitive values.
  ///
  /// - Parameter key: 32 bytes, from the host's keychain; copied, never stored
  /// - Throws: `SatchelError` `.invalid` for another length, and when values are sealed with another key:
  ///   nothing is changed then.
  public func setKey(_ key: [UInt8]) throws {
    try checkOpen()
    let key = try EncryptionKey(key)
    if let other = try sealed(notBy: key) {
      throw SatchelError(.invalid, "key: “\(other)” is sealed with another one")
    }
    try whileNotRotating { keyring.use(key) }
  }

  /// Runs `body` while nobody changes the key; it must not read or write the store, for which others may
  /// wait.
  private func whileNotRotating<Result>(_ body: () throws -> Result) throws -> Result {
    guard keyring.rotating.lock(milliseconds: Int(database.options.busyTimeout)) else {
      throw SatchelError(.busy, "another thread is changing the key")
    }
    defer { keyring.rotating.unlock() }
    return try body()
  }

  /// Seals all sensitive values anew, in one transaction.
  ///
  /// - Throws: `SatchelError` `.invalid` when the present key was not given, when a value cannot be opened
  ///   with it, and inside a transaction of the same thread; `.busy`, `.full` and the like: the key stays as
  ///   it was then.
  public func rotateKey(to key: [UInt8]) throws {
    let key = try EncryptionKey(key)
    guard !database.isWriting else {
      throw SatchelError(.invalid, "the key cannot be changed inside a transaction")
    }
    try keyring.rotating.withLock {
      guard let present = keyring.present else {
        throw SatchelError(.invalid, "the present key was not given")
      }
      if present.name == key.name { return }
      if try flush() {
        throw SatchelError(.busy, "the key cannot be changed while values wait in the spill file")
      }
      keyring.add(key)
      do {
        try sealAnew(with: key)
      } catch {
        keyring.remove(key)
        throw error
      }
      keyring.use(key)
    }
  }

  private func sealAnew(with key: EncryptionKey) throws {
    guard try database.has(StateSchema.subject) else { return }
    let keys = keyring.keys
    try journal.write(in: database) { transaction in
      let tables = StateTables(connection: transaction.connection)
      for name in try tables.sealedKeys() {
        let (target, place) = (StateTarget.value(StateName(sound: name)), "state/\(name)")
        guard let sealed = try tables.value(target)?.bytes, SealedValue.keyName(of: sealed) != key.name else {
          continue
        }
        var text = try SealedValue.open(sealed, by: keys, at: place)
        defer { text.withUnsafeMutableBytes { eraseMemory($0) } }
        let anew = SealedValue.seal(text, by: key, at: place)
        try tables.set(target, anew, isSealed: true, time: transaction.now)
      }
    }
  }

  /// Takes a sensitive value in.
  func seal(_ bytes: [UInt8], as name: StateName) throws {
    let place = "state/\(name.text)"
    while true {
      guard let key = keyring.present else {
        throw SatchelError(.invalid, "\(place): is sensitive, and needs a key")
      }
      // One store, one key: another process may have changed it.
      if let other = try sealed(notBy: key) {
        // Or another thread, which may be about to say so.
        if try whileNotRotating({ keyring.present?.name != key.name }) { continue }
        throw SatchelError(.invalid, "\(place): the key is not the present one; “\(other)” has another")
      }
      let sealed = SealedValue.seal(bytes, by: key, at: place)
      let isIn = try whileNotRotating {
        guard keyring.present?.name == key.name else { return false }
        try add(.value(name), .set(sealed, isSealed: true))
        return true
      }
      if isIn { return }
    }
  }

  /// A value that is sealed by another key; nil when there is none.
  private func sealed(notBy key: EncryptionKey) throws -> String? {
    let changes = saver.operations { $0.kind == .value }
    do {
      return try read(changes) { reader, unsaved in
        for operation in unsaved {
          guard case .set(let bytes, isSealed: true) = operation.action else { continue }
          if SealedValue.keyName(of: bytes) != key.name { return operation.target.name.text }
        }
        // One that is about to be removed or set anew does not count.
        let replaced = Set(unsaved.map(\.target.name))
        return try reader?.tables.sealed(notBy: key.name).first { !replaced.contains(StateName(sound: $0)) }
      }
    } catch let error as SatchelError where error.isAboutStore {
      // A store that cannot be read has no say; what is sealed now is kept in the spill file.
      return nil
    }
  }
}
