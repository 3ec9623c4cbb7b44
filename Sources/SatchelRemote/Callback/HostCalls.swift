/// The functions of an object store that the host implements, in terms of strings and bytes.
///
/// They may be called from several threads at once. An `ObjectStoreError` that they throw is passed on. A
/// `SatchelError` is converted by its code: `.notFound` means that the object does not exist; `.busy` that
/// the condition is not met (or, without one, that a retry may succeed); `.io` that the outcome is unknown
/// and a retry may succeed; `.damaged` that a body was truncated; `.readOnly` that the call is not permitted;
/// `.cancelled` that it was cancelled; any other code is passed on as a permanent failure. Any other error
/// counts as `.io`.
package struct HostCalls: Sendable {
  /// Reads an object, unless its ETag is still `known`; a body that is larger than the limit is refused.
  package var get:
    @Sendable (_ key: String, _ known: String?, _ limit: Int64, _ cancellation: Cancellation) throws ->
      HostReading
  /// Writes an object as a whole, testing the condition atomically with the write; returns the new ETag.
  package var put:
    @Sendable (
      _ key: String, _ body: [UInt8], _ condition: ObjectCondition, _ metadata: [String: String],
      _ cancellation: Cancellation
    ) throws -> String
  /// Returns an object's size, ETag and metadata without its body.
  package var head: @Sendable (_ key: String, _ cancellation: Cancellation) throws -> HostHead
  /// Deletes an object; with `known`, only if its ETag is still that one.
  package var delete: @Sendable (_ key: String, _ known: String?, _ cancellation: Cancellation) throws -> Void
  /// Returns at most `limit` keys that begin with `prefix` and sort after `after`, in byte order.
  package var list:
    @Sendable (_ prefix: String, _ after: String?, _ limit: Int, _ cancellation: Cancellation) throws ->
      HostPage

  /// Nil for a host whose objects are always values in memory.
  package var transfers: HostTransfers?

  package init(
    get: @escaping @Sendable (String, String?, Int64, Cancellation) throws -> HostReading,
    put:
      @escaping @Sendable (String, [UInt8], ObjectCondition, [String: String], Cancellation) throws -> String,
    head: @escaping @Sendable (String, Cancellation) throws -> HostHead,
    delete: @escaping @Sendable (String, String?, Cancellation) throws -> Void,
    list: @escaping @Sendable (String, String?, Int, Cancellation) throws -> HostPage,
    transfers: HostTransfers? = nil
  ) {
    self.get = get
    self.put = put
    self.head = head
    self.delete = delete
    self.list = list
    self.transfers = transfers
  }
}

/// The optional functions of a host for files that are too large for one value.
package struct HostTransfers: Sendable {
  /// Reads up to `count` bytes of an object from `offset` on; with `known`, only if its ETag is still that one.
  package var getRange:
    @Sendable (_ key: String, _ offset: Int64, _ count: Int64, _ known: String?, _ cancellation: Cancellation)
      throws -> HostRange
  /// Writes a part of an upload, which replaces an earlier one of its number (from 1).
  package var putPart:
    @Sendable (_ key: String, _ upload: String, _ number: Int, _ body: [UInt8], _ cancellation: Cancellation)
      throws -> Void
  /// Makes an object of the parts 1 to `parts`, testing the condition atomically; returns the new ETag. With 0 parts it
  /// only discards the upload, and its result is not used.
  package var complete:
    @Sendable (
      _ key: String, _ upload: String, _ parts: Int, _ condition: ObjectCondition,
      _ metadata: [String: String],
      _ cancellation: Cancellation
    ) throws -> String

  package init(
    getRange: @escaping @Sendable (String, Int64, Int64, String?, Cancellation) throws -> HostRange,
    putPart: @escaping @Sendable (String, String, Int, [UInt8], Cancellation) throws -> Void,
    complete:
      @escaping @Sendable (String, String, Int, ObjectCondition, [String: String], Cancellation) throws ->
      String
  ) {
    self.getRange = getRange
    self.putPart = putPart
    self.complete = complete
  }
}

/// The host's result of reading a range.
package struct HostRange: Sendable {
  package var body: [UInt8]
  /// The size of the whole object in bytes.
  package var size: Int64
  package var etag: String

  package init(body: [UInt8], size: Int64, etag: String) {
    self.body = body
    self.size = size
    self.etag = etag
  }
}

/// The host's result of a read.
package enum HostReading: Sendable {
  /// The object, with ETag and metadata as the host returned them, not yet validated.
  case object(body: [UInt8], etag: String, metadata: [String: String])
  /// The object still has the known ETag.
  case notModified
}

/// The host's result of a head call.
package struct HostHead: Sendable {
  /// The size of the body in bytes.
  package var size: Int64
  package var etag: String
  package var metadata: [String: String]

  package init(size: Int64, etag: String, metadata: [String: String] = [:]) {
    self.size = size
    self.etag = etag
    self.metadata = metadata
  }
}

/// The host's page of a listing.
package struct HostPage: Sendable {
  /// One object of a listing.
  package struct Entry: Sendable {
    package var key: String
    /// The size of the body in bytes.
    package var size: Int64
    /// The ETag; nil when the host does not know it without reading the object.
    package var etag: String?

    package init(key: String, size: Int64, etag: String? = nil) {
      self.key = key
      self.size = size
      self.etag = etag
    }
  }

  /// The objects, in the byte order of their keys.
  package var entries: [Entry]
  /// Whether more keys follow the last one.
  package var hasMore: Bool

  package init(entries: [Entry], hasMore: Bool = false) {
    self.entries = entries
    self.hasMore = hasMore
  }
}
