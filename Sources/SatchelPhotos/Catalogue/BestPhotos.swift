import SatchelStorage

/// Keeps the first photos of an order, of however many it is shown. Memory: twice as many as are wanted.
struct BestPhotos {
  /// A photo that was kept.
  struct Found {
    var key: PhotoKey
    var line: [UInt8]
    var isAgreed: Bool
  }

  private let query: PhotoQuery
  private let start: PhotoKey?
  /// One more than a page, to know whether there is a next one.
  private let most: Int
  private var found: [Found] = []
  /// What stands behind it is not wanted.
  private var last: PhotoKey?

  init(_ query: PhotoQuery) throws {
    self.query = query
    most = query.limit + 1
    start = try query.cursor.map { try PhotoKey(cursor: $0, query) }
  }

  /// Whether there are as many as are wanted; of use when photos come in the order itself.
  var isFull: Bool { found.count >= most }

  /// In an order by date: what is later in that order is not wanted any more.
  var lastDate: Int64? { query.order == .photodate ? last?.photodate : nil }

  /// The key of the page before.
  var cursor: PhotoKey? { start }

  mutating func add(_ photo: ShardScan.Row, isAgreed: () throws -> Bool) rethrows {
    var key = PhotoKey(md5: photo.md5)
    switch query.order {
    case .md5: break
    case .photodate: key.photodate = photo.row.photodate
    case .filename: key.filename = photo.withFilename { Array($0) }
    }
    if let start, !precedes(start, key) { return }
    if let last, !precedes(key, last) { return }
    found.append(Found(key: key, line: Array(photo.line), isAgreed: try isAgreed()))
    if query.order != .md5, found.count >= most * 2 + 256 { shorten() }
  }

  /// The page's photos in order, and the key of the last when there are more.
  mutating func page() -> (found: [Found], next: PhotoKey?) {
    shorten()
    let page = Array(found.prefix(query.limit))
    return (page, found.count > query.limit ? page.last?.key : nil)
  }

  private mutating func shorten() {
    let isDescending = query.isDescending
    found.sort { isDescending ? PhotoKey.precedes($1.key, $0.key) : PhotoKey.precedes($0.key, $1.key) }
    if found.count > most { found.removeSubrange(most...) }
    if found.count == most { last = found.last?.key }
  }

  private func precedes(_ left: PhotoKey, _ right: PhotoKey) -> Bool {
    query.isDescending ? PhotoKey.precedes(right, left) : PhotoKey.precedes(left, right)
  }
}
