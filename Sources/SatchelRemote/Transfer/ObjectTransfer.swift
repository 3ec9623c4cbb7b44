import SatchelCore

/// Moves bodies between files and objects, with the hash on the way, in bounded memory, with retries from the last
/// whole part or block, resumed between runs, under one limit for both directions.
///
/// It is the same for all stores, which differ in a few requests: `TransferStore` and `MultipartStore`.
package struct ObjectTransfer: Sendable {
  /// A download that has advanced this far has not failed before.
  private static let progressSize: Int64 = 1 << 20
  /// The number of times that an object may change while it is downloaded.
  private static let maximumRestarts = 4

  let store: any ObjectStore
  let retry: Retry
  let cancellation: Cancellation
  /// Called after each part or some blocks; may cancel by an error.
  private let progress: @Sendable () throws(ObjectStoreError) -> Void

  package init(
    _ store: any ObjectStore, retry: Retry = Retry(), cancellation: Cancellation = .never,
    progress: @escaping @Sendable () throws(ObjectStoreError) -> Void = {}
  ) {
    self.store = store
    self.retry = retry
    self.cancellation = cancellation
    self.progress = progress
  }

  var requests: RetryingRequests { RetryingRequests(retry: retry, cancellation: cancellation) }

  /// Writes a file as an object, under a condition; determines the outcome in spite of lost responses.
  ///
  /// - Parameters:
  ///   - metadata: the SHA-256 is added to it where the whole body is written at once, and the store does not name
  ///     content by it
  ///   - isDurable: false where `LazyObjectStore.makeDurable` follows for several objects
  ///   - whole: the largest body that is written at once where the store has parts: an upload of a larger one that is
  ///     interrupted goes on with the next part
  /// - Throws: `.tooLarge` for a file above the store's limit; the errors of the file, of the class `object`; as
  ///   `ReliableWriter`
  package func upload(
    _ key: ObjectKey, from body: FileBody, condition: ObjectCondition, metadata: ObjectMetadata = .none,
    isDurable: Bool = true, whole: Int64 = .max
  ) throws(ObjectStoreError) -> ReliableWriter.Outcome {
    let (limits, interval) = (store.limits.dividing(above: whole), ProgressInterval(progress))
    let body = body.observed { count throws(ObjectStoreError) in try interval.add(count) }
    guard body.count <= limits.object else { throw .tooLarge(key, limit: limits.object) }
    if body.count > limits.whole, let store = store as? any MultipartStore {
      return try uploadParts(
        key, from: body, partSize: limits.partSize(of: body.count), condition: condition, metadata: metadata,
        to: store)
    }
    return try ReliableWriter(store, retry: retry).write(
      key, body, condition: condition, metadata: metadata, isDurable: isDurable, cancellation: cancellation)
  }

  /// Reads an object into a file, from where an earlier download has stopped, and verifies it.
  ///
  /// - Parameters:
  ///   - checksum: that of the content; needed for a file that resumes
  ///   - limit: the largest size in bytes
  /// - Returns: the digests of the content; the caller commits the file
  /// - Throws: `.failed(.damaged)` for content with another checksum, `.notFound`, `.tooLarge`; the errors of the file,
  ///   of the class `remote`
  package func download(
    _ key: ObjectKey, to file: DownloadFile, checksum: ContentChecksum? = nil, limit: Int64 = .max
  ) throws(ObjectStoreError) -> ContentDigests {
    let limit = min(limit, store.limits.object)
    while true {
      let isResumed = file.count > 0
      let target = DownloadTarget(file, key: key, limit: limit, progress: progress)
      try target.resume(cancellation)
      try receive(key, into: target)
      let digests = target.digests()
      guard let checksum, !checksum.matches(digests) else { return digests }
      try file.restart()
      // The beginning may have been of another object, or damaged by a loss of power.
      guard isResumed else {
        throw ObjectStoreError(.failed(.damaged), "\(key): its bytes are not those of its checksum")
      }
    }
  }

  /// Computes the digests of an object, without keeping it.
  package func digests(_ key: ObjectKey) throws(ObjectStoreError) -> ContentDigests {
    let target = DownloadTarget(nil, key: key, limit: store.limits.object, progress: progress)
    try receive(key, into: target)
    return target.digests()
  }

  /// Reads a range of an object, and goes on where a request has broken off.
  ///
  /// - Parameter body: gets the bytes in blocks, each once
  /// - Throws: `.notFound`, `.failed(.damaged)` for an object that ends before the range does; the errors of `body`
  package func read(
    _ key: ObjectKey, _ range: Range<Int64>,
    _ body: @escaping (UnsafeRawBufferPointer) throws(ObjectStoreError) -> Void
  ) throws(ObjectStoreError) {
    if range.isEmpty { return }
    try receive(key, into: RangeTarget(key, range, progress: progress, body))
  }

  private func receive(_ key: ObjectKey, into target: any TransferTarget) throws(ObjectStoreError) {
    var (failures, restarts, start, before) = (0, 0, Clock.monotonic.now(), target.count)
    while true {
      do throws(ObjectStoreError) {
        try cancellation.check()
        try store.readFile(
          key, from: target.count, ifMatch: target.etag, into: target, cancellation: cancellation)
        return try target.checkComplete()
      } catch {
        var failure = error
        if error.reason == .preconditionFailed, restarts < Self.maximumRestarts {
          restarts += 1
          try target.restart()
          failure = ObjectStoreError(.transient(retryAfter: nil), error.message)
        }
        guard failure.isTransient else { throw failure }
        if target.count - before >= Self.progressSize { (failures, start) = (0, Clock.monotonic.now()) }
        before = target.count
        failures += 1
        var random = SystemRandomNumberGenerator()
        let wait = retry.delay(
          afterFailures: failures, elapsed: Clock.monotonic.now() - start, retryAfter: failure.retryAfter,
          random: &random)
        guard let wait else { throw failure }
        try cancellation.wait(milliseconds: wait)
      }
    }
  }
}

/// Reports progress after some bytes.
private final class ProgressInterval: Sendable {
  private static let bytes = 4 << 20

  private let progress: @Sendable () throws(ObjectStoreError) -> Void
  private let unreported = Locked(0)

  init(_ progress: @escaping @Sendable () throws(ObjectStoreError) -> Void) { self.progress = progress }

  func add(_ count: Int) throws(ObjectStoreError) {
    let isDue = unreported.withLock { unreported in
      unreported += count
      guard unreported >= Self.bytes else { return false }
      unreported = 0
      return true
    }
    if isDue { try progress() }
  }
}

/// Receives bytes in several requests.
private protocol TransferTarget: BodyReceiver {
  /// The offset of the next byte.
  var count: Int64 { get }
  /// That of the object whose bytes arrived in this call.
  var etag: ETag? { get }

  /// Begins again: the object has been changed.
  func restart() throws(ObjectStoreError)

  func checkComplete() throws(ObjectStoreError)
}

/// Receives a range of an object that never changes.
private final class RangeTarget: TransferTarget {
  private let key: ObjectKey
  private let range: Range<Int64>
  private let body: (UnsafeRawBufferPointer) throws(ObjectStoreError) -> Void
  private let interval: ProgressInterval
  private var size: Int64?
  private(set) var count: Int64
  private(set) var etag: ETag?

  init(
    _ key: ObjectKey, _ range: Range<Int64>,
    progress: @escaping @Sendable () throws(ObjectStoreError) -> Void,
    _ body: @escaping (UnsafeRawBufferPointer) throws(ObjectStoreError) -> Void
  ) {
    (self.key, self.range, self.body, count) = (key, range, body, range.lowerBound)
    interval = ProgressInterval(progress)
  }

  var end: Int64? { range.upperBound }

  private var damaged: ObjectStoreError {
    ObjectStoreError(
      .failed(.damaged), "\(key): has fewer bytes than it was written with", faultClass: .object)
  }

  func begin(size: Int64?, etag: ETag?) throws(ObjectStoreError) {
    (self.size, self.etag) = (size ?? self.size, etag ?? self.etag)
    if let size, size < range.upperBound { throw damaged }
  }

  func receive(_ block: UnsafeRawBufferPointer) throws(ObjectStoreError) {
    let part = block.prefix(Int(min(range.upperBound - count, Int64(block.count))))
    if part.isEmpty { return }
    try body(UnsafeRawBufferPointer(rebasing: part))
    count += Int64(part.count)
    try interval.add(part.count)
  }

  func restart() throws(ObjectStoreError) { throw damaged }

  func checkComplete() throws(ObjectStoreError) {
    guard count < range.upperBound else { return }
    throw ObjectStoreError(.truncated, "\(key): \(count - range.lowerBound) of \(range.count) bytes arrived")
  }
}

/// Receives an object: hashes its blocks, and appends them to a file, if there is one.
private final class DownloadTarget: TransferTarget {
  private let file: DownloadFile?
  private let key: ObjectKey
  private let limit: Int64
  private let interval: ProgressInterval
  private var hash = ContentHash()
  private var size: Int64?
  private(set) var count: Int64
  private(set) var etag: ETag?

  init(
    _ file: DownloadFile?, key: ObjectKey, limit: Int64,
    progress: @escaping @Sendable () throws(ObjectStoreError) -> Void
  ) {
    self.file = file
    self.key = key
    self.limit = limit
    interval = ProgressInterval(progress)
    count = file?.count ?? 0
  }

  func resume(_ cancellation: Cancellation) throws(ObjectStoreError) { try file?.update(&hash, cancellation) }

  func begin(size: Int64?, etag: ETag?) throws(ObjectStoreError) {
    if let size, size > limit { throw .tooLarge(key, limit: limit) }
    (self.size, self.etag) = (size ?? self.size, etag ?? self.etag)
  }

  func receive(_ block: UnsafeRawBufferPointer) throws(ObjectStoreError) {
    guard Int64(block.count) <= limit - count else { throw .tooLarge(key, limit: limit) }
    try file?.append(block)
    hash.update(block)
    count += Int64(block.count)
    try interval.add(block.count)
  }

  func restart() throws(ObjectStoreError) {
    try file?.restart()
    (hash, size, count, etag) = (ContentHash(), nil, 0, nil)
  }

  func checkComplete() throws(ObjectStoreError) {
    guard let size, count != size else { return }
    throw ObjectStoreError(.truncated, "\(key): \(count) of \(size) bytes arrived")
  }

  func digests() -> ContentDigests { hash.digests() }
}
