import SatchelCore
import SatchelJSON

/// The change log: a table of the latest commits' changes, by which processes are notified of each other's
/// commits.
package enum ChangeLog {
  /// The minimum number of commits that the change log keeps.
  static let kept: Int64 = 1024
  static let trimInterval: Int64 = 256

  /// The valid revisions.
  static var revisions: ClosedRange<Int64> { 1...StoredRange.usual.upperBound }

  package static let rules = StoredRules(
    bounds: [
      "change.revision": revisions, "change.time": StoredRange.time, "change.writer": StoredRange.any,
    ],
    documents: ["change.entries"], times: ["change.time": .stamp])

  package static let schema = """
    CREATE TABLE change(
      revision INTEGER PRIMARY KEY,
      time INTEGER NOT NULL,
      writer INTEGER NOT NULL,
      entries TEXT NOT NULL
    );
    """

  /// Returns changes as the JSON of the change log.
  static func json(of changes: [Change]) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(changes.reduce(64) { $0 + 64 + $1.keys.count * 32 })
    text.append(UInt8(ascii: "["))
    for (position, change) in changes.enumerated() {
      text.append(contentsOf: (position == 0 ? #"{"subject":"# : #",{"subject":"#).utf8)
      JSONValue.write(change.subject.rawValue, into: &text)
      if change.sectionCount > 0 {
        text.append(contentsOf: #","section_count":\#(change.sectionCount)"#.utf8)
      }
      if let place = change.place {
        text.append(contentsOf: #","place":"#.utf8)
        JSONValue.write(place, into: &text)
      }
      text.append(contentsOf: #","keys":["#.utf8)
      for (position, key) in change.keys.enumerated() {
        if position > 0 { text.append(UInt8(ascii: ",")) }
        JSONValue.write(key, into: &text)
      }
      text.append(contentsOf: "]}".utf8)
    }
    text.append(UInt8(ascii: "]"))
    return text
  }

  /// Returns the newest commit's revision.
  package static func newest(_ connection: Connection) throws -> Int64 {
    try connection.number("SELECT max(revision) FROM change")
  }

  /// Removes what the change log says about earlier commits. Handles that have not read them yet are notified that
  /// anything may have changed.
  package static func forget(_ connection: Connection) throws {
    let newest = try newest(connection)
    try connection.run("DELETE FROM change WHERE revision < ?", .integer(newest))
    let all = Change.Subject.all.map {
      Change(subject: $0, keys: ["*"], place: nil, isOwn: false, revision: newest)
    }
    try connection.run("UPDATE change SET entries = ?", .text(String(decoding: json(of: all), as: UTF8.self)))
  }

  /// Returns the changes that other handles committed after `revision`.
  static func read(_ connection: Connection, after revision: Int64, except writer: Int64) throws -> [Change] {
    var changes: [Change] = []
    let oldest = try connection.number("SELECT min(revision) FROM change")
    let isGap = oldest > revision + 1
    if isGap {
      // Changes that were already removed from the change log may have been of any subject.
      changes = Change.Subject.all.map {
        Change(subject: $0, keys: ["*"], place: nil, isOwn: false, revision: oldest)
      }
    }
    try connection.each(
      "SELECT revision, entries FROM change WHERE revision > ? AND writer <> ? ORDER BY revision",
      .integer(revision), .integer(writer)
    ) { row in
      guard case .array(let entries) = try JSONValue(parsing: row.bytes(1)) else { return }
      for case .object(let entry) in entries {
        guard case .string(let subject)? = entry["subject"], case .array(let keys)? = entry["keys"] else {
          continue
        }
        var place: String?
        if case .string(let text)? = entry["place"] { place = text }
        let names = keys.compactMap { key -> String? in if case .string(let text) = key { text } else { nil }
        }
        let sectionCount = entry["section_count"]?.intValue.flatMap { Int(exactly: $0) } ?? 0
        changes.append(
          Change(
            subject: Change.Subject(rawValue: subject), keys: names,
            sectionCount: min(max(sectionCount, 0), names.count), place: place, isOwn: false,
            revision: try row.integer(0, in: ChangeLog.revisions)))
      }
    }
    return changes
  }
}

/// Notifies subscribers of changes: of the handle's own at once, of others' when the scheduler finds them in the change
/// log.
// Unchecked: `condition` guards all state.
package final class ChangeFeed: @unchecked Sendable {
  private let condition = ConditionLock()
  private var subscribers: [Int: @Sendable (Change) -> Void] = [:]
  private var nextSubscriber = 0
  private let thread: JobThread
  private var polling: JobThread.Job?
  private var isStopped = false

  /// The interval at which SQLite is asked for commits of others, in milliseconds.
  private static let interval: Int64 = 100

  /// - Parameter thread: finds commits of others
  init(polling thread: JobThread) { self.thread = thread }

  /// A subscription; ends on `cancel` or when it is released.
  // Unchecked: it is immutable.
  package final class Subscription: @unchecked Sendable {
    private weak var feed: ChangeFeed?
    private let number: Int

    init(_ feed: ChangeFeed, _ number: Int) {
      self.feed = feed
      self.number = number
    }

    package func cancel() { feed?.remove(number) }
    deinit { cancel() }
  }

  func subscribe(_ observer: @escaping @Sendable (Change) -> Void) -> Subscription {
    condition.withLock {
      nextSubscriber += 1
      subscribers[nextSubscriber] = observer
      return Subscription(self, nextSubscriber)
    }
  }

  private func remove(_ number: Int) {
    let removed = condition.withLock { subscribers.removeValue(forKey: number) }
    _ = removed  // Released here, outside the lock: the release may call the host.
  }

  func notify(_ change: Change) {
    let observers = condition.withLock { Array(subscribers.ordered { $0.key < $1.key }.map(\.value)) }
    HostWork.notify { for observer in observers { observer(change) } }
  }

  // MARK: Other handles

  /// Starts to look for commits of others, once.
  func watch(writer: Int64, open: () throws -> Connection) throws {
    try condition.withLock {
      guard polling == nil, !isStopped else { return }
      let connection = try open()
      let seen = Locked((newest: try ChangeLog.newest(connection), version: Int64(-1)))
      let job = thread.job { [weak self] in
        self?.poll(connection, seen, except: writer)
        return Clock.monotonic.now() + Self.interval
      }
      try job.request(at: Clock.monotonic.now() + Self.interval)
      polling = job
    }
  }

  /// Looks for commits of others now, rather than at the next interval; notifies on another thread.
  package func look() throws {
    let job = condition.withLock { polling }
    try job?.request()
  }

  private func poll(
    _ connection: Connection, _ seen: Locked<(newest: Int64, version: Int64)>, except writer: Int64
  ) {
    let (newest, version) = seen.withLock { $0 }
    // A failure means that another connection is writing; the next round retries.
    guard let now = try? connection.number("PRAGMA data_version"), now != version,
      let (latest, found) = try? Self.newChanges(connection, after: newest, except: writer)
    else { return }
    for change in found { notify(change) }
    seen.withLock { $0 = (max(newest, latest), now) }
  }

  /// Returns the changes of others and the newest revision, read in one transaction so that no change is
  /// reported twice.
  private static func newChanges(
    _ connection: Connection, after revision: Int64, except writer: Int64
  ) throws -> (latest: Int64, found: [Change]) {
    try connection.inReadTransaction {
      let latest = try ChangeLog.newest(connection)
      guard latest > revision else { return (latest, []) }
      return (latest, try ChangeLog.read(connection, after: revision, except: writer))
    }
  }

  /// Stops all notifications, and waits for those in progress.
  func stop() {
    let job = condition.withLock {
      isStopped = true
      defer { polling = nil }
      return polling
    }
    job?.cancel()
    let removed = condition.withLock {
      let removed = subscribers
      subscribers = [:]
      return removed
    }
    _ = removed
  }
}

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
