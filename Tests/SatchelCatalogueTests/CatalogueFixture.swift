import Foundation
import Satchel
import SatchelTesting
import Synchronization
import Testing

let hour: Int64 = 3_600_000

/// A clock that stands still until it is moved.
final class SettableClock: Sendable {
  private let time: Atomic<Int64>

  init(_ time: Int64 = 1_700_000_000_000) { self.time = Atomic(time) }

  var now: Int64 { time.load(ordering: .relaxed) }
  func set(_ now: Int64) { time.store(now, ordering: .relaxed) }
  func advance(_ milliseconds: Int64) { time.add(milliseconds, ordering: .relaxed) }
  var clock: Clock { Clock { [self] in now } }
}

/// A store with a clock of its own: in memory, or in a directory that goes with it.
final class Shelf {
  let clock: SettableClock
  private let place: TemporaryDirectory?
  let path: String
  private(set) var satchel: Satchel

  var catalogue: Catalogue { satchel.catalogue }

  init(onDisk: Bool = false, clock: SettableClock = SettableClock()) throws {
    self.clock = clock
    place = onDisk ? try TemporaryDirectory() : nil
    path = place?.url.appending(path: "store.satchel").path ?? ":memory:"
    satchel = try Self.open(path, clock)
  }

  deinit { try? satchel.close() }

  private static func open(_ path: String, _ clock: SettableClock) throws -> Satchel {
    var options = StoreOptions()
    options.clock = clock.clock
    options.durability = .relaxed
    return try Satchel(path: path, options: options)
  }

  /// Another handle on the same file.
  func another() throws -> Satchel { try Self.open(path, clock) }

  func reopen() throws {
    try satchel.close()
    satchel = try Self.open(path, clock)
  }

  /// Opens a copy of the file as it lies on the disk now, as after the end of the process.
  func crashedCopy() throws -> Shelf {
    let copy = try Shelf(onDisk: true, clock: clock)
    try copy.satchel.close()
    for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: copy.path + suffix) }
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: path + suffix) {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: copy.path + suffix)
    }
    copy.satchel = try Self.open(copy.path, clock)
    return copy
  }

  var fileSize: Int64 {
    let found = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber
    return found?.int64Value ?? 0
  }

  @discardableResult
  func persist(
    _ section: String, _ content: String, at location: Location, config: String = "null",
    action: String = "replace",
    reuse: Catalogue.Reuse = .unlessChanged
  ) throws -> Receipt {
    let text = Shelf.section(section, content, config: config, action: action)
    return try Array(text.utf8).withUnsafeBytes { try catalogue.persist($0, at: location, reuse: reuse) }
  }

  static func section(
    _ name: String, _ content: String, config: String = "null", action: String = "replace"
  ) -> String {
    #"{"section":"\#(name)","display_title":"Title of \#(name)","config":\#(config),"action":"\#(action)","content":\#(content)}"#
  }

  @discardableResult
  func edit(
    _ section: String, _ config: String, _ content: String, at location: Location,
    reuse: Catalogue.Reuse = .unlessChanged
  ) throws -> Receipt {
    try persist(section, content, at: location, config: config, action: "edit", reuse: reuse)
  }

  /// A section's content as it is spelled in the store; nil when there is no such section.
  func spelling(_ section: String, at location: Location) throws -> RawJSON? {
    let text = try catalogue.loadText(section, at: location, allowExpired: true, union: false)
    return try text.map { try #require(try RawJSON(parsing: $0).member("content")) }
  }

  /// The content that shows, as compact JSON with the order of its keys; "-" when there is none.
  func shown(_ section: String, at location: Location, allowExpired: Bool = false) throws -> String {
    try catalogue.load(section, at: location, allowExpired: allowExpired)?.content.text ?? "-"
  }

  func expectSound(_ place: SourceLocation = #_sourceLocation) throws {
    let findings = try satchel.check()
    #expect(findings.isEmpty, "\(findings.map(\.message))", sourceLocation: place)
  }

  /// All that the catalogue's tables hold, row by row.
  func dump() throws -> [[[UInt8]]] {
    try catalogue.database.read { connection in
      var rows: [[[UInt8]]] = []
      // Columns beyond the last are empty.
      func add(_ row: Statement) { rows.append((0..<20).map { Array(row.bytes($0)) }) }
      try connection.each("SELECT 'place', * FROM place", visit: add)
      try connection.each("SELECT 'context', * FROM context", visit: add)
      try connection.each("SELECT 'context_at', * FROM context_at", visit: add)
      try connection.each("SELECT 'section', * FROM section", visit: add)
      try connection.each("SELECT 'section_content', * FROM section_content", visit: add)
      try connection.each("SELECT 'entity', * FROM entity", visit: add)
      try connection.each("SELECT 'entity_content', * FROM entity_content", visit: add)
      try connection.each("SELECT 'entity_index', * FROM entity_index", visit: add)
      try connection.each("SELECT 'change', * FROM change", visit: add)
      return rows
    }
  }

  /// How often a statement with these words ran on the write connection.
  func runs(of words: String, in body: () throws -> Void) throws -> Int {
    let heard = Atomic(0)
    try catalogue.database.maintain {
      $0.trace { if $0.contains(words) { heard.add(1, ordering: .relaxed) } }
    }
    try body()
    try catalogue.database.maintain { $0.trace(nil) }
    return heard.load(ordering: .relaxed)
  }

  /// Variants in the store, several of one identity counted as often as they are there.
  func variants() throws -> [String] {
    try catalogue.database.read { connection in
      var found: [String] = []
      // As bytes: to Swift "é" and its decomposed form are one text, to a backend they are two ids.
      try connection.each("SELECT hex(entity_id), scope, place FROM entity ORDER BY 1, 2, 3") {
        found.append("\($0.text(0)) \($0.anyInteger(1)) \($0.anyInteger(2))")
      }
      return found
    }
  }
}

/// Deliveries of Tests/Fixtures/places.jsonl, one a line.
enum Deliveries {
  static let lines: [String] = {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let text =
      (try? String(contentsOf: folder.appending(path: "Fixtures/places.jsonl"), encoding: .utf8)) ?? ""
    return text.split(separator: "\n").map(String.init)
  }()

  static func location(_ line: String) throws -> Location {
    try Location(json: try #require(JSONValue(parsing: line)["location"]))
  }
}

/// A location from its parts, the most general first; "" for none.
func place(_ country: String, _ area: String = "", _ town: String = "", _ part: String = "") throws
  -> Location
{
  func text(_ part: String) -> String? { part.isEmpty ? nil : part }
  return try Location(
    sublocality: text(part), locality: text(town), adminArea: text(area), countryCode: text(country))
}

/// An object's `_storage` member.
func tag(_ id: String, _ scope: String, hours: String? = nil) -> String {
  let life = hours.map { #","ttl_hours":\#($0)"# } ?? ""
  return #""_storage":{"entity_id":"\#(id)","scope":"\#(scope)"\#(life)}"#
}

/// Runs `body` on so many threads at once, each with its number, and waits for all. Dispatch would run no more
/// than there are cores.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  let group = DispatchGroup()
  for number in 0..<count {
    group.enter()
    Thread {
      body(number)
      group.leave()
    }.start()
  }
  group.wait()
}
