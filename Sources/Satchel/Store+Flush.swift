extension Store {
  /// Writes pending changes (deferred puts of records, changes of state, and mirrors that are older than the
  /// last commit), and drains the outbox file. When it returns, earlier changes survive the end of the
  /// process.
  ///
  /// A failure of one part does not stop the others. Changes that cannot be written stay in memory, and are
  /// tried again.
  ///
  /// - Returns: whether the changes are in the store; false when they were spooled, because it cannot be written
  /// - Throws: `SatchelError` `.invalid` in a batch, which could still be rolled back, and for a mirror that
  ///   another program has changed, or that cannot hold a record; `.busy` during a batch that was begun on this
  ///   thread; `.full`, `.io` and others when neither the store nor the outbox file, or a mirror, can be written
  @discardableResult
  public func flush() throws -> Bool {
    guard !database.isWriting else {
      throw SatchelError(.invalid, "a store cannot be flushed in a batch; flush before or after it")
    }
    let saving = Result { try saveChanges() }
    try recordStore.completeMirrors()
    return try saving.get()
  }

  /// Writes deferred puts and changes of state.
  func saveChanges() throws -> Bool {
    let writing = Result { try recordStore.writeDeferred() }
    let isSaved = try state.flush()
    try writing.get()
    return isSaved
  }
}
