import SatchelCore
import SatchelRemote

/// A wrapper around a store with uploads in parts that makes parts of the smallest size that S3 allows, and calls the
/// test before each part.
package final class SmallPartsStore: MultipartStore, ForwardingStore {
  /// The smallest part but the last.
  package static let partSize = 5 << 20

  package let store: any ObjectStore
  private let parts: any MultipartStore
  private let beforePart: @Sendable (Int) throws(ObjectStoreError) -> Void

  package init(
    _ store: any MultipartStore,
    beforePart: @escaping @Sendable (Int) throws(ObjectStoreError) -> Void = { _ in }
  ) {
    (self.store, parts) = (store, store)
    self.beforePart = beforePart
  }

  package var transferLimits: TransferLimits {
    TransferLimits(object: 5 << 40, whole: Int64(Self.partSize), part: Int64(Self.partSize))
  }

  package func put(
    _ key: ObjectKey, _ body: FileBody, condition: ObjectCondition, metadata: ObjectMetadata, isDurable: Bool,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    try parts.put(
      key, body, condition: condition, metadata: metadata, isDurable: isDurable, cancellation: cancellation)
  }

  package func read(
    _ key: ObjectKey, from offset: Int64, ifMatch known: ETag?, into receiver: any BodyReceiver,
    cancellation: Cancellation
  ) throws(ObjectStoreError) {
    try parts.read(key, from: offset, ifMatch: known, into: receiver, cancellation: cancellation)
  }

  package func startUpload(_ key: ObjectKey, metadata: ObjectMetadata, cancellation: Cancellation)
    throws(ObjectStoreError) -> ObjectUpload
  {
    try parts.startUpload(key, metadata: metadata, cancellation: cancellation)
  }

  package func unfinishedUploads(below prefix: ObjectPrefix, cancellation: Cancellation)
    throws(ObjectStoreError) -> [ObjectUpload]
  {
    try parts.unfinishedUploads(below: prefix, cancellation: cancellation)
  }

  package func parts(of upload: ObjectUpload, cancellation: Cancellation) throws(ObjectStoreError)
    -> [UploadedPart]
  {
    try parts.parts(of: upload, cancellation: cancellation)
  }

  package func putPart(_ number: Int, of upload: ObjectUpload, _ body: FileBody, cancellation: Cancellation)
    throws(ObjectStoreError) -> UploadedPart
  {
    try beforePart(number)
    return try parts.putPart(number, of: upload, body, cancellation: cancellation)
  }

  package func complete(
    _ upload: ObjectUpload, _ uploaded: [UploadedPart], condition: ObjectCondition, cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    try parts.complete(upload, uploaded, condition: condition, cancellation: cancellation)
  }

  package func abort(_ upload: ObjectUpload, cancellation: Cancellation) throws(ObjectStoreError) {
    try parts.abort(upload, cancellation: cancellation)
  }
}
