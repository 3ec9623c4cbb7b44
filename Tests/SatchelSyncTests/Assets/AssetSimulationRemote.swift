import SatchelAssets
import SatchelCore

@testable import SatchelRemote
@testable import SatchelSync

/// The remote of a simulation, with all heads that it ever had.
// Unchecked: the scheduler and the fibers take turns.
final class AssetSimulationRemote: @unchecked Sendable {
  struct Object {
    var body: [UInt8]
    var etag: ETag
    var metadata: ObjectMetadata
    /// The position among all that were written.
    var order: Int
  }

  struct Upload {
    var upload: ObjectUpload
    var parts: [Int: (body: [UInt8], etag: ETag)] = [:]
    var order: Int
  }

  enum Write {
    case put(ObjectKey, [UInt8], ObjectCondition, ObjectMetadata)
    case delete(ObjectKey)
    case part(String, Int, [UInt8])
    case complete(String, ObjectCondition)
    case abort(String)
  }

  let headKey = "records/somebody/head"
  private static let assets = "assets/somebody/"
  /// Whether large objects are written in parts.
  let takesParts: Bool
  var objects: [String: Object] = [:]
  private(set) var uploads: [String: Upload] = [:]
  /// The contents that the objects of assets were written with.
  private(set) var contents: [String: Set<AssetDigest>] = [:]
  /// Heads, for stale answers.
  private(set) var heads: [Object] = []
  /// States to which a store may go back.
  private(set) var past: [[String: Object]] = []
  private var late: [(time: Int, write: Write, device: AssetSimulationDevice)] = []
  private var order = 0
  /// Entries of packs, which never change.
  var packs: [String: [SyncEntry]] = [:]

  init(takesParts: Bool) { self.takesParts = takesParts }

  /// The objects of assets, in the order of their writing: their names are random.
  var assetKeys: [String] {
    objects.filter { $0.key.hasPrefix(Self.assets) }.sorted { $0.value.order < $1.value.order }.map(\.key)
  }

  static func key(_ object: AssetObject) -> String { "\(assets)\(object)" }

  static func object(_ key: String) -> AssetObject? {
    key.hasPrefix(assets) ? AssetObject(String(key.dropFirst(assets.count))) : nil
  }

  func remember() { past.append(objects) }

  func note(_ digest: AssetDigest, in object: AssetObject) {
    contents[Self.key(object), default: []].insert(digest)
  }

  func damage(_ key: String) {
    guard var object = objects[key], !object.body.isEmpty else { return }
    object.body[0] ^= 1
    objects[key] = object
  }

  // MARK: Late writes

  func delay(_ write: Write, _ device: AssetSimulationDevice, until time: Int) {
    late.append((time, write, device))
  }

  /// Writes that take effect after their senders have stopped waiting.
  func takeLate(_ world: AssetSimulation, all: Bool = false) {
    let due = late.filter { all || $0.time <= world.time }
    late.removeAll { all || $0.time <= world.time }
    for (_, write, device) in due {
      if all, world.random.chance(50) { continue }
      world.note("a late write of device \(device.number) arrives: \(write.name)")
      _ = try? perform(write, world, device)
    }
  }

  // MARK: Writes

  private func missing(_ name: String) -> ObjectStoreError {
    ObjectStoreError(.notFound, "\(name): is not there")
  }

  private func newETag() throws(ObjectStoreError) -> ETag {
    order += 1
    guard let etag = ETag("\"\(order)\"") else { throw ObjectStoreError(.failed(.internal), "no ETag") }
    return etag
  }

  @discardableResult
  func perform(
    _ write: Write, _ world: AssetSimulation, _ device: AssetSimulationDevice
  ) throws(ObjectStoreError) -> ETag? {
    switch write {
    case .put(let key, let body, let condition, let metadata):
      let old = objects[key.text]
      switch condition {
      case .ifAbsent where old != nil: throw ObjectStoreError(.preconditionFailed, "\(key): exists")
      case .ifMatch(let etag) where etag != old?.etag:
        throw ObjectStoreError(old == nil ? .notFound : .preconditionFailed, "\(key): was changed")
      default: break
      }
      let etag = try newETag()
      let new = Object(body: body, etag: etag, metadata: metadata, order: order)
      objects[key.text] = new
      if key.text == headKey {
        heads.append(new)
        world.checkHead("a head of device \(device.number)")
        world.count("heads")
      } else if key.text.hasPrefix(Self.assets) {
        world.count("uploads")
      }
      return etag
    case .delete(let key):
      world.checkDelete(key.text, by: device)
      if objects[key.text] != nil, key.text.hasPrefix(Self.assets) { world.count("deletions") }
      objects[key.text] = nil
    case .part(let id, let number, let body):
      guard uploads[id] != nil else { throw missing("upload \(id)") }
      let digests = ContentHash.digests(of: body)
      guard let etag = ETag("\"\(digests.md5.hexadecimal)\"") else { throw missing(id) }
      uploads[id]?.parts[number] = (body, etag)
      world.count("parts")
      return etag
    case .complete(let id, let condition):
      guard let upload = uploads[id] else { throw missing("upload \(id)") }
      let body = upload.parts.sorted { $0.key < $1.key }.flatMap(\.value.body)
      let etag = try perform(
        .put(upload.upload.key, body, condition, upload.upload.metadata), world, device)
      uploads[id] = nil
      return etag
    case .abort(let id): uploads[id] = nil
    }
    return nil
  }

  func startUpload(_ key: ObjectKey, _ metadata: ObjectMetadata) -> ObjectUpload {
    order += 1
    let upload = ObjectUpload(key: key, id: "u\(order)", metadata: metadata)
    uploads[upload.id] = Upload(upload: upload, order: order)
    return upload
  }
}

extension AssetSimulationRemote.Write {
  var name: String {
    switch self {
    case .put(let key, _, _, _): "PUT \(key)"
    case .delete(let key): "DELETE \(key)"
    case .part(let id, let number, _): "PUT part \(number) of \(id)"
    case .complete(let id, _): "complete \(id)"
    case .abort(let id): "abort \(id)"
    }
  }
}
