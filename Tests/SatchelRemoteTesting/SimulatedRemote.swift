import SatchelRemote
import SatchelCore
import SatchelStorage

/// The remote copy of a simulation: a sequential object store in memory with the history of every object.
package struct SimulatedRemote {
  package struct Version {
    package var object: StoredObject
    package var checksum: String
    /// The time of the write, counted in requests.
    package var time: Int
    /// Whether another program damaged or removed the object, rather than a device.
    package var isDamaged = false
    package var isRemoved = false
  }

  package private(set) var versions: [ObjectKey: [Version]] = [:]
  /// Whether equal bytes have equal ETags, as in S3, so that an ETag may recur.
  package let hasContentETags: Bool
  package private(set) var time = 0

  package init(hasContentETags: Bool) { self.hasContentETags = hasContentETags }

  package func current(_ key: ObjectKey) -> Version? {
    versions[key]?.last.flatMap { $0.isRemoved ? nil : $0 }
  }

  /// The version that a stale read returns.
  package func previous(_ key: ObjectKey) -> Version? {
    versions[key]?.dropLast().last.flatMap { $0.isRemoved ? nil : $0 }
  }

  /// The last version that a device wrote.
  package func lastUndamaged(_ key: ObjectKey) -> Version? { versions[key]?.last { !$0.isDamaged } }

  /// Damages an object, as another program would.
  ///
  /// - Parameters:
  ///   - body: nil to remove the object
  ///   - isInPlace: whether ETag and metadata stay unchanged
  package mutating func damage(_ key: ObjectKey, _ body: [UInt8]?, isInPlace: Bool) {
    guard let last = current(key) else { return }
    let bytes = body ?? []
    let checksum = SHA256.digest(bytes).hexadecimal
    var object = last.object
    object.body = bytes
    if !isInPlace {
      let tag =
        hasContentETags ? String(checksum.prefix(32)) : "damaged-\(time)-\(versions[key]?.count ?? 0)"
      if let etag = ETag("\"\(tag)\"") { object.etag = etag }
      object.metadata = .none
    }
    versions[key, default: []].append(
      Version(object: object, checksum: checksum, time: time, isDamaged: true, isRemoved: body == nil))
  }

  /// Replaces an object by an earlier version of it with that version's metadata, as restoring a backup would.
  package mutating func restore(_ key: ObjectKey, version: Int) {
    guard let all = versions[key], all.indices.contains(version) else { return }
    var earlier = all[version]
    if !hasContentETags, let etag = ETag("\"restored-\(time)-\(all.count)\"") { earlier.object.etag = etag }
    earlier.time = time
    earlier.isDamaged = true
    versions[key, default: []].append(earlier)
  }

  package mutating func tick() { time += 1 }

  /// Changes an object's last version without a request.
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
    case .ifMatch where current == nil: throw ObjectStoreError(.notFound, "\(key): the object does not exist")
    case .ifAbsent, .ifMatch:
      throw ObjectStoreError(.preconditionFailed, "\(key): the object has been changed")
    }
    let checksum = SHA256.digest(body).hexadecimal
    let tag = hasContentETags ? String(checksum.prefix(32)) : "version-\(time)"
    guard let etag = ETag("\"\(tag)\"") else { throw ObjectStoreError(.failed(.internal), "no tag") }
    let object = StoredObject(body: body, etag: etag, metadata: metadata)
    versions[key, default: []].append(Version(object: object, checksum: checksum, time: time))
    return etag
  }
}
