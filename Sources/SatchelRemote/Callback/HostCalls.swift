/// The functions of an object store that the host implements, in terms of strings and bytes.
///
/// They may be called from several threads at once. An `ObjectStoreError` that they throw is passed on. A
/// `SatchelError` is converted by its code: `.notFound` means that the object does not exist; `.busy` that
/// the condition is not met (or, without one, that a retry may succeed); `.io` that the outcome is unknown
/// and a retry may succeed; `.damaged` that a body was truncated; `.readOnly` that the call is not permitted;
/// `.cancelled` that it was cancelled; any other code is passed on as a permanent failure. Any other error
/// counts as `.io`.
public struct HostCalls: Sendable {
  /// Reads an object, unless its ETag is still `known`.
  public var get:
    @Sendable (_ key: String, _ known: String?, _ cancellation: Cancellation) throws -> HostReading
  /// Writes an object as a whole, testing the condition atomically with the write; returns the new ETag.
  public var put:
    @Sendable (
      _ key: String, _ body: [UInt8], _ condition: ObjectCondition, _ metadata: [String: String],
      _ cancellation: Cancellation
    ) throws -> String
  /// Returns an object's size, ETag and metadata without its body.
  public var head: @Sendable (_ key: String, _ cancellation: Cancellation) throws -> HostHead
  /// Deletes an object; with `known`, only if its ETag is still that one.
  public var delete: @Sendable (_ key: String, _ known: String?, _ cancellation: Cancellation) throws -> Void
  /// Returns at most `limit` keys that begin with `prefix` and sort after `after`, in byte order.
  public var list:
    @Sendable (_ prefix: String, _ after: String?, _ limit: Int, _ cancellation: Cancellation) throws ->
      HostPage

  public init(
    get: @escaping @Sendable (String, String?, Cancellation) throws -> HostReading,
    put:
      @escaping @Sendable (String, [UInt8], ObjectCondition, [String: String], Cancellation) throws -> String,
    head: @escaping @Sendable (String, Cancellation) throws -> HostHead,
    delete: @escaping @Sendable (String, String?, Cancellation) throws -> Void,
    list: @escaping @Sendable (String, String?, Int, Cancellation) throws -> HostPage
  ) {
    self.get = get
    self.put = put
    self.head = head
    self.delete = delete
    self.list = list
  }
}

/// The host's result of a read.
public enum HostReading: Sendable {
  /// The object, with ETag and metadata as the host returned them, not yet validated.
  case object(body: [UInt8], etag: String, metadata: [String: String])
  /// The object still has the known ETag.
  case notModified
}

/// The host's result of a head call.
public struct HostHead: Sendable {
  /// The size of the body in bytes.
  public var size: Int64
  public var etag: String
  public var metadata: [String: String]

  public init(size: Int64, etag: String, metadata: [String: String] = [:]) {
    self.size = size
    self.etag = etag
    self.metadata = metadata
  }
}

/// The host's page of a listing.
public struct HostPage: Sendable {
  /// One object of a listing.
  public struct Entry: Sendable {
    public var key: String
    /// The size of the body in bytes.
    public var size: Int64
    /// The ETag; nil when the host does not know it without reading the object.
    public var etag: String?

    public init(key: String, size: Int64, etag: String? = nil) {
      self.key = key
      self.size = size
      self.etag = etag
    }
  }

  /// The objects, in the byte order of their keys.
  public var entries: [Entry]
  /// Whether more keys follow the last one.
  public var hasMore: Bool

  public init(entries: [Entry], hasMore: Bool = false) {
    self.entries = entries
    self.hasMore = hasMore
  }
}
