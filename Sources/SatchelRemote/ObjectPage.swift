/// One page of a listing.
public struct ObjectPage: Sendable, Equatable {
  /// One object of a listing.
  public struct Entry: Sendable, Equatable {
    public var key: ObjectKey
    /// The size of the body in bytes.
    public var size: Int64
    /// The ETag; nil when the store does not include it in listings.
    public var etag: ETag?

    public init(key: ObjectKey, size: Int64, etag: ETag? = nil) {
      self.key = key
      self.size = size
      self.etag = etag
    }
  }

  /// The position at which the next page begins. Valid only for the store that returned it, with the same
  /// prefix.
  public struct Continuation: Sendable, Equatable {
    public let text: String
    public init(_ text: String) { self.text = text }
  }

  /// The objects, in the byte order of their keys.
  public var entries: [Entry]
  /// The number of names on this page that were skipped because they are not valid keys.
  public var skipped: Int
  /// The start of the next page; nil on the last page.
  public var next: Continuation?

  public init(entries: [Entry], skipped: Int = 0, next: Continuation? = nil) {
    self.entries = entries
    self.skipped = skipped
    self.next = next
  }
}

/// The position in a listing that is read page by page.
package struct ListingPosition {
  /// The start of the next page; nil for the first.
  package private(set) var continuation: ObjectPage.Continuation?
  package private(set) var isAtEnd = false
  private var passed: Set<String> = []

  package init() {}

  /// Moves to the page after `page`.
  ///
  /// - Throws: `.failed` when that is a page that was read already
  package mutating func pass(_ page: ObjectPage) throws(ObjectStoreError) {
    guard let next = page.next else {
      isAtEnd = true
      return
    }
    guard passed.insert(next.text).inserted else { throw ObjectStoreError.listingDoesNotAdvance }
    continuation = next
  }
}

extension ObjectStoreError {
  static var listingDoesNotAdvance: ObjectStoreError {
    ObjectStoreError(.failed(.foreign), "the store's listing does not advance")
  }
}

/// A prefix of keys: leading bytes of a key, not necessarily whole components.
public struct ObjectPrefix: Sendable, CustomStringConvertible {
  public let text: String

  /// The empty prefix, which matches every key.
  public static let all = ObjectPrefix()

  private init() { text = "" }

  /// Validates a prefix.
  ///
  /// - Throws: `.invalidKey` when no valid key can begin with it
  public init(_ text: String) throws(ObjectStoreError) {
    try ObjectKey.check(text, isPrefix: true)
    self.text = text
  }

  public var description: String { text }
}
