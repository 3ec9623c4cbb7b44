import SatchelRemote

/// A wrapper around a store, with another identity.
package final class NamedStore: ForwardingStore {
  package let store: any ObjectStore
  package let identity: String?

  package init(_ store: any ObjectStore, identity: String) {
    self.store = store
    self.identity = identity
  }
}
