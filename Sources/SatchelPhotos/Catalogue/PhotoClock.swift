/// The clock that the dates of a query are on, and the days and months by which photos are counted.
public enum PhotoClock: Sendable, Equatable {
  /// UTC: dates are Unix seconds.
  case utc
  /// The clock on the wall where each photo was taken, that of UTC for a photo whose offset is unknown: see
  /// `PhotoMetadata.utcOffset`.
  case local
  /// The clock of a time zone.
  case zone(PhotoTimeZone)

  /// - Parameter text: "utc", "local", or a time zone as of `PhotoTimeZone.init`
  /// - Throws: `SatchelError` (`invalid`) for another text
  public init(_ text: String) throws {
    switch text {
    case "utc": self = .utc
    case "local": self = .local
    default: self = .zone(try PhotoTimeZone(text))
    }
  }

  /// Returns the time that a photo was taken at, in seconds since 1970 on this clock.
  ///
  /// - Parameter offset: that of its own clock
  func time(_ photodate: Int64, offset: Int64) -> Int64 {
    let offset =
      switch self {
      case .utc: Int64(0)
      case .local: offset
      case .zone(let zone): zone.offset(at: max(-Self.farthest, min(photodate, Self.farthest)))
      }
    return photodate.addingReportingOverflow(offset).overflow ? photodate : photodate + offset
  }

  /// The largest date whose offset is looked up, in the year 33658.
  private static let farthest: Int64 = 1_000_000_000_000
}
