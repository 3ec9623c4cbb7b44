import SatchelCore
import SatchelJSON
import SatchelStories

/// Converts Twee 3, the interchange format of Twine.
public enum Twee {
  private static let wordsPerMinute = 200

  /// Converts a Twee text to a story in this library's format.
  ///
  /// The ids of segments are the names of their passages, the ids of choices "<segment>-<number>". Fields
  /// that Twee does not have are empty: author, synopsis, coverImageName and ageRange, which a check then
  /// reports. Segments with the tag "authentic" are on the authentic path; when no passage has it, those of a
  /// shortest path to an ending are. Additional keys keep a passage's `twineTags`, `position` and `size`, the
  /// story's StoryData as `twine`, and the passages that are not segments as `twinePassages`. Macros stay in
  /// the texts. A segment has the choices of the passages that it displays; passages that are only displayed are
  /// in `twinePassages`. A link or macro whose target is known only when the story is played is a choice that is
  /// `dynamic`, and what menus and scripts may lead to has the `entry` "possible": the result has the errors that the
  /// game has.
  ///
  /// - Parameters:
  ///   - text: a game as Twee 3 or as a page
  ///   - id: the story's id; derived from its title when nil
  /// - Throws: `SatchelError` `.invalid`, with line, column and cause, when the text is not Twee, and when
  ///   the id is not a valid name
  public static func story(_ text: UnsafeRawBufferPointer, id: String? = nil) throws -> JSONValue {
    try story(TweeReader(text), id: id)
  }

  /// Converts a game in several files.
  public static func story(_ game: TweeGame, id: String? = nil) throws -> JSONValue {
    try game.text.withUnsafeBytes { try story(TweeReader($0, files: game.files), id: id) }
  }

  /// Converts one of the stories of an archive.
  package static func story(ofArchive text: [UInt8], number: Int, id: String?) throws -> JSONValue {
    try text.withUnsafeBytes { try story(TweeReader($0, story: number), id: id) }
  }

  private static func story(_ reader: TweeReader, id: String?) throws -> JSONValue {
    if let id, !StoryID.isName(id) {
      throw SatchelError(.invalid, "the story's id is not a valid name: \"\(id)\"")
    }
    let analysis = StoryAnalysis(reader.table)
    let title = analysis.table.string(.title) ?? ""
    var segments = TweeSegments(reader, analysis)
    let words = analysis.reach.order.reduce(0) { $0 + Int(analysis.table.segments[Int($1)].words) }
    var story: JSONObject = [
      "id": .string(id ?? name(of: title)), "title": .string(title), "author": "", "originalSource": .null,
      "culturalOrigin": .null, "synopsis": "", "coverImageName": "",
      "estimatedReadingMinutes": .int(Int64(max(1, (words + wordsPerMinute / 2) / wordsPerMinute))),
      "ageRange": "", "tags": [], "isPurchased": false, "segments": .array(segments.all()),
    ]
    if let body = reader.dataBody, let data = try? JSONValue(parsing: reader.bytes.raw(body)) {
      story["twine"] = data
    }
    let otherPassages = segments.otherPassages()
    if !otherPassages.isEmpty { story["twinePassages"] = .array(otherPassages) }
    return .object(story)
  }

  /// Converts a Twee text, given as a sequence of bytes.
  public static func story(_ text: some Sequence<UInt8>, id: String? = nil) throws -> JSONValue {
    try Array(text).withUnsafeBytes { try story($0, id: id) }
  }

  /// Returns an id derived from a title: letters and digits in lower case, everything else as hyphens.
  static func name(of title: String) -> String {
    var name = ""
    for scalar in title.lowercased().unicodeScalars {
      switch scalar.properties.generalCategory {
      case .lowercaseLetter, .uppercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
        .nonspacingMark,
        .spacingMark, .decimalNumber, .letterNumber, .otherNumber:
        guard name.utf8.count + UTF8.width(scalar) <= 200 else { return trimmed(name) }
        name.unicodeScalars.append(scalar)
      default:
        if !name.isEmpty, name.utf8.last != UInt8(ascii: "-"), name.utf8.count < 200 { name += "-" }
      }
    }
    return trimmed(name)
  }

  private static func trimmed(_ name: String) -> String {
    let name = name.utf8.last == UInt8(ascii: "-") ? String(name.dropLast()) : name
    return name.isEmpty ? "story" : name
  }
}
