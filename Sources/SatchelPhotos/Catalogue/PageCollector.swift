import SatchelCore
import SatchelStorage

/// Collects the first photos, in the query's order, of those that are added. Memory: twice the capacity.
struct PageCollector {
  /// A collected photo.
  struct Found {
    var key: PhotoKey
    var photo: Photo
    var isOnRemote: Bool
  }

  private let query: PhotoQuery
  private let start: PhotoKey?
  /// One more than a page, to know whether there is a next page.
  private let capacity: Int
  private var found: [Found] = []
  /// Photos after this key are not needed.
  private var last: PhotoKey?

  init(_ query: PhotoQuery) throws {
    self.query = query
    capacity = query.limit + 1
    start = try query.cursor.map { try PhotoKey(cursor: $0, query) }
  }

  /// Whether the page is complete, provided that photos are added in the query's order.
  var isFull: Bool { found.count >= capacity }

  /// In an order by date: the date after which no photo is needed.
  var lastDate: Int64? { query.order == .photodate ? last?.photodate : nil }

  /// In an order by date: the last photo of a complete page, and of the next page's first one; nil while the page is
  /// not complete. Call it after `finish`.
  var lastEntry: DateEntry? { last.map { DateEntry(date: $0.photodate, md5: $0.md5) } }

  /// The last key of the previous page.
  var cursor: PhotoKey? { start }

  /// Removes all photos.
  mutating func removeAll() {
    found.removeAll(keepingCapacity: true)
    last = nil
  }

  mutating func add(_ photo: ShardScan.Row, isOnRemote: () throws -> Bool) rethrows {
    var key = PhotoKey(md5: photo.md5)
    switch query.order {
    case .md5: break
    case .photodate: key.photodate = photo.row.photodate
    case .filename: key.filename = photo.withFilename { Array($0) }
    }
    if let start, !precedes(start, key) { return }
    if let last, !precedes(key, last) { return }
    found.append(Found(key: key, photo: photo.row.photo(in: photo.bytes), isOnRemote: try isOnRemote()))
    if query.order != .md5, found.count >= capacity * 2 + 256 { trim() }
  }

  /// Returns the page's photos in order, and the key of the last when there are more.
  mutating func finish() -> (found: [Found], next: PhotoKey?) {
    trim()
    let page = Array(found.prefix(query.limit))
    return (page, found.count > query.limit ? page.last?.key : nil)
  }

  private mutating func trim() {
    let isDescending = query.isDescending
    // Indices are sorted, because moving photos counts the references of their strings.
    let order = found.withUnsafeBufferPointer { found in
      orderOfIndices(found.count) {
        isDescending
          ? PhotoKey.precedes(found[$1].key, found[$0].key) : PhotoKey.precedes(found[$0].key, found[$1].key)
      }
    }
    found = order.prefix(capacity).map { found[$0] }
    if found.count == capacity { last = found.last?.key }
  }

  private func precedes(_ left: PhotoKey, _ right: PhotoKey) -> Bool {
    query.isDescending ? PhotoKey.precedes(right, left) : PhotoKey.precedes(left, right)
  }
}

/// A photo's sort key.
struct PhotoKey: Equatable {
  /// The date, when the order is by photodate; else 0.
  var photodate: Int64 = 0
  /// The name, when the order is by filename; else empty.
  var filename: [UInt8] = []
  var md5: MD5

  static func precedes(_ left: PhotoKey, _ right: PhotoKey) -> Bool {
    if left.photodate != right.photodate { return left.photodate < right.photodate }
    if left.filename != right.filename { return left.filename.lexicographicallyPrecedes(right.filename) }
    return left.md5 < right.md5
  }
}

extension PhotoKey {
  /// Returns the key as a cursor of a query: an opaque string for callers.
  func cursor(_ query: PhotoQuery) -> String {
    let sign = query.isDescending ? "-" : "+"
    switch query.order {
    case .md5: return "m\(sign)\(md5)"
    case .photodate: return "d\(sign)\(md5)\(photodate)"
    case .filename: return "f\(sign)\(md5)\(filename.hexadecimal)"
    }
  }

  /// - Throws: `.invalid` for a cursor that is not of the query's order
  init(cursor: String, _ query: PhotoQuery) throws {
    let error = SatchelError(.invalid, "query: \"after\" is not a cursor of this order")
    let text = Array(cursor.utf8)
    guard text.count >= 34, text[1] == (query.isDescending ? UInt8(ascii: "-") : UInt8(ascii: "+")),
      let md5 = text.withUnsafeBytes({ MD5(digitsOf: $0, at: 2, lowerOnly: true) })
    else { throw error }
    self.init(md5: md5)
    let rest = text[34...]
    switch (text[0], query.order) {
    case (UInt8(ascii: "m"), .md5): guard rest.isEmpty else { throw error }
    case (UInt8(ascii: "d"), .photodate):
      guard let date = Int64(String(decoding: rest, as: UTF8.self)), rest.first != UInt8(ascii: "+") else {
        throw error
      }
      photodate = date
    case (UInt8(ascii: "f"), .filename):
      guard let name = Self.bytes(rest) else { throw error }
      filename = name
    default: throw error
    }
  }

  private static func bytes(_ digits: ArraySlice<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    var high: UInt8?
    for digit in digits {
      let value: UInt8
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - 0x30
      case UInt8(ascii: "a")...UInt8(ascii: "f"): value = digit - 0x57
      default: return nil
      }
      if let first = high {
        bytes.append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    return high == nil ? bytes : nil
  }
}
