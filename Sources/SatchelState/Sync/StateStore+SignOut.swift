import SatchelCore
import SatchelDocuments
import SatchelStorage

/// Signing out: what is synchronized or sensitive is the user's, other state is the device's.
extension StateStore {
  /// The number of values, lists, sets and scores that are marked for synchronizing and have content.
  package func countForSync(_ connection: Connection) throws -> Int64 {
    guard try context.hasTables else { return 0 }
    var count: Int64 = 0
    try ReservedReader.each(connection) { key, stored in
      guard let id = StateID(key), let document = try? StateDocument(stored, of: id) else { return }
      if document.mark?.isSynced == true, document.hasContent { count += 1 }
    }
    return count
  }

  /// Removes synchronized and sensitive content, as a part of signing out; none of it is a removal that is
  /// synchronized. What the host marked stays marked.
  package func signOut(in transaction: Transaction) throws {
    guard try context.hasTables else { return }
    var work = StateWork(context, transaction)
    try work.signOut()
    try work.finish()
  }
}
