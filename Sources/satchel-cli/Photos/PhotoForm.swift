import Satchel

/// How listed photos look.
protocol PhotoForm {
  /// Whether a person reads it, rather than a program.
  var isForPeople: Bool { get }
  var beginning: String { get }
  func text(_ photo: PhotoDetails, isFirst: Bool) throws -> String
  func end(isEmpty: Bool) -> String
}

/// One array, on one line.
struct PhotoArray: PhotoForm {
  let isForPeople = false
  let beginning = "["
  func text(_ photo: PhotoDetails, isFirst: Bool) throws -> String {
    try (isFirst ? "" : ", ") + photo.json.plainText
  }
  func end(isEmpty: Bool) -> String { "]\n" }
}

/// An object on each line.
struct PhotoLines: PhotoForm {
  let isForPeople = false
  let beginning = ""
  func text(_ photo: PhotoDetails, isFirst: Bool) throws -> String { try photo.json.plainText + "\n" }
  func end(isEmpty: Bool) -> String { "" }
}

/// A line for each photo, the name last, where its width does no harm.
struct PhotoTable: PhotoForm {
  let isForPeople = true
  let beginning = ""

  func text(_ photo: PhotoDetails, isFirst: Bool) -> String {
    let heading = Self.line(["taken", "pixels", "bytes", "", "backup", "md5", "filename"])
    let pixels = photo.photo.width.flatMap { width in photo.photo.height.map { "\(width)x\($0)" } }
    let line = Self.line([
      Terminal.time(seconds: photo.photo.photodate), pixels ?? "", "\(photo.photo.size)",
      photo.isStarred ? "*" : "", photo.backup.words, photo.md5.description, photo.photo.filename.printable,
    ])
    return isFirst ? heading + line : line
  }

  func end(isEmpty: Bool) -> String { "" }

  /// As wide as what a camera gives, so that pages of one listing stand below each other.
  private static let widths = [16, 11, 10, 1, 13, 32, 0]

  private static func line(_ cells: [String]) -> String {
    zip(cells, widths).map { cell, width in
      cell + String(repeating: " ", count: max(0, width - cell.count))
    }.joined(separator: "  ") + "\n"
  }
}

/// A table for other programs: RFC 4180, with a heading.
struct PhotoSheet: PhotoForm {
  let isForPeople = false
  /// A terminal gets no commands out of the names of files; a file gets every byte.
  private let isWatched = Terminal.isTerminal(STDOUT_FILENO)

  private static let columns = [
    "md5", "filename", "size", "photodate", "modified", "width", "height", "apple_photo_id", "starred",
    "local_only", "backup_status", "attempts", "last_attempt", "error", "camera_make", "camera_model",
    "orientation", "latitude", "longitude", "aperture", "shutter_speed", "iso", "focal_length",
    "thumbnail_cached_at", "preview_cached_at",
  ]

  var beginning: String { Self.columns.joined(separator: ",") + "\r\n" }

  func text(_ photo: PhotoDetails, isFirst: Bool) throws -> String {
    let values = photo.json.objectValue ?? JSONObject()
    return try Self.columns.map { try field(values[$0] ?? .null) }.joined(separator: ",") + "\r\n"
  }

  func end(isEmpty: Bool) -> String { "" }

  private func field(_ value: JSONValue) throws -> String {
    if value.isNull { return "" }
    guard let text = value.stringValue else { return try value.text }
    let shown = isWatched ? text.printable : text
    guard shown.utf8.contains(where: { [0x22, 0x2C, 0x0A, 0x0D].contains($0) }) else { return shown }
    // By scalars: a quote and an accent after it are one character.
    let doubled = shown.unicodeScalars.reduce(into: String.UnicodeScalarView()) { result, scalar in
      result.append(scalar)
      if scalar == "\"" { result.append(scalar) }
    }
    return "\"\(String(doubled))\""
  }
}
