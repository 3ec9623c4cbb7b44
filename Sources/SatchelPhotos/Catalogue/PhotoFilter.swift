import SatchelCore
import SatchelStorage

/// The conditions of a query that are not conditions of SQL: patterns of names, distances, and times of a zone.
struct PhotoFilter {
  /// The columns of a statement that it reads.
  struct Columns {
    var filename: Int32
    var photodate: Int32
    var latitude: Int32
    var longitude: Int32
  }

  private let pattern: FilenamePattern?
  private let place: PhotoPlace?
  private let clock: PhotoClock?
  private let dates: (from: Int64, to: Int64)

  init(_ query: PhotoQuery) {
    pattern = query.filename.map { FilenamePattern($0) }
    if case .near = query.place { place = query.place } else { place = nil }
    if case .zone = query.clock, query.hasDates { clock = query.clock } else { clock = nil }
    dates = (query.from ?? .min, query.to ?? .max)
  }

  /// Whether every photo matches.
  var isEmpty: Bool { pattern == nil && place == nil && clock == nil }

  func matches(_ row: Statement, _ columns: Columns) -> Bool {
    if let clock {
      let time = clock.time(row.anyInteger(columns.photodate), offset: 0)
      if time < dates.from || time > dates.to { return false }
    }
    if let place,
      !place.contains(latitude: row.real(columns.latitude), longitude: row.real(columns.longitude))
    {
      return false
    }
    return pattern?.matches(row.bytes(columns.filename)) ?? true
  }
}
