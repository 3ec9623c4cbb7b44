import SatchelCore
import SatchelJSON
import SatchelStorage

/// A query of a catalogue's photos: filters, order and page. A filter that is nil matches everything.
public struct PhotoQuery: Equatable, Sendable {
  /// The sort key. Photos with equal keys are sorted by md5.
  public enum Order: String, Sendable, CaseIterable {
    /// By md5, the cheapest: without filters, a page costs no more than its photos.
    case md5
    /// By the time when they were taken.
    case photodate
    /// By the bytes of the file name.
    case filename
  }

  /// Photos taken at this time or later: seconds since 1970 on `clock`.
  public var from: Int64?
  /// Photos taken at this time or earlier: seconds since 1970 on `clock`.
  public var to: Int64?
  /// The clock of `from`, `to`, and of the days and months that photos are counted by.
  public var clock = PhotoClock.utc
  /// A pattern of file names: "*" matches any characters, "?" one, and "\\" escapes the character after it.
  /// Case-sensitive; any Unicode normal form matches any other.
  public var filename: String?
  public var isStarred: Bool?
  public var backup: BackupStatus?
  public var shard: Shard.Index?
  /// The model of the camera, as `PhotoMetadata.cameraModel`.
  public var camera: String?
  /// Photos with a file in this folder of this device or below it: a path relative to the catalogue's directory, in any
  /// Unicode normal form.
  public var folder: String?
  /// Photos that were taken there.
  public var place: PhotoPlace?
  /// Whether the last scan of this device found a file of the photo.
  public var isPresent: Bool?
  public var order = Order.md5
  public var isDescending = false
  /// Photos of a page: 1 to 100,000.
  public var limit = 1000
  /// `PhotoPage.next` of the previous page; the order must be the same.
  public var cursor: String?

  /// Matches all photos, ordered by md5.
  public init() {}

  /// Whether every photo of its shards matches.
  var isUnfiltered: Bool {
    !hasDates && filename == nil && !readsLocal && folder == nil && isPresent == nil
  }

  /// Whether a filter reads the local columns.
  var readsLocal: Bool {
    isStarred != nil || backup != nil || camera != nil || place != nil || (clock == .local && hasDates)
  }

  /// Whether dates are a filter.
  var hasDates: Bool { from != nil || to != nil }

  /// - Throws: `SatchelError` `.invalid` for a limit out of range, and a place that is not on the earth
  func validate() throws {
    try place?.validate()
    guard (1...100_000).contains(limit) else {
      throw SatchelError(.invalid, "query: \"limit\" must be 1 to 100000, is \(limit)")
    }
  }
}

extension PhotoQuery {
  private static let keys: Set = [
    "from", "to", "clock", "filename", "starred", "backup_status", "shard", "camera", "folder", "place",
    "present",
    "order", "descending", "limit", "after",
  ]

  /// Reads a query from an object with the keys from, to, clock, filename, starred, backup_status, shard (0 to 15),
  /// camera, folder, place, present, order ("md5", "photodate", "filename"), descending, limit, after
  /// (`PhotoPage.next`); null counts as absent.
  ///
  /// - Throws: `SatchelError` `.invalid` that names the key, for an unknown key or a wrong value
  package init(json: JSONValue) throws {
    self.init()
    let object = try JSONReading("query", json, keys: Self.keys)
    from = try object.integer("from")
    to = try object.integer("to")
    if let name = try object.string("clock") {
      guard let clock = try? PhotoClock(name) else {
        throw object.fault("clock", "must be \"utc\", \"local\" or a time zone, such as \"Europe/Berlin\"")
      }
      self.clock = clock
    }
    filename = try object.string("filename")
    camera = try object.string("camera")
    folder = try object.string("folder")
    isPresent = try object.boolean("present")
    if let place = object.object["place"], !place.isNull {
      self.place = try PhotoPlace(try JSONReading("query: /place", place, keys: PhotoPlace.keys))
    }
    isStarred = try object.boolean("starred")
    backup = try object.string("backup_status").map { try BackupStatus(name: $0) }
    if let number = try object.integer("shard") {
      guard let shard = Shard.Index(Int(clamping: number)) else {
        throw object.fault("shard", "is not 0 to 15")
      }
      self.shard = shard
    }
    if let name = try object.string("order") {
      guard let known = Order(rawValue: name) else {
        let names = Order.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        throw object.fault("order", "must be one of \(names)")
      }
      order = known
    }
    isDescending = try object.boolean("descending") ?? false
    limit = Int(clamping: try object.integer("limit") ?? Int64(limit))
    cursor = try object.string("after")
    try validate()
  }
}

/// A page of the photos that match a query.
public struct PhotoPage: Sendable, Equatable, JSONConvertible {
  public var photos: [PhotoDetails]
  /// The cursor of the next page, for `PhotoQuery.cursor`; nil when there are no more. Photos that are added
  /// or deleted between two pages neither hide nor repeat others.
  public var next: String?

  /// The page as a JSON object: photos, next.
  public var json: JSONValue {
    ["photos": .array(photos.map(\.json)), "next": next.map { .string($0) } ?? .null]
  }

  /// Passes the same as text to `body`.
  package func withText<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result {
    var writer = JSONMemberWriter()
    writer.beginObject()
    writer.beginArray("photos")
    for photo in photos { photo.write(to: &writer) }
    writer.endArray()
    writer.add("next", next)
    writer.endObject()
    return try writer.withText(body)
  }
}
