import SatchelCore

/// A store that moves bodies between files and itself in blocks, so that none is a value in memory.
package protocol TransferStore: ObjectStore {
  var transferLimits: TransferLimits { get }

  /// Writes a file's bytes as an object; readers never see a partial object.
  ///
  /// - Parameter isDurable: false where `makeDurable` follows for several objects
  /// - Throws: as `put` of bytes; the errors of the file, of the class `object`
  func put(
    _ key: ObjectKey, _ body: FileBody, condition: ObjectCondition, metadata: ObjectMetadata, isDurable: Bool,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag

  /// Reads an object's bytes from an offset to the end, or to that of the receiver.
  ///
  /// - Parameters:
  ///   - known: the ETag that the object must still have; nil for any
  ///   - receiver: gets the size of the whole object, then the bytes, of which some may have arrived when this throws
  /// - Throws: `.preconditionFailed` for another ETag, and for an offset beyond the end; `.notFound`, `.truncated`;
  ///   the errors of the receiver
  func read(
    _ key: ObjectKey, from offset: Int64, ifMatch known: ETag?, into receiver: any BodyReceiver,
    cancellation: Cancellation
  ) throws(ObjectStoreError)
}

/// Receives the bytes of an object in blocks.
package protocol BodyReceiver: AnyObject {
  /// The offset at which a store may end, the bytes after it being ignored; nil for all bytes, by default.
  var end: Int64? { get }

  /// Called before the first block.
  ///
  /// - Parameters:
  ///   - size: of the whole object; nil when the store does not say it
  ///   - etag: nil when the store does not know it before the end
  func begin(size: Int64?, etag: ETag?) throws(ObjectStoreError)

  func receive(_ block: UnsafeRawBufferPointer) throws(ObjectStoreError)
}

/// A store that puts an object together from parts, which survive the end of their writer: S3's multipart uploads.
package protocol MultipartStore: TransferStore {
  /// Begins an upload; an unused one is garbage of the store.
  func startUpload(_ key: ObjectKey, metadata: ObjectMetadata, cancellation: Cancellation)
    throws(ObjectStoreError) -> ObjectUpload

  /// Whether uploads are kept in the store, and are listed. True by default.
  var listsUploads: Bool { get }

  /// Returns the uploads of keys with a prefix that were neither completed nor aborted, the newest first.
  func unfinishedUploads(below prefix: ObjectPrefix, cancellation: Cancellation) throws(ObjectStoreError)
    -> [ObjectUpload]

  /// The parts that an upload has.
  func parts(of upload: ObjectUpload, cancellation: Cancellation) throws(ObjectStoreError) -> [UploadedPart]

  /// Writes a part, which replaces an earlier one of its number; repeating it is harmless.
  ///
  /// - Throws: `.notFound` for an upload that was completed or aborted
  func putPart(_ number: Int, of upload: ObjectUpload, _ body: FileBody, cancellation: Cancellation)
    throws(ObjectStoreError) -> UploadedPart

  /// Makes the object of the parts, under a condition.
  ///
  /// - Throws: as `put`; `.notFound` also for an upload that was completed or aborted
  func complete(
    _ upload: ObjectUpload, _ parts: [UploadedPart], condition: ObjectCondition, cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag

  /// Removes an upload and its parts.
  func abort(_ upload: ObjectUpload, cancellation: Cancellation) throws(ObjectStoreError)
}

extension MultipartStore {
  package var listsUploads: Bool { true }

  /// Returns the uploads of a key that were neither completed nor aborted, the newest first.
  func unfinishedUploads(of key: ObjectKey, cancellation: Cancellation) throws(ObjectStoreError)
    -> [ObjectUpload]
  {
    try unfinishedUploads(below: ObjectPrefix(key.text), cancellation: cancellation).filter { $0.key == key }
  }
}

/// An upload in parts, as the store names it.
package struct ObjectUpload: Sendable, Equatable {
  package var key: ObjectKey
  package var id: String
  /// That of the object, where the store does not keep it with the upload.
  package var metadata = ObjectMetadata.none
  /// When it was begun, as the store says it (ISO 8601); empty where that is not known.
  package var begun = ""

  package init(key: ObjectKey, id: String, metadata: ObjectMetadata = .none) {
    self.key = key
    self.id = id
    self.metadata = metadata
  }
}

/// A part of an upload.
package struct UploadedPart: Sendable, Equatable {
  /// From 1.
  package var number: Int
  package var size: Int64
  /// The name of the part's content, as the store sent it.
  package var etag: ETag

  package init(number: Int, size: Int64, etag: ETag) {
    self.number = number
    self.size = size
    self.etag = etag
  }
}

/// The limits of a store, the same in both directions.
package struct TransferLimits: Sendable, Equatable {
  /// The largest object in bytes.
  package var object: Int64
  /// The largest body that is written at once; a larger one is written in parts.
  package var whole: Int64
  /// The size of parts where their number allows it.
  package var part: Int64
  /// The largest number of parts.
  private let parts: Int64 = 10_000

  package init(object: Int64, whole: Int64, part: Int64 = 16 << 20) {
    self.object = object
    self.whole = whole
    self.part = part
  }

  /// The limits with parts of 8 MiB for all bodies above a size, in a store that has parts.
  package func dividing(above size: Int64) -> TransferLimits {
    guard whole < object, size < whole else { return self }
    return TransferLimits(object: object, whole: size, part: min(part, 8 << 20))
  }

  /// The size of an object's parts: the last one may be smaller.
  func partSize(of size: Int64) -> Int64 {
    var part = part
    while part < 1 << 40, size / part >= parts { part *= 2 }
    return part
  }
}

extension TransferLimits {
  /// Those of a store whose objects are values in memory.
  static let ofMemory = TransferLimits(object: StoredObject.maximumSize, whole: StoredObject.maximumSize)
}

extension ObjectStore {
  /// The limits of any store.
  package var limits: TransferLimits { (self as? any TransferStore)?.transferLimits ?? .ofMemory }

  /// Writes a file's bytes as an object; for a store without transfers, by way of memory.
  func putFile(
    _ key: ObjectKey, _ body: FileBody, condition: ObjectCondition, metadata: ObjectMetadata, isDurable: Bool,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    if let store = self as? any TransferStore {
      return try store.put(
        key, body, condition: condition, metadata: metadata, isDurable: isDurable, cancellation: cancellation)
    }
    return try putInMemory(key, body, condition: condition, metadata: metadata, cancellation: cancellation)
  }

  func putInMemory(
    _ key: ObjectKey, _ body: FileBody, condition: ObjectCondition, metadata: ObjectMetadata,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    try put(
      key, body.bytes(cancellation), condition: condition, metadata: metadata, cancellation: cancellation)
  }

  /// Reads an object's bytes from an offset on; for a store without transfers, by way of memory.
  func readFile(
    _ key: ObjectKey, from offset: Int64, ifMatch known: ETag?, into receiver: any BodyReceiver,
    cancellation: Cancellation
  ) throws(ObjectStoreError) {
    if let store = self as? any TransferStore {
      return try store.read(key, from: offset, ifMatch: known, into: receiver, cancellation: cancellation)
    }
    try readInMemory(key, from: offset, ifMatch: known, into: receiver, cancellation: cancellation)
  }

  func readInMemory(
    _ key: ObjectKey, from offset: Int64, ifMatch known: ETag?, into receiver: any BodyReceiver,
    cancellation: Cancellation
  ) throws(ObjectStoreError) {
    let object = try get(key, limit: limits.object, cancellation: cancellation)
    guard known == nil || known == object.etag, offset <= Int64(object.body.count) else {
      throw ObjectStoreError(.preconditionFailed, "\(key): the object has been changed")
    }
    try receiver.begin(size: Int64(object.body.count), etag: object.etag)
    try receiver.receive(object.body[Int(offset)...])
  }
}

extension BodyReceiver {
  package var end: Int64? { nil }

  /// Receives a block of bytes in memory.
  func receive(_ bytes: some Collection<UInt8>) throws(ObjectStoreError) {
    let failure = Array(bytes).withUnsafeBytes { block -> ObjectStoreError? in
      do throws(ObjectStoreError) {
        try receive(block)
        return nil
      } catch { return error }
    }
    if let failure { throw failure }
  }
}

extension FileBody {
  /// The bytes, for a store whose objects are values in memory.
  func bytes(_ cancellation: Cancellation) throws(ObjectStoreError) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Int(clamping: count))
    try forEachBlock(cancellation) { bytes.append(contentsOf: $0) }
    return bytes
  }
}
