/// The choice for content that a store has before its first sync as a user.
public enum FirstSync: String, Sendable, CaseIterable {
  /// It becomes that user's, also where it is another user's.
  case upload
  /// It is removed from the store, as by signing out; what was never sent is lost.
  case discard
}

/// The choice for changes that were never sent, when a user signs out.
public enum UnsentChanges: String, Sendable, CaseIterable {
  case refuse
  case discard
}

/// The user of one remote whom content belongs to.
package struct SyncOwner: Sendable, Equatable {
  /// The identity of the remote; nil for one that has none.
  package var remote: String?
  package var user: String

  package init(remote: String?, user: String) {
    self.remote = remote
    self.user = user
  }

  /// Whether content of this owner may be sent to another one without asking. A remote without an identity may be any.
  package func isSame(as other: SyncOwner) -> Bool {
    user == other.user && (remote == nil || other.remote == nil || remote == other.remote)
  }
}
