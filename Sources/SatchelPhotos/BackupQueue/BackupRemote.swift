import SatchelCore
import SatchelRemote
import SatchelSync
import SatchelStorage

/// The extent of a failure of work with a file.
enum BackupFault {
  /// Whether an error is of one file or object; else the next ones would fail as well.
  static func concernsOne(_ error: any Error) -> Bool {
    switch error {
    case let error as ObjectStoreError: error.faultClass == .object || error.reason == .truncated
    case let error as SatchelError: [.notFound, .invalid, .damaged, .busy].contains(error.code)
    default: false
    }
  }
}

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

  /// Whether the remote has a file: an object of its size and MD5.
  func has(_ md5: MD5, size: Int64) throws -> Bool {
    guard let head = try head(md5) else { return false }
    return try isFile(head, md5, size: size)
  }

  /// Returns the sizes of all files.
  func objects() throws -> [MD5: Int64] {
    var objects: [MD5: Int64] = [:]
    try list(prefix) { page in
      for entry in page.entries { if let md5 = md5(entry.key) { objects[md5] = entry.size } }
    }
    return objects
  }

  /// Returns the names of all files; nil where there are more than `max`, and where the remote does not permit to list
  /// them.
  func names(max: Int) throws -> Set<MD5>? {
    struct TooMany: Error {}
    var names: Set<MD5> = []
    do {
      try list(prefix) { page in
        names.formUnion(page.entries.compactMap { md5($0.key) })
        if names.count > max { throw TooMany() }
      }
    } catch is TooMany {
      return nil
    } catch let error as ObjectStoreError where error.reason == .denied {
      return nil
    }
    return names
  }

  /// Reads the indexes of a user's devices, and calls `body` with the files of each part. One that cannot be read is
  /// left out.
  ///
  /// - Parameter device: is left out, too
  func eachIndex(
    of user: UserID, except device: String? = nil, _ body: ([BackupIndex.Row]) throws -> Void
  ) throws {
    let prefix = try IndexWriter.prefix(of: user)
    var keys: [ObjectKey] = []
    try list(prefix) { keys += $0.entries.map(\.key) }
    for key in keys where key.text.hasSuffix(".csv") {
      if let device, key.text.hasPrefix("\(prefix)\(device).") { continue }
      let reading: ObjectReading?
      do throws(ObjectStoreError) {
        reading = try requests.ifPresent { () throws(ObjectStoreError) in
          try store.get(
            key, ifNoneMatch: nil, limit: Int64(BackupIndex.maxObject), cancellation: cancellation)
        }
      } catch {
        guard error.faultClass == .object else { throw error }
        continue
      }
      if case .object(let object) = reading { try body(BackupIndex.read(object.body).rows) }
    }
  }

  /// Lists the objects below a prefix, and calls `body` for each page.
  func list(_ prefix: ObjectPrefix, _ body: (ObjectPage) throws -> Void) throws {
    var position = ListingPosition()
    while !position.isAtEnd {
      let page = try requests.attempt { () throws(ObjectStoreError) in
        try store.list(prefix, from: position.continuation, limit: 1000, cancellation: cancellation)
      }
      try position.pass(page)
      try body(page)
    }
  }

  /// Writes a file, and checks that the remote has it. Another object under its key counts as
  /// damaged, and is replaced. Durable after `makeDurable`.
  ///
  /// - Parameter overDamaged: whether an object that seems to be right is replaced as well
  /// - Throws: `SatchelError` `.busy` when other programs keep writing other bytes, `.damaged` when the store has
  ///   other bytes afterwards; `ObjectStoreError`
  func put(_ md5: MD5, _ body: FileBody, overDamaged: Bool = false) throws {
    let key = try key(md5)
    // A directory needs no metadata, which would be a file of their own.
    let metadata =
      try store.tagsContent
      ? ObjectMetadata.none : ObjectMetadata([ReliableWriter.md5Name: md5.description])
    var condition = ObjectCondition.ifAbsent
    if overDamaged, let head = try head(md5) { condition = .ifMatch(head.etag) }
    for _ in 0..<Self.rounds {
      let outcome = try transfer.upload(
        key, from: body, condition: condition, metadata: metadata, isDurable: false)
      switch outcome {
      case .written(let etag):
        if store.tagsContent || etag.isMD5(md5.bytes) { return }
        guard try has(md5, size: body.count) else {
          throw SatchelError(.damaged, "\(key): the object store does not have the bytes that were written")
        }
        return
      case .lost(let head):
        if try isFile(head, md5, size: body.count) { return }
        condition = .ifMatch(head.etag)
      case .gone: condition = .ifAbsent
      }
    }
    throw SatchelError(.busy, "\(key): other programs keep writing other bytes")
  }

  /// Makes the files durable that were written.
  func makeDurable() throws { try store.makeDurable(prefix) }

  /// Reads a photo's file, and compares it with its MD5.
  func isWhole(_ md5: MD5) throws(ObjectStoreError) -> Bool {
    do throws(ObjectStoreError) {
      return try transfer.digests(key(md5)).md5 == md5.bytes
    } catch {
      guard error.reason == .notFound || error.reason == .truncated else { throw error }
      return false
    }
  }

  /// Deletes a photo's file.
  ///
  /// - Returns: false when the remote does not have it
  func delete(_ md5: MD5) throws -> Bool {
    guard let head = try head(md5) else { return false }
    let key = try key(md5)
    _ = try requests.ifPresent { () throws(ObjectStoreError) in
      try store.delete(key, ifMatch: head.etag, cancellation: cancellation)
    }
    return true
  }

  private func head(_ md5: MD5) throws -> ObjectHead? {
    let key = try key(md5)
    return try requests.ifPresent { () throws(ObjectStoreError) in
      try store.head(key, cancellation: cancellation)
    }
  }

  /// Whether an object has the size and the MD5 of a file; reads one without the MD5 in its metadata.
  private func isFile(_ head: ObjectHead, _ md5: MD5, size: Int64) throws -> Bool {
    guard head.size == size else { return false }
    if head.etag.isMD5(md5.bytes) { return true }
    if let known = head.metadata[ReliableWriter.md5Name] { return known == md5.description }
    do throws(ObjectStoreError) {
      return try transfer.digests(key(md5)).md5 == md5.bytes
    } catch {
      guard error.reason == .notFound else { throw error }
      return false
    }
  }
}
