import SatchelCore
import SatchelRemote
import SatchelSync
import SatchelStorage

/// The files of one user's photos in an object store: `photos/{user}/{md5}`.
struct BackupRemote: Sendable {
  /// The number of retries for an object that other programs change.
  private static let rounds = 4

  let store: MeteredStore
  let retry: Retry
  let cancellation: Cancellation
  private let transfer: ObjectTransfer
  /// The prefix of the user's keys.
  let prefix: ObjectPrefix

  init(_ session: SyncSession) throws {
    store = session.store
    retry = session.retry
    cancellation = session.cancellation
    transfer = ObjectTransfer(session.store, retry: session.retry, cancellation: session.cancellation) {
      () throws(ObjectStoreError) in
      try session.reportTransfer()
    }
    prefix = try ObjectPrefix("photos/\(session.user)/")
  }

  func key(_ md5: MD5) throws(ObjectStoreError) -> ObjectKey { try ObjectKey(prefix.text + md5.description) }

  /// The photo whose file an object is; nil for another name.
  func md5(_ key: ObjectKey) -> MD5? {
    let name = key.text.dropFirst(prefix.text.count)
    guard let md5 = MD5(String(name)), md5.description == name else { return nil }
    return md5
  }

  var requests: RetryingRequests { RetryingRequests(retry: retry, cancellation: cancellation) }

  /// Downloads a photo's file, continuing with what an earlier download has left, and verifies it.
  ///
  /// - Throws: `ObjectStoreError`, `.failed(.damaged)` for bytes with another MD5
  func get(_ md5: MD5, to file: DownloadFile) throws(ObjectStoreError) {
    _ = try transfer.download(key(md5), to: file, checksum: .md5(md5.bytes))
  }

  /// Whether the remote has a photo's file: an object of its size and MD5.
  func has(_ photo: Photo) throws -> Bool {
    guard let head = try head(photo.md5) else { return false }
    return try isFile(head, of: photo)
  }

  /// Writes a photo's file, and checks that the remote has it. Another object under its key counts as
  /// damaged, and is replaced. Durable after `makeDurable`.
  ///
  /// - Throws: `SatchelError` `.busy` when other programs keep writing other bytes, `.damaged` when the store has
  ///   other bytes afterwards; `ObjectStoreError`
  func put(_ photo: Photo, _ body: FileBody) throws {
    let key = try key(photo.md5)
    // A directory needs no metadata, which would be a file of their own.
    let metadata =
      try store.tagsContent
      ? ObjectMetadata.none : ObjectMetadata([ReliableWriter.md5Name: photo.md5.description])
    var condition = ObjectCondition.ifAbsent
    for _ in 0..<Self.rounds {
      let outcome = try transfer.upload(
        key, from: body, condition: condition, metadata: metadata, isDurable: false)
      switch outcome {
      case .written(let etag):
        if store.tagsContent || etag.isMD5(photo.md5.bytes) { return }
        guard try has(photo) else {
          throw SatchelError(.damaged, "\(key): the object store does not have the bytes that were written")
        }
        return
      case .lost(let head):
        if try isFile(head, of: photo) { return }
        condition = .ifMatch(head.etag)
      case .gone: condition = .ifAbsent
      }
    }
    throw SatchelError(.busy, "\(key): other programs keep writing other bytes")
  }

  /// Makes the files durable that were written.
  func makeDurable() throws { try store.makeDurable(prefix) }

  private func head(_ md5: MD5) throws -> ObjectHead? {
    let key = try key(md5)
    return try requests.ifPresent { () throws(ObjectStoreError) in
      try store.head(key, cancellation: cancellation)
    }
  }

  /// Whether an object has the size and the MD5 of a photo; reads one without the MD5 in its metadata.
  private func isFile(_ head: ObjectHead, of photo: Photo) throws -> Bool {
    guard head.size == photo.size else { return false }
    if head.etag.isMD5(photo.md5.bytes) { return true }
    if let known = head.metadata[ReliableWriter.md5Name] { return known == photo.md5.description }
    do throws(ObjectStoreError) {
      return try transfer.digests(key(photo.md5)).md5 == photo.md5.bytes
    } catch {
      guard error.reason == .notFound else { throw error }
      return false
    }
  }
}
