import SatchelRemote
import SatchelStorage

/// An object store in memory, whose owner may come between two requests and say what becomes of one.
package final class SyncStore: ObjectStore {
  package enum Method: String { case get, head, put, delete, list }

  package struct Request: Sendable {
    package var method: Method
    package var key: ObjectKey?
    /// Counted from 1.
    package var number: Int
  }

  private struct State {
    var master = SimulationMaster(tagsAreOfContent: false)
    var requests: [Request] = []
  }

  private let state = Guarded(State())
  /// Throws before a request takes effect.
  package let before = Guarded<@Sendable (Request) throws(ObjectStoreError) -> Void>({ _ in })
  /// Throws afterwards.
  package let after = Guarded<@Sendable (Request) throws(ObjectStoreError) -> Void>({ _ in })
  package let ignoresConditions: Bool
  package let listsTags: Bool

  package init(ignoresConditions: Bool = false, listsTags: Bool = true) {
    self.ignoresConditions = ignoresConditions
    self.listsTags = listsTags
  }

  package var requests: [Request] { state.withLock { $0.requests } }

  /// Every object's bytes.
  package var bodies: [String: [UInt8]] {
    state.withLock { state in
      Dictionary(
        uniqueKeysWithValues: state.master.versions.compactMap { key, versions in
          versions.last.map { (key.text, $0.object.body) }
        })
    }
  }

  /// Changes an object behind everybody's back: its tag and metadata stay as they are.
  package func damage(_ key: String, _ change: (inout [UInt8]) -> Void) {
    state.withLock { $0.master.change(key) { change(&$0.object.body) } }
  }

  package func remove(_ key: String) { state.withLock { $0.master.remove(key) } }

  /// Writes an object as another program does, without a word about its checksum.
  package func place(_ key: String, _ body: [UInt8]) throws {
    let key = try ObjectKey(key)
    _ = try state.withLock { state in
      state.master.tick()
      return try state.master.put(key, body, .none, .none)
    }
  }

  package func clearHooks() {
    before.withLock { $0 = { _ in } }
    after.withLock { $0 = { _ in } }
  }

  private func request<Value>(
    _ method: Method, _ key: ObjectKey?, _ body: (inout SimulationMaster) throws(ObjectStoreError) -> Value
  ) throws(ObjectStoreError) -> Value {
    let request = state.withLock { state in
      state.master.tick()
      let request = Request(method: method, key: key, number: state.requests.count + 1)
      state.requests.append(request)
      return request
    }
    try before.withLock { $0 }(request)
    let result = state.withLock { state in
      Result { () throws(ObjectStoreError) in try body(&state.master) }
    }
    let value = try result.get()
    try after.withLock { $0 }(request)
    return value
  }

  private static func version(
    _ key: ObjectKey, _ master: SimulationMaster
  ) throws(ObjectStoreError) -> StoredObject {
    guard let version = master.current(key) else {
      throw ObjectStoreError(.notFound, "\(key): there is none")
    }
    return version.object
  }

  package func get(
    _ key: ObjectKey, ifNoneMatch known: ETag?, cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectReading {
    try request(.get, key) { master throws(ObjectStoreError) in
      let object = try Self.version(key, master)
      return object.etag == known ? .notModified : .object(object)
    }
  }

  package func head(_ key: ObjectKey, cancellation: Cancellation) throws(ObjectStoreError) -> ObjectHead {
    try request(.head, key) { master throws(ObjectStoreError) in try Self.version(key, master).head }
  }

  package func put(
    _ key: ObjectKey, _ body: [UInt8], condition: ObjectCondition, metadata: ObjectMetadata,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    try request(.put, key) { master throws(ObjectStoreError) in
      try master.put(key, body, ignoresConditions ? .none : condition, metadata)
    }
  }

  package func delete(_ key: ObjectKey, ifMatch known: ETag?, cancellation: Cancellation)
    throws(ObjectStoreError)
  {
    try request(.delete, key) { master in master.remove(key.text) }
  }

  package func list(
    _ prefix: ObjectPrefix, from continuation: ObjectPage.Continuation?, limit: Int,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectPage {
    try request(.list, nil) { master in
      let entries = master.versions.compactMap { key, versions -> ObjectPage.Entry? in
        guard key.text.hasPrefix(prefix.text), let last = versions.last else { return nil }
        return ObjectPage.Entry(key: key, size: Int64(last.object.body.count), etag: last.object.etag)
      }
      return ObjectPage(entries: entries.sorted { $0.key < $1.key })
    }
  }
}
