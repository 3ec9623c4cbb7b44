import Foundation
import Satchel
import SatchelStorageTesting
import SatchelTesting
import Synchronization
import Testing

@testable import SatchelStorage

let hour: Int64 = 3_600_000

/// A manual clock.
final class SettableClock: Sendable {
  private let time: Atomic<Int64>

  init(_ time: Int64 = 1_700_000_000_000) { self.time = Atomic(time) }

  var now: Int64 { time.load(ordering: .relaxed) }
  func set(_ now: Int64) { time.store(now, ordering: .relaxed) }
  func advance(_ milliseconds: Int64) { time.add(milliseconds, ordering: .relaxed) }
  var clock: Clock { Clock { [self] in now } }
}

/// A store with a manual clock, in memory or in a temporary directory.
final class CatalogueFixture {
  let clock: SettableClock
  private let place: TemporaryDirectory?
  let path: String
  private(set) var satchel: Store

  var catalogue: Catalogue { satchel.catalogue }

  init(onDisk: Bool = false, clock: SettableClock = SettableClock()) throws {
    self.clock = clock
    place = onDisk ? try TemporaryDirectory() : nil
    path = place?.url.appending(path: "store.satchel").path ?? ":memory:"
    satchel = try Self.open(path, clock)
  }

  deinit { try? satchel.close() }

  private static func open(_ path: String, _ clock: SettableClock) throws -> Store {
    var options = StoreOptions()
    options.clock = clock.clock
    options.durability = .relaxed
    return try Store(path: path, options: options)
  }

  /// Opens another handle on the same file.
  func another() throws -> Store { try Self.open(path, clock) }

  func reopen() throws {
    try satchel.close()
    try reopenClosed()
  }

  func reopenClosed() throws { satchel = try Self.open(path, clock) }

  /// Opens a copy of the file in its current state on disk, as after a crash.
  func crashedCopy() throws -> CatalogueFixture {
    let copy = try CatalogueFixture(onDisk: true, clock: clock)
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
    let text = CatalogueFixture.section(section, content, config: config, action: action)
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

  /// Returns the raw content of a section; nil when there is no such section.
  func rawContent(_ section: String, at location: Location) throws -> RawJSON? {
    let text = try catalogue.loadText(section, at: location, allowExpired: true, inherit: true, nearby: 0)
    return try text.map { try #require(try RawJSON(parsing: $0).member("content")) }
  }

  /// Returns the visible content as compact JSON with ordered keys; "-" when there is none.
  func shown(_ section: String, at location: Location, allowExpired: Bool = false) throws -> String {
    try catalogue.load(section, at: location, allowExpired: allowExpired)?.content.text ?? "-"
  }

  func expectSound(_ place: SourceLocation = #_sourceLocation) throws {
    let findings = try satchel.check()
    #expect(findings.isEmpty, "\(findings.map(\.message))", sourceLocation: place)
  }

  /// Returns all rows of the catalogue's tables.
  func dump() throws -> [[[UInt8]]] {
    try catalogue.database.read { connection in
      var rows: [[[UInt8]]] = []
      // Columns after the last one are empty.
      func add(_ row: Statement) { rows.append((0..<20).map { Array(row.bytes($0)) }) }
      try connection.each("SELECT 'place', * FROM place", visit: add)
      try connection.each("SELECT 'context', * FROM context", visit: add)
      try connection.each("SELECT 'context_at', * FROM context_at", visit: add)
      try connection.each("SELECT 'section_at', * FROM section_at", visit: add)
      try connection.each("SELECT 'section', * FROM section", visit: add)
      try connection.each("SELECT 'section_content', * FROM section_content", visit: add)
      try connection.each("SELECT 'entity', * FROM entity", visit: add)
      try connection.each("SELECT 'entity_content', * FROM entity_content", visit: add)
      try connection.each("SELECT 'entity_index', * FROM entity_index", visit: add)
      try connection.each("SELECT 'search_change', * FROM search_change", visit: add)
      // Entries of a time alone come from assets too, which are put before the content that may be refused.
      try connection.each("SELECT 'change', * FROM change WHERE entries <> '[]'", visit: add)
      return rows
    }
  }

  /// Returns how often a statement with this text ran on the write connection.
  func runs(of words: String, in body: () throws -> Void) throws -> Int {
    let count = Atomic(0)
    try catalogue.database.maintain {
      traceStatements(of: $0.handle) { if $0.contains(words) { count.add(1, ordering: .relaxed) } }
    }
    try body()
    try catalogue.database.maintain { traceStatements(of: $0.handle, nil) }
    return count.load(ordering: .relaxed)
  }

  /// Returns the number of rows of variants, including duplicates of one identity.
  func variants() throws -> [String] {
    try catalogue.database.read { connection in
      var found: [String] = []
      // Compared by bytes: Swift compares "é" and its decomposed form as equal, but a backend has them as two
      // ids.
      try connection.each("SELECT hex(entity_id), scope, place FROM entity ORDER BY 1, 2, 3") {
        found.append("\($0.text(0)) \($0.anyInteger(1)) \($0.anyInteger(2))")
      }
      return found
    }
  }
}

/// The deliveries of Tests/Fixtures/places.jsonl, one in each line.
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

/// Creates a location from its parts, the most general first; "" for none.
func place(_ country: String, _ area: String = "", _ town: String = "", _ part: String = "") throws
  -> Location
{
  func text(_ part: String) -> String? { part.isEmpty ? nil : part }
  return try Location(
    sublocality: text(part), locality: text(town), adminArea: text(area), countryCode: text(country))
}

/// Returns an object's `_storage` member.
func tag(_ id: String, _ scope: String, hours: String? = nil) -> String {
  let life = hours.map { #","ttl_hours":\#($0)"# } ?? ""
  return #""_storage":{"entity_id":"\#(id)","scope":"\#(scope)"\#(life)}"#
}

/// Runs `body` on several threads at once, each with its number, and waits for all. Dispatch would run no
/// more than there are cores.
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
