import SatchelCore
import SatchelJSON
import SatchelStorage

extension PhotoSelect {
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
      let rows = try rows("p.md5, f.path", readsFiles: true, isOrdered: true)
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
    var days = DayCounts()
    let clock = query.clock
    let (isUTC, isLocal) = (clock == .utc, clock == .local)
    if isLocal, !query.readsLocal {
      try eachByOwnClock { days.add($0) }
      return days.finish()
    }
    let rows = try rows(isLocal ? "p.photodate, l.utc_offset" : "p.photodate, 0", readsLocal: isLocal)
    while try rows.next() {
      let date = rows.row.anyInteger(0)
      days.add(isUTC ? date : clock.time(date, offset: rows.row.anyInteger(1)))
    }
    return days.finish()
  }

  /// Visits the photos that match, with the time on their own clocks. Both tables are read in the order of md5: a look-up
  /// for each photo takes twice as long.
  private func eachByOwnClock(_ visit: (Int64) -> Void) throws {
    let offsets = try connection.compile(
      "SELECT md5, utc_offset FROM photo_local WHERE catalogue = \(catalogue) AND utc_offset IS NOT NULL ORDER BY md5"
    )
    func nextOffset() throws -> MD5? { try offsets.step() ? LocalTable.md5(offsets) : nil }
    var next = try nextOffset()
    let rows = try rows("p.md5, p.photodate", isOrdered: true)
    while try rows.next() {
      let md5 = try PhotoTable.md5(rows.row, of: "photo")
      while let other = next, other < md5 { next = try nextOffset() }
      visit(query.clock.time(rows.row.anyInteger(1), offset: next == md5 ? offsets.anyInteger(1) : 0))
    }
  }

  private static func folder(of path: UnsafeRawBufferPointer) -> String {
    guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else { return "" }
    return String(decoding: path[..<slash], as: UTF8.self)
  }

  /// The photos that match, one after the other.
  struct Rows {
    let row: Statement
    /// Whether all rows match.
    let isUnfiltered: Bool
    let filter: PhotoFilter
    let columns: PhotoFilter.Columns

    /// Advances to the next photo.
    func next() throws -> Bool {
      while try row.step() {
        if isUnfiltered || filter.matches(row, columns) { return true }
      }
      return false
    }
  }

  /// Returns the photos that match.
  ///
  /// - Parameters:
  ///   - columns: the columns of the rows
  ///   - readsLocal: whether these are of `photo_local`, too
  ///   - readsFiles: whether these are of `photo_file`: then there is a row for each file
  ///   - isOrdered: whether they are to be in the order of md5
  func rows(_ columns: String, readsLocal: Bool = false, readsFiles: Bool = false, isOrdered: Bool = false)
    throws -> Rows
  {
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
    let order = isOrdered ? " ORDER BY p.md5" : ""
    let statement = try connection.compile(
      "SELECT \(read) FROM \(photos(readsLocal: readsLocal))\(files) WHERE \(conditions(after: nil))\(order)")
    return Rows(
      row: statement, isUnfiltered: filter.isEmpty, filter: filter,
      columns: PhotoFilter.Columns(
        filename: count, photodate: count + 1, latitude: count + 2, longitude: count + 3))
  }
}

/// Counts times by day.
private struct DayCounts {
  /// The times that a year of four digits can express; others count as the first or the last day.
  private static let expressible: ClosedRange<Int64> = -62_167_219_200...253_402_300_799

  private var counts: [Int64: Int64] = [:]
  // Times that follow each other are mostly of one day.
  private var (start, day, number) = (Int64(0), Int64(0), Int64(0))

  mutating func add(_ time: Int64) {
    let time = max(Self.expressible.lowerBound, min(time, Self.expressible.upperBound))
    if number == 0 || time < start || time - start >= 86_400 {
      flush()
      day = ISODateTime.floored(time, by: 86_400).quotient
      start = day * 86_400
    }
    number += 1
  }

  private mutating func flush() {
    if number > 0 { counts[day, default: 0] += number }
    number = 0
  }

  /// Returns the counts, by the number of days since 1970.
  mutating func finish() -> [Int64: Int64] {
    flush()
    return counts
  }
}
