import SatchelAssets
import SatchelCore
import SatchelRemote

/// The objects of a user's assets: "assets/{user}/{log}.{fence}/{name}".
extension SyncLogRemote {
  private var transfer: ObjectTransfer { ObjectTransfer(store, retry: retry, cancellation: cancellation) }

  private func taken(_ object: AssetObject) -> ObjectStoreError {
    ObjectStoreError(.failed(.damaged), "\(object): its name is used by another object", faultClass: .object)
  }

  /// Writes an object.
  ///
  /// - Throws: `ObjectStoreError`; nothing names it then
  func upload(_ object: AssetObject, _ body: [UInt8]) throws(ObjectStoreError) {
    let outcome = try ReliableWriter(store, retry: retry).write(
      object.key(user), body, condition: .ifAbsent, cancellation: cancellation)
    guard case .written = outcome else { throw taken(object) }
  }

  /// Writes a large object, where the store has parts in those that an earlier sync has not written.
  ///
  /// - Parameter whole: the largest body that is written at once
  func upload(_ object: AssetObject, _ body: FileBody, whole: Int64) throws(ObjectStoreError) {
    let outcome = try transfer.upload(object.key(user), from: body, condition: .ifAbsent, whole: whole)
    guard case .written = outcome else { throw taken(object) }
  }

  /// Reads chunks of an asset.
  ///
  /// - Parameter body: gets the content of each, verified
  /// - Throws: `ObjectStoreError`: `.notFound`, `.failed(.damaged)`; the errors of `body`
  func read(
    _ chunks: Range<Int64>, of seal: AssetSeal, at location: SyncAssetEntry.Location,
    _ body: @escaping ([UInt8]) throws -> Void
  ) throws(ObjectStoreError) {
    let sealed = seal.layout.sealed(chunks)
    let range = location.offset + sealed.lowerBound..<location.offset + sealed.upperBound
    var opener = AssetOpener(seal, chunks: chunks)
    try transfer.read(location.object.key(user), range) { block throws(ObjectStoreError) in
      do {
        try opener.receive(block, body)
      } catch {
        let error = SatchelError(converting: error)
        throw ObjectStoreError(.failed(error.code), error.message, faultClass: .object)
      }
    }
    guard opener.isComplete else {
      throw ObjectStoreError(
        .failed(.damaged), "asset \(seal.digest): chunks of it are missing", faultClass: .object)
    }
  }

  /// Returns a content of at most `SyncSizes.wholeAsset` bytes.
  ///
  /// - Throws: as `read`
  func content(
    _ digest: AssetDigest, _ size: Int64, _ location: SyncAssetEntry.Location
  ) throws -> any AssetBytes {
    let seal = try AssetSeal(digest, size: size, key: location.key)
    var content = AssetInMemory(bytes: [])
    try read(0..<seal.layout.chunks, of: seal, at: location) { content.bytes += $0 }
    return content
  }

  private struct AssetInMemory: AssetBytes {
    var bytes: [UInt8]
    var size: Int64 { Int64(bytes.count) }

    func read(_ count: Int, at offset: Int64) throws -> [UInt8] {
      Array(bytes.dropFirst(Int(offset)).prefix(count))
    }
  }

  /// Whether an asset can be read whole.
  ///
  /// - Throws: errors that say nothing about the object
  func isReadable(_ digest: AssetDigest, _ size: Int64, _ location: SyncAssetEntry.Location) throws -> Bool {
    let seal = try AssetSeal(digest, size: size, key: location.key)
    var hash = SHA256()
    do throws(ObjectStoreError) {
      try read(0..<seal.layout.chunks, of: seal, at: location) { $0.withUnsafeBytes { hash.update($0) } }
    } catch {
      guard error.reason == .notFound || error.reason == .failed(.damaged) else { throw error }
      return false
    }
    return hash.digest() == digest.bytes
  }

  /// All objects, with their sizes.
  func assetObjects() throws -> [AssetObject: Int64] {
    let prefix = try AssetObject.prefix(user)
    let entries = try RetryingRequests(retry: retry, cancellation: cancellation).attempt {
      () throws(ObjectStoreError) in try store.list(prefix, cancellation: cancellation)
    }
    var objects: [AssetObject: Int64] = [:]
    for entry in entries {
      if let object = AssetObject(String(entry.key.text.dropFirst(prefix.text.count))) {
        objects[object] = entry.size
      }
    }
    return objects
  }

  /// Whether an object is complete; false where that cannot be found out.
  func hasObject(_ object: AssetObject) -> Bool {
    guard let key = try? object.key(user) else { return false }
    return (try? store.head(key, cancellation: cancellation)) != nil
  }

  /// Removes uploads in parts that nothing can complete any more, and those of objects that are complete; best effort.
  ///
  /// - Returns: the objects of the others, except those that entries name
  @discardableResult
  func abortUploads(
    except named: Set<AssetObject>, _ isGarbage: (AssetObject) -> Bool
  ) throws -> Set<AssetObject> {
    guard let parts = store as? any MultipartStore, parts.listsUploads else { return [] }
    let prefix = try AssetObject.prefix(user)
    var others: Set<AssetObject> = []
    for upload in (try? parts.unfinishedUploads(below: prefix, cancellation: cancellation)) ?? [] {
      guard let object = AssetObject(String(upload.key.text.dropFirst(prefix.text.count))) else { continue }
      let isNamed = named.contains(object)
      if isNamed ? hasObject(object) : isGarbage(object) {
        try? parts.abort(upload, cancellation: cancellation)
      } else if !isNamed {
        others.insert(object)
      }
    }
    return others
  }
}
