import SatchelRemoteTesting

import SatchelRemote

/// A wrapper around a store, with another identity.
final class NamedStore: ForwardingStore {
  let store: any ObjectStore
  let identity: String?

  init(_ store: any ObjectStore, identity: String) {
    self.store = store
    self.identity = identity
  }
}
