import SatchelRemote
import SatchelCore
import SatchelStorage

/// An object store in memory with hooks before and after each request, which can make it fail.
package final class SyncStore: ObjectStore {
  package enum Method: String { case get, head, put, delete, list }

  package struct Request: Sendable {
    package var method: Method
    package var key: ObjectKey?
    /// The number of the request, counted from 1.
    package var number: Int
  }

  private struct State {
    var remote: SimulatedRemote
    var requests: [Request] = []
  }

  private let state: Locked<State>
  /// Called before a request takes effect; may throw.
  package let before = Locked<@Sendable (Request) throws(ObjectStoreError) -> Void>({ _ in })
  /// Called after a request has taken effect; may throw.
  package let after = Locked<@Sendable (Request) throws(ObjectStoreError) -> Void>({ _ in })
  package let ignoresConditions: Bool
  package let listsETags: Bool

  package init(ignoresConditions: Bool = false, listsETags: Bool = true, hasContentETags: Bool = false) {
    state = Locked(State(remote: SimulatedRemote(hasContentETags: hasContentETags)))
    self.ignoresConditions = ignoresConditions
    self.listsETags = listsETags
  }

  package var requests: [Request] { state.withLock { $0.requests } }

  /// The bytes of every object, by key.
  package var bodies: [String: [UInt8]] {
    state.withLock { state in
      Dictionary(
        uniqueKeysWithValues: state.remote.versions.compactMap { key, versions in
          versions.last.map { (key.text, $0.object.body) }
        })
    }
  }

  /// Changes an object's body in place: its ETag and metadata stay unchanged.
  package func damage(_ key: String, _ change: (inout [UInt8]) -> Void) {
    state.withLock { $0.remote.change(key) { change(&$0.object.body) } }
  }

  package func remove(_ key: String) { state.withLock { $0.remote.remove(key) } }

  /// Writes an object as another program does, without a checksum in the metadata.
  package func place(_ key: String, _ body: [UInt8]) throws {
    let key = try ObjectKey(key)
    _ = try state.withLock { state in
      state.remote.tick()
      return try state.remote.put(key, body, .none, .none)
    }
  }

  package func clearHooks() {
    before.withLock { $0 = { _ in } }
    after.withLock { $0 = { _ in } }
  }

  private func request<Value>(
    _ method: Method, _ key: ObjectKey?, _ body: (inout SimulatedRemote) throws(ObjectStoreError) -> Value
  ) throws(ObjectStoreError) -> Value {
    let request = state.withLock { state in
      state.remote.tick()
      let request = Request(method: method, key: key, number: state.requests.count + 1)
      state.requests.append(request)
      return request
    }
    try before.withLock { $0 }(request)
    let result = state.withLock { state in
      Result { () throws(ObjectStoreError) in try body(&state.remote) }
    }
    let value = try result.get()
    try after.withLock { $0 }(request)
    return value
  }

  private static func version(
    _ key: ObjectKey, _ remote: SimulatedRemote
  ) throws(ObjectStoreError) -> StoredObject {
    guard let version = remote.current(key) else {
      throw ObjectStoreError(.notFound, "\(key): the object does not exist")
    }
    return version.object
  }

  package func get(
    _ key: ObjectKey, ifNoneMatch known: ETag?, limit: Int64, cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectReading {
    try request(.get, key) { remote throws(ObjectStoreError) in
      let object = try Self.version(key, remote)
      return object.etag == known ? .notModified : .object(object)
    }
  }

  package func head(_ key: ObjectKey, cancellation: Cancellation) throws(ObjectStoreError) -> ObjectHead {
    try request(.head, key) { remote throws(ObjectStoreError) in try Self.version(key, remote).head }
  }

  package func put(
    _ key: ObjectKey, _ body: [UInt8], condition: ObjectCondition, metadata: ObjectMetadata,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    try request(.put, key) { remote throws(ObjectStoreError) in
      try remote.put(key, body, ignoresConditions ? .none : condition, metadata)
    }
  }

  package func delete(_ key: ObjectKey, ifMatch known: ETag?, cancellation: Cancellation)
    throws(ObjectStoreError)
  {
    try request(.delete, key) { remote in remote.remove(key.text) }
  }

  package func list(
    _ prefix: ObjectPrefix, from continuation: ObjectPage.Continuation?, limit: Int,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectPage {
    try request(.list, nil) { remote in
      let entries = remote.versions.compactMap { key, versions -> ObjectPage.Entry? in
        guard key.text.hasPrefix(prefix.text), let last = versions.last else { return nil }
        return ObjectPage.Entry(key: key, size: Int64(last.object.body.count), etag: last.object.etag)
      }
      return ObjectPage(entries: entries.sorted { $0.key < $1.key })
    }
  }
}
