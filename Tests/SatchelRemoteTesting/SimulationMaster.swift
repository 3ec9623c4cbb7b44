import SatchelRemote
import SatchelStorage

/// The master copy of a simulation: an object store in memory that does one request after the other, and remembers
/// every version of every object.
package struct SimulationMaster {
  package struct Version {
    package var object: StoredObject
    package var checksum: String
    /// When it was written, counted in requests.
    package var time: Int
    /// Nobody who synchronises wrote it: somebody else damaged the object, or removed it.
    package var isDamaged = false
    package var isRemoved = false
  }

  package private(set) var versions: [ObjectKey: [Version]] = [:]
  /// As in S3: equal bytes have equal tags, so that a tag may come back.
  package let tagsAreOfContent: Bool
  package private(set) var time = 0

  package init(tagsAreOfContent: Bool) { self.tagsAreOfContent = tagsAreOfContent }

  package func current(_ key: ObjectKey) -> Version? {
    versions[key]?.last.flatMap { $0.isRemoved ? nil : $0 }
  }

  /// What a reader sees that lags behind.
  package func previous(_ key: ObjectKey) -> Version? {
    versions[key]?.dropLast().last.flatMap { $0.isRemoved ? nil : $0 }
  }

  /// The last version that somebody wrote who synchronises.
  package func lastSound(_ key: ObjectKey) -> Version? { versions[key]?.last { !$0.isDamaged } }

  /// Somebody else damages an object.
  ///
  /// - Parameters:
  ///   - body: nil to remove it
  ///   - isInPlace: its tag and metadata stay as they are
  package mutating func damage(_ key: ObjectKey, _ body: [UInt8]?, isInPlace: Bool) {
    guard let last = current(key) else { return }
    let bytes = body ?? []
    let checksum = SHA256.digest(bytes).hexadecimal
    var object = last.object
    object.body = bytes
    if !isInPlace {
      let tag =
        tagsAreOfContent ? String(checksum.prefix(32)) : "damaged-\(time)-\(versions[key]?.count ?? 0)"
      if let etag = ETag("\"\(tag)\"") { object.etag = etag }
      object.metadata = .none
    }
    versions[key, default: []].append(
      Version(object: object, checksum: checksum, time: time, isDamaged: true, isRemoved: body == nil))
  }

  package mutating func tick() { time += 1 }

  /// What happens to an object without a request.
  package mutating func change(_ key: String, _ change: (inout Version) -> Void) {
    guard let key = try? ObjectKey(key), var last = versions[key]?.popLast() else { return }
    change(&last)
    versions[key, default: []].append(last)
  }

  package mutating func remove(_ key: String) {
    if let key = try? ObjectKey(key) { versions[key] = nil }
  }

  package mutating func put(
    _ key: ObjectKey, _ body: [UInt8], _ condition: ObjectCondition, _ metadata: ObjectMetadata
  ) throws(ObjectStoreError) -> ETag {
    let current = current(key)?.object.etag
    switch condition {
    case .none: break
    case .ifAbsent where current == nil: break
    case .ifMatch(let known) where current == known: break
    case .ifMatch where current == nil: throw ObjectStoreError(.notFound, "\(key): there is none")
    case .ifAbsent, .ifMatch: throw ObjectStoreError(.preconditionFailed, "\(key): is another one")
    }
    let checksum = SHA256.digest(body).hexadecimal
    let tag = tagsAreOfContent ? String(checksum.prefix(32)) : "version-\(time)"
    guard let etag = ETag("\"\(tag)\"") else { throw ObjectStoreError(.failed(.internal), "no tag") }
    let object = StoredObject(body: body, etag: etag, metadata: metadata)
    versions[key, default: []].append(Version(object: object, checksum: checksum, time: time))
    return etag
  }
}
