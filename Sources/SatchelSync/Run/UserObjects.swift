import SatchelCore
import SatchelRemote

/// All objects of one user in an object store.
package struct UserObjects: Sendable {
  /// The first components of keys, before the user.
  private static let subjects = ["records", "catalogs", "photos", "assets", "photo-index"]

  /// The error of a device that meets a closed account.
  package static var closed: SatchelError {
    SatchelError(
      .foreign,
      "account closed: the user's data was deleted with delete_account; sign_out removes the local copy, and "
        + "first=\"upload\" opens the account again")
  }

  private let store: any ObjectStore
  private let user: UserID
  private let requests: RetryingRequests
  private let cancellation: Cancellation

  package init(_ session: SyncSession) {
    self.init(session.store, user: session.user, retry: session.retry, cancellation: session.cancellation)
  }

  init(_ store: any ObjectStore, user: UserID, retry: Retry, cancellation: Cancellation) {
    self.store = store
    self.user = user
    self.cancellation = cancellation
    requests = RetryingRequests(retry: retry, cancellation: cancellation)
  }

  private var prefixes: [ObjectPrefix] {
    get throws {
      try Self.subjects.map { subject throws(ObjectStoreError) in try ObjectPrefix("\(subject)/\(user)/") }
    }
  }

  /// Refuses a remote that was synchronized with before and has no object of the user at all: it is likelier another
  /// place, or one that is not mounted, than one whose data everybody has lost.
  ///
  /// - Throws: `SatchelError` `.unavailable`; `ObjectStoreError`
  package func refuseEmpty() throws {
    for prefix in try prefixes {
      let page = try requests.attempt { () throws(ObjectStoreError) in
        try store.list(prefix, from: nil, limit: 1, cancellation: cancellation)
      }
      if !page.entries.isEmpty || page.next != nil { return }
    }
    throw SatchelError(
      .unavailable,
      "the remote is empty: it has no object of \"\(user)\", although this device has synchronized with it before; if "
        + "it really lost everything, recreate sends everything again")
  }

  /// Lists all objects except those with the keys.
  package func list(except kept: Set<String>) throws -> [ObjectKey] {
    try prefixes.flatMap { prefix in
      try requests.attempt { () throws(ObjectStoreError) in
        try store.list(prefix, cancellation: cancellation)
      }.map(\.key)
    }.filter { !kept.contains($0.text) }
  }

  /// Deletes objects; those that are missing already are not counted.
  ///
  /// - Returns: the number of deleted objects
  package func delete(_ keys: [ObjectKey]) throws -> Int {
    try keys.reduce(0) { count, key in
      try cancellation.check()
      let isThere: Void? = try requests.ifPresent { () throws(ObjectStoreError) in
        try store.delete(key, ifMatch: nil, cancellation: cancellation)
      }
      return isThere == nil ? count : count + 1
    }
  }
}
