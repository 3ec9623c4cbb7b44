/// What a host answers when it is asked for keys.
public struct HostPage: Sendable {
  public struct Entry: Sendable {
    public var key: String
    /// Bytes of the body.
    public var size: Int64
    /// Where the host knows it without reading the object.
    public var etag: String?

    public init(key: String, size: Int64, etag: String? = nil) {
      self.key = key
      self.size = size
      self.etag = etag
    }
  }

  /// In the order of their keys' bytes.
  public var entries: [Entry]
  /// Whether there are more keys behind the last one.
  public var hasMore: Bool

  public init(entries: [Entry], hasMore: Bool = false) {
    self.entries = entries
    self.hasMore = hasMore
  }
}
