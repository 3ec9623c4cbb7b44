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
      \(PhotoLookup.columns) FROM \(source) LEFT JOIN photo_local l ON l.catalogue = p.catalogue AND l.md5 = p.md5
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
      "SELECT count(*) FROM photo p\(local()) WHERE \(conditions(after: nil))")
    return try statement.step() ? statement.integer(0) : 0
  }

  // MARK: Groups

  /// Returns how many photos match in each group.
  func counts(by group: PhotoGroup) throws -> [PhotoCount] {
    var counts: [String: Int64] = [:]
    var others: Int64 = 0
    switch group {
    case .day, .month:
      for (day, count) in try countsByDay() {
        counts[String(ISODateTime.text(seconds: day * 86_400).prefix(group == .day ? 10 : 7)), default: 0] +=
          count
      }
    case .camera:
      let rows = try rows("l.camera_model", readsLocal: true)
      while try rows.next() {
        if rows.row.isNull(0) { others += 1 } else { counts[rows.row.text(0), default: 0] += 1 }
      }
    case .folder:
      // The files of a photo follow each other.
      var (photo, folders) = ([UInt8](), [String]())
      let rows = try rows("p.md5, f.path", readsFiles: true)
      while try rows.next() {
        if !photo.elementsEqual(rows.row.bytes(0)) { (photo, folders) = (Array(rows.row.bytes(0)), []) }
        let folder = Self.folder(of: rows.row.bytes(1))
        if folders.contains(folder) { continue }
        folders.append(folder)
        counts[folder, default: 0] += 1
      }
    }
    let known = counts.map { PhotoCount(key: $0.key, photos: $0.value) }.ordered {
      ($0.key ?? "") < ($1.key ?? "")
    }
    return others > 0 ? known + [PhotoCount(key: nil, photos: others)] : known
  }

  /// Returns how many photos match on each day, by the number of days since 1970.
  private func countsByDay() throws -> [Int64: Int64] {
    var counts: [Int64: Int64] = [:]
    // Photos that follow each other are mostly of one day.
    var (start, day, number) = (Int64(0), Int64(0), Int64(0))
    let isLocal = query.clock == .local
    let rows = try rows(isLocal ? "p.photodate, l.utc_offset" : "p.photodate, 0", readsLocal: isLocal)
    while try rows.next() {
      let known = query.clock.time(rows.row.anyInteger(0), offset: rows.row.anyInteger(1))
      let time = max(Self.expressible.lowerBound, min(known, Self.expressible.upperBound))
      if number == 0 || time < start || time - start >= 86_400 {
        if number > 0 { counts[day, default: 0] += number }
        (day, number) = (ISODateTime.floored(time, by: 86_400).quotient, 0)
        start = day * 86_400
      }
      number += 1
    }
    if number > 0 { counts[day, default: 0] += number }
    return counts
  }

  /// The times that a year of four digits can express; others count as the first or the last day.
  private static let expressible: ClosedRange<Int64> = -62_167_219_200...253_402_300_799

  private static func folder(of path: UnsafeRawBufferPointer) -> String {
    guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else { return "" }
    return String(decoding: path[..<slash], as: UTF8.self)
  }

  /// The photos that match, one after the other.
  private struct Rows {
    let row: Statement
    let filter: PhotoFilter
    let columns: PhotoFilter.Columns

    /// Advances to the next photo.
    func next() throws -> Bool {
      while try row.step() {
        if filter.matches(row, columns) { return true }
      }
      return false
    }
  }

  /// Returns the photos that match, in any order.
  ///
  /// - Parameters:
  ///   - columns: the columns of the rows
  ///   - readsLocal: whether these are of `photo_local`, too
  ///   - readsFiles: whether these are of `photo_file`: then there is a row for each file, in the order of their photos
  private func rows(_ columns: String, readsLocal: Bool = false, readsFiles: Bool = false) throws -> Rows {
    let filter = PhotoFilter(query)
    let read = filter.isEmpty ? columns : "\(columns), filename, p.photodate, \(positions)"
    let count = Int32(columns.split(separator: ",").count)
    // Without its index, SQLite would read all files for each photo.
    let files =
      readsFiles
      ? """
       CROSS JOIN photo_file f INDEXED BY photo_file_md5
      ON f.catalogue = p.catalogue AND f.md5 = p.md5 AND \(Self.isPresent)
      """ : ""
    let order = readsFiles ? " ORDER BY p.md5" : ""
    let statement = try connection.compile(
      "SELECT \(read) FROM photo p\(local(readsLocal))\(files) WHERE \(conditions(after: nil))\(order)")
    return Rows(
      row: statement, filter: filter,
      columns: PhotoFilter.Columns(
        filename: count, photodate: count + 1, latitude: count + 2, longitude: count + 3))
  }

  private var positions: String { query.place == nil ? "NULL, NULL" : "latitude, longitude" }

  // MARK: Tables

  /// The join of the local columns, where the query or `isRead` asks for them.
  private func local(_ isRead: Bool = false) -> String {
    isRead || query.readsLocal
      ? " LEFT JOIN photo_local l ON l.catalogue = p.catalogue AND l.md5 = p.md5" : ""
  }

  /// Without filters that an index is of, the order by date is that of its index.
  private var source: String {
    query.order == .photodate && !query.readsLocal && query.folder == nil
      ? "photo p INDEXED BY photo_photodate" : "photo p"
  }

  /// Whether a row `f` of `photo_file` is a file of a photo that is there.
  private static let isPresent = "f.kind = 0 AND f.is_missing = 0"

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

  private func conditions(after cursor: PhotoKey?) -> String {
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
    if let camera = query.camera { conditions.append("camera_model = \(Self.text(Array(camera.utf8)))") }
    if let place = query.place {
      let boxes = place.boxes.map {
        "latitude BETWEEN \($0.south) AND \($0.north) AND longitude BETWEEN \($0.west) AND \($0.east)"
      }
      conditions.append("(\(boxes.joined(separator: " OR ")))")
    }
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
