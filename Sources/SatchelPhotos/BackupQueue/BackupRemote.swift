import SatchelCore
import SatchelRemote
import SatchelSync
import SatchelStorage

/// The files of one user's photos in an object store: `photos/{user}/{md5}`.
struct BackupRemote: Sendable {
  /// The metadata with the MD5 of an object's body, as computed by its writer.
  private static let checksumName = "md5"
  /// The number of retries for an object that other programs change.
  private static let rounds = 4

  let store: MeteredStore
  let retry: Retry
  let cancellation: Cancellation
  /// The prefix of the user's keys.
  let prefix: ObjectPrefix

  init(_ session: SyncSession) throws {
    store = session.store
    retry = session.retry
    cancellation = session.cancellation
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

  /// Reads a photo's file.
  ///
  /// - Throws: `SatchelError` `.damaged` for bytes with another MD5; `ObjectStoreError`
  func get(_ md5: MD5) throws -> [UInt8] {
    let key = try key(md5)
    let object = try requests.attempt { () throws(ObjectStoreError) in
      try store.get(key, cancellation: cancellation)
    }
    guard MD5(of: object.body) == md5 else {
      throw SatchelError(.damaged, "\(key): its bytes are not those of the photo")
    }
    return object.body
  }

  /// Whether the remote has a photo's file: an object of its size and MD5.
  func has(_ photo: Photo) throws -> Bool {
    guard let head = try head(photo.md5) else { return false }
    return try isFile(head, of: photo)
  }

  /// Writes a photo's file, and checks that the remote has it. Another object under its key counts as
  /// damaged, and is replaced.
  ///
  /// - Throws: `SatchelError` `.busy` when other programs keep writing other bytes, `.damaged` when the store has
  ///   other bytes afterwards; `ObjectStoreError`
  func put(_ photo: Photo, _ bytes: [UInt8]) throws {
    let key = try key(photo.md5)
    let metadata = try ObjectMetadata([Self.checksumName: photo.md5.description])
    let writer = ReliableWriter(store, retry: retry)
    var condition = ObjectCondition.ifAbsent
    for _ in 0..<Self.rounds {
      let outcome = try writer.write(
        key, bytes, condition: condition, metadata: metadata, cancellation: cancellation)
      switch outcome {
      case .written:
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

  private func head(_ md5: MD5) throws -> ObjectHead? {
    let key = try key(md5)
    return try requests.ifPresent { () throws(ObjectStoreError) in
      try store.head(key, cancellation: cancellation)
    }
  }

  /// Whether an object has the size and the MD5 of a photo; reads one without the MD5 in its metadata.
  private func isFile(_ head: ObjectHead, of photo: Photo) throws -> Bool {
    guard head.size == photo.size else { return false }
    if let known = head.metadata[Self.checksumName] { return known == photo.md5.description }
    let key = try key(photo.md5)
    let reading = try requests.ifPresent { () throws(ObjectStoreError) in
      try store.get(key, ifNoneMatch: nil, limit: head.size, cancellation: cancellation)
    }
    guard case .object(let object) = reading else { return false }
    return MD5(of: object.body) == photo.md5
  }
}
