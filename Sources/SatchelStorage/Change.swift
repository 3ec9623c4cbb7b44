import SatchelCore
import SatchelJSON

/// A change of one subject, made by one commit.
///
/// Each subject has typed members for `keys`: `sections` and `entities`, `photos` and `shards`, `stories`,
/// `records`, `state`. They are empty for changes of other subjects.
public struct Change: Equatable, Sendable, JSONConvertible {
  /// The part of the store that changed.
  public struct Subject: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The name in the JSON of the C interface.
    public let rawValue: String

    /// Creates a subject by its name; a newer version of the library may report others than those below.
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let catalogue = Subject(rawValue: "catalogue")
    public static let photos = Subject(rawValue: "photos")
    public static let stories = Subject(rawValue: "stories")
    public static let records = Subject(rawValue: "records")
    public static let state = Subject(rawValue: "state")

    /// The subjects that this version reports.
    public static let all = [catalogue, photos, stories, records, state]

    public var description: String { rawValue }
  }

  /// An event of records or of state that is not a change of content.
  public enum Event: String, Sendable, CaseIterable {
    /// A write went to the outbox file.
    case spooled = "@spooled"
    /// Writes of the outbox file are in the store.
    case drained = "@drained"
    /// The store rejected writes of the outbox file.
    case rejected = "@rejected"
    /// A part of the outbox file cannot be read.
    case outboxDamaged = "@outbox_damaged"
    /// A mirror could not be written after a commit.
    case mirrorFailed = "@mirror_failed"
    /// Another program changed a mirror.
    case mirrorEdited = "@mirror_edited"
    /// State could be written neither to the store nor to the outbox file.
    case unsaved = "@unsaved"
  }

  public var subject: Subject
  /// Names and ids of the changed items, as the JSON of the C interface has them; `["*"]` when too much was
  /// changed to list it.
  public var keys: [String]
  /// The text key of the changed place, or the directory of the changed photos.
  public var place: String?
  /// Whether the notifying handle also wrote it.
  public var isOwn: Bool
  /// The commit's revision; 0 for an event outside of commits.
  public var revision: Int64
  /// The number of the first `keys` that are names of sections.
  package var sectionCount: Int

  package init(
    subject: Subject, keys: [String], sectionCount: Int = 0, place: String?, isOwn: Bool, revision: Int64
  ) {
    self.subject = subject
    self.keys = keys
    self.sectionCount = sectionCount
    self.place = place
    self.isOwn = isOwn
    self.revision = revision
  }

  /// Whether too much of the subject was changed to list it: read everything again.
  public var concernsAll: Bool { keys == ["*"] && sectionCount == 0 }

  /// The event that is reported; nil for a change of content.
  public var event: Event? { isEvent ? keys.first.flatMap { Event(rawValue: $0) } : nil }

  /// Whether it reports an event, perhaps one of a newer version. No key of a record or of state begins with
  /// "@".
  private var isEvent: Bool {
    (subject == .records || subject == .state) && keys.first?.utf8.first == UInt8(ascii: "@")
  }

  /// Returns the keys of a change of content of one subject; empty for other changes.
  package func keys(of subject: Subject) -> [String] {
    self.subject == subject && !concernsAll && !isEvent ? keys : []
  }

  /// The JSON object that the C interface gives to observers.
  public var json: JSONValue {
    [
      "subject": .string(subject.rawValue), "keys": .array(keys.map { .string($0) }),
      "section_count": .int(Int64(sectionCount)), "place": place.map { .string($0) } ?? .null,
      "own": .bool(isOwn), "revision": .int(revision),
    ]
  }
}
