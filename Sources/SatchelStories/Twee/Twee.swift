import SatchelJSON
import SatchelStorage

/// Twee 3, the interchange format of Twine.
public enum Twee {
  private static let wordsPerMinute = 200

  /// A story of this library's own format, made of a Twee text.
  ///
  /// Segments are called as their passages, choices "<segment>-<number>". What Twee does not know is there and empty:
  /// author, synopsis, coverImageName and ageRange, which a check then reports. Segments are on the authentic path
  /// by the tag "authentic"; where no passage has it, those of a shortest way to an ending are. Kept beside the
  /// format's own keys are a passage's `twineTags`, `position` and `size`, the story's StoryData as `twine`, and as
  /// `twinePassages` those that are no segments. Macros stay in the texts; a jump that only playing tells cannot be
  /// told in this format, so that what only jumps lead to is unreachable in it.
  ///
  /// - Parameters:
  ///   - text: Twee 3
  ///   - id: the story's; made of its title when nil
  /// - Throws: `SatchelError` `.invalid` with line, column and cause where the text is no Twee, and where the id is
  ///   no name.
  public static func story(_ text: UnsafeRawBufferPointer, id: String? = nil) throws -> JSONValue {
    if let id, !StoryID.isName(id) { throw SatchelError(.invalid, "the story's id is no name: \"\(id)\"") }
    let reader = try TweeReader(text)
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
    let others = segments.others()
    if !others.isEmpty { story["twinePassages"] = .array(others) }
    return .object(story)
  }

  /// As for lent bytes.
  public static func story(_ text: some Sequence<UInt8>, id: String? = nil) throws -> JSONValue {
    try Array(text).withUnsafeBytes { try story($0, id: id) }
  }

  /// An id made of a title: letters and digits in lower case, anything else a hyphen.
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
