import SatchelCore
import SatchelStorage

extension StateStore {
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
    guard !database.isWriting else {
      throw SatchelError(.invalid, "\(id.location): cannot be cleared inside a transaction; clear it before")
    }
    guard try flush() else {
      throw SatchelError(
        .busy, "\(id.location): cannot be cleared while the outbox file has changes that were not drained")
    }
    guard try context.hasTables else { return }
    try outbox.write(in: database) { transaction in
      var work = StateWork(context, transaction)
      try work.clear(id)
      try work.finish()
    }
  }
}
