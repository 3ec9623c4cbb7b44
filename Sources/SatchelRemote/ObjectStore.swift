/// Where objects are kept: a directory, S3, or what a host supplies.
///
/// All calls block, may be made from any thread at any time, and see every write that had returned before they began.
/// A conditional write is atomic: of many at once with the same condition, exactly one takes effect.
public protocol ObjectStore: Sendable {
  /// Tells where the store is, the same in every process, without credentials: what was learned of it is remembered
  /// under this name. Nil, unless a store says otherwise: then it is known only while its value lives.
  var identity: String? { get }

  /// Whether a listing gives each object's tag as `get` does. False, unless a store says otherwise.
  var listsTags: Bool { get }

  /// Reads an object, unless it is still the one that the caller knows.
  ///
  /// - Throws: `.notFound`, `.truncated`, and what any call may: `.denied`, `.transient`, `.cancelled`, `.invalidKey`,
  ///   `.failed`
  func get(_ key: ObjectKey, ifNoneMatch known: ETag?, cancellation: Cancellation) throws(ObjectStoreError)
    -> ObjectReading

  /// Writes an object as a whole; nobody ever sees a part of it.
  ///
  /// - Returns: the tag of what was written
  /// - Throws: `.preconditionFailed` when the condition is not met, `.notFound` or `.preconditionFailed` for `ifMatch`
  ///   where there is no object, `.unknownOutcome` when it cannot be told whether the write took effect
  func put(
    _ key: ObjectKey, _ body: [UInt8], condition: ObjectCondition, metadata: ObjectMetadata,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag

  /// What is known of an object without reading it.
  ///
  /// - Throws: `.notFound`
  func head(_ key: ObjectKey, cancellation: Cancellation) throws(ObjectStoreError) -> ObjectHead

  /// Removes an object. Without a condition it is no error that there is none.
  ///
  /// - Throws: as `put`
  func delete(_ key: ObjectKey, ifMatch known: ETag?, cancellation: Cancellation) throws(ObjectStoreError)

  /// Keys that begin with `prefix`, each once; within a page in the order of their bytes.
  ///
  /// The pages are in that order too, but for some stores of S3 that keep directories (SeaweedFS).
  ///
  /// - Parameters:
  ///   - continuation: nil for the first page, then what the last page gave
  ///   - limit: the most entries of a page, 1 to 1000; others are cut to that
  func list(
    _ prefix: ObjectPrefix, from continuation: ObjectPage.Continuation?, limit: Int,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectPage
}

extension ObjectStore {
  public var identity: String? { nil }

  public var listsTags: Bool { false }

  /// Reads an object.
  public func get(_ key: ObjectKey, cancellation: Cancellation = .never) throws(ObjectStoreError)
    -> StoredObject
  {
    switch try get(key, ifNoneMatch: nil, cancellation: cancellation) {
    case .object(let object): return object
    case .notModified:
      throw ObjectStoreError(
        .failed(.foreign), "\(key): the store says \"not modified\" without having been asked")
    }
  }

  public func get(_ key: ObjectKey, ifNoneMatch known: ETag) throws(ObjectStoreError) -> ObjectReading {
    try get(key, ifNoneMatch: known, cancellation: .never)
  }

  @discardableResult
  public func put(
    _ key: ObjectKey, _ body: [UInt8], condition: ObjectCondition = .none, metadata: ObjectMetadata = .none
  ) throws(ObjectStoreError) -> ETag {
    try put(key, body, condition: condition, metadata: metadata, cancellation: .never)
  }

  public func head(_ key: ObjectKey) throws(ObjectStoreError) -> ObjectHead {
    try head(key, cancellation: .never)
  }

  public func delete(_ key: ObjectKey, ifMatch known: ETag? = nil) throws(ObjectStoreError) {
    try delete(key, ifMatch: known, cancellation: .never)
  }

  /// All pages of a listing, in the order of the keys' bytes.
  public func list(_ prefix: ObjectPrefix = .all, cancellation: Cancellation = .never)
    throws(ObjectStoreError)
    -> [ObjectPage.Entry]
  {
    var (entries, seen) = ([ObjectPage.Entry](), Set<ObjectKey>())
    var (continuation, passed) = (ObjectPage.Continuation?.none, Set<String>())
    repeat {
      let page = try list(prefix, from: continuation, limit: 1000, cancellation: cancellation)
      let isNew = page.entries.allSatisfy { seen.insert($0.key).inserted }
      guard isNew, page.next.map({ passed.insert($0.text).inserted }) != false else {
        throw ObjectStoreError(.failed(.foreign), "the store's listing does not advance")
      }
      entries += page.entries
      continuation = page.next
    } while continuation != nil
    return entries.sorted { $0.key < $1.key }
  }
}
