/// A part of a listing.
public struct ObjectPage: Sendable, Equatable {
  public struct Entry: Sendable, Equatable {
    public var key: ObjectKey
    /// Bytes of the body.
    public var size: Int64
    /// Where the store knows it without reading the object.
    public var etag: ETag?

    public init(key: ObjectKey, size: Int64, etag: ETag? = nil) {
      self.key = key
      self.size = size
      self.etag = etag
    }
  }

  /// Where the next page begins; means something only to the store that gave it, for the same prefix.
  public struct Continuation: Sendable, Equatable {
    public let text: String
    public init(_ text: String) { self.text = text }
  }

  /// In the order of their keys' bytes.
  public var entries: [Entry]
  /// How many names were passed over on this page because they are no keys of ours.
  public var skipped: Int
  /// Nil on the last page.
  public var next: Continuation?

  public init(entries: [Entry], skipped: Int = 0, next: Continuation? = nil) {
    self.entries = entries
    self.skipped = skipped
    self.next = next
  }
}
