import SatchelCore

/// An object store: a directory, an S3 bucket, or an implementation that the host supplies.
///
/// All calls block and may be made from any thread at any time. Reads and listings are strongly consistent:
/// they see every write that returned before they began. Conditional writes are atomic: of concurrent writes
/// with the same condition, exactly one takes effect.
public protocol ObjectStore: Sendable {
  /// A stable name of the store's location, the same in every process and free of credentials. Results of
  /// probes are stored under this name. Nil by default: results are then cached only for the lifetime of the
  /// instance.
  var identity: String? { get }

  /// Whether listings include each object's ETag, the same as `get` returns. False by default.
  var listsETags: Bool { get }

  /// Whether an ETag is the SHA-256 of the body in hexadecimal digits. False by default.
  var tagsContent: Bool { get }

  /// Reads an object, unless its ETag is still `known`.
  ///
  /// - Parameter limit: the maximum size of the body in bytes: a larger one is not received
  /// - Throws: `.notFound`, `.truncated`, `.tooLarge`, and the errors of any call: `.denied`, `.transient`, `.cancelled`,
  ///   `.invalidKey`, `.failed`
  func get(
    _ key: ObjectKey, ifNoneMatch known: ETag?, limit: Int64, cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectReading

  /// Writes an object as a whole; readers never see a partial object.
  ///
  /// - Returns: the ETag of the written object
  /// - Throws: `.preconditionFailed` when the condition is not met, `.notFound` or `.preconditionFailed` for
  ///   `ifMatch` when the object does not exist, `.unknownOutcome` when it is unknown whether the write took
  ///   effect
  func put(
    _ key: ObjectKey, _ body: [UInt8], condition: ObjectCondition, metadata: ObjectMetadata,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ETag

  /// Returns an object's size, ETag and metadata without its body.
  ///
  /// - Throws: `.notFound`
  func head(_ key: ObjectKey, cancellation: Cancellation) throws(ObjectStoreError) -> ObjectHead

  /// Deletes an object. Without a condition, deleting a missing object succeeds.
  ///
  /// - Throws: as `put`
  func delete(_ key: ObjectKey, ifMatch known: ETag?, cancellation: Cancellation) throws(ObjectStoreError)

  /// Returns one page of the keys that begin with `prefix`, each key once, in byte order within the page.
  ///
  /// Pages are in that order too, except for some S3 stores that keep directories (SeaweedFS).
  ///
  /// - Parameters:
  ///   - continuation: nil for the first page, then `next` of the previous page
  ///   - limit: the maximum number of entries of a page, clamped to 1 to 1000
  func list(
    _ prefix: ObjectPrefix, from continuation: ObjectPage.Continuation?, limit: Int,
    cancellation: Cancellation
  ) throws(ObjectStoreError) -> ObjectPage
}

extension ObjectStore {
  public var identity: String? { nil }

  public var listsETags: Bool { false }

  public var tagsContent: Bool { false }

  /// Reads an object unconditionally.
  public func get(
    _ key: ObjectKey, limit: Int64 = StoredObject.maximumSize, cancellation: Cancellation = .never
  ) throws(ObjectStoreError) -> StoredObject {
    switch try get(key, ifNoneMatch: nil, limit: limit, cancellation: cancellation) {
    case .object(let object): return object
    case .notModified:
      throw ObjectStoreError(
        .failed(.foreign), "\(key): the store answers \"not modified\" to an unconditional request")
    }
  }

  public func get(_ key: ObjectKey, ifNoneMatch known: ETag) throws(ObjectStoreError) -> ObjectReading {
    try get(key, ifNoneMatch: known, limit: StoredObject.maximumSize, cancellation: .never)
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

  /// Returns the entries of all pages of a listing, in the byte order of their keys.
  public func list(_ prefix: ObjectPrefix = .all, cancellation: Cancellation = .never)
    throws(ObjectStoreError)
    -> [ObjectPage.Entry]
  {
    var (entries, seen, position) = ([ObjectPage.Entry](), Set<ObjectKey>(), ListingPosition())
    while !position.isAtEnd {
      let page = try list(prefix, from: position.continuation, limit: 1000, cancellation: cancellation)
      guard page.entries.allSatisfy({ seen.insert($0.key).inserted }) else {
        throw ObjectStoreError.listingDoesNotAdvance
      }
      try position.pass(page)
      entries += page.entries
    }
    return entries.ordered { $0.key < $1.key }
  }
}

/// An object read from a store.
public struct StoredObject: Sendable, Equatable {
  /// The maximum size of an object that is read whole, in bytes.
  public static let maximumSize: Int64 = 1 << 30

  public var body: [UInt8]
  public var etag: ETag
  public var metadata: ObjectMetadata

  public init(body: [UInt8], etag: ETag, metadata: ObjectMetadata = .none) {
    self.body = body
    self.etag = etag
    self.metadata = metadata
  }

  public var head: ObjectHead { ObjectHead(size: Int64(body.count), etag: etag, metadata: metadata) }
}

/// The size, ETag and metadata of an object, without its body.
public struct ObjectHead: Sendable, Equatable {
  /// The size of the body in bytes.
  public var size: Int64
  public var etag: ETag
  public var metadata: ObjectMetadata

  public init(size: Int64, etag: ETag, metadata: ObjectMetadata = .none) {
    self.size = size
    self.etag = etag
    self.metadata = metadata
  }
}

/// The result of a conditional read.
public enum ObjectReading: Sendable, Equatable {
  /// The object; its ETag differs from the known one.
  case object(StoredObject)
  /// The object still has the known ETag.
  case notModified
}

/// The precondition of a write.
public enum ObjectCondition: Sendable, Hashable {
  /// The write is unconditional.
  case none
  /// No object exists under the key (If-None-Match: *).
  case ifAbsent
  /// The existing object has this ETag (If-Match).
  case ifMatch(ETag)
}

/// The ETag of an object: an opaque name that a store gives to one version of its content.
///
/// Different contents have different ETags. Equal bytes may have the same one, as in S3.
public struct ETag: Sendable, Hashable, CustomStringConvertible {
  /// The ETag as the store sent it, including quotes if it sent any.
  public let text: String

  /// - Returns: nil for text that is not valid in a header: empty, longer than 1024 bytes, or not printable
  ///   ASCII
  public init?(_ text: String) {
    guard (1...1024).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      return nil
    }
    self.text = text
  }

  /// Creates an ETag from a content hash in hexadecimal digits.
  init(hash: [UInt8]) { text = hash.hexadecimal }

  public var description: String { text }
}

/// A store that makes several new objects durable at once. In any other object store, an object is durable as
/// soon as it is written.
package protocol LazyObjectStore: ObjectStore {
  /// Writes a new object. Readers see it at once; a loss of power may undo it until `makeDurable` has returned.
  ///
  /// - Throws: as `put` with the condition `.ifAbsent`
  func putLazily(_ key: ObjectKey, _ body: [UInt8], cancellation: Cancellation) throws(ObjectStoreError)

  /// Makes objects durable that were written lazily.
  ///
  /// - Parameter prefix: that of the objects' keys, up to their last slash
  func makeDurable(_ prefix: ObjectPrefix) throws(ObjectStoreError)
}

/// A store whose responses have a date.
package protocol DatedObjectStore: ObjectStore {
  /// The remote's time in the latest response, Unix milliseconds; nil before the first one.
  var date: Int64? { get }
}

/// The content of the directory at a path.
package enum RemotePlace: Sendable, Equatable {
  /// Nothing, or nothing at all in the directory.
  case absent
  case empty
  /// Files, and no id.
  case unnamed
  case named(String)
}

extension ObjectStore {
  /// The id of the directory that the store is; nil where it has none, and for other stores.
  package func directoryID() throws(ObjectStoreError) -> String? {
    guard let store = self as? any PlacedStore, case .named(let id) = try store.place() else { return nil }
    return id
  }
}

/// A remote whose place may be taken by another one: a directory, at whose path another disk may be mounted, or none.
package protocol PlacedStore: ObjectStore {
  /// Looks what is there; writes nothing.
  func place() throws(ObjectStoreError) -> RemotePlace

  /// Sets the id that the next write gives the directory if it has none.
  func setID(_ id: String)
}
