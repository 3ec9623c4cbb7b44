import SatchelJSON
import SatchelStorage

/// Which photos of a catalogue are wanted, and in which order. What is not given does not matter.
public struct PhotoQuery: Equatable, Sendable {
  /// What to sort by. Photos that are equal in it are sorted by md5.
  public enum Order: String, Sendable, CaseIterable {
    /// The cheapest: a page costs no more than its photos when nothing is filtered.
    case md5
    /// When they were taken.
    case photodate
    /// By the bytes of the name.
    case filename
  }

  /// Taken at this time or later: Unix seconds.
  public var from: Int64?
  /// Taken at this time or earlier: Unix seconds.
  public var to: Int64?
  /// A name: "*" stands for any characters, "?" for one, and "\\" makes the character behind it itself. Case
  /// matters.
  public var filename: String?
  public var isStarred: Bool?
  public var backup: BackupStatus?
  public var shard: Shard.Index?
  public var order = Order.md5
  public var isDescending = false
  /// Photos of a page: 1 to 100,000.
  public var limit = 1000
  /// `PhotoPage.next` of the page before; the order must be the same.
  public var cursor: String?

  /// All photos, by md5.
  public init() {}

  /// Whether every photo of its shards is wanted.
  var isUnfiltered: Bool { from == nil && to == nil && wantsAllOfADate }

  /// Whether nothing but its date decides whether a photo is wanted.
  var wantsAllOfADate: Bool { filename == nil && isStarred == nil && backup == nil }

  /// - Throws: `SatchelError` `.invalid` for a number that makes no sense
  func validate() throws {
    guard (1...100_000).contains(limit) else {
      throw SatchelError(.invalid, "query: \"limit\" must be 1 to 100000, is \(limit)")
    }
  }
}

extension PhotoQuery {
  private static let keys: Set = [
    "from", "to", "filename", "starred", "backup_status", "shard", "order", "descending", "limit", "after",
  ]

  /// Reads a query from an object with the keys from, to, filename, starred, backup_status, shard (0 to 15), order
  /// ("md5", "photodate", "filename"), descending, limit, after (`PhotoPage.next`); null
  /// is as good as no key.
  ///
  /// - Throws: `SatchelError` `.invalid` that names the key, for one that is unknown or has a wrong value
  public init(json: JSONValue) throws {
    self.init()
    let object = try JSONReading("query", json, keys: Self.keys)
    from = try object.number("from")
    to = try object.number("to")
    filename = try object.text("filename")
    isStarred = try object.truth("starred")
    backup = try object.text("backup_status").map { try BackupStatus(name: $0) }
    if let number = try object.number("shard") {
      guard let shard = Shard.Index(Int(clamping: number)) else {
        throw object.fault("shard", "is not 0 to 15")
      }
      self.shard = shard
    }
    if let name = try object.text("order") {
      guard let known = Order(rawValue: name) else {
        let names = Order.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        throw object.fault("order", "must be one of \(names)")
      }
      order = known
    }
    isDescending = try object.truth("descending") ?? false
    limit = Int(clamping: try object.number("limit") ?? Int64(limit))
    cursor = try object.text("after")
    try validate()
  }
}
