import Foundation
import SatchelCore
import SatchelRemote
import SatchelStorage

/// A directory as a remote of which the connection breaks after some bytes of assets, and that counts them.
final class BreakingStore: TransferStore {
  private struct State {
    /// The bytes that arrive before the connection breaks; nil for all.
    var rest: Int64?
    var received: Int64 = 0
    var uploads = 0
    var running = 0
    var mostRunning = 0
  }

  private let store: DirectoryStore
  private let state = Locked(State())
  private let gathering = NSCondition()
  // Guarded by the condition.
  nonisolated(unsafe) private var gathered = 0
  /// Called after each block of an asset with the number of bytes that have arrived.
  let onBlock = Locked<@Sendable (Int64) -> Void>({ _ in })

  init(_ store: DirectoryStore) { self.store = store }

  /// Lets writes of assets wait until so many run at the same time, but not for ever.
  func gather(_ count: Int) {
    gathering.lock()
    gathered = count
    gathering.unlock()
  }

  /// Breaks off after so many bytes of assets from now on.
  func breakOff(after count: Int64?) { state.withLock { $0.rest = count } }

  /// The bytes of assets that have arrived.
  var received: Int64 { state.withLock { $0.received } }
  /// The objects that were written at the same time, at most.
  var mostRunning: Int { state.withLock { $0.mostRunning } }

  var identity: String? { store.identity }
  var transferLimits: TransferLimits { store.transferLimits }

  func get(
    _ key: ObjectKey, ifNoneMatch known: ETag?, limit: Int64, cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectReading {
    try store.get(key, ifNoneMatch: known, limit: limit, cancellation: cancellation)
  }

  func put(
    _ key: ObjectKey, _ body: [UInt8], condition: ObjectCondition, metadata: ObjectMetadata,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    try running(key) { () throws(ObjectStoreError) in
      try store.put(key, body, condition: condition, metadata: metadata, cancellation: cancellation)
    }
  }

  func put(
    _ key: ObjectKey, _ body: FileBody, condition: ObjectCondition, metadata: ObjectMetadata, isDurable: Bool,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    try running(key) { () throws(ObjectStoreError) in
      try store.put(
        key, body, condition: condition, metadata: metadata, isDurable: isDurable, cancellation: cancellation)
    }
  }

  private func running<Value>(
    _ key: ObjectKey, _ body: () throws(ObjectStoreError) -> Value
  ) throws(ObjectStoreError) -> Value {
    guard key.text.hasPrefix("assets/") else { return try body() }
    state.withLock { state in
      state.running += 1
      state.mostRunning = max(state.mostRunning, state.running)
    }
    defer { state.withLock { $0.running -= 1 } }
    waitForOthers()
    return try body()
  }

  private func waitForOthers() {
    gathering.lock()
    defer { gathering.unlock() }
    let end = Date(timeIntervalSinceNow: 20)
    while mostRunning < gathered, gathering.wait(until: end) {}
    gathering.broadcast()
  }

  func read(
    _ key: ObjectKey, from offset: Int64, ifMatch known: ETag?, into receiver: any BodyReceiver,
    cancellation: Cancellation
  ) throws(ObjectStoreError) {
    let isAsset = key.text.hasPrefix("assets/")
    try store.read(
      key, from: offset, ifMatch: known, into: isAsset ? Receiver(receiver, self) : receiver,
      cancellation: cancellation)
  }

  private final class Receiver: BodyReceiver {
    private let receiver: any BodyReceiver
    private let store: BreakingStore

    init(_ receiver: any BodyReceiver, _ store: BreakingStore) {
      (self.receiver, self.store) = (receiver, store)
    }

    var end: Int64? { receiver.end }

    func begin(size: Int64?, etag: ETag?) throws(ObjectStoreError) {
      try receiver.begin(size: size, etag: etag)
    }

    func receive(_ block: UnsafeRawBufferPointer) throws(ObjectStoreError) {
      let isBroken = store.state.withLock { state in
        if let rest = state.rest {
          guard rest > 0 else { return true }
          state.rest = rest - Int64(block.count)
        }
        state.received += Int64(block.count)
        return false
      }
      if isBroken { throw ObjectStoreError(.failed(.internal), "the connection is broken") }
      try receiver.receive(block)
      store.onBlock.withLock { $0 }(store.received)
    }
  }

  func head(_ key: ObjectKey, cancellation: Cancellation) throws(ObjectStoreError) -> ObjectHead {
    try store.head(key, cancellation: cancellation)
  }

  func delete(_ key: ObjectKey, ifMatch known: ETag?, cancellation: Cancellation) throws(ObjectStoreError) {
    try store.delete(key, ifMatch: known, cancellation: cancellation)
  }

  func list(
    _ prefix: ObjectPrefix, from continuation: ObjectPage.Continuation?, limit: Int,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectPage {
    try store.list(prefix, from: continuation, limit: limit, cancellation: cancellation)
  }
}
