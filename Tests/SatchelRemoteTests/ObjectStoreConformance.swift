import Testing

import SatchelRemote

/// The conformance suite for every object store.
@Suite("Every object store")
struct ObjectStoreConformance {
  private let key: ObjectKey
  init() throws { key = try ObjectKey("photos/manifest.json") }

  @Test(
    "returns the object that was put, with its ETag, size and metadata", arguments: ConformingStore.allCases)
  func roundTrip(kind: ConformingStore) throws {
    try kind.withStores { one, other in
      let metadata = try ObjectMetadata(["writer": "device 7", "rev": "12"])
      let etag = try one.put(key, [UInt8]("first"), metadata: metadata)
      #expect(try other.get(key) == StoredObject(body: [UInt8]("first"), etag: etag, metadata: metadata))
      #expect(try other.head(key) == ObjectHead(size: 5, etag: etag, metadata: metadata))
      let second = try other.put(key, [UInt8]("second"))
      #expect(second != etag)
      #expect(try one.get(key) == StoredObject(body: [UInt8]("second"), etag: second))
      #expect(try one.head(key).metadata == .none)
    }
  }

  @Test(
    "metadata can change without the body, and is deleted with the object",
    arguments: ConformingStore.allCases)
  func metadata(kind: ConformingStore) throws {
    try kind.withStores { one, other in
      for number in 0..<4 {
        let metadata = number == 2 ? .none : try ObjectMetadata(["number": "\(number)"])
        try one.put(key, [UInt8]("same"), metadata: metadata)
        #expect(try other.get(key).metadata == metadata)
      }
      try one.delete(key)
      try one.put(key, [UInt8]("same"))
      #expect(try other.get(key).metadata == .none)
    }
  }

  @Test("reports missing objects as not found", arguments: ConformingStore.allCases)
  func missing(kind: ConformingStore) throws {
    try kind.withStores { one, _ in
      let etag = try one.put(ObjectKey("other"), [1])
      #expect(try reason { _ = try one.get(key) } == .notFound)
      #expect(try reason { _ = try one.get(key, ifNoneMatch: etag) } == .notFound)
      #expect(try reason { _ = try one.head(key) } == .notFound)
      let gone: [ObjectStoreError.Reason?] = [.notFound, .preconditionFailed]
      #expect(try gone.contains(reason { try one.put(key, [2], condition: .ifMatch(etag)) }))
      #expect(try gone.contains(reason { try one.delete(key, ifMatch: etag) }))
      #expect(try reason { _ = try one.head(key) } == .notFound)
      try one.delete(key)
    }
  }

  @Test("puts with ifAbsent only when the object does not exist", arguments: ConformingStore.allCases)
  func ifAbsent(kind: ConformingStore) throws {
    try kind.withStores { one, other in
      try one.put(key, [1], condition: .ifAbsent)
      #expect(try reason { try other.put(key, [2], condition: .ifAbsent) } == .preconditionFailed)
      #expect(try reason { try one.put(key, [1], condition: .ifAbsent) } == .preconditionFailed)
      #expect(try other.get(key).body == [1])
      try other.delete(key)
      try other.put(key, [3], condition: .ifAbsent)
      #expect(try one.get(key).body == [3])
    }
  }

  @Test("puts with ifMatch only over the known object", arguments: ConformingStore.allCases)
  func ifMatch(kind: ConformingStore) throws {
    try kind.withStores { one, other in
      let first = try one.put(key, [1])
      let second = try other.put(key, [2], condition: .ifMatch(first))
      #expect(try reason { try one.put(key, [3], condition: .ifMatch(first)) } == .preconditionFailed)
      #expect(try one.get(key).body == [2])
      let third = try one.put(key, [3], condition: .ifMatch(second))
      #expect(try one.head(key).etag == third)
      #expect(Set([first, second, third]).count == 3)
    }
  }

  @Test("deletes with ifMatch only the known object", arguments: ConformingStore.allCases)
  func deleteIfMatch(kind: ConformingStore) throws {
    try kind.withStores { one, other in
      let first = try one.put(key, [1])
      let second = try other.put(key, [2])
      #expect(try reason { try one.delete(key, ifMatch: first) } == .preconditionFailed)
      #expect(try one.get(key).body == [2])
      try one.delete(key, ifMatch: second)
      #expect(try reason { _ = try other.get(key) } == .notFound)
    }
  }

  @Test("does not return the body of the known object", arguments: ConformingStore.allCases)
  func notModified(kind: ConformingStore) throws {
    try kind.withStores { one, other in
      let first = try one.put(key, [1])
      #expect(try other.get(key, ifNoneMatch: first) == .notModified)
      let second = try other.put(key, [2])
      #expect(try one.get(key, ifNoneMatch: first) == .object(StoredObject(body: [2], etag: second)))
    }
  }

  @Test("stores empty bodies, bodies with all byte values, and 64 MiB", arguments: ConformingStore.allCases)
  func bodies(kind: ConformingStore) throws {
    try kind.withStores { one, other in
      var large = [UInt8](repeating: 0, count: 64 << 20)
      for index in stride(from: 0, to: large.count, by: 4093) {
        large[index] = UInt8(truncatingIfNeeded: index)
      }
      for body in [[], [0], [UInt8](0...255), large] {
        let etag = try one.put(key, body)
        let object = try other.get(key)
        // Not inside of the expectation, which would print 64 MiB.
        let isSame = object.body == body
        #expect(isSame)
        #expect(object.etag == etag)
        #expect(try other.head(key).size == body.count)
      }
    }
  }

  @Test("stops when the caller cancels", arguments: ConformingStore.allCases)
  func cancelled(kind: ConformingStore) throws {
    try kind.withStores { one, _ in
      let gaveUp = Cancellation { true }
      let etag = try one.put(key, [1])
      #expect(try reason { _ = try one.get(key, cancellation: gaveUp) } == .cancelled)
      #expect(try reason { _ = try one.head(key, cancellation: gaveUp) } == .cancelled)
      #expect(try reason { try one.delete(key, ifMatch: nil, cancellation: gaveUp) } == .cancelled)
      #expect(try reason { _ = try one.list(cancellation: gaveUp) } == .cancelled)
      let put = try reason {
        _ = try one.put(key, [2], condition: .none, metadata: .none, cancellation: gaveUp)
      }
      #expect(put == .cancelled)
      #expect(try one.get(key).etag == etag)
    }
  }
}
