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

  /// Returns revision and time of the newest commit; zeros when there is none.
  static func newestEntry(_ connection: Connection) throws -> (revision: Int64, time: Int64) {
    try connection.first("SELECT revision, time FROM change ORDER BY revision DESC LIMIT 1") {
      (try $0.integer(0, in: revisions), try $0.integer(1, in: StoredRange.time))
    } ?? (0, 0)
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
