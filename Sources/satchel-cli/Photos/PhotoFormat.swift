import Satchel

/// An output format of `satchel photos query`.
protocol PhotoFormat {
  /// Whether the format is for people, not for programs.
  var isHumanReadable: Bool { get }
  var header: String { get }
  var footer: String { get }
  func text(_ photo: PhotoDetails, isFirst: Bool) throws -> String
}

/// One JSON array on one line.
struct JSONPhotoFormat: PhotoFormat {
  let isHumanReadable = false
  let header = "["
  let footer = "]\n"

  func text(_ photo: PhotoDetails, isFirst: Bool) throws -> String {
    try (isFirst ? "" : ", ") + photo.json.plainText
  }
}

/// JSON lines: an object for each photo.
struct JSONLinesPhotoFormat: PhotoFormat {
  let isHumanReadable = false
  let header = ""
  let footer = ""

  func text(_ photo: PhotoDetails, isFirst: Bool) throws -> String { try photo.json.plainText + "\n" }
}

/// A line for each photo, with the file name, which is not padded, last.
struct TablePhotoFormat: PhotoFormat {
  let isHumanReadable = true
  let header = ""
  let footer = ""

  func text(_ photo: PhotoDetails, isFirst: Bool) -> String {
    let heading = Self.line(["taken", "pixels", "bytes", "", "backup", "md5", "filename"])
    let pixels = photo.photo.width.flatMap { width in photo.photo.height.map { "\(width)x\($0)" } }
    let line = Self.line([
      Terminal.time(seconds: wallTime(photo)), pixels ?? "", "\(photo.photo.size)",
      photo.isStarred ? "*" : "", photo.backup.label, photo.md5.description, photo.photo.filename.printable,
    ])
    return isFirst ? heading + line : line
  }

  /// The time on the wall where the photo was taken, in seconds as if it were in UTC.
  private func wallTime(_ photo: PhotoDetails) -> Int64 {
    let (time, isTooLate) = photo.photo.photodate.addingReportingOverflow(photo.metadata.utcOffset ?? 0)
    return isTooLate ? photo.photo.photodate : time
  }

  /// Fixed widths that fit what cameras write, so that all pages of a listing align.
  private static let widths = [16, 11, 10, 1, 13, 32, 0]

  private static func line(_ cells: [String]) -> String {
    zip(cells, widths).map { cell, width in
      cell + String(repeating: " ", count: max(0, width - cell.count))
    }.joined(separator: "  ") + "\n"
  }
}

/// CSV (RFC 4180) with a header line.
struct CSVPhotoFormat: PhotoFormat {
  let isHumanReadable = false
  /// On a terminal control characters in file names are replaced; a file gets every byte.
  private let isInteractive = Terminal.isTerminal(STDOUT_FILENO)

  private static let columns = [
    "md5", "filename", "size", "photodate", "modified", "width", "height", "apple_photo_id", "starred",
    "local_only", "backup_status", "attempts", "last_attempt", "error", "photodate_source", "camera_make",
    "camera_model",
    "orientation", "latitude", "longitude", "aperture", "shutter_speed", "iso", "focal_length", "utc_offset",
    "thumbnail_cached_at", "preview_cached_at",
  ]

  var header: String { Self.columns.joined(separator: ",") + "\r\n" }
  let footer = ""

  func text(_ photo: PhotoDetails, isFirst: Bool) throws -> String {
    let values = photo.json.objectValue ?? JSONObject()
    return try Self.columns.map { try field(values[$0] ?? .null) }.joined(separator: ",") + "\r\n"
  }

  private func field(_ value: JSONValue) throws -> String {
    if value.isNull { return "" }
    guard let text = value.stringValue else { return try value.text }
    let shown = isInteractive ? text.printable : text
    guard shown.utf8.contains(where: { [0x22, 0x2C, 0x0A, 0x0D].contains($0) }) else { return shown }
    // By scalars, since a quote and a following combining accent are one `Character`.
    let doubled = shown.unicodeScalars.reduce(into: String.UnicodeScalarView()) { result, scalar in
      result.append(scalar)
      if scalar == "\"" { result.append(scalar) }
    }
    return "\"\(String(doubled))\""
  }
}
