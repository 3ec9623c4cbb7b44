import SatchelCore

extension ObjectTransfer {
  /// The number of uploads that are begun for one object: another program may end one of them.
  private static let maximumUploads = 3

  /// Writes a file as an object in parts, and continues an upload that an earlier run has left: its parts with the
  /// file's bytes are not sent again.
  func uploadParts(
    _ key: ObjectKey, from body: FileBody, partSize: Int64, condition: ObjectCondition,
    metadata: ObjectMetadata, to store: any MultipartStore
  ) throws(ObjectStoreError) -> ReliableWriter.Outcome {
    var metadata = metadata
    if metadata.values.isEmpty {
      // Without any checksum a lost response would leave the outcome unknown.
      let checksum = try body.digests(cancellation).sha256.hexadecimal
      metadata = try ObjectMetadata([ReliableWriter.checksumName: checksum])
    }
    var left = try resumable(key, of: body, partSize: partSize, in: store)
    for attempt in 1... {
      let upload: ObjectUpload
      if let (known, _) = left {
        upload = known
      } else {
        upload = try requests.repeating { () throws(ObjectStoreError) in
          try store.startUpload(key, metadata: metadata, cancellation: cancellation)
        }
      }
      do throws(ObjectStoreError) {
        let parts = try send(body, partSize: partSize, as: upload, known: left?.parts ?? [:], to: store)
        let outcome = try ReliableWriter(store, retry: retry).write(
          key, as: body, condition: condition, cancellation: cancellation
        ) { () throws(ObjectStoreError) in
          try store.complete(upload, parts, condition: condition, cancellation: cancellation)
        }
        if case .written = outcome { return outcome }
        try? store.abort(upload, cancellation: .never)
        return outcome
      } catch {
        // The upload is no longer there: aborted, or completed by another device.
        let isGone = error.reason == .notFound && attempt < Self.maximumUploads
        // An upload that cannot become the object is removed; one that was only interrupted stays for the next run.
        if !isGone, error.faultClass == .object { try? store.abort(upload, cancellation: .never) }
        guard isGone else { throw error }
        left = nil
      }
    }
    throw ObjectStoreError(.unknownOutcome(retryAfter: nil), "\(key): its uploads disappear")
  }

  /// Sends the parts that the store does not have.
  private func send(
    _ body: FileBody, partSize: Int64, as upload: ObjectUpload, known: [Int: UploadedPart],
    to store: any MultipartStore
  ) throws(ObjectStoreError) -> [UploadedPart] {
    var (parts, start, whole) = ([UploadedPart](), Int64(0), ContentHash())
    while start < body.count {
      let (number, end) = (parts.count + 1, min(start + partSize, body.count))
      let part = body.part(start..<end)
      // Also the hash of the whole.
      let digests = try part.forEachBlock(cancellation, isSending: false) { whole.update($0) }
      if let known = known[number], known.size == part.count, known.etag.isMD5(digests.md5) {
        parts.append(known)
      } else {
        parts.append(
          try requests.repeating { () throws(ObjectStoreError) in
            try store.putPart(number, of: upload, part, cancellation: cancellation)
          })
      }
      start = end
    }
    try body.accept(whole.digests())
    try body.checkUnchanged()
    return parts
  }

  /// The upload that an earlier run has left, with its parts: the newest whose first part is the file's.
  private func resumable(
    _ key: ObjectKey, of body: FileBody, partSize: Int64, in store: any MultipartStore
  ) throws(ObjectStoreError) -> (upload: ObjectUpload, parts: [Int: UploadedPart])? {
    let first = body.part(0..<min(partSize, body.count))
    // A store that does not list uploads begins them again.
    for upload in (try? store.unfinishedUploads(of: key, cancellation: cancellation)) ?? [] {
      guard let parts = try? store.parts(of: upload, cancellation: cancellation) else { continue }
      let byNumber = Dictionary(parts.map { ($0.number, $0) }, uniquingKeysWith: { $1 })
      guard let part = byNumber[1], part.size == first.count,
        part.etag.isMD5(try first.digests(cancellation).md5)
      else { continue }
      return (upload, byNumber)
    }
    try cancellation.check()
    return nil
  }
}

extension ETag {
  /// Whether this is the MD5 of content, as S3 names content that is neither in parts nor encrypted with a customer's
  /// key.
  package func isMD5(_ digest: [UInt8]) -> Bool {
    let digits = digest.hexadecimal
    return text == "\"\(digits)\"" || text == digits
  }
}
