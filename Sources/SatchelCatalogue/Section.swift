import SatchelCore
import SatchelJSON
import SatchelStorage

/// A section with its content.
public struct Section: Sendable, Equatable, JSONCodable {
  public var header: SectionHeader
  /// The content as delivered, without `_storage` and without entities that are missing, expired or of other
  /// places.
  public var content: JSONValue {
    get { body.value }
    set { body = SectionContent(newValue) }
  }
  /// The ids of entities whose content is no longer stored.
  public var missing: [String]
  /// The ids of expired entities; they are in the content only when the caller allowed expired ones.
  public var expired: [String]
  private(set) var body: SectionContent

  public init(
    header: SectionHeader, content: JSONValue, missing: [String] = [], expired: [String] = []
  ) {
    self.init(header: header, body: SectionContent(content), missing: missing, expired: expired)
  }

  init(header: SectionHeader, body: SectionContent, missing: [String], expired: [String]) {
    self.header = header
    self.body = body
    self.missing = missing
    self.expired = expired
  }

  public static func == (one: Section, other: Section) -> Bool {
    one.header == other.header && one.missing == other.missing && one.expired == other.expired
      && one.body.isEqual(to: other.body)
  }

  /// Creates a section from the JSON object that the C interface returns.
  public init(json: JSONValue) throws {
    let members = try MemberReader("a section", json)
    self.init(
      header: try SectionHeader(members), content: try members.required("content", members["content"]),
      missing: try members.strings("missing"), expired: try members.strings("expired"))
  }

  /// The JSON object that the C interface returns.
  public var json: JSONValue {
    var object = header.members
    object["missing"] = .array(missing.map { .string($0) })
    object["expired"] = .array(expired.map { .string($0) })
    object["content"] = content
    return .object(object)
  }
}

extension Section {
  /// Returns the content, decoded as a value of the app's.
  ///
  /// - Throws: `SatchelError` `.invalid` with the pointer of what does not fit the type
  public func content<Value: Decodable>(as type: Value.Type) throws -> Value {
    do {
      return try content.decode(as: type)
    } catch let error as DecodingError {
      let reason = JSONError(error)
      throw SatchelError(.invalid, "section \(header.section): \(reason)", underlying: error)
        .at(subject: Change.Subject.catalogue.rawValue, collection: header.section, pointer: reason.pointer)
    }
  }
}

/// The entities of one section that are fresh, expired and missing.
public struct Plan: Sendable, Equatable, JSONConvertible {
  /// The ids of entities that do not have to be fetched.
  public var fresh: [String] = []
  /// The ids of entities that are stored but expired.
  public var expired: [String] = []
  /// The ids of entities whose content is no longer stored.
  public var missing: [String] = []
  /// When the section was last delivered or renewed, in Unix milliseconds.
  public var fetchedAt: Int64 = 0
  /// The entity tag of its last delivery; nil when it had none.
  public var etag: String?

  /// The JSON object that the C interface returns.
  public var json: JSONValue {
    func list(_ ids: [String]) -> JSONValue { .array(ids.map { .string($0) }) }
    return [
      "fresh": list(fresh), "expired": list(expired), "missing": list(missing), "fetched_at": .int(fetchedAt),
      "etag": etag.map { .string($0) } ?? .null,
    ]
  }
}

/// A section's content as JSON text, which the C interface returns without parsing it.
struct RenderedContent {
  var content: [UInt8]
  var missing: [String]
  var expired: [String]
}

extension Section {
  init(_ found: VisibleSection, _ rendered: RenderedContent, at now: Int64) throws {
    self.init(
      header: try found.header(at: now), content: try JSONValue(parsing: rendered.content),
      missing: rendered.missing, expired: rendered.expired)
  }

  /// Creates a section whose content, which `SectionReader.render` has validated, is parsed when it is needed.
  init(unparsed rendered: RenderedContent, _ found: VisibleSection, at now: Int64) throws {
    self.init(
      header: try found.header(at: now), body: SectionContent(validated: rendered.content),
      missing: rendered.missing, expired: rendered.expired)
  }
}

/// Creates and splits entity ids of the form "section:key".
public enum EntityID {
  /// Returns the id of a label in a section: "cuisine:chinese_cuisine"; "cuisine:unknown" when the normalized
  /// label is empty.
  public static func make(section: String, label: String) -> String {
    section + ":" + (PlaceText.normalize(label) ?? "unknown")
  }

  /// Returns the part before the first colon; nil when there is no colon, or nothing before it.
  public static func section(of id: String) -> String? {
    // By bytes, not characters: a combining mark may follow the colon.
    guard let colon = id.utf8.firstIndex(of: UInt8(ascii: ":")), colon > id.startIndex else { return nil }
    return String(id[..<colon])
  }
}
