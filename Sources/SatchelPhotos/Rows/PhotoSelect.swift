import SatchelCore
import SatchelJSON
import SatchelStorage

/// Reads the photos that match a query, in its order, by SQLite's own indexes.
///
/// Values are written into the statement as literals: numbers, and strings of hexadecimal digits.
struct PhotoSelect {
  let connection: Connection
  let catalogue: Int64
  let query: PhotoQuery

  /// Returns a page.
  ///
  /// - Parameter cursor: the last photo of the page before
  func page(after cursor: PhotoKey?) throws -> PhotoPage {
    let records = try ShardTable(connection: connection, catalogue: catalogue).records()
    let filter = PhotoFilter(query)
    let columns = PhotoFilter.Columns(filename: 1, photodate: 3, latitude: 20, longitude: 21)
    let order = query.isDescending ? " DESC" : ""
    let keys = key == nil ? "p.md5\(order)" : "\(key ?? "")\(order), p.md5\(order)"
    let statement = try connection.compile(
      """
      \(PhotoLookup.columns) FROM \(try source(of: records))
      LEFT JOIN photo_base b ON b.catalogue = p.catalogue AND b.md5 = p.md5
      WHERE \(conditions(after: cursor)) ORDER BY \(keys)\(filter.isEmpty ? " LIMIT \(query.limit + 1)" : "")
      """)
    var page = PhotoPage(photos: [], next: nil)
    while try statement.step() {
      guard filter.matches(statement, columns) else { continue }
      if page.photos.count == query.limit {
        page.next = page.photos.last.map { self.key(of: $0.photo).cursor(query) }
        break
      }
      let md5 = try PhotoTable.md5(statement, of: "photo")
      page.photos.append(
        try PhotoLookup.details(statement, md5, isMet: !records[md5.shard.number].isUnmet))
    }
    return page
  }

  /// Returns how many photos match.
  func count() throws -> Int64 {
    let filter = PhotoFilter(query)
    guard filter.isEmpty else {
      var count: Int64 = 0
      let rows = try rows("p.md5")
      while try rows.next() { count += 1 }
      return count
    }
    let statement = try connection.compile(
      "SELECT count(*) FROM \(photos()) WHERE \(conditions(after: nil))")
    return try statement.step() ? statement.integer(0) : 0
  }

  var positions: String { query.place == nil ? "NULL, NULL" : "latitude, longitude" }

  // MARK: Tables

  private static func withLocal(_ photos: String = "photo p") -> String {
    "\(photos) LEFT JOIN photo_local l ON l.catalogue = p.catalogue AND l.md5 = p.md5"
  }

  /// The index of a filter of local columns.
  private var index: String? {
    query.camera != nil ? "photo_local_camera" : query.place != nil ? "photo_local_place" : nil
  }

  /// The photos, by the index of a filter if it has one, with their local columns, where the query or `readsLocal` asks
  /// for these.
  ///
  /// SQLite would not choose such an index: it does not know how many photos a catalogue has.
  func photos(readsLocal: Bool = false) -> String {
    guard let index else { return query.readsLocal || readsLocal ? Self.withLocal() : "photo p" }
    return """
      photo_local l INDEXED BY \(index) CROSS JOIN photo p
      ON l.catalogue = \(catalogue) AND p.catalogue = l.catalogue AND p.md5 = l.md5
      """
  }

  /// The photos with their local columns, for a page.
  ///
  /// By date, a page of few photos of many is found by reading these and sorting them, a page of many photos by the index
  /// of dates: this reads `limit` photos, and between them those that do not match.
  private func source(of records: [ShardRecord]) throws -> String {
    guard query.order == .photodate else { return index == nil ? Self.withLocal() : photos() }
    if let index {
      let all = records.reduce(0) { $0 + max(0, $1.photos) }
      let few = Int64((Double(all) * Double(query.limit)).squareRoot())
      let statement = try connection.compile(
        """
        SELECT count(*) FROM (SELECT 1 FROM photo_local l INDEXED BY \(index)
        WHERE l.catalogue = \(catalogue) AND \(local.joined(separator: " AND ")) LIMIT \(few))
        """)
      if try statement.step(), statement.anyInteger(0) < few { return photos() }
    }
    return Self.withLocal(query.folder == nil ? "photo p INDEXED BY photo_photodate" : "photo p")
  }

  /// Whether a row `f` of `photo_file` is a file of a photo that is there.
  static let isPresent = "f.kind = 0 AND f.is_missing = 0"

  // MARK: Order

  /// The column that the order is by, before the md5.
  private var key: String? {
    switch query.order {
    case .md5: nil
    case .photodate: "photodate"
    case .filename: "filename"
    }
  }

  private func key(of photo: Photo) -> PhotoKey {
    var key = PhotoKey(md5: photo.md5)
    switch query.order {
    case .md5: break
    case .photodate: key.photodate = photo.photodate
    case .filename: key.filename = Array(photo.filename.utf8)
    }
    return key
  }

  // MARK: Conditions

  func conditions(after cursor: PhotoKey?) -> String {
    var conditions = ["p.catalogue = \(catalogue)"] + dates
    if let bounds = query.shard.map({ MD5.bounds(of: $0) }) {
      conditions.append("p.md5 BETWEEN x'\(bounds.lowerBound)' AND x'\(bounds.upperBound)'")
    }
    // A photo without local columns has no star, and is not backed up.
    if let isStarred = query.isStarred {
      conditions.append(isStarred ? "starred <> 0" : "coalesce(starred, 0) = 0")
    }
    if let backup = query.backup {
      conditions.append(backup == .notBackedUp ? "coalesce(backup, 0) = 0" : "backup = \(backup.number)")
    }
    conditions += local
    if let folder = query.folder {
      let ranges = Self.forms(of: folder).map {
        "f.path >= \(Self.text($0 + [0x2F])) AND f.path < \(Self.text($0 + [0x30]))"
      }
      conditions.append(
        "p.md5 IN (SELECT f.md5 FROM photo_file f WHERE f.catalogue = \(catalogue) AND \(Self.isPresent) AND "
          + "(\(ranges.joined(separator: " OR "))))")
    }
    if let isPresent = query.isPresent {
      conditions.append(
        "\(isPresent ? "" : "NOT ")EXISTS(SELECT 1 FROM photo_file f INDEXED BY photo_file_md5 WHERE f.catalogue = p.catalogue AND "
          + "f.md5 = p.md5 AND \(Self.isPresent))")
    }
    if let cursor { conditions.append(follows(cursor)) }
    return conditions.joined(separator: " AND ")
  }

  /// The conditions of local columns that have an index.
  private var local: [String] {
    var conditions: [String] = []
    if let camera = query.camera { conditions.append("camera_model = \(Self.text(Array(camera.utf8)))") }
    if let boxes = query.place?.boxes, let south = boxes.map(\.south).min(),
      let north = boxes.map(\.north).max()
    {
      let parts = boxes.map {
        "latitude BETWEEN \($0.south) AND \($0.north) AND longitude BETWEEN \($0.west) AND \($0.east)"
      }
      // The index is used only for what all boxes have.
      conditions += ["latitude BETWEEN \(south) AND \(north)", "(\(parts.joined(separator: " OR ")))"]
    }
    return conditions
  }

  private var dates: [String] {
    // A clock is less than a day from UTC: the index finds these, and what remains compares exactly.
    let margin: Int64 = query.clock == .utc ? 0 : 86_400
    var conditions: [String] = []
    // A bound that is closer to the ends of time than that matches everything.
    if let from = query.from, case (let first, false) = from.subtractingReportingOverflow(margin) {
      conditions.append("p.photodate >= \(first)")
      if query.clock == .local { conditions.append("p.photodate + coalesce(utc_offset, 0) >= \(from)") }
    }
    if let to = query.to, case (let last, false) = to.addingReportingOverflow(margin) {
      conditions.append("p.photodate <= \(last)")
      if query.clock == .local { conditions.append("p.photodate + coalesce(utc_offset, 0) <= \(to)") }
    }
    return conditions
  }

  private func follows(_ cursor: PhotoKey) -> String {
    let sign = query.isDescending ? "<" : ">"
    switch query.order {
    case .md5: return "p.md5 \(sign) x'\(cursor.md5)'"
    case .photodate: return "(photodate, p.md5) \(sign) (\(cursor.photodate), x'\(cursor.md5)')"
    case .filename: return "(filename, p.md5) \(sign) (\(Self.text(cursor.filename)), x'\(cursor.md5)')"
    }
  }

  /// The forms that a file system may have given a folder's name, without a slash at the end.
  private static func forms(of folder: String) -> Set<[UInt8]> {
    let composed = NormalForm.composed(folder)
    return Set(
      [folder, composed, NormalForm.decomposed(folder)].map {
        Array($0.utf8.dropLast($0.utf8.last == 0x2F ? 1 : 0))
      })
  }

  private static func text(_ bytes: [UInt8]) -> String { "CAST(x'\(bytes.hexadecimal)' AS TEXT)" }
}
