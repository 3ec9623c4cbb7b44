import SatchelCore

/// Files of a host's store: by its optional functions in parts; without them as values in memory.
extension CallbackStore: MultipartStore {
  /// The size of parts and ranges: each of the transfers that run at once has one in memory.
  private static let partSize: Int64 = 8 << 20

  package var transferLimits: TransferLimits {
    calls.transfers == nil
      ? .ofMemory : TransferLimits(object: 5 << 40, whole: Self.partSize, part: Self.partSize)
  }

  package func put(
    _ key: ObjectKey, _ body: FileBody, condition: ObjectCondition, metadata: ObjectMetadata, isDurable: Bool,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    try putInMemory(key, body, condition: condition, metadata: metadata, cancellation: cancellation)
  }

  package func read(
    _ key: ObjectKey, from offset: Int64, ifMatch known: ETag?, into receiver: any BodyReceiver,
    cancellation: Cancellation
  ) throws(ObjectStoreError) {
    guard let transfers = calls.transfers else {
      return try readInMemory(key, from: offset, ifMatch: known, into: receiver, cancellation: cancellation)
    }
    var (known, offset, isFirst) = (known, offset, true)
    while true {
      let length = min(Self.partSize, max((receiver.end ?? .max) - offset, 1))
      let range = try call(about: key.text, cancellation, isConditional: known != nil) {
        try transfers.getRange(key.text, offset, length, known?.text, cancellation)
      }
      let etag = try Self.etag(range.etag, key)
      guard known == nil || known == etag, offset <= range.size else {
        throw ObjectStoreError(.preconditionFailed, "\(key): the object has been changed")
      }
      guard Int64(range.body.count) <= min(length, range.size - offset),
        !range.body.isEmpty || offset == range.size
      else { throw Self.foreign(key.text, "returns a range with too many bytes, or without any") }
      known = etag
      if isFirst { try receiver.begin(size: range.size, etag: etag) }
      isFirst = false
      try receiver.receive(range.body)
      offset += Int64(range.body.count)
      if offset == range.size || receiver.end.map({ offset >= $0 }) ?? false { return }
    }
  }

  private func transfers() throws(ObjectStoreError) -> HostTransfers {
    guard let transfers = calls.transfers else {
      throw ObjectStoreError(.failed(.foreign), "the host's store has no uploads in parts")
    }
    return transfers
  }

  package func startUpload(_ key: ObjectKey, metadata: ObjectMetadata, cancellation: Cancellation)
    throws(ObjectStoreError) -> ObjectUpload
  {
    ObjectUpload(key: key, id: HexadecimalName.random(digits: 32), metadata: metadata)
  }

  /// A host has no function that lists them.
  package var listsUploads: Bool { false }

  package func unfinishedUploads(below prefix: ObjectPrefix, cancellation: Cancellation)
    throws(ObjectStoreError) -> [ObjectUpload]
  { [] }

  package func parts(of upload: ObjectUpload, cancellation: Cancellation) throws(ObjectStoreError)
    -> [UploadedPart]
  { [] }

  package func putPart(_ number: Int, of upload: ObjectUpload, _ body: FileBody, cancellation: Cancellation)
    throws(ObjectStoreError) -> UploadedPart
  {
    let (transfers, bytes) = (try transfers(), try body.bytes(cancellation))
    try call(about: upload.key.text, cancellation, isWriting: true) {
      try transfers.putPart(upload.key.text, upload.id, number, bytes, cancellation)
    }
    return UploadedPart(
      number: number, size: body.count, etag: ETag(hash: try body.digests(cancellation).md5))
  }

  package func complete(
    _ upload: ObjectUpload, _ parts: [UploadedPart], condition: ObjectCondition, cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag {
    let transfers = try transfers()
    let etag = try call(
      about: upload.key.text, cancellation, isWriting: true, isConditional: condition != .none
    ) {
      try transfers.complete(
        upload.key.text, upload.id, parts.count, condition, upload.metadata.values, cancellation)
    }
    return try Self.etag(etag, upload.key)
  }

  package func abort(_ upload: ObjectUpload, cancellation: Cancellation) throws(ObjectStoreError) {
    let transfers = try transfers()
    _ = try call(about: upload.key.text, cancellation, isWriting: true) {
      try transfers.complete(upload.key.text, upload.id, 0, .none, [:], cancellation)
    }
  }
}
